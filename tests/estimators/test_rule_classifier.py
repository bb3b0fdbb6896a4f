"""The classifier whose rules add up: what must hold whatever the rows are."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

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
def test_shuffled_rows_give_the_same_document(seed, n_rows, n_classes):
    X, y = mixed(seed, n_rows, n_classes)
    order = np.random.default_rng(seed).permutation(n_rows)
    assert document(X.iloc[order], y[order]) == document(X, y)


def test_shuffled_rows_give_the_same_document_where_all_is_chosen():
    X, y = mixed(0, 300)
    order = np.random.default_rng(1).permutation(300)
    chosen = {"interactions": "auto", "max_rules": "auto"}
    assert document(X.iloc[order], y[order], **chosen) == document(X, y, **chosen)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.permutations(["heat", "load", "grade", "Farbe", "steps"]))
def test_permuted_columns_change_the_order_of_attributes_alone(seed, names):
    X, y = mixed(seed, 120)

    def sorted_attributes(text):
        found = json.loads(text)
        found["features"].sort(key=lambda one: one["name"])
        return found

    here, there = document(X, y), document(X[names], y)
    assert sorted_attributes(here) == sorted_attributes(there)
    known = [one["name"] for one in json.loads(there)["features"]]
    assert known == [name for name in names if name in known]


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_a_row_of_weight_two_is_two_rows(seed, n_classes):
    X, y = mixed(seed, 80, n_classes)
    weights = np.random.default_rng(seed).integers(1, 3, 80)
    rows = np.repeat(np.arange(80), weights)
    assert document(X, y, weights) == document(X.iloc[rows], y[rows])


def test_a_row_of_weight_two_is_two_rows_where_all_is_chosen():
    X, y = mixed(0, 200)
    weights = np.random.default_rng(0).integers(1, 4, 200)
    rows = np.repeat(np.arange(200), weights)
    chosen = {"interactions": "auto", "max_rules": "auto"}
    assert document(X, y, weights, **chosen) == document(X.iloc[rows], y[rows], **chosen)


def test_rows_without_weight_are_no_rows():
    X, y = mixed(0, 120)
    weights = np.repeat([1.0, 0.0], 60)
    assert document(X, y, weights) == document(X[:60], y[:60])


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
    assert model.evidence(nothing) == pytest.approx([0.0], abs=1e-12)


def test_less_known_is_less_sure():
    X, y = mixed(0, 400)
    model = RuleClassifier(**FAST).fit(X, y)
    whole = model.predict_proba(X.assign(load=X["load"].fillna(0.0)))
    blind = X.assign(heat=np.nan, load=0.0)
    part = model.predict_proba(blind)
    assert np.abs(part - 0.5).mean() < np.abs(whole - 0.5).mean()
    assert (model.evidence(blind) < 1).all()


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


def test_what_only_two_attributes_tell_together_is_found():
    X, y = crossed()
    model = RuleClassifier().fit(X, y)
    assert pairs_of(model) == {("a", "b")}
    assert model.score(X, y) > 0.9
    alone = RuleClassifier(interactions=0).fit(X, y)
    assert pairs_of(alone) == set()
    assert alone.score(X, y) < 0.7


@pytest.mark.parametrize("pair", [("a", "b"), ("d", "c"), ("b", "d")])
def test_pairs_by_hand_are_those_and_no_others(pair):
    X, y = crossed()
    model = RuleClassifier(interactions=[pair], max_rules=None).fit(X, y)
    assert pairs_of(model) == {tuple(sorted(pair))}
    assert sum(len(term.inputs) == 2 for term in model.model_.terms) == 1


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"interactions": [("a", "z")]}, ColumnError, "'interactions' names a column"),
        ({"interactions": [("a", "a")]}, ParameterError, "pairs of different columns"),
        ({"interactions": ["ab"]}, ParameterError, "pairs of different columns"),
        ({"interactions": [("a", "b", "c")]}, ParameterError, "pairs of different columns"),
        ({"feature_costs": {"z": 1.0}}, ColumnError, "'feature_costs' names a column"),
        ({"feature_costs": {"a": 0.0}}, ParameterError, "must be a number above 0"),
        ({"feature_costs": {"a": "much"}}, ParameterError, "must be a number above 0"),
        ({"feature_costs": {"a": float("inf")}}, ParameterError, "must be a number above 0"),
        ({"words": {"z": ["low", "high"]}}, ColumnError, "no column 'z'|names a column"),
    ],
)
@pytest.mark.parametrize("estimator", [RuleClassifier, RuleRegressor])
def test_wrong_columns_and_costs_are_named(estimator, parameters, error, message):
    X, y = crossed(n_rows=40)
    with pytest.raises(error, match=message):
        estimator(**parameters).fit(X, (y == "odd").astype(float))


@pytest.mark.parametrize("estimator", [RuleClassifier, RuleRegressor])
def test_columns_that_number_the_rows_are_left_out_with_a_warning(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": np.arange(7, 107), "x": rng.random(100), "n": rng.integers(0, 9, 100)})
    y = (X["x"] > 0.5).astype(int)
    with pytest.warns(IdentifierWarning, match="'id'") as told:
        model = estimator(**FAST).fit(X, y)
    assert told[0].filename == __file__
    assert "id" not in model.hierarchy_.attributes
    assert model.n_features_in_ == 3
    assert len(model.predict(X)) == 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(**FAST, feature_types={"id": "continuous"}).fit(X, y)
        estimator(**FAST).fit(X.iloc[::2], y.iloc[::2])


def test_words_by_hand_stay():
    X, y = crossed()
    words = {"a": {"small": 0.1, "medium": 0.5, "large": 0.9}}
    model = RuleClassifier(words, max_rules=None, interactions=0).fit(X, y)
    (attribute,) = [one for one in model.model_.attributes if one.name == "a"]
    assert attribute.words == ("small", "medium", "large")
    (term,) = [one for one in model.model_.terms if one.features == ("a",)]
    assert term.n_rules == 3


@pytest.mark.parametrize("words", ["supervised", "quantile", "uniform"])
def test_words_may_stand_in_any_way(words):
    X, y = load_wine(return_X_y=True)
    model = RuleClassifier(words, **FAST)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85


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


def test_verbose_tells_each_step(capsys):
    X, y = mixed(0, 60)
    RuleClassifier(verbose=True).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""


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
    X = np.full((6, 2), np.nan)
    assert one().fit(X, [0, 0, 0, 0, 0, 1]).predict_proba(X[:1]) == pytest.approx(
        np.array([[5 / 6, 1 / 6]])
    )


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 8])
def test_very_few_rows(n_rows):
    X = np.arange(n_rows * 2.0).reshape(n_rows, 2) ** 1.5
    model = RuleClassifier().fit(X, np.arange(n_rows) % 2)
    assert model.predict_proba(X).shape == (n_rows, 2)


def test_constant_and_empty_columns_do_no_harm():
    X, y = mixed(0, 150)
    more = X.assign(fest=3.5, leer=np.nan, nie=None)
    model = RuleClassifier(**FAST).fit(more, y)
    assert {"fest", "leer", "nie"} <= set(model.dropped_features_)
    alone = RuleClassifier(**FAST).fit(X, y)
    assert model.score(more, y) == pytest.approx(alone.score(X, y), abs=0.05)


def test_a_class_that_one_row_has():
    X, y = mixed(0, 100)
    y = y.astype(object)
    y[0] = "rare"
    model = RuleClassifier(**FAST).fit(X, y)
    assert model.classes_.tolist() == ["one", "rare", "two"]
    assert np.isfinite(model.predict_proba(X)).all()


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


def test_numbers_of_any_size():
    rng = np.random.default_rng(0)
    x = rng.random(200)
    for unit in (1e-300, 1e-12, 1e12, 1e300):
        X = pd.DataFrame({"x": x * unit, "other": rng.random(200)})
        model = RuleClassifier(**FAST)
        try:
            model.fit(X, x > 0.5)
        except ValueError as error:
            assert "x" in str(error)  # noqa: PT017 - numbers beyond what a model may hold are named
        else:
            assert np.isfinite(model.predict_proba(X)).all()


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


def test_class_weights_move_belief():
    X, y = mixed(0, 300)
    usual = RuleClassifier(**FAST).fit(X, y)
    heavy = RuleClassifier(**FAST, class_weight={"two": 5.0}).fit(X, y)
    assert heavy.predict_proba(X)[:, 1].mean() > usual.predict_proba(X)[:, 1].mean() + 0.1


@pytest.mark.parametrize(("is_abrupt", "kind"), [(True, "supervised"), (False, "quantile")])
def test_words_are_learnt_where_they_are_clearly_better(is_abrupt, kind):
    rng = np.random.default_rng(3)
    x = rng.random(1_200)
    share = np.floor(x * 9) % 2 if is_abrupt else x
    y = rng.random(1_200) < 0.05 + 0.9 * share
    model = RuleClassifier().fit(pd.DataFrame({"x": x}), y)
    assert model.word_kind_ == kind
    by_hand = RuleClassifier("uniform").fit(pd.DataFrame({"x": x}), y)
    assert by_hand.word_kind_ == "uniform"


def test_of_many_columns_only_those_in_rules_are_paired():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 260)), columns=[f"s{j}" for j in range(260)])
    y = X["s7"] + 0.1 * X["s9"] > 0
    model = RuleClassifier(interactions=0, max_rules=8).fit(X, y)
    used = [name for name in X.columns if name not in model.dropped_features_]
    measured = np.isfinite(np.diag(model.dependence_))
    assert used == X.columns[measured].tolist()
    assert 0 < len(used) <= 4
    assert np.isfinite(model.relevance_).all()
    assert X.columns[int(model.relevance_.argmax())] == "s7"
