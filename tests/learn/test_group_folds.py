"""Folds of groups: no group lies on both sides, whatever order its rows come in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solah.data.digests import mix
from solah.learn.sample import group_folds


def digests_of(places):
    return mix(np.asarray(places, dtype=np.uint64))


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(2, 7))
def test_groups_stay_whole_and_folds_are_even(seed, n_groups, n_folds):
    rng = np.random.default_rng(seed)
    places = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, 60)])
    codes, weights = rng.integers(0, 3, len(places)), rng.integers(1, 9, len(places))
    folds = group_folds(digests_of(places), codes, weights, n_folds)
    fold_of = {place: set(folds[places == place].tolist()) for place in range(n_groups)}
    assert all(len(found) == 1 for found in fold_of.values())
    sizes = np.bincount([found.pop() for found in fold_of.values()], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    order = rng.permutation(len(places))
    again = group_folds(digests_of(places)[order], codes[order], weights[order], n_folds)
    np.testing.assert_array_equal(again, folds[order])


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_classes_are_spread_where_each_group_has_one(seed, n_folds):
    rng = np.random.default_rng(seed)
    places = np.repeat(rng.permutation(8 * n_folds), 3)
    codes = places % 2
    folds = group_folds(digests_of(places), codes, np.ones(len(places)), n_folds)
    for fold in range(n_folds):
        assert np.bincount(codes[folds == fold]).tolist() == [12, 12]
