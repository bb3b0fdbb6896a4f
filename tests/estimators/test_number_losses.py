"""Counts, amounts, medians and quantiles, and intervals that hold what they say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from solah import RuleRegressor, load_model
from solah.exceptions import DataError, ParameterError
from solah.model.predictor import Predictor
from solah.model.provenance import Intervals

N_ROWS = 1_000


def drawn(name, seed=0, n_rows=2 * N_ROWS):
    """Draw numbers with a known mean, median or quantile: two readings and a category."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "speed": rng.uniform(0, 1, n_rows),
            "load": rng.normal(size=n_rows),
            "site": rng.choice(["a", "b"], n_rows),
        }
    )
    score = 1.5 * X["speed"] + 0.4 * X["load"] - 0.6 * (X["site"] == "b")
    noise = {
        "squared_error": lambda: score + rng.normal(0, 0.5, n_rows),
        "absolute_error": lambda: score + rng.standard_t(1.5, n_rows) * 0.3,
        "quantile": lambda: score + rng.normal(0, 0.5, n_rows),
        "poisson": lambda: rng.poisson(np.exp(score)),
        "gamma": lambda: rng.gamma(3.0, np.exp(score) / 3.0),
    }
    y = np.asarray(noise[name](), dtype=float)
    truth = np.exp(score) if name in ("poisson", "gamma") else score
    return X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:], truth[N_ROWS:].to_numpy()


def fitted(name, X, y, **parameters):
    quantile = 0.9 if name == "quantile" else None
    return RuleRegressor(loss=name, quantile=quantile, interactions=0, **parameters).fit(X, y)


@pytest.mark.parametrize("name", ["absolute_error", "poisson", "gamma"])
def test_a_loss_finds_the_truth_better_than_squares_do(name):
    X, y, others, _, truth = drawn(name)
    errors = [
        np.abs(fitted(one, X, y).predict(others) - truth).mean() for one in (name, "squared_error")
    ]
    assert errors[0] < 0.8 * errors[1]
    assert errors[0] < 0.2 * truth.std()


def test_a_quantile_is_above_as_many_rows_as_it_says():
    X, y, others, later, _ = drawn("quantile")
    for quantile in (0.1, 0.5, 0.9):
        model = RuleRegressor(loss="quantile", quantile=quantile, interactions=0).fit(X, y)
        assert (later <= model.predict(others)).mean() == pytest.approx(quantile, abs=0.04)
    assert model.path_[0].metrics == ("D²", "pinball loss")


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_a_logarithm_predicts_above_0_and_on_average_the_mean(name):
    X, y, *_ = drawn(name)
    model = fitted(name, X, y)
    assert model.model_.target.link == "log"
    assert (model.predict(X) > 0).all()
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.02)
    rules = model.rules()
    assert "log y +" in str(rules)
    assert str(rules.baseline).startswith("baseline: log y ")
    assert "logarithm of the estimate" in rules.to_markdown()
    explanation = model.explain(X[:1])[0]
    added = sum(one.effect for one in explanation.contributions)
    assert explanation.before + added == pytest.approx(explanation.after)
    assert explanation.after == pytest.approx(model.predict(X[:1])[0])
    errors = model.estimate_uncertainty(X, y).model_.uncertainty.errors
    assert 0 < max(error for term in errors for rule in term for error in rule) < 0.5


def test_rates_weighed_by_exposure_are_those_of_merged_rows():
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b", "c"], 3_000)
    exposure = rng.uniform(0.1, 1.0, 3_000)
    counts = rng.poisson(exposure * np.where(site == "a", 3.0, 0.5))
    X = pd.DataFrame({"site": site})
    model = RuleRegressor(loss="poisson", max_rules=None)
    model.fit(X, counts / exposure, sample_weight=exposure)
    for one in "abc":
        rows = site == one
        (found,) = model.predict(pd.DataFrame({"site": [one]}))
        assert found == pytest.approx(counts[rows].sum() / exposure[rows].sum(), rel=0.05)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["absolute_error", "poisson", "gamma"])
def test_the_unit_of_the_target_changes_nothing_else(name, unit):
    X, y, others, *_ = drawn(name)
    before = fitted(name, X, y)
    # Folds depend on the content of rows.
    after = clone(before).fit_selected(X, y * unit, before.selection_)
    np.testing.assert_allclose(after.predict(others), before.predict(others) * unit, rtol=1e-4)


