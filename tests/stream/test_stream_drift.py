"""Drift detection: false alarms, delay, and what must always hold."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column
from solah.exceptions import DataError, ParameterError
from solah.stream import AdaptiveWindow, drift
from solah.stream.drift import find_dependence_shift
from solah.stream.reservoir import KeptRow

SHARES = st.lists(st.floats(0, 1, allow_nan=False), max_size=400)


def errors(seed, *parts):
    """Draw errors: a number of rows with each rate."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(n) < rate for n, rate in parts]).astype(float).tolist()


def alarms(detector, values):
    return [n for n, value in enumerate(values, start=1) if detector.update(value)]


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_false_alarms_stay_within_their_bound(rate):
    n_rows, n_streams = 3_000, 40
    found = [alarms(AdaptiveWindow(), errors(seed, (n_rows, rate))) for seed in range(n_streams)]
    n_checks = n_rows // AdaptiveWindow().check_every
    assert sum(map(len, found)) <= 0.002 * n_checks * n_streams


def test_a_step_is_detected_soon_and_located():
    delays, located = [], []
    for seed in range(30):
        detector = AdaptiveWindow()
        values = errors(seed, (2_000, 0.1), (1_000, 0.4))
        detected = next(n for n, value in enumerate(values, start=1) if detector.update(value))
        delays.append(detected - 2_000)
        located.append(detected - detector.n_recent)
    assert min(delays) > 0
    assert np.median(delays) <= 120
    assert abs(np.median(located) - 2_000) <= 40


@given(SHARES)
def test_the_window_has_the_mean_and_the_variance_of_its_values(values):
    window = AdaptiveWindow(check_every=1)
    for n, value in enumerate(values, start=1):
        window.update(value)
        assert 1 <= window.n_kept <= n
    held = values[len(values) - window.n_kept :]
    assert window.mean == pytest.approx(np.mean(held) if held else 0.0, abs=1e-9)
    assert window.variance == pytest.approx(np.var(held) if held else 0.0, abs=1e-9)


def test_memory_grows_with_the_logarithm():
    for n_rows in (100, 1_000, 20_000):
        window = AdaptiveWindow()
        alarms(window, errors(3, (n_rows, 0.2)))
        assert window.n_kept == n_rows
        assert sum(map(len, window.state()[-1])) <= 6 * (math.log2(n_rows) + 1)


@given(before=SHARES, after=SHARES)
def test_a_window_is_reset_and_restored(before, after):
    one, other, fresh = AdaptiveWindow(), AdaptiveWindow(), AdaptiveWindow()
    alarms(one, before)
    other.restore(json.loads(json.dumps(one.state())))
    assert alarms(one, after) == alarms(other, after)
    assert one.state() == other.state()
    one.reset()
    assert one.state() == fresh.state()


def test_bad_values_are_refused():
    window = AdaptiveWindow()
    for value in (math.nan, math.inf, 1.5, -0.1):
        with pytest.raises(DataError, match="from 0 to 1; got"):
            window.update(value)
    assert window.n_kept == 0
    with pytest.raises(ParameterError, match="'delta' must be above 0"):
        AdaptiveWindow(0.0)
    with pytest.raises(ParameterError, match="'check_every'"):
        AdaptiveWindow(check_every=0)


def rows(seed, n_rows=200, *, flipped=False, n_columns=3):
    """Draw rows whose class follows x0, or x1 where flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, int(flipped)] + 0.5 * rng.normal(size=n_rows) > 0
    return [KeptRow(tuple(row), bool(label), 0.0) for row, label in zip(X.tolist(), y, strict=True)]


def shift_of(before, after, **more):
    like = [Column(f"x{j}", np.empty(0)) for j in range(len(before[0].values))]
    return find_dependence_shift(before, after, like, "y", **more)


def test_false_alarms_of_dependences_stay_within_their_bound():
    found = [
        shift_of(rows(seed), rows(1_000 + seed), n_shuffles=19, seed=seed) for seed in range(60)
    ]
    n_alarms = sum(shift is not None for shift in found)
    assert n_alarms <= 8  # 3 expected at a chance of 1/20; more than 8 has a chance of 0.3%


def test_the_shift_is_found_and_named():
    for seed in range(3):
        shift = shift_of(rows(seed), rows(50 + seed, flipped=True))
        assert (shift.first in {"x0", "x1"}, shift.second) == (True, "y")
        assert abs(shift.after - shift.before) > 0.3
        assert str(shift).startswith(f"the dependence of {shift.first} and y changed from ")
    after = [row._replace(values=(*row.values[:2], row.values[0])) for row in rows(1)]
    assert shift_of(rows(0), after)[:2] == ("x0", "x2")
    many = shift_of(rows(0, n_columns=24), rows(1, flipped=True, n_columns=24), n_shuffles=19)
    assert (many.first in {"x0", "x1"}, many.second) == (True, "y")


def test_shuffling_that_stops_early_finds_the_same(monkeypatch):
    asked = [
        (rows(seed, n_rows), rows(50 + seed, n_rows, flipped=seed < 3))
        for seed, n_rows in enumerate((40, 80, 200, 200))  # some shifts are hard to find
    ]
    quick = [shift_of(*one) for one in asked]
    monkeypatch.setattr(drift, "_CERTAIN", np.inf)
    assert [shift_of(*one) for one in asked] == quick
