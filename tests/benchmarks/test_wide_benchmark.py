"""The benchmark of wide data, at toy size."""

import re
from pathlib import Path

import pytest

pytest.importorskip("resource")
import wide

pytestmark = pytest.mark.slow

TOY = ["--columns", "150", "--rows", "200", "--keep", "5", "--jobs", "1"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_runs_at_toy_size(capfd, monkeypatch):
    monkeypatch.setattr(wide, "show_peer", lambda options, mine: print(f"mine {mine.cpu > 0}"))
    wide.main(TOY)
    shown, told = capfd.readouterr()
    assert told == ""
    assert "all 11,175 pairs of 150 columns, 200 rows" in shown
    assert "time grows by" in shown
    assert "mine True" in shown
    assert "5 of 150 features are kept" in shown
    assert len(re.findall(r"peak 0\.\d\d GB", shown)) == 4
    assert "the default model of 150 columns, 200 rows" in shown
