"""Cells are kept at once, found again, and computed again when they must be."""

import pytest
from comparison import cells, sets
from comparison.cells import Cell

from solah.exceptions import DatasetError


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
