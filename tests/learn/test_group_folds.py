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


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_a_class_of_two_groups_can_be_learned_without_each_fold(seed, n_folds):
    rng = np.random.default_rng(seed)
    n_groups = n_folds + int(rng.integers(1, 20))
    places = np.repeat(rng.permutation(n_groups), 3)
    codes = (places < 2).astype(int)
    folds = group_folds(digests_of(places), codes, np.ones(len(places)), n_folds)
    assert len(np.unique(folds[codes == 1])) == 2


def test_classes_are_not_evened_out():
    """Even folds would hold out what was learned, and flatter a model that knows nothing."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):
        codes = rng.integers(0, 2, 50)
        folds = group_folds(digests_of(rng.integers(0, 2**32, 50)), codes, np.ones(50), 5)
        shares.append([codes[folds == fold].mean() for fold in range(5)])
    # Ten tosses of a coin have a variance of a fortieth, of which a tenth less within a sample.
    assert np.var(shares) > 0.9 / 40
