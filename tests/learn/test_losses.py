"""The losses of numbers: their slopes and constants, and scikit-learn's metrics as oracles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from solah.exceptions import DataError
from solah.learn.losses import LOSS_NAMES, loss_of
from solah.learn.objective import NumberObjective

SEEDS = st.integers(0, 2**32 - 1)
ORACLES = {
    "squared_error": metrics.root_mean_squared_error,
    "absolute_error": metrics.mean_absolute_error,
    "quantile": lambda y, p, sample_weight: metrics.mean_pinball_loss(
        y, p, alpha=0.8, sample_weight=sample_weight
    ),
    "poisson": metrics.mean_poisson_deviance,
    "gamma": metrics.mean_gamma_deviance,
}
EXPLAINED = {
    "squared_error": metrics.d2_tweedie_score,
    "absolute_error": metrics.d2_absolute_error_score,
    "poisson": lambda *args, **named: metrics.d2_tweedie_score(*args, power=1, **named),
    "gamma": lambda *args, **named: metrics.d2_tweedie_score(*args, power=2, **named),
}


def drawn(seed, name, n_rows=40):
    rng = np.random.default_rng(seed)
    numbers = rng.poisson(2.0, n_rows) * 1.0 if name == "poisson" else rng.gamma(2.0, 3.0, n_rows)
    numbers[0] = max(numbers[0], 1.0)
    weights = rng.integers(1, 4, n_rows).astype(float)
    return rng, numbers, weights, loss_of(name, 0.8 if name == "quantile" else None)


@pytest.mark.parametrize("name", LOSS_NAMES)
@given(seed=SEEDS)
def test_slopes_are_those_of_the_fitted_values(name, seed):
    rng, numbers, _, loss = drawn(seed, name)
    scores, step = rng.normal(size=len(numbers)), 1e-6
    ends = [loss.fitted_values(numbers, scores + way) for way in (step, -step)]
    slope, bend = loss.slopes(numbers, scores)
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * step), slope, rtol=1e-4, atol=1e-4)
    assert (bend > 0).all()


@given(seed=SEEDS)
def test_the_paraboloids_of_a_quantile_are_nowhere_below_it(seed):
    rng, numbers, _, loss = drawn(seed, "quantile")
    scores, others = rng.normal(2.0, 3.0, (2, len(numbers)))
    slope, bend = loss.slopes(numbers, scores)
    way = others - scores
    bound = loss.fitted_values(numbers, scores) + slope * way + bend * way**2 / 2
    assert (bound >= loss.fitted_values(numbers, others) - 1e-9).all()
    rounding = loss.fitted_values(numbers, others) - loss.values(numbers, others)
    assert (rounding >= -1e-12).all()
    assert rounding.max() < 0.02


@pytest.mark.parametrize("name", LOSS_NAMES)
@given(seed=SEEDS)
def test_the_start_is_the_best_constant_beside_an_offset(name, seed):
    rng, numbers, weights, loss = drawn(seed, name)
    offset = rng.normal(0.0, 0.5, len(numbers))
    start = loss.start(numbers, weights, offset)
    best = weights @ loss.values(numbers, start + offset)
    for other in start + np.array([-0.3, -1e-3, 1e-3, 0.3]):
        assert weights @ loss.values(numbers, other + offset) >= best - 1e-9


@pytest.mark.parametrize("name", LOSS_NAMES)
@given(seed=SEEDS)
def test_metrics_are_those_of_scikit_learn(name, seed):
    rng, numbers, weights, loss = drawn(seed, name)
    objective = NumberObjective.of(numbers, weights, loss)
    totals = rng.normal(0.0, 0.5, (len(numbers), 1))
    predicted = objective.predict(totals)
    losses, hits = objective.losses(totals), objective.hits(totals)
    found = objective.metrics(np.average(losses, weights=weights), 0.0, 0.0)
    expected = ORACLES[name](numbers, predicted, sample_weight=weights)
    assert found["loss"] == pytest.approx(expected)
    if name in EXPLAINED:
        oracle = EXPLAINED[name](numbers, predicted, sample_weight=weights)
        assert np.average(hits, weights=weights) == pytest.approx(oracle, abs=0.05)


@pytest.mark.parametrize(
    ("name", "numbers"), [("poisson", [1.0, -1.0]), ("poisson", [0.0, 0.0]), ("gamma", [0.0, 2.0])]
)
def test_numbers_that_a_loss_does_not_take_are_refused(name, numbers):
    with pytest.raises(DataError, match=f"with loss='{name}', the target must be .*; got"):
        loss_of(name).scale(np.array(numbers), np.ones(2))
