"""``solah demo``: what it writes, against a golden file of what must not change by itself."""

import re
from pathlib import Path

import pytest

from solah import load_model
from solah.report import render_markdown

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden" / "demo_report.md"


def skeleton(report: str) -> str:
    """Keep what does not depend on floating point: no numbers, no rules, no ranks, no ranges."""
    kept = []
    for line in report.splitlines():
        if re.match(r"\d+\. if ", line) or re.match(r"\| [^|]+ \| [\d.]+ % \|", line):
            continue
        line = re.sub(r"(fully|partly) [^|]*(?= \|)", "…", line)
        kept.append(re.sub(r"(?<![\w/])\d[\d.,]*", "#", line))
    return "\n".join(kept) + "\n"


def test_the_demo_learns_measures_and_reports(run, tmp_path):
    folder = tmp_path / "here" / "demo"
    outcome = run("demo", "--output", folder)
    assert outcome.code == 0
    assert outcome.err == ""
    parts = re.findall(r"^\d\. .*", outcome.out, re.MULTILINE)
    starts = ("Learn", "Which", "Words", "Rules: all 10", "One wine", "Measure", "Written")
    assert all(part[3:].startswith(start) for part, start in zip(parts, starts, strict=True))
    for part in ("taken here", "the default", "need not be measured", "fully up to", "accuracy"):
        assert part in outcome.out
    assert re.search(r"^ +one tree +rules that add up$", outcome.out, re.MULTILINE)
    assert outcome.out.index("7. Written") < outcome.out.index("Try next")
    assert f"solah rules {folder / 'model.json'}" in outcome.out
    assert load_model(folder / "model.json").model_.goal.states == ("class_0", "class_1", "class_2")
    assert (folder / "report.html").read_text("utf-8").lower().startswith("<!doctype html>")


def test_json(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = run("demo", "--json").document
    assert Path(document["model"]) == Path("solah-demo/model.json")
    assert (tmp_path / document["report"]).is_file()
    estimators = document["summary"]["scores"]["estimators"]
    assert [e["accuracy"]["mean"] > 0.9 for e in estimators.values()] == [True, True]
    assert document["summary"]["hierarchy"]["structure"].keys() >= {"class"}
    assert skeleton(render_markdown(document["summary"])) == GOLDEN.read_text("utf-8")


def test_the_path_ends_at_the_default(run, tmp_path):
    lines = run("demo", "--output", tmp_path).out.splitlines()
    first = next(place for place, line in enumerate(lines) if "log-loss" in line)
    steps = [line.split() for line in lines[first + 1 : lines.index("", first)]]
    assert [int(step[0]) for step in steps] == sorted(int(step[0]) for step in steps)
    assert steps[-1][4:] == ["the", "default"]
    assert [step[4:] for step in steps].count(["taken", "here"]) == 1


def test_quiet_prints_the_scores_alone(run, tmp_path):
    lines = run("demo", "-q", "-o", tmp_path).out.splitlines()
    assert lines[1].startswith("  accuracy")
    assert len(lines) == 8


def test_a_terminal_of_80_columns_is_wide_enough(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.chdir(tmp_path)
    lines = run("demo").out.splitlines()
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in lines) <= 80


def test_a_file_is_no_folder(run, write):
    run("demo", "--output", write("file", "x")).check_error("file")
