"""Dependence drift: no alarm without a shift, and the right one with it."""

import numpy as np
import pytest

from solah.data import Column
from solah.stream import KeptRow, dependence
from solah.stream.dependence import find_shift


def rows(seed, n_rows=200, *, flipped=False, n_columns=3):
    """Draw rows whose class follows x0, or x1 where flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, int(flipped)] + 0.5 * rng.normal(size=n_rows) > 0
    return [KeptRow(tuple(row), bool(label), 0.0) for row, label in zip(X.tolist(), y, strict=True)]


def like(n_columns=3):
    return [Column(f"x{j}", np.empty(0)) for j in range(n_columns)]


def test_false_alarms_stay_within_their_bound():
    n_pairs, n_shuffles = 60, 19
    found = [
        find_shift(rows(seed), rows(1_000 + seed), like(), "y", n_shuffles=n_shuffles, seed=seed)
        for seed in range(n_pairs)
    ]
    n_alarms = sum(shift is not None for shift in found)
    assert n_alarms <= 8  # 3 expected at a chance of 1/20; more than 8 has a chance of 0.3 %


@pytest.mark.parametrize("seed", range(3))
def test_a_shift_is_found_and_named(seed):
    shift = find_shift(rows(seed), rows(50 + seed, flipped=True), like(), "y")
    assert shift.between in {("x0", "y"), ("x1", "y")}
    assert abs(shift.after - shift.before) > 0.3
    assert str(shift).startswith(f"the dependence of {shift.between[0]} and y has moved from ")


@pytest.mark.parametrize("seed", range(4))
def test_shuffling_that_ends_early_tells_the_same(monkeypatch, seed):
    n_rows = (40, 80, 200, 200)[seed]  # some shifts are hard to tell
    asked = rows(seed, n_rows), rows(50 + seed, n_rows, flipped=seed < 3), like(), "y"
    quick = find_shift(*asked)
    monkeypatch.setattr(dependence, "_CERTAIN", np.inf)
    assert find_shift(*asked) == quick


def test_a_shift_that_is_certain_takes_few_shuffles(monkeypatch):
    measured = []
    correlations = dependence._correlations
    monkeypatch.setattr(
        dependence, "_correlations", lambda *of: (measured.append(of), correlations(*of))[1]
    )
    assert find_shift(rows(0, 400), rows(1, 400, flipped=True), like(), "y") is not None
    assert len(measured) == 2 + 2 * 19


def test_a_shift_between_attributes_is_found_too():
    before = rows(0)
    after = [
        row._replace(readings=(row.readings[0], row.readings[1], row.readings[0]))
        for row in rows(1)
    ]
    assert find_shift(before, after, like(), "y").between == ("x0", "x2")


def test_of_many_attributes_the_telling_ones_are_looked_at():
    shift = find_shift(
        rows(0, n_columns=24), rows(1, flipped=True, n_columns=24), like(24), "y", n_shuffles=19
    )
    assert shift.between in {("x0", "y"), ("x1", "y")}


def test_rows_that_cannot_be_measured_are_no_shift():
    mixed = [row._replace(readings=(row.readings[0], "?!", 1.0)) for row in rows(1, 50)]
    assert find_shift(rows(0), mixed, like(), "y") is None
