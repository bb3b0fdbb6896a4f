"""Cells are kept at once, found again, and computed again when they must be."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small_wish import SMALL, WINE

import solah
from solah.data import Column, Table
from solah.datasets import Dataset
from solah.exceptions import DatasetError, ParameterError
from solah.reproduction import TABLES, Reproduction, Wish, cells, material
from solah.reproduction.cells import Cell
from solah.reproduction.models import Recipe, single_tree
from solah.reproduction.published import DATABASES

WISH = replace(SMALL, databases=(WINE, replace(WINE, name="iris")))


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
    first = run("databases", wish=WISH)
    assert sorted(computed) == ["iris.properties", "wine.properties"]
    computed.clear()
    assert run("databases", wish=WISH) == first
    assert computed == []
    (tmp_path / "cells" / "iris.properties.json").unlink()
    assert run("databases", wish=WISH) == first
    assert computed == ["iris.properties"]


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "3", '{"figures": {}}', '{"figures": 1}', "\x00", '{"cell": {}}']
)
def test_a_broken_cell_is_computed_again(run, computed, tmp_path, broken):
    first = run("databases", wish=WISH)
    (tmp_path / "cells" / "wine.properties.json").write_text(broken)
    computed.clear()
    assert run("databases", wish=WISH) == first
    assert computed == ["wine.properties"]


def test_a_cell_of_other_settings_data_or_version_is_computed_again(
    run, computed, monkeypatch, tmp_path
):
    run("databases", wish=WISH)
    file = tmp_path / "cells" / "wine.properties.json"
    content = json.loads(file.read_text())
    content["cell"]["folds"] = 7
    file.write_text(json.dumps(content))
    computed.clear()
    run("databases", wish=WISH)
    assert computed == ["wine.properties"]
    content = json.loads(file.read_text())
    content["data"] = "of another file"
    file.write_text(json.dumps(content))
    computed.clear()
    run("databases", wish=WISH)
    assert computed == ["wine.properties"]
    computed.clear()
    monkeypatch.setattr(solah, "__version__", "99", raising=False)
    run("databases", wish=WISH)
    assert len(computed) == 2


def test_a_cell_is_kept_before_the_next_one_starts(run, monkeypatch, tmp_path):
    def interrupted(cell):
        if cell.data == "iris":
            raise KeyboardInterrupt
        return {"cell": 1}

    monkeypatch.setattr(cells.Cell, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("databases", wish=WISH)
    assert [file.name for file in (tmp_path / "cells").iterdir()] == ["wine.properties.json"]


def test_cells_are_named_by_what_they_are():
    recipe = single_tree("paper")
    assert Cell("wine", "folds", recipe, 10, 0).name == "wine.tree.paper.10-folds.seed-0"
    assert Cell("wine", "half", recipe, seed=3).name == "wine.tree.paper.half.run-3"
    assert Cell("wine", "all rows", recipe).name == "wine.tree.paper.all-rows"


def test_no_two_cells_share_a_name():
    needed = {cell for table in TABLES.values() for cell in table.cells(Wish())}
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
    study = replace(SMALL.sms20, by_hand=(), unknown=None)
    one, two = (
        run("sms20", wish=replace(SMALL, sms20=study, seeds=seeds))["iris"]["rows"][-1]
        for seeds in (1, 2)
    )
    assert one["branches"] == two["branches"]
    assert one["accuracy"] != two["accuracy"]


def test_unknown_tables(tmp_path):
    with pytest.raises(ParameterError, match="no table 'sms41'; did you mean 'sms14'?"):
        Reproduction.plan(["sms41"], Wish(), tmp_path)


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Make a machine that has only what comes with scikit-learn."""
    monkeypatch.delenv("SOLAH_DATA", raising=False)
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOLAH_DATA_URL", "http://127.0.0.1:1/")


def test_data_that_are_not_at_hand_are_left_out(run, bare):
    glass = next(database for database in DATABASES if database.name == "glass")
    wish = replace(SMALL, databases=(WINE, glass), folds=2, runs=1, optlah=())
    rows = run("databases", wish=wish)["databases"]["rows"]
    assert [row["difference"] for row in rows] == ["nothing", "not at hand"]
    (tree,) = [
        row
        for row in run("ldt", wish=wish)["ldt"]["rows"]
        if row["data"] == "Glass"
        and row["model"] == "single tree"
        and row["settings"] == "PAPER, not at hand"
    ]
    assert "accuracy" not in tree
    comparison = run("comparison", wish=wish)
    assert comparison["comparison"]["rows"][1]["data"] == "Glass (not at hand)"
    assert comparison["comparison-standing"]["facts"]["databases"] == ["wine"]


def test_no_data_at_all_is_an_error(bare, tmp_path):
    with pytest.raises(DatasetError, match="sms_spam; point SOLAH_DATA"):
        Reproduction.plan(["sms14"], Wish(), tmp_path)


def test_where_a_download_fails_no_other_is_tried(bare, monkeypatch):
    tried = []

    def load(name):
        tried.append(name)
        raise DatasetError("no network")

    monkeypatch.setattr(material, "load", load)
    names = ["sms14", "sonar", "glass", "sms20"]
    assert material.find_missing(names) == ("sms_spam", "sonar", "glass")
    assert "glass" not in tried


def test_a_broken_file_is_an_error_and_not_missing(bare, monkeypatch, tmp_path):
    (tmp_path / "glass.csv").write_text("a,class\n1,x\n2,y\n")
    monkeypatch.setenv("SOLAH_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match="does not hold that data set"):
        material.find_missing(["glass"])


def test_another_folder_holds_for_a_while(monkeypatch, tmp_path):
    monkeypatch.delenv("SOLAH_DATA", raising=False)
    with material.data_from(tmp_path):
        assert material.folder_in_use() == str(tmp_path)
    assert material.folder_in_use() is None
    monkeypatch.setenv("SOLAH_DATA", "before")
    with material.data_from(tmp_path):
        assert material.folder_in_use() == str(tmp_path)
    assert material.folder_in_use() == "before"
    with material.data_from(None):
        assert material.folder_in_use() == "before"


def test_keywords_are_made_of_messages(monkeypatch):
    texts = Column("text", np.array(["URGENT! win", "hello"], dtype=object))
    messages = Dataset("sms_spam", Table((texts,), 2), np.array(["spam", "ham"]), "class")
    monkeypatch.setattr(material, "load", lambda name: messages)
    material._load_from.cache_clear()
    made = material.load_material("sms14")
    material._load_from.cache_clear()
    assert made.name == "sms14"
    assert made.feature_names[:2] == ("x0", "x1")
    assert made.X[0, [0, 2, 3]].tolist() == [1, 1, 1]
    assert made.X[1].sum() == 0
