"""Change detectors: false alarms, delay, and what must always hold."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import DataError, ParameterError
from solah.stream import AdaptiveWindow, PageHinkley
from solah.stream.drift import make_detector

BITS = st.lists(st.integers(0, 1).map(float), max_size=400)
SHARES = st.lists(st.floats(0, 1, allow_nan=False), max_size=400)


def errors(seed, *parts):
    """Draw errors: so many with each rate."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(n) < rate for n, rate in parts]).astype(float).tolist()


def alarms(detector, values):
    return [n for n, value in enumerate(values, start=1) if detector.update(value)]


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_false_alarms_of_the_window_stay_within_its_bound(rate):
    n_rows, n_streams = 3_000, 40
    found = [alarms(AdaptiveWindow(), errors(seed, (n_rows, rate))) for seed in range(n_streams)]
    n_looks = n_rows // AdaptiveWindow().check_every
    assert sum(map(len, found)) <= 0.002 * n_looks * n_streams


def test_false_alarms_of_page_hinkley_are_rare():
    found = [alarms(PageHinkley(), errors(seed, (3_000, 0.1))) for seed in range(40)]
    assert sum(map(bool, found)) <= 2


@pytest.mark.parametrize(("make", "median"), [(AdaptiveWindow, 200), (PageHinkley, 280)])
def test_a_step_of_the_error_is_told_soon(make, median):
    delays = []
    for seed in range(30):
        detector = make()
        assert not alarms(detector, errors(seed, (1_000, 0.1)))
        delays.append(alarms(detector, errors(1_000 + seed, (1_000, 0.3)))[0])
    assert np.median(delays) <= median


def test_the_change_is_found_about_where_it_was():
    found = []
    for seed in range(30):
        detector = AdaptiveWindow()
        values = errors(seed, (2_000, 0.1), (1_000, 0.5))
        (told, *_) = alarms_until_first(detector, values)
        found.append(told - detector.n_recent)
    assert abs(np.median(found) - 2_000) <= 40


def alarms_until_first(detector, values):
    for n, value in enumerate(values, start=1):
        if detector.update(value):
            return [n]
    return []


def test_page_hinkley_finds_where_the_rise_began():
    detector = PageHinkley()
    (told,) = alarms_until_first(detector, [0.0] * 500 + [1.0] * 200)
    assert told - detector.n_recent == 500


def test_falls_are_no_drift_where_only_rises_are():
    falling = errors(0, (1_000, 0.6), (1_000, 0.1))
    assert alarms(AdaptiveWindow(), falling)
    only_rises = AdaptiveWindow(only_rises=True)
    assert not alarms(only_rises, falling)
    assert only_rises.n_kept < 1_500
    assert not alarms(PageHinkley(), falling)


def test_page_hinkley_waits_for_its_first_rows():
    assert alarms(PageHinkley(threshold=0.1, min_rows=1), [0.0, 1.0]) == [2]
    assert alarms(PageHinkley(threshold=0.1, min_rows=3), [0.0, 1.0]) == []


@given(SHARES)
def test_the_window_knows_the_mean_and_the_spread_of_what_it_holds(values):
    window = AdaptiveWindow(check_every=1)
    for value in values:
        window.update(value)
    held = values[len(values) - window.n_kept :]
    assert window.mean == pytest.approx(np.mean(held) if held else 0.0, abs=1e-9)
    assert window.variance == pytest.approx(np.var(held) if held else 0.0, abs=1e-9)


@given(BITS)
def test_the_window_holds_what_came_last(values):
    window = AdaptiveWindow(check_every=1)
    for n, value in enumerate(values, start=1):
        window.update(value)
        assert min(n, 1) <= window.n_kept <= n


@pytest.mark.parametrize("n_rows", [100, 1_000, 20_000])
def test_memory_grows_with_the_logarithm(n_rows):
    window = AdaptiveWindow()
    for value in errors(3, (n_rows, 0.2)):
        window.update(value)
    assert window.n_kept == n_rows
    assert sum(map(len, window.state()["buckets"])) <= 6 * (math.log2(n_rows) + 1)


@pytest.mark.parametrize("name", ["adwin", "page-hinkley"])
@given(before=BITS, after=BITS)
def test_a_reset_detector_is_a_new_one(name, before, after):
    used, fresh = make_detector(name), make_detector(name)
    alarms(used, before)
    used.reset()
    assert used.state() == fresh.state()
    assert alarms(used, after) == alarms(fresh, after)
    assert used.state() == fresh.state()


@pytest.mark.parametrize("name", ["adwin", "page-hinkley"])
@given(before=SHARES, after=SHARES)
def test_a_detector_goes_on_where_it_was_saved(name, before, after):
    one, other = make_detector(name), make_detector(name)
    alarms(one, before)
    other.restore(json.loads(json.dumps(one.state())))
    assert alarms(one, after) == alarms(other, after)
    assert (one.state(), one.n_recent) == (other.state(), other.n_recent)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, -0.1])
def test_the_window_refuses_what_is_no_share(value):
    window = AdaptiveWindow()
    with pytest.raises(DataError, match="Got"):
        window.update(value)
    assert window.n_kept == 0


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="'delta' must be above 0"):
        AdaptiveWindow(0.0)
    with pytest.raises(ParameterError, match="'check_every'"):
        AdaptiveWindow(check_every=0)
    with pytest.raises(ParameterError, match="'threshold'"):
        PageHinkley(threshold=0)
    with pytest.raises(ParameterError, match="'delta'"):
        PageHinkley(delta=-1)
    with pytest.raises(ParameterError, match="'min_rows'"):
        PageHinkley(min_rows=0)
    with pytest.raises(ParameterError, match="no detector 'adwni'; did you mean 'adwin'"):
        make_detector("adwni")
