"""What readings added sums up, and is the Shapley value of game theory."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_wine

from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    random_model,
    random_number_model,
    random_rows,
)
from solah import LinguisticTreeRegressor, RuleClassifier
from solah.data import from_frame
from solah.explain import feature_rows
from solah.explain.contributions import Attributor
from solah.explain.traversal import TracedRows
from solah.model.evaluate import run


def featured(model, rows):
    return Attributor(model.program).of_rows(TracedRows(model.program, rows))


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 4))
def test_what_readings_added_sums_up(shape, seed, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    rows = random_rows(rng, model, 20)
    found = featured(model, rows)
    assert found.start + found.effects.sum(axis=1) == pytest.approx(found.outputs, abs=1e-9)
    silent = np.isnan(rows) & [not has_missing_rule(model, one) for one in model.features]
    rounding = 0.0 if shape in SHAPES[:3] else 1e-12
    added = np.abs(found.effects[silent]).max(initial=0.0)
    assert added <= rounding, "an unknown reading adds nothing"
    belief = run(model.program, rows)
    np.testing.assert_array_equal(found.outputs, belief)


def has_missing_rule(model, feature):
    return any(term.missing and feature.name in term.features for term in model.terms)


@pytest.mark.parametrize("link", ["identity", "log"])
@given(seed=st.integers(0, 2**32 - 1))
def test_what_readings_added_to_a_number_sums_up(link, seed):
    rng = np.random.default_rng(seed)
    model = random_number_model(rng, link=link)
    found = featured(model, random_rows(rng, model, 10, missing=0.3))
    near = {"rel": 1e-9, "abs": 1e-9}
    assert found.start + found.effects.sum(axis=1) == pytest.approx(found.outputs, **near)
    if link == "log":
        scores = np.log(found.start) + found.scores.sum(axis=1)
        assert scores == pytest.approx(np.log(found.outputs), abs=1e-9)


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@given(seed=st.integers(0, 2**32 - 1))
def test_evidence_sums_up_to_the_log_odds(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 3)
    found = featured(model, random_rows(rng, model, 10))
    odds = np.log(found.outputs) - np.log(found.outputs).mean(axis=1, keepdims=True)
    before = np.log(found.start) - np.log(found.start).mean()
    assert before + found.scores.sum(axis=1) == pytest.approx(odds, abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_in_a_tree_it_is_the_shapley_value(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "tree", 3)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    players = range(len(row))

    def worth(coalition):
        known = np.where(np.isin(players, list(coalition)), row, np.nan)
        return run(model.program, known[None, :])[0]

    n = len(row)
    for player in players:
        others = [one for one in players if one != player]
        value = sum(
            factorial(size)
            * factorial(n - size - 1)
            / factorial(n)
            * (worth({*coalition, player}) - worth(coalition))
            for size in range(n)
            for coalition in combinations(others, size)
        )
        effects = featured(model, row[None, :]).effects[0, player]
        assert effects == pytest.approx(value, abs=1e-12)


def test_a_regressor_is_featured_too():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = LinguisticTreeRegressor(max_depth=3).fit(X, y)
    found = feature_rows(tree.model_, from_frame(X))
    centres = np.array(tree.model_.target.centres)
    numbers = (found.start + found.effects.sum(axis=1)) @ centres
    assert numbers == pytest.approx(tree.predict(X), abs=1e-9)
    assert found.scores is None


def test_many_rows_go_through_in_blocks(monkeypatch):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=20).fit(X, y).model_
    at_once = feature_rows(model, from_frame(X))
    monkeypatch.setattr("solah.explain.traversal._BLOCK_NUMBERS", 1)
    in_blocks = feature_rows(model, from_frame(X))
    assert in_blocks.effects == pytest.approx(at_once.effects, abs=1e-15)
    assert in_blocks.effects.shape == (178, len(model.features), 3)
