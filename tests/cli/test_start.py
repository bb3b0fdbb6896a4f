"""What ``solah`` says when it is asked for nothing."""

import shlex

import pytest

from solah.cli.main import main


def commands(text):
    return [line.split("solah ", 1)[1] for line in text.splitlines() if "  solah " in line]


def test_it_says_where_to_begin(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = run()
    assert (outcome.code, outcome.err) == (0, "")
    assert "solah fit data.csv --target COLUMN" in outcome.out
    assert len(outcome.out.splitlines()) < 24


def test_files_at_hand_are_named(run, fruits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("fit", fruits, "--target", "geschmack 👅", "-o", "my model.json", "--max-rules", 4)
    (tmp_path / "a.json").write_text("{}")
    out = run().out
    assert f"solah predict 'my model.json' {shlex.quote(fruits.name)}" in out


@pytest.mark.parametrize("verb", ["fit", "rules", "predict", "report", "export", "site"])
def test_what_it_names_are_verbs(run, verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert any(command.startswith(f"{verb} ") for command in commands(run().out))
    assert main([verb, "--help"]) == 0
