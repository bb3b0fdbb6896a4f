"""``solah predict``: its columns, its order, and that half a file is never left behind."""

import csv
import io
import json

import numpy as np
import pytest

import solah
from solah.cli import problem
from solah.data import read_table


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_every_row_gets_a_decision_and_its_probabilities(run, fruits, fruit_model):
    outcome = run("predict", fruit_model, fruits)
    header, *rows = rows_of(outcome.out)
    assert outcome.err == ""
    assert header == ["prediction", "P(saur)", "P(süß)"]
    predictor, table = solah.load_model(fruit_model), read_table(fruits)
    assert [row[0] for row in rows] == predictor.predict(table).tolist()
    beliefs = np.array([[float(cell) for cell in row[1:]] for row in rows])
    assert np.array_equal(beliefs, predictor.predict_proba(table))


def test_the_file_is_what_stdout_would_be(run, fruits, fruit_model, tmp_path):
    printed = run("predict", fruit_model, fruits, "-o", "-").out
    outcome = run("predict", fruit_model, fruits, "-o", tmp_path / "out.csv")
    assert outcome.out == f"24 rows written to {tmp_path / 'out.csv'}\n"
    assert run("predict", fruit_model, fruits, "-o", tmp_path / "out.csv", "-q").out == ""
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == printed


def test_columns_are_kept(run, write, fruit_model):
    table = write(
        "t.csv", 'größe cm,色,kerne,prediction,"a,b",P(saur)', '1,rot,2,old,"x,y",', "2,grün,3,,z,1"
    )
    keep = ("--keep", "prediction,P(saur)", "--keep", "a,b", "--keep", "a,b")
    outcome = run("predict", fruit_model, table, *keep)
    header, *rows = rows_of(outcome.out)
    assert header[:3] == ["prediction (data)", "P(saur) (data)", "a,b"]
    assert header[3:] == ["prediction", "P(saur)", "P(süß)"]
    assert [row[:3] for row in rows] == [["old", "", "x,y"], ["", "1", "z"]]
    assert outcome.err.count("solah: note: the kept column") == 2


def test_json_lines(run, fruits, fruit_model):
    outcome = run("predict", fruit_model, fruits, "--json", "--keep", "id")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    assert len(lines) == 24
    assert lines[0]["kept"] == {"id": "0"}
    assert set(lines[0]["probabilities"]) == {"saur", "süß"}
    assert lines[0]["prediction"] == "saur"


def test_numbers_have_no_probabilities(run, write, tmp_path):
    table = write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json")
    header, *rows = rows_of(run("predict", tmp_path / "m.json", table).out)
    assert header == ["prediction"]
    assert len(rows) == 40
    line = run("predict", tmp_path / "m.json", table, "--json").out.splitlines()[0]
    assert list(json.loads(line)) == ["prediction"]


def test_pieces_follow_one_another(run, fruits, fruit_model, monkeypatch):
    whole = run("predict", fruit_model, fruits, "--keep", "id").out
    monkeypatch.setattr(problem, "_PIECE_ROWS", 5)
    assert run("predict", fruit_model, fruits, "--keep", "id").out == whole
    in_lines = run("predict", fruit_model, fruits, "--json").out
    assert len(in_lines.splitlines()) == 24


def test_a_column_that_is_not_there(run, write, fruit_model, tmp_path):
    table = write("t.csv", "grösse cm,色,kerne", "1,rot,1")
    for target in ("-", tmp_path / "out.csv"):
        run("predict", fruit_model, table, "-o", target).check_error("did you mean 'grösse cm'?")
    run("predict", fruit_model, table, "--keep", "färbe").check_error("'färbe'")
    assert not (tmp_path / "out.csv").exists()


def test_a_word_where_a_number_should_be_is_named_with_its_row(
    run, write, fruit_model, monkeypatch
):
    monkeypatch.setattr(problem, "_PIECE_ROWS", 2)
    table = write("t.csv", "größe cm,色,kerne", "1,rot,1", "1,rot,1", "1,rot,1", "viel,rot,1")
    outcome = run("predict", fruit_model, table)
    assert outcome.code == 2
    assert "'viel', row 4" in outcome.err


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_run_leaves_nothing(run, fruits, fruit_model, tmp_path, monkeypatch, error):
    pieces = problem.iter_tables

    def interrupted(*arguments, **options):
        yield next(iter(pieces(*arguments, **options)))
        raise error

    monkeypatch.setattr(problem, "iter_tables", interrupted)
    folder = tmp_path / "out"
    folder.mkdir()
    outcome = run("predict", fruit_model, fruits, "-o", folder / "out.csv")
    if error is KeyboardInterrupt:
        assert (outcome.code, outcome.err) == (130, "solah: interrupted\n")
    else:
        outcome.check_error("No space left on device")
    assert list(folder.iterdir()) == []


def test_evidence_tells_how_much_missing_values_matter(run, write, fruit_model):
    table = write("t.csv", "größe cm,色,kerne", "1,rot,1", ",,")
    outcome = run("predict", fruit_model, table, "--completeness")
    header, whole, nothing = (line.split(",") for line in outcome.out.splitlines())
    assert header[-1] == "completeness"
    assert float(whole[-1]) == pytest.approx(1.0)
    assert float(nothing[-1]) == 0.0
    lines = run("predict", fruit_model, table, "--completeness", "--json").out.splitlines()
    assert json.loads(lines[1])["completeness"] == 0.0


@pytest.fixture
def doors(run, write, tmp_path):
    """Return the model of a door that is open or shut, quoted with a space too much or not."""
    rows = [f"{'open' if i % 2 else 'shut'},{i},{'yes' if i % 2 else 'no'}" for i in range(60)]
    table = write("doors.csv", "door,size,occupied", *rows)
    model = tmp_path / "doors.json"
    run("fit", table, "-t", "occupied", "--model", "tree", "-o", model, "-q")
    return model


@pytest.mark.parametrize(
    "verb", [["predict"], ["predict", "--completeness"], ["explain"], ["report"], ["stress"]]
)
def test_unknown_states_are_told_in_one_line(run, write, doors, verb, tmp_path, monkeypatch):
    monkeypatch.setattr(problem, "_PIECE_ROWS", 700)
    n_rows = 60 if verb[0] == "stress" else 2000
    rows = [f"{'ajar' if i % 10 == 0 else 'open'},{i},yes" for i in range(n_rows)]
    table = write("new.csv", "door,size,occupied", *rows)
    files = ["-o", tmp_path / "page.html"] if verb[0] == "report" else []
    found = run(verb[0], doors, table, *verb[1:], *files)
    assert found.code == 0
    (line,) = [one for one in found.err.splitlines() if "warning" in one]
    assert line.startswith(f"solah: warning: column 'door' has 'ajar' in {n_rows // 10:,} rows; ")
    assert line.endswith("there are: 'open', 'shut'")
    assert "warning" not in run(verb[0], doors, table, *verb[1:], *files, "-q").err
