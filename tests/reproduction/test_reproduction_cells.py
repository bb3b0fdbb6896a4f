"""Cells are kept at once, found again, and computed again when they must be."""

import csv
import json
from dataclasses import replace

import pytest
from small_scope import SMALL, WINE

import solah
from reproduction import cells, data
from reproduction.cells import Cell
from reproduction.published import DATABASES
from reproduction.scope import Scope
from reproduction.tables import TABLES

pytestmark = pytest.mark.slow

SCOPE = replace(SMALL, databases=(WINE, replace(WINE, name="iris")))


@pytest.fixture
def computed(monkeypatch):
    """Return the list of the cells that are computed from now on."""
    done = []
    compute = Cell.compute

    def noted(cell):
        done.append(cell.name)
        return compute(cell)

    monkeypatch.setattr(cells.Cell, "compute", noted)
    return done


def test_finished_cells_are_not_computed_again(run, computed, tmp_path):
    first = run("databases", scope=SCOPE)
    assert sorted(computed) == ["iris.properties", "wine.properties"]
    computed.clear()
    assert run("databases", scope=SCOPE) == first
    assert computed == []
    (tmp_path / "cells" / "iris.properties.json").unlink()
    assert run("databases", scope=SCOPE) == first
    assert computed == ["iris.properties"]


def test_a_cell_of_other_settings_data_or_version_is_computed_again(
    run, computed, monkeypatch, tmp_path
):
    run("databases", scope=SCOPE)
    file = tmp_path / "cells" / "wine.properties.json"
    content = json.loads(file.read_text())
    content["cell"]["folds"] = 7
    file.write_text(json.dumps(content))
    computed.clear()
    run("databases", scope=SCOPE)
    assert computed == ["wine.properties"]
    content = json.loads(file.read_text())
    content["data"] = "of another file"
    file.write_text(json.dumps(content))
    computed.clear()
    run("databases", scope=SCOPE)
    assert computed == ["wine.properties"]
    computed.clear()
    monkeypatch.setattr(solah, "__version__", "99", raising=False)
    run("databases", scope=SCOPE)
    assert len(computed) == 2


def test_a_cell_is_kept_before_the_next_one_starts(run, monkeypatch, tmp_path):
    def interrupted(cell):
        if cell.data == "iris":
            raise KeyboardInterrupt
        return {"cell": 1}

    monkeypatch.setattr(cells.Cell, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("databases", scope=SCOPE)
    assert [file.name for file in (tmp_path / "cells").iterdir()] == ["wine.properties.json"]


def test_no_two_cells_share_a_name():
    needed = {cell for table in TABLES.values() for cell in table(Scope()).cells}
    assert len({cell.name for cell in needed}) == len(needed)


def test_data_that_are_not_available_are_left_out(run, bare):
    glass = next(database for database in DATABASES if database.name == "glass")
    scope = replace(SMALL, databases=(WINE, glass), folds=2, runs=1, optlah=())
    rows = run("databases", scope=scope)["databases"]["rows"]
    assert [row["difference"] for row in rows] == ["nothing", "not available"]
    (tree,) = [
        row
        for row in run("ldt", scope=scope)["ldt"]["rows"]
        if row["data"] == "Glass"
        and row["model"] == "single tree"
        and row["settings"] == "PAPER, not available"
    ]
    assert "accuracy" not in tree
    comparison = run("comparison", scope=scope)
    assert comparison["comparison"]["rows"][1]["data"] == "Glass (not available)"
    assert comparison["comparison-standing"]["facts"]["databases"] == ["wine"]


@pytest.mark.shared
@pytest.mark.parametrize("entry", data.PAPER_ONLY, ids=lambda entry: entry.name)
def test_the_real_files_are_what_is_known_of_them(entry, shared_data):
    rows = data.load_rows(entry.name)
    assert rows.table.n_rows == entry.n_rows
    assert rows.kinds == entry.kinds


@pytest.mark.shared
def test_no_message_is_lost_or_taken_for_missing(shared_data):
    messages = data.load_rows("sms_spam").table.column("text").values
    with (shared_data / "sms_spam.csv").open(encoding="utf-8", newline="") as file:
        expected = [row["text"].strip() for row in csv.DictReader(file)]
    assert [message.strip() for message in messages] == expected