def test_monotonic_features_and_fixed_rules_hold_for_counts():
    X, y, others, *_ = drawn("poisson")
    model = RuleRegressor(loss="poisson", monotonic_cst={"speed": -1}, interactions=0)
    model.fit(X, y, rules=["if site is a: +1"])
    grid = others.iloc[:1].loc[np.repeat(others.index[0], 20)].assign(speed=np.linspace(0, 1, 20))
    assert (np.diff(model.predict(grid)) <= 1e-12).all()
    sites = others.iloc[:2].assign(speed=0.5, load=0.0, site=["a", "b"])
    high, low = model.predict(sites)
    assert high / low == pytest.approx(np.e)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "huber"}, "The 'loss' parameter of RuleRegressor must be"),
        ({"loss": "quantile"}, "'quantile' is for loss='quantile', such as quantile=0.9; got None"),
        ({"quantile": 0.5}, "'quantile' is for loss='quantile'.*got 0.5 with loss='squared_error'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RuleRegressor(**parameters).fit([[1.0], [2.0]], [1.0, 2.0])


def test_negative_counts_are_refused():
    with pytest.raises(DataError, match="at least 0, and not all 0; got -1. Drop such rows"):
        RuleRegressor(loss="poisson").fit([[1.0], [2.0]], [-1.0, 2.0])


@pytest.mark.parametrize("quantile", [None, 0.8])
def test_a_number_that_is_far_off_hides_nothing(quantile):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(0, 0.3, 400)
    model = RuleRegressor(loss="quantile" if quantile else "absolute_error", quantile=quantile)
    expected = model.fit(X, y).predict(X)
    found = model.fit(X, np.append(1e9, y[1:])).predict(X)
    np.testing.assert_allclose(found, expected, atol=0.5)


# --- intervals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"]
)
def test_intervals_hold_as_many_rows_as_they_say(name, tmp_path):
    shares = {0.5: [], 0.9: []}
    for seed in range(4):
        X, y, others, later, _ = drawn(name, seed)
        model = fitted(name, X, y, max_rules=12)
        for coverage, found in shares.items():
            low, high = model.predict_interval(others, coverage).T
            assert (low <= high).all()
            found.append(((low <= later) & (later <= high)).mean())
    # Counts are often at an end of their interval, so that more rows are inside.
    slack = 0.12 if name == "poisson" else 0.03
    for coverage, found in shares.items():
        assert coverage - 0.03 < np.mean(found) < coverage + slack
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json").predict_interval(others)
    np.testing.assert_array_equal(loaded, model.predict_interval(others))


def test_many_rows_hold_out_one_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 3))
    y = X[:, 0] + rng.normal(0, 0.5, 6_000)
    model = RuleRegressor(interactions=0).fit(X[:5_000], y[:5_000])
    low, high = model.predict_interval(X[5_000:], 0.8).T
    assert ((low <= y[5_000:]) & (y[5_000:] <= high)).mean() == pytest.approx(0.8, abs=0.04)
    assert (high - low).mean() == pytest.approx(2 * 1.2816 * 0.5, rel=0.1)


def test_few_rows_give_no_high_coverage():
    model = RuleRegressor().fit(np.arange(30.0)[:, None], np.arange(30.0))
    with pytest.raises(ParameterError, match=r"'coverage' is at most 0.935 with 30 residuals"):
        model.predict_interval([[1.0]], 0.99)
    for wrong in (0.0, 1.0, -0.5):
        with pytest.raises(ParameterError, match="'coverage' must be above 0 and below 1; got"):
            model.predict_interval([[1.0]], wrong)


def test_an_edited_model_has_no_intervals():
    model = RuleRegressor().fit(np.arange(30.0)[:, None], np.arange(30.0))
    edited = model.edit().set("if x0 is low: +1").model
    with pytest.raises(ParameterError, match="no residuals of held-out rows.*an edit drops them"):
        Predictor(edited).predict_interval([[1.0]])


def test_weights_count_for_intervals():
    residuals = np.arange(400.0)
    plain = Intervals.of(residuals, np.zeros(400), np.ones(400), 0)
    doubled = Intervals.of(np.repeat(residuals, 2), np.zeros(800), np.ones(800), 0)
    weighed = Intervals.of(residuals, np.zeros(400), np.full(400, 2.0), 0)
    assert plain == weighed
    np.testing.assert_allclose(plain.residuals, doubled.residuals, atol=1.5)
    assert len(plain.residuals) == 199


def test_intervals_of_few_different_rows_count_each_of_them():
    """Rows of a table with few different values equal others; each is a residual of its own."""
    rng = np.random.default_rng(1)
    kinds = rng.choice(["u", "v"], 3_300)
    numbers = (kinds == "u") + np.where(rng.random(3_300) < 0.12, rng.integers(10, 20, 3_300), 0)
    X = pd.DataFrame({"kind": kinds})
    model = RuleRegressor().fit(X[:300], numbers[:300])
    low, high = model.predict_interval(X[300:], 0.7).T
    assert len(model.model_.intervals.residuals) > 100
    assert (high - low < 5).all()
    assert 0.7 <= np.mean((numbers[300:] >= low) & (numbers[300:] <= high)) < 0.95
