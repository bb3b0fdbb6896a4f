"""Cells are kept at once, found again, and computed again when they must be."""

import json
from dataclasses import replace

import pytest
from comparison import cells, sets
from comparison.cells import Cell
from comparison.models import MODELS

import solah
from solah.exceptions import DatasetError, ParameterError


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
    first = run(seeds=(0, 1))
    assert len(computed) == 8
    assert sorted(file.stem for file in (tmp_path / "cells").iterdir()) == sorted(computed)
    computed.clear()
    assert run(seeds=(0, 1)) == first
    assert computed == []
    run(seeds=(0, 2))
    assert {name.partition("seed-")[2] for name in computed} == {"2"}


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"figures": 1}'])
def test_a_broken_cell_is_computed_again(run, computed, tmp_path, broken):
    run(sets=["iris"])
    (tmp_path / "cells" / "iris.tree.seed-0.json").write_text(broken)
    computed.clear()
    run(sets=["iris"])
    assert computed == ["iris.tree.seed-0"]


def test_a_stale_cell_is_computed_again(run, computed, monkeypatch, tmp_path):
    run(sets=["iris"])
    file = tmp_path / "cells" / "iris.solah-tree.seed-0.json"
    content = json.loads(file.read_text())
    content["cell"]["made_with"] = "solah of yesterday"
    file.write_text(json.dumps(content))
    computed.clear()
    run(sets=["iris"])
    assert computed == ["iris.solah-tree.seed-0"]
    computed.clear()
    run(sets=["iris"], folds=3)
    assert len(computed) == 2
    computed.clear()
    monkeypatch.setattr(solah, "__version__", "99", raising=False)
    run(sets=["iris"], folds=3)
    assert len(computed) == 2


def test_groups_are_not_split(monkeypatch, make_set):
    material = make_set(60, n_groups=3)
    monkeypatch.setattr(cells, "load_rows", lambda name, rows: material)
    seen = []
    on_split = cells._on_split

    def noted(model, material, split, seed):
        seen.append((set(material.groups[split.train]), set(material.groups[split.test])))
        return on_split(model, material, split, seed)

    monkeypatch.setattr(cells, "_on_split", noted)
    figures = Cell("made", "tree", 0, 10, 1000, "").compute()
    assert figures["method"] == "stratified, 3 groups kept together"
    assert figures["notes"] == ["3 groups, so 3 folds instead of 10"]
    assert len(figures["each"]) == len(seen) == 3
    assert all(not train & test for train, test in seen)


def test_a_sample_is_said(run):
    facts = run(models=["tree"], rows=100)["sets"]
    assert facts["iris"]["rows"] == facts["wine"]["rows"] == 100
    assert facts["wine"]["notes"] == ["100 of 178 rows"]


def test_figures_are_plain(make_set, monkeypatch):
    monkeypatch.setattr(cells, "load_rows", lambda name, rows: make_set())
    figures = Cell("made", "bayes", 0, 2, 1000, "").compute()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert set(figures["each"][0]) == {
        *("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "calibration"),
        *("size", "length", "seconds"),
    }
    assert figures["each"][0]["length"] is None


def test_an_extra_that_fails_is_said_and_tried_again(run, monkeypatch, tmp_path):
    def fail(cell):
        raise ValueError("too few rows")

    monkeypatch.setattr(MODELS["tree"].__class__, "is_extra", True)
    monkeypatch.setattr(cells.Cell, "compute", fail)
    summary = run(sets=["iris"], models=["tree"])
    assert summary["notes"] == ["iris.tree.seed-0 failed: ValueError: too few rows"]
    assert list((tmp_path / "cells").iterdir()) == []
    assert summary["groups"]["named"]["models"] == {}


def test_slow_models_are_left_out_on_large_sets(run, monkeypatch):
    monkeypatch.setitem(MODELS, "tree", replace(MODELS["tree"], most_values=1000))
    summary = run(models=["tree", "bayes"])
    assert summary["notes"] == ["tree is left out on wine: it would take too long"]
    assert summary["groups"]["named"]["models"]["tree"]["n_sets"] == 1
    assert "tree" not in summary["groups"]["named"]["ranks"]["accuracy"]["mean"]


def test_our_own_failures_are_not_hidden(run, monkeypatch):
    def fail(cell):
        raise ValueError("a bug")

    monkeypatch.setattr(cells.Cell, "compute", fail)
    with pytest.raises(ValueError, match="a bug"):
        run(sets=["iris"])


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Make a machine that has only what comes with scikit-learn."""
    monkeypatch.delenv("SOLAH_DATA", raising=False)
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOLAH_DATA_URL", "http://127.0.0.1:1/")
    sets.load_rows.cache_clear()


def test_sets_that_are_not_at_hand_are_left_out(run, bare):
    summary = run(sets=["wine", "breast_277"], models=["tree"])
    assert summary["missing"] == ["breast_277"]
    assert summary["groups"]["named"]["missing"] == ["breast_277"]
    with pytest.raises(DatasetError, match="none of the data is at hand: breast_277"):
        run(sets=["breast_277"])


def test_no_model_at_all_is_an_error(run, monkeypatch):
    monkeypatch.setattr("comparison.models.find_spec", lambda module: None)
    with pytest.raises(ParameterError, match="no model is left: .*pip install imodels"):
        run(models=["figs"])
