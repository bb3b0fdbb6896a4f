"""What an expert asks of the additive model before it is learned."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solah import (
    RuleClassifier,
    RuleRegressor,
)
from solah.exceptions import ColumnError, DataError, ModelFormatError, ParameterError
from solah.model.format import from_json, to_json

FAST = {"interactions": 3, "max_rules": 40}


def rows(seed, n_rows=200, n_classes=2):
    """Make rows of several kinds whose target goes up and down with most of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "heat": rng.normal(size=n_rows),
            "load": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
            "grade": rng.integers(0, 4, n_rows),
            "door": rng.integers(0, 2, n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
        }
    )
    turn = np.where(X["colour"] == "red", -1.0, 1.0)
    hidden = (
        np.sin(2 * X["heat"])
        + turn * X["heat"]
        + X["load"].fillna(0.0) * (X["door"] - 0.5)
        + (X["grade"] % 2)
        + 0.3 * rng.normal(size=n_rows)
    )
    codes = np.argsort(np.argsort(hidden)) * n_classes // n_rows
    return X, hidden, np.array(["one", "two", "three"])[codes]


def pairs_of_rows(X, name, n_pairs=300):
    """Make rows, and the same with a higher reading of one column."""
    rng = np.random.default_rng(0)
    low = X.iloc[rng.integers(0, len(X), n_pairs)].reset_index(drop=True)
    known = X[name].dropna().to_numpy()
    both = np.sort(rng.choice(known, (n_pairs, 2)), axis=1)
    if name == "heat":
        both = np.sort(rng.normal(size=(n_pairs, 2)) * 2, axis=1)
    for other in set(X.columns) - {name}:
        low[other] = low[other].astype(object).where(rng.random(n_pairs) > 0.1, None)
    return low.assign(**{name: both[:, 0]}), low.assign(**{name: both[:, 1]})


DIRECTIONS = {"heat": 1, "load": -1, "grade": 1, "door": -1}


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["two classes", "three", "a number"]))
def test_predictions_go_one_way(seed, kind):
    X, hidden, y = rows(seed, n_classes=3 if kind == "three" else 2)
    wanted = DIRECTIONS
    if kind == "three":
        wanted = {"two": {"heat": 1, "load": -1}, "one": {"heat": -1, "grade": 1}}
    estimator = RuleRegressor if kind == "a number" else RuleClassifier
    model = estimator(monotonic_cst=wanted, **FAST)
    model._limits = type(model._limits)(many_rows=150 if seed % 2 else 10_000)
    model.fit(X, hidden if kind == "a number" else y)
    for promise in model.model_.monotonic:
        low, high = (
            model.predict(one) if kind == "a number" else model.predict_proba(one)[:, promise.state]
            for one in pairs_of_rows(X, promise.feature)
        )
        assert (promise.direction * (high - low) >= -1e-9).all()
        if kind == "three":
            state = model.model_.target.classes[promise.state]
            assert wanted[state][promise.feature] == promise.direction
    assert from_json(to_json(model.model_).encode()) == model.model_  # which checks the document


def test_an_array_names_columns_by_their_places():
    X, _, y = rows(0)
    by_name = RuleClassifier(monotonic_cst={"heat": 1, "grade": -1}, **FAST)
    by_place = RuleClassifier(monotonic_cst=[1, 0, -1, 0, 0], **FAST)
    assert by_name.fit(X, y).model_ == by_place.fit(X, y).model_
    turned = RuleClassifier(monotonic_cst={"one": {"heat": -1, "grade": 1}})
    assert turned.set_params(**FAST).fit(X, y).model_ == by_name.model_


