"""The classifier whose rules add up: what must hold whatever the rows are."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solah import (
    IdentifierWarning,
    RuleClassifier,
    RuleRegressor,
    load_model,
)
from solah.exceptions import ColumnError, ParameterError
from solah.model.format import to_json

FAST = {"interactions": 1, "max_rules": 20}


def document(X, y, weights=None, **parameters):
    model = RuleClassifier(**FAST | parameters)
    return to_json(model.fit(X, y, sample_weight=weights).model_)


def mixed(seed, n_rows, n_classes=2):
    """Make columns of every kind, with gaps, and classes that need several of them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 2))
    X = pd.DataFrame(
        {
            "heat": hidden[:, 0] + 0.3 * rng.normal(size=n_rows),
            "load": np.where(rng.random(n_rows) < 0.1, np.nan, hidden[:, 1]),
            "grade": rng.integers(0, 4, n_rows),
            "Farbe": rng.choice(["rot", "grün", "日"], n_rows),
            "steps": np.round(hidden[:, 1], 1),
        }
    )
    total = hidden[:, 0] + hidden[:, 1] * (X["Farbe"] == "rot") + 0.4 * rng.normal(size=n_rows)
    codes = np.argsort(np.argsort(total)) * n_classes // n_rows
    return X, np.array(["one", "two", "three", "four"])[codes]


@pytest.mark.parametrize("wrong", [[2, 3], "each", 0, range(2, 4)])
def test_feature_groups_are_found_given_or_none(wrong):
    with pytest.raises(ValueError, match="'feature_groups'|must be a list of column names. Got 2"):
        RuleClassifier(feature_groups=wrong).fit([[0.0], [1.0]] * 9, [0, 1] * 9)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(40, 200), st.integers(2, 4))
def test_neither_order_nor_repetition_leaves_a_trace(seed, n_rows, n_classes):
    X, y = mixed(seed, n_rows, n_classes)
    rng = np.random.default_rng(seed)
    order, weights = rng.permutation(n_rows), rng.integers(0, 3, n_rows)
    weights[np.unique(y, return_index=True)[1]] = 1
    rows = np.repeat(np.arange(n_rows), weights)
    assert document(X.iloc[order], y[order]) == document(X, y)
    assert document(X, y, weights) == document(X.iloc[rows], y[rows])
    names = rng.permutation(X.columns).tolist()
    here, there = json.loads(document(X, y)), json.loads(document(X[names], y))
    known = [one["name"] for one in there["features"]]
    assert known == [name for name in names if name in known]
    for found in (here, there):
        found["features"].sort(key=lambda one: one["name"])
    assert here == there


def test_neither_leaves_a_trace_where_all_is_chosen():
    X, y = mixed(0, 300)
    rng = np.random.default_rng(1)
    order, weights = rng.permutation(300), rng.integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weights)
    chosen = {"interactions": "auto", "max_rules": "auto"}
    assert document(X.iloc[order], y[order], **chosen) == document(X, y, **chosen)
    assert document(X, y, weights, **chosen) == document(X.iloc[rows], y[rows], **chosen)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(30, 150), st.integers(2, 4))
def test_all_unknown_gives_the_class_shares(seed, n_rows, n_classes):
    X, y = mixed(seed, n_rows, n_classes)
    model = RuleClassifier(**FAST).fit(X, y)
    nothing = pd.DataFrame({name: [None] for name in X})
    if any(term.missing is not None for term in model.model_.terms):
        return
    shares = [(y == each).mean() for each in model.classes_]
    np.testing.assert_allclose(model.predict_proba(nothing), [shares], atol=1e-12)
    assert model.completeness(nothing) == pytest.approx([0.0], abs=1e-12)
    assert (model.completeness(X.assign(heat=None)) < 1).all()


