"""Rules by hand stay as they are while the rest is learned around them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from solah import FixedRule, RuleClassifier, RuleRegressor
from solah.exceptions import ColumnError, ParameterError, RuleTextError
from solah.model.format import from_json, to_json

WORDS = {"smoke": {"low": 2.0, "high": 8.0}}
ALARM = FixedRule("smoke", "high", {"alarm": 3.0})


def rows(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "smoke": 10 * rng.random(n_rows),
            "heat": rng.normal(size=n_rows),
            "door": rng.choice(["open", "shut"], n_rows),
        }
    )
    hidden = X["smoke"] / 5 + X["heat"] + 0.5 * rng.normal(size=n_rows)
    return X, hidden, np.where(hidden > 1.5, "alarm", "calm")


def term_of(model, name):
    (term,) = [one for one in model.model_.terms if one.features == (name,)]
    return term


@pytest.mark.parametrize("parameters", [{"max_rules": 9}, {"max_features": 2}, {}])
def test_the_rule_is_there_as_it_was_given(parameters):
    X, _, y = rows()
    model = RuleClassifier(WORDS, **parameters)
    model.fit(X, y, rules=[ALARM, FixedRule("door", "open", {"calm": 1.0})])
    smoke, door = term_of(model, "smoke"), term_of(model, "door")
    assert smoke.weights.tolist() == [[0.0, 0.0], [1.5, -1.5]]
    assert smoke.pinned == {(1,)}
    assert door.weights.tolist() == [[-0.5, 0.5], [0.0, 0.0]]
    assert all(term.origins == (term.inputs[0].name,) for term in (smoke, door))
    assert "if smoke is high" in str(model.rules())
    assert ": alarm +3.00" in str(model.rules())
    assert from_json(to_json(model.model_).encode()) == model.model_


@pytest.mark.parametrize("states", [("calm", "alarm"), (0, 1)])
def test_a_sentence_is_the_rule_that_it_says(states):
    X, hidden, y = rows()
    y = np.where(y == "alarm", states[1], states[0])
    X["level"] = np.where(hidden > 0, 2, 1)
    said = [f"if smoke is high then {states[1]} +3", f"if level is 2 then {states[0]} +1"]
    meant = [FixedRule("smoke", "high", {states[1]: 3.0}), FixedRule("level", 2, {states[0]: 1.0})]
    found, expected = (
        RuleClassifier(WORDS, feature_types={"level": "categorical"}, max_rules=12)
        .fit(X, y, rules=rules)
        .model_
        for rules in (said, meant)
    )
    assert found == expected


def test_the_rest_is_learned_around_it():
    X, _, y = rows()
    right = RuleClassifier(WORDS, max_rules=20).fit(X, y, rules=[ALARM])
    turned = FixedRule("smoke", "high", {"calm": 3.0})
    wrong = RuleClassifier(WORDS, max_rules=20).fit(X, y, rules=[turned])
    assert right.score(X, y) > wrong.score(X, y)
    # Bias and other rules make the best of it: on average, beliefs are those of the rows.
    for model in (right, wrong):
        assert model.predict_proba(X)[:, 0].mean() == pytest.approx((y == "alarm").mean(), abs=0.01)


def test_very_many_rows_keep_it():
    X, _, y = rows(n_rows=2_000)
    model = RuleClassifier(WORDS, max_rules=20)
    model._limits = type(model._limits)(many_rows=400)
    model.fit(X, y, rules=[ALARM])
    assert term_of(model, "smoke").weights[-1].tolist() == [1.5, -1.5]
    assert model.predict_proba(X)[:, 0].mean() == pytest.approx((y == "alarm").mean(), abs=0.02)


def test_what_is_pinned_in_an_edited_model_is_kept():
    X, hidden, y = rows()
    for estimator, target in (
        (RuleClassifier(max_rules=20), y),
        (RuleRegressor(max_rules=20), hidden),
    ):
        first = estimator.fit(X, target).model_
        terms = [
            replace(term, weights=2.0 * term.weights, pinned=frozenset({(0,)}))
            if term.features in (("smoke",), ("door",))
            else term
            for term in first.terms
        ]
        edited = first.with_terms(terms)
        before = {term.features: term for term in edited.terms}
        again = estimator.refit(X.iloc[:200], target[:200], keep=edited)
        for name in ("smoke", "door"):
            if (name,) not in before:
                continue
            term, kept = term_of(again, name), before[(name,)]
            np.testing.assert_allclose(term.weights, kept.weights, atol=1e-12)
            assert (0,) in term.pinned
            assert term.inputs[0].feature.cores == kept.inputs[0].feature.cores
            assert term.inputs[0].feature.words == kept.inputs[0].feature.words
        assert "_by_hand" not in vars(estimator)


def test_numbers_have_rules_by_hand():
    X, hidden, _ = rows()
    for rule in (FixedRule("smoke", "high", 1.25), "if smoke is high then +1.25"):
        model = RuleRegressor(WORDS, max_rules=20).fit(X, hidden, rules=[rule])
        np.testing.assert_allclose(term_of(model, "smoke").weights[:, 0], [0.0, 1.25])
        assert model.predict(X).mean() == pytest.approx(hidden.mean())


def test_wrong_rules_are_refused():
    X, _, y = rows()
    for rule, error, message in (
        (FixedRule("haet", "high", {"alarm": 1.0}), ColumnError, "'rules' names a column"),
        (FixedRule("smoke", "hihg", {"alarm": 1.0}), ParameterError, "its words are low, high"),
        (FixedRule("heat", "high", {"alarm": 1.0}), ParameterError, "its words are learned"),
        (FixedRule("smoke", "high", {"fire": 1.0}), ParameterError, "names the class 'fire'"),
        (
            FixedRule("smoke", "high", 3.0),
            ParameterError,
            "must be a mapping from classes to numbers",
        ),
        (("smoke", "high"), ParameterError, "must be a list of sentences"),
        (
            "if smoke is high and door is open then alarm +3",
            ParameterError,
            "one condition with one word",
        ),
        ("if smoke is at least low then alarm +3", ParameterError, "one condition with one word"),
        ("if smoke is high than alarm +3", RuleTextError, "line 1"),
        ("if smoke is high then fire +3", RuleTextError, "no class .fire."),
    ):
        with pytest.raises(error, match=message):
            RuleClassifier(WORDS).fit(X, y, rules=[rule])
    with pytest.raises(
        ParameterError, match="two user-defined rules have the condition 'smoke' is 'high'"
    ):
        RuleClassifier(WORDS).fit(X, y, rules=[ALARM, ALARM])
    against = RuleClassifier(WORDS, monotonic_cst={"alarm": {"smoke": -1}})
    with pytest.raises(ParameterError, match="violate 'monotonic_cst' for 'smoke'"):
        against.fit(X, y, rules=[ALARM])


def test_rules_by_hand_hold_for_files_too(tmp_path):
    X, _, y = rows()
    X.assign(state=y).to_csv(tmp_path / "rows.csv", index=False)
    model = RuleClassifier(WORDS, max_rules=9)
    model.fit(tmp_path / "rows.csv", "state", rules=[ALARM])
    assert term_of(model, "smoke").weights.tolist()[-1] == [1.5, -1.5]
    assert "_by_hand" not in vars(model)
