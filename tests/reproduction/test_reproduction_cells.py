"""Cells are kept at once, found again, and computed again when they must be."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from small_scope import SMALL, WINE

import solah
from reproduction import cells, data
from reproduction.cells import Cell
from reproduction.models import Recipe, single_tree
from reproduction.published import DATABASES
from reproduction.running import Reproduction
from reproduction.scope import Scope
from reproduction.tables import TABLES
from solah.data import Column, Table
from solah.datasets import Dataset
from solah.datasets.registry import find_entry
from solah.exceptions import DatasetError, ParameterError

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


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "3", '{"figures": {}}', '{"figures": 1}', "\x00", '{"cell": {}}']
)
def test_a_broken_cell_is_computed_again(run, computed, tmp_path, broken):
    first = run("databases", scope=SCOPE)
    (tmp_path / "cells" / "wine.properties.json").write_text(broken)
    computed.clear()
    assert run("databases", scope=SCOPE) == first
    assert computed == ["wine.properties"]


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


def test_cells_are_named_by_what_they_are():
    recipe = single_tree("paper")
    assert Cell("wine", "folds", recipe, 10, 0).name == "wine.tree.paper.10-folds.seed-0"
    assert Cell("wine", "half", recipe, seed=3).name == "wine.tree.paper.half.run-3"
    assert Cell("wine", "all rows", recipe).name == "wine.tree.paper.all-rows"


def test_no_two_cells_share_a_name():
    needed = {cell for table in TABLES.values() for cell in table(Scope()).cells}
    assert len({cell.name for cell in needed}) == len(needed)


def test_long_cells_come_first(tmp_path):
    work = Reproduction.plan(["comparison"], SMALL, tmp_path)
    assert work.cells[0].recipe.kind == "optlah"


def test_an_interrupted_search_is_not_kept(monkeypatch):
    class Interrupted:
        stop_reason_ = "interrupted"

        def fit(self, table, goal):
            return self

    monkeypatch.setattr(Recipe, "make", lambda *_: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        Cell("wine", "half", single_tree("paper"), seed=0).compute()


def test_seeds_are_averaged(run):
    study = replace(SMALL.sms20, by_hand=())
    one, two = (
        run("sms20", scope=replace(SMALL, sms20=study, seeds=seeds))["iris"]["rows"][-1]
        for seeds in (1, 2)
    )
    assert one["branches"] == two["branches"]
    assert one["accuracy"] != two["accuracy"]


def test_unknown_tables(tmp_path):
    with pytest.raises(ParameterError, match="no table 'sms41'; did you mean 'sms14'?"):
        Reproduction.plan(["sms41"], Scope(), tmp_path)


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


def test_no_data_at_all_is_an_error(bare, tmp_path):
    with pytest.raises(DatasetError, match="sms_spam; point SOLAH_DATA"):
        Reproduction.plan(["sms14"], Scope(), tmp_path)


def test_where_a_download_fails_no_other_is_tried(bare, monkeypatch):
    tried = []

    def load(entry):
        tried.append(entry.name)
        raise DatasetError("no network")

    monkeypatch.setattr(data, "load_entry", load)
    names = ["sms14", "sonar", "glass", "sms20"]
    assert data.find_missing(names) == ("sms_spam", "sonar", "glass")
    assert "glass" not in tried


def test_a_broken_file_is_an_error_and_not_missing(bare, monkeypatch, tmp_path):
    (tmp_path / "glass.csv").write_text("a,class\n1,x\n2,y\n")
    monkeypatch.setenv("SOLAH_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match="does not hold that data set"):
        data.find_missing(["glass"])


@pytest.fixture
def messages(monkeypatch):
    """Return a function that puts text messages in the place of the real ones."""

    def use(*texts):
        column = Column("text", np.array(texts, dtype=object))
        made = Dataset("sms_spam", Table((column,), len(texts)), np.array(["spam", "ham"]), "class")
        monkeypatch.setattr(data, "load_entry", lambda entry: made)
        data._load_from.cache_clear()

    yield use
    data._load_from.cache_clear()


def test_keywords_are_made_of_messages(messages):
    messages("URGENT! win", "hello")
    made = data.load_rows("sms14")
    assert made.name == "sms14"
    assert made.feature_names[:2] == ("x0", "x1")
    assert made.X[0, [0, 2, 3]].tolist() == [1, 1, 1]
    assert made.X[1].sum() == 0


def test_a_message_that_is_missing_is_named(messages):
    messages("hello", None)
    with pytest.raises(DatasetError, match="'sms_spam': row 2 has no message"):
        data.load_rows("sms20")


@pytest.mark.parametrize("entry", data.PAPER_ONLY, ids=lambda entry: entry.name)
def test_data_that_only_the_paper_needs_are_not_the_librarys(entry, bare):
    assert data.entry_of(entry.name) is entry
    with pytest.raises(DatasetError, match=f"save it as {entry.file_name}"):
        data.load_rows(entry.name)
    with pytest.raises(DatasetError, match="there is no data set"):
        find_entry(entry.name)


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
