"""How far a rule moves what is decided, in every kind of tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)
from solah.data import Kind
from solah.explain.legend import explain_effect
from solah.explain.rules import rules_of
from solah.model import (
    AdditiveNode,
    Attribute,
    Branch,
    FeatureGroup,
    Goal,
    Model,
    Term,
    TermInput,
    TreeNode,
)
from solah.model.attributes import belief_attribute
from solah.model.predictor import Predictor


def binary(name):
    return Attribute(name, Kind.BINARY, ("no", "yes"), (0.0, 1.0), (0.5, 0.5), (0, 1))


def stump(name, attribute, start, *beliefs):
    """Make a tree of one question with two answers."""
    asked = binary(attribute) if isinstance(attribute, str) else attribute
    branches = tuple(
        Branch(((0, (place,)),), tuple(belief), support)
        for place, (belief, support) in enumerate(zip(beliefs, (6.0, 4.0), strict=False))
    )
    return TreeNode(name, (asked,), branches, tuple(start))


def term(attribute, *weights, shares=None):
    """Make a term of two rules."""
    shares = np.array(shares or [TOWARDS_B, TOWARDS_C])
    inputs = (TermInput.whole(binary(attribute)),)
    return Term(inputs, np.array(weights), shares, np.array([6.0, 4.0]))


def model_of(*nodes, goal=None):
    names = {node.name for node in nodes}
    attributes = tuple(a for node in nodes for a in node.inputs if a.origin not in names)
    goal = goal or Goal("y", states=("a", "b", "c"), prior=(0.2, 0.3, 0.5))
    return Model(goal, attributes, nodes)


ROOT, TOWARDS_B, TOWARDS_C = (0.5, 0.3, 0.2), (0.3, 0.6, 0.1), (0.5, 0.1, 0.4)


def test_a_tree_that_decides_moves_belief_from_its_root():
    rules = rules_of(model_of(stump("y", "x", ROOT, TOWARDS_B, TOWARDS_C)))
    assert [rule.effect for rule in rules] == pytest.approx([0.3, 0.2])
    assert [rule.effect_class for rule in rules] == ["b", "c"]
    assert [rule.impact for rule in rules] == ["+0.30 for b", "+0.20 for c"]
    # Its effect is for c, though it still believes most in a.
    assert rules[1].decision == "a"


def test_a_rule_that_adds_moves_evidence_by_its_weights():
    terms = tuple(
        term(name, (-size, 2 * size, -size), (size, -3 * size, 2 * size))
        for name, size in (("x1", 1.0), ("x2", 0.5), ("x3", 0.25))
    )
    model = model_of(AdditiveNode("y", (0.1, 0.0, -0.1), terms, (FeatureGroup("g", (0, 1)),)))
    rules = [rule for rule in rules_of(model) if rule.support == 6]
    effects = {"rules on x1": 2.0, "rules on x2": 1.0, "rules on x3": 0.5}
    assert {rule.tree: rule.effect for rule in rules} == effects
    assert {rule.effect_class for rule in rules} == {"b"}
    others = [rule for rule in rules_of(model) if rule.support != 6]
    assert {rule.effect_class for rule in others} == {"c"}


def test_the_effect_of_a_rule_is_the_evidence_of_its_term_when_it_fires_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 2)).astype(str)
    y = np.where(rng.random(300) < 0.2, "odd", X[:, 0])
    model = RuleClassifier(interactions=0, max_rules=None, feature_groups=None)
    model.fit(X, y)
    effects = {str(rule): (rule.effect, rule.effect_class) for rule in model.rules()}
    for semantics in Predictor(model.model_).semantics(X[:5]):
        *terms, total = semantics.steps
        evidence = {one.tree: (one.strength, one.decision) for one in total.trees}
        for step in terms:
            size, state = effects[str(step.fired[0].rule)]
            assert (pytest.approx(size), state) == evidence[step.tree]


def test_for_a_number_the_estimate_moves():
    goal = Goal("y", words=("low", "high"), peaks=(0, 5, 10), centres=(0.0, 5.0, 10.0))
    tree = stump("y", "x", (0.2, 0.6, 0.2), (0.4, 0.6, 0.0), (0.0, 0.5, 0.5))
    rules = rules_of(model_of(tree, goal=goal))
    assert [rule.effect for rule in rules] == pytest.approx([2.5, 2.0])
    assert [rule.effect_class for rule in rules] == [None, None]
    assert [rule.impact for rule in rules] == ["2.5", "2"]


def test_a_rule_that_always_holds_moves_nothing():
    (rule,) = LinguisticTreeClassifier().fit([[1.5], [1.5]], ["a", "b"]).rules()
    assert (rule.effect, rule.effect_class, rule.impact) == (0.0, None, "0")


@given(
    st.lists(
        st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3).filter(lambda some: sum(some) > 0.1),
        min_size=3,
        max_size=3,
    )
)
def test_somebody_gains_unless_nothing_moves(beliefs):
    root, *leaves = (np.array(some) / sum(some) for some in beliefs)
    for rule in rules_of(model_of(stump("y", "x", root, *leaves))):
        gains = np.array(rule.belief) - root
        assert rule.effect == pytest.approx(max(gains), abs=1e-12)
        assert (rule.effect_class is None) == (rule.effect == 0)
        assert rule.effect >= 0


def test_what_effect_means_is_explained_for_each_kind_of_model():
    alone = stump("z1", "x", ROOT, TOWARDS_B, TOWARDS_C)
    below = AdditiveNode("z", (0.0, 0.0, 0.0), (term("x", (1.0, 0, -1.0), (0, 0, 0)),))
    heard = belief_attribute("z", ("a", "b", "c"), (0.2, 0.3, 0.5))
    top = stump("y", heard, ROOT, TOWARDS_B, TOWARDS_C)
    assert "moves the belief of its tree towards" in explain_effect(model_of(alone))
    assert "the evidence that is added up" in explain_effect(model_of(below))
    assert "where nothing is added up" in explain_effect(model_of(below, top))
    number = LinguisticTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    assert explain_effect(number.model_) == "Effect is how far a rule moves the estimate of y."


def test_rules_are_equal_if_they_state_and_add_the_same():
    alone = model_of(stump("y", "x", ROOT, TOWARDS_B, TOWARDS_C))
    own = term("x", (1.0, 0.0, -1.0), (-1.0, 0.0, 1.0))
    node = AdditiveNode("y", (0.0, 0.0, 0.0), (own,))
    adding = model_of(node)
    assert rules_of(alone) == rules_of(replace(alone, generator="another"))
    assert rules_of(alone) != rules_of(adding)
    assert rules_of(adding) == rules_of(model_of(replace(node, name="z")))
    other = replace(own, weights=2.0 * own.weights)
    assert rules_of(adding) != rules_of(model_of(replace(node, terms=(other,))))


def test_of_two_classes_the_effect_is_the_difference():
    goal = Goal("y", states=("a", "b"), prior=(0.5, 0.5))
    own = term("x", (-0.2, 0.2), (0.3, -0.3), shares=[(0.6, 0.4), (0.2, 0.8)])
    model = model_of(AdditiveNode("y", (0.1, -0.1), (own,)), goal=goal)
    first, second = rules_of(model)
    assert (second.effect, second.effect_class) == (pytest.approx(0.4), "b")
    assert second.decision == "b", "it is about the class that it adds to"
    assert str(first) == "if x is yes then y a 0.20 of 4 rows; adds +0.60 for a"
    assert str(second) == "if x is no then y b 0.40 of 6 rows; adds +0.40 for b"
    assert rules_of(model).start == "to begin with: +0.20 for a"
