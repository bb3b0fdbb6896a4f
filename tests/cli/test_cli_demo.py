"""``solah demo``: what it shows and writes."""

import shlex

from solah import load_model


def test_the_demo_trains_explains_measures_and_reports(run, tmp_path, monkeypatch):
    monkeypatch.setattr("solah.cli.demo._FOLDS", 2)
    folder = tmp_path / "here" / "demo"
    outcome = run("demo", "--output", folder)
    assert (outcome.code, outcome.err) == (0, "")
    for part in ("1. Train", "adds", "Explain", "class_0", "accuracy", "Try next"):
        assert part in outcome.out
    assert load_model(folder / "model.json").model_.n_rules <= 10
    page = (folder / "report.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>")
    commands = [line[8:] for line in outcome.out.splitlines() if line.startswith("$ solah ")]
    assert len(commands) == 5
    assert run(*shlex.split(commands[1])).code == 0