def test_what_cannot_be_is_refused():
    X, _, y = rows(0)
    for given_, error, message in (
        ({"colour": 1}, ParameterError, "the categories of 'colour' have none"),
        ({"heat": 2}, ParameterError, "Got 2 for column 'heat'"),
        ({"heat": True}, ParameterError, "Got True for column 'heat'"),
        ([1, 0], ParameterError, r"has the shape \(2,\), and X has 5 columns"),
        ("heat", ValueError, "parameter of RuleClassifier must be|must have -1, 0 or 1"),
        ({"one": {"heat": 1}, "two": {"heat": 1}}, ParameterError, "every class rise with 'heat'"),
        ({"nine": {"heat": 1}}, ParameterError, "the class 'nine', which the rows do not have"),
        ({"one": {"haet": 1}}, ColumnError, "'monotonic_cst' names a column"),
    ):
        with pytest.raises(error, match=message):
            RuleClassifier(monotonic_cst=given_, **FAST).fit(X, y)
    with pytest.raises(ParameterError, match="must name classes, as there are 3"):
        RuleClassifier(monotonic_cst={"heat": 1}).fit(X, rows(0, n_classes=3)[2])
    none, only = {"interaction_cst": "no_interactions"}, {"interaction_cst": [{"heat"}]}
    required = {"required_features": ["heat", "load"]}
    for parameters, error, message in (
        ({"interaction_cst": [{"heat", "z"}]}, ColumnError, "'interaction_cst' names a column"),
        ({"interaction_cst": [{0, 9}]}, ParameterError, "has the column 9"),
        ({"interaction_cst": ["heat"]}, ParameterError, "lists, tuples or sets of columns"),
        (
            {**none, "interactions": 2},
            ParameterError,
            "allows no interactions, but 'interactions' is 2",
        ),
        ({**only, "interactions": [("heat", "load")]}, ParameterError, "does not allow"),
        ({"required_features": ["z"]}, ColumnError, "'required_features' names a column"),
        ({"required_features": "heat"}, ParameterError, "must be a list of columns"),
        ({**required, "max_features": 1}, ParameterError, "allows 1"),
        ({**required, "max_rules": 3}, ParameterError, "two rules each"),
    ):
        with pytest.raises(error, match=message):
            RuleClassifier(**parameters).fit(X, y)


def test_a_document_that_breaks_its_promise_is_refused():
    X, _, y = rows(0)
    model = RuleClassifier(interactions=0, max_rules=20).fit(X, y).model_
    assert any(feature.name == "heat" for feature in model.features)
    text = to_json(model)
    promise = '"monotonic": [{"feature": "heat", "direction": 1, "class": 1}]'
    with pytest.raises(ModelFormatError, match="the weights fall with 'heat'"):
        from_json((text.rstrip()[:-1].rstrip() + ",\n  " + promise + "\n}\n").encode())


def pairs_of(model):
    return {frozenset(term.features) for term in model.model_.terms if len(term.inputs) == 2}


def test_only_columns_of_one_set_interact():
    X, _, y = rows(0, 400)
    free = RuleClassifier(interactions=3, max_rules=None).fit(X, y)
    assert frozenset(("heat", "colour")) in pairs_of(free)
    sets = [{"heat", "load"}, ["grade", "door"]]
    bound = RuleClassifier(interactions=3, max_rules=None)
    bound.set_params(interaction_cst=sets).fit(X, y)
    allowed = {frozenset(("heat", "load")), frozenset(("grade", "door"))}
    assert pairs_of(bound)
    assert pairs_of(bound) <= allowed
    by_place = RuleClassifier(interactions=3, max_rules=None)
    by_place.set_params(interaction_cst=[(0, 1), (2, 3)]).fit(X, y)
    assert by_place.model_ == bound.model_
    none = RuleClassifier(interaction_cst="no_interactions", max_rules=60)
    assert pairs_of(none.fit(X, y)) == set()


def test_what_is_required_stays():
    X, _, y = rows(0, 300)
    noise = np.random.default_rng(1).normal(size=(300, 2))
    X = X.assign(noise=noise[:, 0], more=noise[:, 1], fixed=1.5)
    for parameters in ({"max_features": 2}, {"max_rules": 5}, {}):
        costs = {"noise": 100.0}
        model = RuleClassifier(required_features=["noise"], feature_costs=costs, **parameters).fit(
            X, y
        )
        (term,) = [one for one in model.model_.terms if one.features == ("noise",)]
        assert term.n_rules >= 2
        assert len(model.model_.features) <= parameters.get("max_features", 99)
        assert model.n_rules_ <= parameters.get("max_rules", 10**6)
    with pytest.raises(DataError, match="required column 'fixed' has only one value"):
        RuleClassifier(required_features=["fixed"]).fit(X, y)


def test_many_features_may_be_required():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 70)), columns=[f"c{j}" for j in range(70)])
    model = RuleClassifier("quantile", interactions=0, required_features=list(X), max_rules=140)
    assert len(model.fit(X, X.c0 > 0).model_.features) == 70
