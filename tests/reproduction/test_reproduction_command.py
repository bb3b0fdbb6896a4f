"""``python -m reproduction``: tables by name, data from elsewhere, interrupts and continuing."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction.__main__ import main
from reproduction.cells import Cell
from solah.datasets.registry import find_entry

ROOT = Path(__file__).parents[2]


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


@pytest.fixture
def glass_folder(tmp_path):
    """Return a folder with a file that has the glass data's shape."""
    entry = find_entry("glass")
    names = [f"a{j}" for j in range(entry.n_attributes)]
    classes = [name for name, rows in entry.classes.items() for _ in range(rows)]
    lines = [
        [*(str(i % (7 + j) + 0.5) for j in range(len(names))), c] for i, c in enumerate(classes)
    ]
    folder = tmp_path / "data"
    folder.mkdir()
    text = "\n".join(",".join(line) for line in [[*names, "class"], *lines])
    (folder / "glass.csv").write_text(f"{text}\n")
    return folder


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


def test_the_json_is_what_is_written(program, results):
    outcome = program("databases", "-o", results, "--jobs", 1, "--json")
    document = json.loads(outcome.out)
    assert document == json.loads((results / "reproduction.json").read_text(encoding="utf-8"))
    assert [table["name"] for table in document["tables"]] == ["databases"]
    assert "glass" in document["missing"]


def test_quiet_prints_tables_alone(program, results):
    outcome = program("databases", "-o", results, "--jobs", 1, "-q")
    assert outcome.err == ""
    assert outcome.out.startswith("data ")
    assert len(outcome.out.splitlines()) == 15


def test_data_from_a_folder_reach_the_workers(program, results, glass_folder):
    outcome = program("databases", "-o", results, "--data", glass_folder, "--jobs", 2, "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    glass = next(row for row in document["tables"][0]["rows"] if row["name"] == "glass")
    assert glass["rows"] == 214
    assert "glass" not in document["missing"]
    assert (results / "cells" / "glass.properties.json").is_file()


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


def test_verbose_adds_a_traceback(program, results):
    outcome = program("sms41", "-o", results, "-v")
    assert outcome.err.startswith("Traceback")
    assert outcome.err.splitlines()[-1].startswith("reproduction: error: there is no table")


@pytest.mark.parametrize(("flag", "is_said"), [("--optlah", True), ("--no-optlah", False)])
def test_the_search_is_announced(program, results, monkeypatch, flag, is_said):
    def interrupted(cell):
        raise KeyboardInterrupt

    monkeypatch.setattr(Cell, "compute", interrupted)
    outcome = program("comparison", "-o", results, "--jobs", 1, flag)
    assert ("--no-optlah leaves it out" in outcome.err) is is_said


@pytest.mark.parametrize("command", [["-m", "reproduction"], ["benchmarks/accuracy.py"]])
def test_programs_start_in_the_root_of_the_sources(command):
    words = [sys.executable, *command, "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--folds" in done.stdout
