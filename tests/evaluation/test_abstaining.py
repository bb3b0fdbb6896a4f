"""Risk against coverage, and the limit for a wanted error, against counting it out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from solah.evaluation import minimum_limit, risk_coverage
from solah.evaluation.abstention import N_TRIED, confidences, upper_bounds
from solah.exceptions import DataError, ParameterError
from solah.model import Target


def drawn(seed, n_rows, n_classes):
    """Draw beliefs, some of them equal, and what is true with as much probability."""
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.full(n_classes, 0.7), n_rows).round(2) + 1e-3
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(n_classes, p=row) for row in beliefs])
    return truth, beliefs


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    thresholds=st.sampled_from([(), (0.2, 0.3, 0.5)]),
)
def test_the_curve_counts_rows_at_each_limit(seed, n_rows, thresholds):
    truth, beliefs = drawn(seed, n_rows, 3)
    places = Target("y", ("a", "b", "c"), thresholds=thresholds).decide(beliefs)
    curve = risk_coverage(truth, beliefs, places, thresholds)
    confidence = confidences(beliefs, places, thresholds)
    assert (np.diff(curve.limits) < 0).all()
    assert (np.diff(curve.coverage) > 0).all()
    assert curve.coverage[-1] == 1
    for place, limit in enumerate(curve.limits):
        is_decided = confidence >= limit
        assert curve.coverage[place] == is_decided.mean()
        assert curve.risk[place] == (places != truth)[is_decided].mean()
        assert curve.at(limit) == (curve.coverage[place], curve.risk[place])
    assert curve.at(99.0) == (0.0, None)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 60), wanted=st.floats(0.01, 0.6))
def test_no_lesser_limit_has_the_wanted_error(seed, n_rows, wanted):
    truth, beliefs = drawn(seed, n_rows, 2)
    curve = risk_coverage(truth, beliefs)
    confidence, wrong = beliefs.max(axis=1), beliefs.argmax(axis=1) != truth
    risks = {one: wrong[confidence >= one].mean() for one in confidence}
    good = [one for one, risk in risks.items() if risk <= wanted]
    if not good:
        with pytest.raises(ParameterError, match="no limit keeps the error"):
            minimum_limit(curve, wanted, confidence=None)
        return
    found = minimum_limit(curve, wanted, confidence=None)
    is_decided = confidence >= found.limit
    assert set(confidence[is_decided]) == {one for one in confidence if one >= min(good)}
    assert found.coverage == is_decided.mean()
    assert found.risk == found.bound == wrong[is_decided].mean()


def test_so_few_errors_are_rare_at_the_bound():
    truth, beliefs = drawn(1, 200, 2)
    curve = risk_coverage(truth, beliefs)
    bounds = upper_bounds(curve.n_wrong, curve.n_decided, 0.95)
    inner = curve.n_wrong < curve.n_decided
    tails = binom.cdf(curve.n_wrong, curve.n_decided, bounds)
    assert tails[inner] == pytest.approx(0.05 / N_TRIED)
    assert (bounds[~inner] == 1).all()


def test_the_promise_is_kept_in_most_draws():
    """Of models whose beliefs lie, at most one in twenty may break what was promised."""
    rng = np.random.default_rng(0)
    n_broken = n_found = 0
    for _ in range(200):
        beliefs = rng.uniform(0.5, 1.0, 600)
        errors = (1 - beliefs) ** 0.7 / 2  # not what beliefs say
        wrong = rng.random(600) < errors
        both = np.column_stack([1 - beliefs, beliefs])
        try:
            found = minimum_limit(risk_coverage((~wrong).astype(int), both), 0.15)
        except ParameterError:
            continue
        many = np.linspace(max(found.limit, 0.5), 1.0, 10_001)
        n_found += 1
        n_broken += ((1 - many) ** 0.7 / 2).mean() > 0.15
    assert n_found > 150
    assert n_broken <= 0.05 * n_found


def test_what_cannot_be_is_refused():
    curve = risk_coverage(np.zeros(20, dtype=int), np.tile([0.9, 0.1], (20, 1)))
    for wanted in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ParameterError, match="'max_error' must be above 0 and below 1"):
            minimum_limit(curve, wanted)
    with pytest.raises(ParameterError, match="'confidence' must be above 0"):
        minimum_limit(curve, 0.1, confidence=95)
    with pytest.raises(ParameterError, match=r"the minimum for 20 rows is 0\.2"):
        minimum_limit(curve, 0.01)
    with pytest.raises(DataError, match="nothing to measure"):
        risk_coverage(np.empty(0, dtype=int), np.empty((0, 2)))
