import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from solah import LinguisticTreeClassifier, RuleClassifier
from solah.explain import Condition, Rule, attribute_importances, rules_of


@pytest.fixture(scope="module")
def tree():
    X, y = load_iris(return_X_y=True)
    return LinguisticTreeClassifier(max_depth=2).fit(X, y)


def test_a_rule_reads_as_a_sentence():
    rule = Rule(
        tree="class",
        conditions=(Condition("flavanoids", ("high",)), Condition("hue", ("medium", "high"))),
        goal="class",
        belief=(0.97, 0.03),
        support=41.23,
        decision=0,
    )
    assert str(rule) == (
        "if flavanoids is high and hue is medium-or-high then class 0 (0.97), support 41.2"
    )
    assert rule.certainty == 0.97


def test_there_is_a_rule_a_branch_with_weight_and_their_supports_sum_to_the_rows(tree):
    rules = tree.rules()
    assert len(rules) == tree.n_rules_
    assert sum(rule.support for rule in rules) == pytest.approx(150)
    strength = [(rule.effect, rule.support) for rule in rules]
    assert strength == sorted(strength, reverse=True)


def test_the_rules_are_the_model(tree):
    """Jeffrey's rule over the rules gives the prediction."""
    X, _ = load_iris(return_X_y=True)
    ranges = {attribute.name: attribute for attribute in tree.model_.attributes}
    row = X[77]
    belief = np.zeros(3)
    for rule in rules_of(tree.model_):
        weight = 1.0
        for condition in rule.conditions:
            attribute = ranges[condition.attribute]
            peaks = np.array(attribute.peaks)
            places = [attribute.focal_sets.index(words) for words in condition.focal_sets]
            value = row[int(condition.attribute[1:])]
            weight *= np.interp(value, peaks, np.eye(len(peaks))[places].sum(axis=0))
        belief += weight * np.array(rule.belief)
    np.testing.assert_allclose(belief, tree.predict_proba(row[None])[0], atol=1e-9)


def test_no_attribute_is_asked_twice_in_a_rule(tree):
    for rule in tree.rules():
        asked = [condition.attribute for condition in rule.conditions]
        assert len(set(asked)) == len(asked)


def test_strange_names_reach_the_sentence_unchanged():
    frame = pd.DataFrame({"<b>größe & 大きさ": ["a|b", "c"] * 5})
    tree = LinguisticTreeClassifier().fit(frame, ["Ja", "Nein"] * 5)
    assert {str(rule) for rule in tree.rules()} == {
        "if <b>größe & 大きさ is a|b then class Ja (1.00), support 5.0",
        "if <b>größe & 大きさ is c then class Nein (1.00), support 5.0",
    }


def test_importances_follow_the_gain(tree):
    shares = attribute_importances(tree.model_)
    assert shares.sum() == pytest.approx(1.0)
    assert set(shares.argsort()[-2:]) == {2, 3}
    stump = LinguisticTreeClassifier().fit([[1.5], [2.5]], [0, 0])
    assert stump.feature_importances_.tolist() == [0.0]


@pytest.mark.parametrize("max_rules", [3, 5, 8])
def test_joined_rules_are_the_model_too(max_rules):
    X, y = load_iris(return_X_y=True)
    test_the_rules_are_the_model(LinguisticTreeClassifier(max_rules=max_rules).fit(X, y))


def test_a_condition_that_always_holds_is_left_out():
    X = load_iris().data
    model = LinguisticTreeClassifier(min_gain=None, purity=0.3, max_depth=1).fit(X, [0] * 150)
    assert [str(rule) for rule in model.rules()] == ["class 0 (1.00), support 150.0"]


def test_attributes_share_what_a_fusion_knows_by_weighted_evidence():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.65).astype(int)
    model = RuleClassifier(interactions=0, max_rules=None)
    shares = model.fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] > 2 * shares[1] > 2 * shares[2]
