"""An observation is trained on or tested on, whatever it weighs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data.digests import mix
from solah.learn.objective import ClassObjective
from solah.learn.sample import OFTEN, Sample, mean_and_error


def make_sample(seed, n_rows, *, spread=1.0, groups=False, rare=0.5):
    rng = np.random.default_rng(seed)
    digests = mix(rng.integers(0, 2**62, n_rows).astype(np.uint64))
    counts = rng.integers(1, 3 * OFTEN, n_rows)
    codes = (rng.random(n_rows) < rare).astype(np.intp)
    return Sample(
        features=(),
        readings=np.arange(n_rows, dtype=float)[:, None],
        objective=ClassObjective(codes, 2),
        weights=rng.lognormal(0.0, spread, n_rows),
        pieces=np.where(counts >= OFTEN, counts, 1),
        digests=digests,
        row_weight=1.0,
        groups=mix(rng.integers(0, 7, n_rows).astype(np.uint64)) if groups else None,
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 80), st.integers(2, 5), st.booleans())
def test_no_observation_is_on_both_sides(seed, n_rows, n_folds, groups):
    sample = make_sample(seed, n_rows, groups=groups)
    tested = np.zeros(n_rows, dtype=np.int64)
    for fold in sample.folds(n_folds):
        trained = np.zeros(n_rows, dtype=np.int64)
        rows = fold.learned.readings[:, 0].astype(int), fold.tested.readings[:, 0].astype(int)
        trained[rows[0]] = fold.learned.pieces
        held_out = np.zeros(n_rows, dtype=np.int64)
        held_out[rows[1]] = fold.tested.pieces
        np.testing.assert_array_equal(trained + held_out, sample.pieces)
        assert not ((trained > 0) & (held_out > 0) & (sample.pieces == 1)).any()
        whole = fold.learned.weights.sum() + fold.tested.weights.sum()
        assert whole == pytest.approx(sample.weights.sum())
        if groups:
            assert not set(fold.learned.groups) & set(fold.tested.groups)
        tested += held_out
    assert (tested <= sample.pieces).all()


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 100.0))
def test_weights_do_not_move_rows_between_folds(seed, factor):
    sample = make_sample(seed, 60)
    other = make_sample(seed, 60, spread=0.0)
    other.weights[:] *= factor
    for one, two in zip(sample.folds(4), other.folds(4), strict=True):
        np.testing.assert_array_equal(one.tested.readings, two.tested.readings)
        np.testing.assert_array_equal(one.tested.pieces, two.tested.pieces)


def test_rows_that_occur_often_are_dealt_as_if_at_random():
    sample = make_sample(0, 20_000)
    often = np.flatnonzero(sample.pieces > 1)
    pieces = sample.pieces[often]
    for fold in sample.folds(3):
        assert np.isin(often, fold.learned.readings[:, 0]).all()
        tested = np.zeros(sample.n_rows)
        tested[fold.tested.readings[:, 0].astype(int)] = fold.tested.pieces
        off = (tested[often] - pieces / 3) / np.sqrt(pieces * 2 / 9)
        assert abs(off.mean()) < 4 / np.sqrt(len(often))
        assert off.std() == pytest.approx(1, abs=0.03)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.6))
def test_fewer_rows_keep_the_shares_of_classes(seed, rare):
    sample = make_sample(seed, 3_000, spread=0.0, rare=rare)
    fewer = sample.first(400)
    assert 400 <= fewer.n_rows <= 500
    assert fewer.is_part
    n_rare = int((sample.objective.codes == 1).sum())
    assert (fewer.objective.codes == 1).sum() >= min(n_rare, 50)
    if fewer.n_rows > 400:  # rare rows were added, and weigh as much as they should
        share = fewer.weights[fewer.objective.codes == 1].sum() / fewer.weights.sum()
        assert share == pytest.approx(n_rare / 3_000)


@given(st.integers(0, 2**32 - 1))
def test_the_error_of_a_mean_knows_weights_and_groups(seed):
    rng = np.random.default_rng(seed)
    values, ones = rng.normal(size=500), np.ones(500, dtype=np.int64)
    mean, error = mean_and_error(values, np.ones(500), ones)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std() / np.sqrt(500))
    assert mean_and_error(values, np.full(500, 7.0), ones) == pytest.approx((mean, error))
    one_group = np.repeat(np.arange(250, dtype=np.uint64), 2)
    _, of_pairs = mean_and_error(values.repeat(2)[:500], np.ones(500), ones, one_group)
    assert of_pairs == pytest.approx(values[:250].std(ddof=1) / np.sqrt(250), rel=1e-6)
