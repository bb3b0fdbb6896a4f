"""What ``solah`` says when it is asked for nothing."""

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


@pytest.mark.parametrize("verb", ["fit", "rules", "predict", "report", "export", "site"])
def test_what_it_names_are_verbs(run, verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert any(command.startswith(f"{verb} ") for command in commands(run().out))
    assert main([verb, "--help"]) == 0
