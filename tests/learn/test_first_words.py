"""The words that features begin with, and where the target changes."""

from itertools import pairwise

import numpy as np
import pandas as pd
from additive_cases import cases, sample_of
from hypothesis import given, settings
from hypothesis import strategies as st

from solah.learn.recipe import WORD_KINDS, BoostingSettings, WordSettings
from solah.learn.vocabulary import _apart, place_words, split_gains


def first_words(sample, kind="auto", **more):
    gains = split_gains(sample, BoostingSettings()) if kind in ("auto", "supervised") else None
    every = np.arange(len(sample.features))
    return place_words(sample, WordSettings(kind=kind, **more), gains, every)


@settings(max_examples=25)
@given(cases(), st.sampled_from(WORD_KINDS), st.integers(0, 2**32 - 1))
def test_memberships_sum_to_one_wherever_a_reading_is(case, kind, seed):
    sample = sample_of(*case)
    rng = np.random.default_rng(seed)
    for one in first_words(sample, kind):
        readings = sample.readings[:, one.place]
        if one.feature.is_continuous:
            low, high = np.nanmin(readings), np.nanmax(readings)
            beyond = rng.uniform(2 * low - high, 2 * high - low, 50)
            readings = np.concatenate([readings, beyond, [-1e300, 1e300]])
        masses = one.memberships(readings)
        known = ~np.isnan(readings)
        assert masses.shape == (len(readings), one.size)
        assert np.isnan(masses[~known]).all()
        assert (masses[known] >= 0).all()
        np.testing.assert_allclose(masses[known].sum(axis=1), 1.0, atol=1e-12)
        assert ((masses[known] > 0).sum(axis=1) <= 2).all()


@settings(max_examples=25)
@given(cases())
def test_knots_increase_and_what_never_changes_has_none(case):
    sample = sample_of(*case)
    found = {one.feature.name: one for one in first_words(sample)}
    for column, feature in zip(sample.readings.T, sample.features, strict=True):
        n_values = len(np.unique(column[~np.isnan(column)]))
        assert (feature.name in found) == (n_values > 1)
    for one in found.values():
        assert (np.diff(one.knots) > 0).all()
        assert all(at + 1 < len(one.knots) for at, _ in one.cuts)


def cuts_of(X, y, place=0, **more):
    sample = sample_of(X, y)
    gains = split_gains(sample, BoostingSettings())
    numbers = np.sort(sample.readings[:, place])
    return gains.cuts(place, numbers[~np.isnan(numbers)], WordSettings(**more), ramp=0.02)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 0.8), st.sampled_from([1e-6, 1.0, 1e9]))
def test_a_cut_stands_at_a_true_threshold(seed, share, unit):
    rng = np.random.default_rng(seed)
    x = rng.random(600) * unit
    y = np.where((x > share * unit) ^ (rng.random(600) < 0.05), "hot", "cold")
    X = pd.DataFrame({"x": x, "noise": rng.random(600)})
    # The features of a sample stand by name.
    best = max(cuts_of(X, y, place=1), key=lambda cut: cut.gain)
    assert best.low < best.high
    assert abs((best.low + best.high) / 2 - share * unit) < 0.03 * unit


@settings(max_examples=25)
@given(cases(kinds=("number", "gaps", "coarse", "heavy", "text"), min_rows=60), st.randoms())
def test_neither_cuts_nor_knots_depend_on_the_order_of_rows(case, random):
    X, y = case
    order = random.sample(range(len(y)), len(y))
    here, there = (first_words(sample_of(*rows)) for rows in ((X, y), (X.iloc[order], y[order])))
    assert [one.cuts for one in here] == [one.cuts for one in there]
    for one, other in zip(here, there, strict=True):
        assert one.feature == other.feature
        np.testing.assert_array_equal(one.knots, other.knots)


def test_ramps_do_not_overlap():
    x = np.random.default_rng(0).random(3_000)
    y = np.floor(x * 5).astype(int) % 2
    found = cuts_of(pd.DataFrame({"x": x}), y, window=0.01)
    assert len(found) == 4
    assert all(one.high <= other.low for one, other in pairwise(found))


def test_knots_that_differ_by_a_rounding_are_one():
    """Weights would otherwise jump between two spellings of one reading."""
    knots = np.array([25.06, 26.189999999999998, 26.19, 26.25])
    np.testing.assert_array_equal(_apart(knots), knots[[0, 1, 3]])
