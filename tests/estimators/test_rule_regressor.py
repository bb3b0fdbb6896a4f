"""The estimator of numbers whose rules add up."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solah import RuleRegressor
from solah.estimators.base import LinguisticEstimator
from solah.labels.drawing import Limits
from solah.model.format import to_json

FAST = {"interactions": 1, "max_rules": 20}


def fitted(X, y, weights=None, **parameters):
    return RuleRegressor(**FAST | parameters).fit(X, y, sample_weight=weights)


def document(X, y, weights=None, **parameters):
    return to_json(fitted(X, y, weights, **parameters).model_)


def mixed(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "heat": rng.normal(20, 5, n_rows),
            "load": np.where(rng.random(n_rows) < 0.1, np.nan, rng.random(n_rows)),
            "grade": rng.integers(0, 4, n_rows),
            "Farbe": rng.choice(["rot", "grün", "日"], n_rows),
        }
    )
    y = 3 * X["heat"] + 10 * X["load"].fillna(0.5) * (X["Farbe"] == "rot") + X["grade"]
    return X, (y + rng.normal(size=n_rows)).to_numpy()


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1), st.integers(30, 150), st.integers(1, 30), st.sampled_from([None, 2])
)
def test_there_are_never_more_rules_or_features_than_asked_for(
    seed, n_rows, max_rules, max_features
):
    X, y = mixed(seed, n_rows)
    model = fitted(X, y, max_rules=max_rules, max_features=max_features)
    assert model.n_rules_ <= max_rules
    assert len(model.hierarchy_.features) <= (max_features or 4)
    assert np.isfinite(model.predict(X)).all()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.permutations(["heat", "load", "grade", "Farbe"]))
def test_neither_the_order_of_rows_nor_of_columns_leaves_a_trace(seed, names):
    X, y = mixed(seed, 100)
    order = np.random.default_rng(seed).permutation(100)
    here = document(X, y)
    assert document(X.iloc[order], y[order]) == here

    def sorted_features(text):
        found = json.loads(text)
        found["features"].sort(key=lambda one: one["name"])
        return found

    assert sorted_features(document(X[names], y)) == sorted_features(here)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_is_two_rows(seed):
    X, y = mixed(seed, 80)
    weights = np.random.default_rng(seed).integers(1, 3, 80)
    rows = np.repeat(np.arange(80), weights)
    assert document(X, y, weights) == document(X.iloc[rows], y[rows])


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1.0, 1e9]))
def test_nothing_known_gives_the_mean_and_rules_add_up(seed, unit):
    X, y = mixed(seed, 120)
    y = y * unit
    model = fitted(X, y)
    nothing = pd.DataFrame({name: [None] for name in X})
    if all(term.missing is None for term in model.model_.terms):
        assert model.predict(nothing) == pytest.approx([y.mean()], rel=1e-9)
    known = X.assign(load=X["load"].fillna(0.5))
    assert model.model_.root.baseline[0] == pytest.approx(y.mean())
    # Estimates are 0 from the mean on average, as what rules add is.
    without_gaps = model.predict(X[X["load"].notna()])
    assert abs(model.predict(known).mean() - y.mean()) < 0.3 * y.std()
    assert np.isfinite(without_gaps).all()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_mean_of_a_rule_is_that_of_its_rows(seed):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "blue", "green"], 150)
    y = np.where(colour == "red", 5.0, -1.0) + rng.normal(size=150)
    X = pd.DataFrame({"colour": colour})
    X.loc[:9, "colour"] = None
    model = fitted(X, y, max_rules=None)
    (term,) = model.model_.terms
    (one,) = term.inputs
    for place, state in enumerate(one.feature.categories):
        rows = (X["colour"] == state).to_numpy()
        assert term.counts[place] == pytest.approx(rows.sum())
        assert term.shares[place, 0] == pytest.approx(y[rows].mean())


def test_what_is_hardly_there():
    one = RuleRegressor
    assert one().fit([[1.5, 2.5]], [3.0]).predict([[1, 1]]) == [3.0]
    assert one().fit([[1.5]] * 4, [1.0, 2.0, 3.0, 4.0]).predict([[7.0]]) == [2.5]
    X = np.full((5, 2), np.nan)
    assert one().fit(X, np.arange(5.0)).predict(X[:1]) == pytest.approx([2.0])
    assert one().fit([[1.5], [2.5], [9.5]], [4.0, 4.0, 4.0]).predict([[2.0]]) == [4.0]
    for n_rows in (2, 3, 5):
        X = np.arange(2.0 * n_rows).reshape(n_rows, 2) ** 1.5
        assert np.isfinite(one().fit(X, np.arange(n_rows)).predict(X)).all()


def test_all_rows_count_where_a_sample_settles_the_rules(monkeypatch):
    X, y = mixed(0, 600)
    monkeypatch.setattr(LinguisticEstimator, "_limits", Limits(many_rows=200))
    model = fitted(X, y, interactions=0)
    for term in model.model_.terms:
        known = X[term.inputs[0].name].notna().sum()
        assert term.counts.sum() == pytest.approx(known)
    assert model.model_.root.baseline[0] == pytest.approx(y.mean())
    assert model.score(X, y) > 0.8
    order = np.random.default_rng(0).permutation(600)
    assert document(X.iloc[order], y[order], interactions=0) == to_json(model.model_)
