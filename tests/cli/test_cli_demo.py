"""``solah demo``: what it shows and writes."""

import re

import pytest

from solah import load_model

pytestmark = pytest.mark.slow


def test_the_demo_learns_measures_and_reports(run, tmp_path):
    folder = tmp_path / "here" / "demo"
    outcome = run("demo", "--output", folder)
    assert outcome.code == 0
    assert outcome.err == ""
    parts = re.findall(r"^\d\. .*", outcome.out, re.MULTILINE)
    starts = ("Train", "Feature", "Words", "Rules: all 10", "One wine", "Measure", "Written")
    assert all(part[3:].startswith(start) for part, start in zip(parts, starts, strict=True))
    for part in ("taken here", "the default", "need not be measured", "fully up to", "accuracy"):
        assert part in outcome.out
    assert re.search(r"^ +one tree +rules that add up$", outcome.out, re.MULTILINE)
    assert outcome.out.index("7. Written") < outcome.out.index("Try next")
    assert f"solah rules {folder / 'model.json'}" in outcome.out
    assert load_model(folder / "model.json").model_.goal.states == ("class_0", "class_1", "class_2")
    assert (folder / "report.html").read_text("utf-8").lower().startswith("<!doctype html>")
