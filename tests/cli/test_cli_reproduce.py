"""``solah reproduce``: tables by name, data from elsewhere, interrupts and going on."""

import json

import pytest

from solah.datasets.registry import find_entry
from solah.reproduction.cells import Cell


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Make a machine that has only what comes with scikit-learn."""
    monkeypatch.delenv("SOLAH_DATA", raising=False)
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOLAH_DATA_URL", "http://127.0.0.1:1/")
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


def test_a_table_with_what_is_at_hand(run, bare):
    outcome = run("reproduce", "databases", "-o", bare, "--jobs", 1)
    assert outcome.code == 0
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(
        "solah: note: not at hand, so left out: breast_cancer_ljubljana, "
    )
    assert "SOLAH_DATA (or --data)" in outcome.err
    assert "pip install 'solah[datasets]'" in outcome.err
    assert "Wine" in outcome.out
    assert "not at hand" in outcome.out
    assert f"written: {bare}/reproduction.json" in outcome.out
    assert (bare / "reproduction.md").read_text(encoding="utf-8").startswith("# The paper's tables")


def test_the_json_is_what_is_written(run, bare):
    outcome = run("reproduce", "databases", "-o", bare, "--jobs", 1, "--json")
    assert outcome.document == json.loads((bare / "reproduction.json").read_text(encoding="utf-8"))
    assert [table["name"] for table in outcome.document["tables"]] == ["databases"]
    assert "glass" in outcome.document["missing"]


def test_quiet_prints_tables_alone(run, bare):
    outcome = run("reproduce", "databases", "-o", bare, "--jobs", 1, "-q")
    assert outcome.err == ""
    assert outcome.out.startswith("data ")
    assert len(outcome.out.splitlines()) == 15


def test_data_from_a_folder_reach_the_workers(run, bare, glass_folder):
    outcome = run(
        *("reproduce", "databases", "-o", bare, "--data", glass_folder, "--jobs", 2, "--json")
    )
    assert outcome.code == 0, outcome.err
    glass = next(r for r in outcome.document["tables"][0]["rows"] if r["name"] == "glass")
    assert glass["rows"] == 214
    assert "glass" not in outcome.document["missing"]
    assert (bare / "cells" / "glass.properties.json").is_file()


def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(run, bare, monkeypatch):
    compute = Cell.compute

    def interrupted(cell):
        if cell.data == "wdbc":
            raise KeyboardInterrupt
        return compute(cell)

    monkeypatch.setattr(Cell, "compute", interrupted)
    words = ("reproduce", "databases", "-o", bare, "--jobs", 1)
    outcome = run(*words)
    assert outcome.code == 130
    assert "the same command goes on from there" in outcome.err
    assert outcome.err.endswith("solah: interrupted\n")
    monkeypatch.setattr(Cell, "compute", lambda cell: compute(cell))
    assert run(*words).code == 0
    assert {file.name for file in (bare / "cells").iterdir()} == {
        "wdbc.properties.json",
        "wine.properties.json",
    }


def test_what_is_wrong_is_said_in_one_line(run, bare, tmp_path):
    run("reproduce", "sms41", "-o", bare).check_error("no table 'sms41'; did you mean 'sms14'?")
    run("reproduce", "sms14", "-o", bare).check_error("none of the data is at hand: sms_spam; ")
    run("reproduce", "--data", tmp_path / "nowhere").check_error("--data", "nowhere")
    run("reproduce", "--folds", 1).check_error("--folds")
    run("reproduce", "--runs", 0).check_error("--runs")
    file = tmp_path / "file"
    file.write_text("")
    run("reproduce", "databases", "-o", file).check_error("--output")


@pytest.mark.parametrize(("flag", "is_said"), [("--optlah", True), ("--no-optlah", False)])
def test_the_search_is_announced(run, bare, monkeypatch, flag, is_said):
    def interrupted(cell):
        raise KeyboardInterrupt

    monkeypatch.setattr(Cell, "compute", interrupted)
    outcome = run("reproduce", "comparison", "-o", bare, "--jobs", 1, flag)
    assert ("--no-optlah leaves it out" in outcome.err) is is_said