def test_missing_readings_that_tell_something_get_a_rule(tmp_path):
    rng = np.random.default_rng(0)
    n_rows = 500
    y = rng.random(n_rows) < 0.5
    told = rng.normal(size=n_rows) + y
    telling = np.where(rng.random(n_rows) < np.where(y, 0.5, 0.05), np.nan, rng.normal(size=n_rows))
    random = np.where(rng.random(n_rows) < 0.3, np.nan, told)
    X = pd.DataFrame({"telling": telling, "random": random})
    model = RuleClassifier(max_rules=None, interactions=0).fit(X, y)
    terms = {term.inputs[0].name: term for term in model.model_.terms}
    missing = terms["telling"].missing
    is_missing = np.isnan(telling)
    assert missing.support == pytest.approx(is_missing.sum())
    assert missing.belief == pytest.approx((1 - y[is_missing].mean(), y[is_missing].mean()))
    assert missing.scores[1] > 0.3 > missing.scores[0]
    assert terms["random"].missing is None
    row = pd.DataFrame({"telling": [np.nan, 0.0], "random": [1.0, 1.0]})
    beliefs = model.predict_proba(row)[:, 1]
    assert beliefs[0] > beliefs[1]
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.predict_proba(row)[:, 1].tolist() == beliefs.tolist()


def crossed(seed=0, n_rows=600):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n_rows, 4)), columns=list("abcd"))
    y = ((X["a"] > 0.5) ^ (X["b"] > 0.5)) ^ (rng.random(n_rows) < 0.05)
    return X, np.where(y, "odd", "even")


def pairs_of(model):
    return {tuple(sorted(term.features)) for term in model.model_.terms if len(term.inputs) == 2}


def test_what_only_two_features_tell_together_is_found():
    X, y = crossed()
    model = RuleClassifier().fit(X, y)
    assert pairs_of(model) == {("a", "b")}
    assert model.score(X, y) > 0.9
    for pair in (("a", "b"), ("d", "c")):
        given_ = RuleClassifier(interactions=[pair], max_rules=None).fit(X, y)
        assert pairs_of(given_) == {tuple(sorted(pair))}
    alone = RuleClassifier(interactions=0).fit(X, y)
    assert pairs_of(alone) == set()
    assert alone.score(X, y) < 0.7


