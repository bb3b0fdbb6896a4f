"""A limit of memory is read, refused where it cannot hold, and held."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import RuleClassifier, scan
from solah.exceptions import ParameterError
from solah.scale import memory_limit
from solah.scale.memory_limit import batch_within, read_size, sample_within
from solah.scale.sources import BATCH_ROWS

MB = 10**6


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("12 B", 12),
        ("512MB", 512 * MB),
        ("512 mb", 512 * MB),
        ("1.5GB", 1500 * MB),
        ("1GiB", 2**30),
        ("0.5 GiB", 2**29),
        ("2k", 2000),
        ("1t", 10**12),
    ],
)
def test_sizes_are_read(size, n_bytes):
    assert read_size(size) == n_bytes


@pytest.mark.parametrize("size", [0, -1, True, 1.5, None, "", "much", "1XB", "-1GB", "0MB", "1e9"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(ParameterError, match="'memory' must be a size such as '1GB' or '512MB'."):
        read_size(size)


@given(
    limit=st.integers(200 * MB, 10**11),
    sizes=st.lists(st.sampled_from([0, 2, 5, 200]), min_size=1, max_size=300),
    n_classes=st.integers(2, 8),
    n_threads=st.integers(1, 8),
)
def test_more_memory_never_means_fewer_rows(limit, sizes, n_classes, n_threads):
    def sized(limit):
        batch = batch_within(limit, len(sizes) + 1, n_threads)
        return batch, sample_within(limit, sizes, n_classes, 20_000)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_limit, "resident", lambda: 150 * MB)
        try:
            rows = sized(limit)
        except ParameterError as error:
            needed = int(str(error).split("take about ")[1].split(" MB")[0]) * MB
            assert needed >= limit
            return
        assert 0 < rows[0] <= BATCH_ROWS
        assert 0 < rows[1] <= 20_000
        assert all(more >= one for one, more in zip(rows, sized(2 * limit), strict=True))


def test_too_little_is_refused_with_what_is_needed():
    frame = pd.DataFrame({"a": np.arange(9.0), "y": np.arange(9) > 4})
    with pytest.raises(ParameterError, match=r"memory=1 MB is too little .* take about \d+ MB;"):
        RuleClassifier().fit(scan([frame], memory="1MB"), "y")


def test_a_system_that_does_not_tell_is_guessed_about(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_limit, "_STATM", tmp_path / "none")
    assert batch_within(1_000 * MB, 10, 1) == BATCH_ROWS


SCRIPT = """
from pathlib import Path
from solah import RuleClassifier, scan

rows = scan({path!r}, memory={limit})
model = RuleClassifier(interactions=0, max_rules=12).fit(rows, "y")
# Not ru_maxrss, which begins with what the process had that started this one.
status = Path("/proc/self/status").read_text().split()
print(int(status[status.index("VmHWM:") + 1]) * 1024, model.n_rules_)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sizes are those of Linux")
def test_a_process_stays_within_its_limit(tmp_path):
    """Read 1,500,000 rows of 30 numbers, which take 360 MB, within 450 MB for the process."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, rng = tmp_path / "rows.parquet", np.random.default_rng(0)
    hidden = rng.normal(size=1_500_000)
    columns = {f"s{j}": hidden + rng.normal(size=1_500_000) for j in range(30)}
    columns["y"] = hidden > 0
    parquet.write_table(arrow.table(columns), path, row_group_size=250_000, compression="none")
    limit = 450 * MB
    command = [sys.executable, "-c", SCRIPT.format(path=str(path), limit=limit)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    most, n_rules = map(int, run.stdout.split())
    assert n_rules > 1
    assert most < limit
