"""``python -m reproduction``: tables by name, data from elsewhere, interrupts and continuing."""

from types import SimpleNamespace

import pytest

from reproduction.__main__ import main
from reproduction.cells import Cell


@pytest.fixture
def program(bare, capsys):
    """Return a function that runs the program in this process, on a bare machine."""

    def call(*words):
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=err)

    return call


@pytest.fixture
def results(tmp_path):
    """Return the results folder; it does not exist yet."""
    return tmp_path / "results"


def test_a_table_with_the_data_that_are_available(program, results):
    outcome = program("databases", "-o", results, "--jobs", 1)
    assert outcome.code == 0
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(
        "reproduction: note: not available, so left out: breast_cancer_ljubljana, "
    )
    assert "SOLAH_DATA (or --data)" in outcome.err
    assert "Wine" in outcome.out
    assert "not available" in outcome.out
    assert f"written: {results}/reproduction.json" in outcome.out
    page = (results / "reproduction.md").read_text(encoding="utf-8")
    assert page.startswith("# The paper's tables")


def test_an_interrupt_keeps_what_is_finished(program, results, monkeypatch):
    compute = Cell.compute

    def interrupted(cell):
        if cell.data == "wdbc":
            raise KeyboardInterrupt
        return compute(cell)

    monkeypatch.setattr(Cell, "compute", interrupted)
    words = ("databases", "-o", results, "--jobs", 1)
    outcome = program(*words)
    assert outcome.code == 130
    assert f"interrupted; finished cells are kept in {results}, so the same" in outcome.err
    monkeypatch.setattr(Cell, "compute", lambda cell: compute(cell))
    assert program(*words).code == 0
    assert {file.name for file in (results / "cells").iterdir()} == {
        "wdbc.properties.json",
        "wine.properties.json",
    }


def test_what_is_wrong_is_said_in_one_line(program, results, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for words, part in (
        (("sms41", "-o", results), "no table 'sms41'; did you mean 'sms14'?"),
        (("sms14", "-o", results), "none of the data sets is available: sms_spam; "),
        (("--data", tmp_path / "nowhere"), "--data"),
        (("--folds", 1), "--folds: must be at least 2, got 1"),
        (("--runs", 0), "--runs"),
        (("--jobs", "many"), "--jobs"),
        (("databases", "-o", file), "-o/--output"),
    ):
        outcome = program(*words)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("reproduction: error: ")
        assert outcome.err.count("\n") == 1
        assert part in outcome.err