@pytest.mark.parametrize("estimator", [RuleClassifier, RuleRegressor])
def test_columns_that_number_or_name_the_rows_are_dropped_with_a_warning(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": np.arange(7, 107), "x": rng.random(100), "n": rng.integers(0, 9, 100)})
    X["serial"] = [f"p{number * 7919 % 100}" for number in range(100)]
    y = (X["x"] > 0.5).astype(int)
    with pytest.warns(IdentifierWarning) as told:
        model = estimator(**FAST).fit(X, y)
    assert [(one.filename, one.message.column) for one in told] == [
        (__file__, "id"),
        (__file__, "serial"),
    ]
    assert not {"id", "serial"} & set(model.hierarchy_.features)
    assert model.n_features_in_ == 4
    assert len(model.predict(X)) == 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = {"id": "continuous", "serial": "categorical"}
        estimator(**FAST, feature_types=declared).fit(X, y)
        estimator(**FAST).fit(X.iloc[::2].drop(columns="serial"), y.iloc[::2])
        numbers = pd.DataFrame({"x": [f"{x:.9f}" for x in X["x"]], "n": X["n"]})
        assert "x" in estimator(**FAST).fit(numbers, y).hierarchy_.features


def test_the_path_tells_what_was_compared():
    X, y = mixed(0, 300)
    model = RuleClassifier().fit(X, y)
    (chosen,) = [step for step in model.path_ if step.is_chosen]
    assert model.n_rules_ <= chosen.max_rules
    limits = [step.max_rules for step in model.path_]
    assert limits == sorted(limits, reverse=True)
    for step in model.path_:
        assert step.n_rules <= step.max_rules
        assert 0 <= step.quality <= 1
        assert step.error >= 0
    assert chosen.loss <= min(step.loss for step in model.path_) + 0.05
    assert f"{chosen.max_rules} rules: the fewest" in model.selection_reason_
    assert RuleClassifier(max_rules=9).fit(X, y).path_ == ()


# What is hardly there


def test_one_class_one_row_and_nothing_that_changes():
    one = RuleClassifier
    assert one().fit([[1.5, 2.5]], ["a"]).predict([[1, 1]]) == ["a"]
    model = one().fit([[1.5, 2.5], [3.5, 1.5]], ["a", "a"])
    assert model.predict_proba([[1.5, np.nan]]).tolist() == [[1.0]]
    model = one().fit([[1.5, 2.5]] * 4, ["a", "a", "a", "b"])
    assert model.predict_proba([[9.0, 9.0]]) == pytest.approx(np.array([[0.75, 0.25]]), abs=1e-15)
    assert model.n_rules_ == 0  # the baseline is no rule
    assert model.feature_groups_ == ()
    for n_rows in (2, 3, 5, 8):
        X = np.arange(n_rows * 2.0).reshape(n_rows, 2) ** 1.5
        model = one().fit(X, np.arange(n_rows) % 2)
        assert model.predict_proba(X).shape == (n_rows, 2)
    X = np.full((6, 2), np.nan)
    assert one().fit(X, [0, 0, 0, 0, 0, 1]).predict_proba(X[:1]) == pytest.approx(
        np.array([[5 / 6, 1 / 6]])
    )


@pytest.mark.parametrize("estimator", [RuleClassifier, RuleRegressor])
def test_wrong_columns_and_costs_are_named(estimator):
    X, y = crossed(n_rows=40)
    for parameters, error, message in (
        ({"interactions": [("a", "z")]}, ColumnError, "'interactions' names a column"),
        ({"interactions": [("a", "a")]}, ParameterError, "pairs of different columns"),
        ({"interactions": ["ab"]}, ParameterError, "pairs of different columns"),
        ({"feature_costs": {"z": 1.0}}, ColumnError, "'feature_costs' names a column"),
        ({"feature_costs": {"a": 0.0}}, ParameterError, "must be a number above 0"),
        ({"feature_costs": {"a": "much"}}, ParameterError, "must be a number above 0"),
        ({"words": {"z": ["low", "high"]}}, ColumnError, "no column 'z'|names a column"),
    ):
        with pytest.raises(error, match=message):
            estimator(**parameters).fit(X, (y == "odd").astype(float))


def test_what_is_hardly_there_does_no_harm():
    X, y = mixed(0, 150)
    y = y.astype(object)
    y[0] = "rare"
    more = X.assign(fest=3.5, leer=np.nan, nie=None)
    model = RuleClassifier(**FAST, class_weight={"two": 5.0}).fit(more, y)
    assert {"fest", "leer", "nie"} <= set(model.dropped_features_)
    assert model.classes_.tolist() == ["one", "rare", "two"]
    usual = RuleClassifier(**FAST).fit(X, y)
    gained = model.predict_proba(more)[:, 2].mean() - usual.predict_proba(X)[:, 2].mean()
    assert gained > 0.05


def test_254_states_and_unicode_names(tmp_path):
    rng = np.random.default_rng(0)
    states = np.array([f"état {j} 🌡" for j in range(254)])
    codes = np.concatenate([np.arange(254), rng.integers(0, 254, 1_000)])
    X = pd.DataFrame({"Größe ≤ 日 🌡": states[codes], "x & y": rng.random(len(codes))})
    y = np.where((codes < 127) ^ (rng.random(len(codes)) < 0.05), "ja ✓", "nein ✗")
    model = RuleClassifier(**FAST).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.n_rules_ <= 20
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.json").predict_proba(X), model.predict_proba(X)
    )


def test_groups_by_hand_have_their_names():
    X, y = mixed(0, 300)
    groups = {"warmth": ["heat", "load"], "look": ["Farbe", "grade"]}
    model = RuleClassifier(feature_groups=groups, max_rules=None, interactions=0)
    model.fit(X, y)
    assert {"warmth", "look"} <= {group.name for group in model.model_.root.groups}
    # What is in no group stands beside the groups.
    assert "rules on steps" in model.model_.parts[-1].origins


def test_groups_do_not_change_what_is_decided():
    X, y = mixed(0, 200)
    beliefs = [
        RuleClassifier(**FAST, feature_groups=groups).fit(X, y).predict_proba(X)
        for groups in ("auto", None, 4, [["heat"]])
    ]
    for other in beliefs[1:]:
        np.testing.assert_allclose(other, beliefs[0], atol=1e-12)


@pytest.mark.parametrize(("is_abrupt", "kind"), [(True, "supervised"), (False, "quantile")])
def test_words_are_learned_where_they_are_clearly_better(is_abrupt, kind):
    rng = np.random.default_rng(3)
    x = rng.random(1_200)
    share = np.floor(x * 9) % 2 if is_abrupt else x
    y = rng.random(1_200) < 0.05 + 0.9 * share
    model = RuleClassifier().fit(pd.DataFrame({"x": x}), y)
    assert model.selection_.word_kind == kind
    by_hand = RuleClassifier("uniform").fit(pd.DataFrame({"x": x}), y)
    assert by_hand.selection_.word_kind == "uniform"
