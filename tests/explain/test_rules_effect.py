"""How far a rule moves what is decided, in every kind of tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.data import Kind
from solah.explain.effects import explain_effect
from solah.explain.rules import rules_of
from solah.model import Attribute, Fusion, Goal, Model, Tree


def stump(name, attribute, *beliefs):
    """Make a tree of one question with two answers; the first belief is the root's."""
    asked = Attribute(attribute, Kind.BINARY, ("no", "yes"), (0.0, 1.0), (0.5, 0.5), (0, 1))
    return Tree(
        name=name,
        inputs=(asked,),
        split=np.array([0, -1, -1], dtype=np.int32),
        first_child=np.array([1, -1, -1], dtype=np.int32),
        support=np.array([10.0, 6.0, 4.0]),
        belief=np.array(beliefs),
    )


def model_of(*nodes, goal=None):
    trees = [node for node in nodes if isinstance(node, Tree)]
    attributes = tuple(attribute for tree in trees for attribute in tree.inputs)
    return Model(goal or Goal("y", states=("a", "b", "c")), attributes, nodes)


ROOT, TOWARDS_B, TOWARDS_C = (0.5, 0.3, 0.2), (0.3, 0.6, 0.1), (0.5, 0.1, 0.4)


def test_a_tree_that_decides_moves_belief_from_its_root():
    rules = rules_of(model_of(stump("y", "x", ROOT, TOWARDS_B, TOWARDS_C)))
    assert [rule.effect for rule in rules] == pytest.approx([0.3, 0.2])
    assert [rule.effect_class for rule in rules] == ["b", "c"]
    assert [rule.impact for rule in rules] == ["+0.30 for b", "+0.20 for c"]
    # Its effect is for c, though it still believes most in a.
    assert rules[1].decision == "a"


def scored(tree, *scores):
    return replace(tree, scores=np.array([(0.0, 0.0, 0.0), *scores]))


def test_a_tree_below_a_fusion_moves_evidence_by_its_scores():
    trees = [
        scored(
            stump(name, f"x{name}", ROOT, TOWARDS_B, TOWARDS_C),
            (-size, 2 * size, -size),
            (size, -3 * size, 2 * size),
        )
        for name, size in (("z1", 1.0), ("z2", 0.5), ("z3", 0.25))
    ]
    inner, outer = Fusion("z4", ("z1", "z2")), Fusion("y", ("z4", "z3"), (0.1, 0.0, -0.1))
    model = model_of(*trees[:2], inner, trees[2], outer)
    rules = [rule for rule in rules_of(model) if rule.support == 6]
    assert {rule.tree: rule.effect for rule in rules} == {"z1": 2.0, "z2": 1.0, "z3": 0.5}
    assert {rule.effect_class for rule in rules} == {"b"}
    others = [rule for rule in rules_of(model) if rule.support != 6]
    assert {rule.effect_class for rule in others} == {"c"}


def test_the_effect_of_a_rule_is_the_evidence_of_its_tree_when_it_fires_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 2)).astype(str)
    y = np.where(rng.random(300) < 0.2, "odd", X[:, 0])
    model = SelfOrganisedHierarchyClassifier(interactions=0, max_rules=None, n_clusters="each")
    model.fit(X, y)
    effects = {str(rule): (rule.effect, rule.effect_class) for rule in model.rules()}
    for semantics in model.semantics(X[:5]):
        *trees, fusion = semantics.steps
        evidence = {one.tree: (one.strength, one.decision) for one in fusion.trees}
        for step in trees:
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
    tree = replace(alone, scores=alone.evidence)
    fusion = Fusion("z2", ("z1",), (0.0, 0.0, 0.0))
    top = stump("y", "z2", ROOT, TOWARDS_B, TOWARDS_C)
    assert "moves the belief of its tree towards" in explain_effect(model_of(alone))
    assert "the evidence that is added up" in explain_effect(model_of(tree, fusion))
    assert "where nothing is added up" in explain_effect(model_of(tree, fusion, top))
    number = LinguisticTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    assert explain_effect(number.model_) == "Effect is how far a rule moves the estimate of y."


def test_rules_are_equal_if_they_state_and_add_the_same():
    alone = model_of(stump("z1", "x", ROOT, TOWARDS_B, TOWARDS_C))
    tree = replace(alone.root, scores=5.0 * alone.root.evidence)
    fusion = Fusion("y", ("z1",), (0.0, 0.0, 0.0))
    weighed = model_of(tree, fusion)
    assert rules_of(alone) == rules_of(replace(alone, generator="another"))
    assert rules_of(alone) != rules_of(weighed)
    assert rules_of(weighed) == rules_of(replace(weighed, nodes=(tree, replace(fusion, name="z"))))
    assert rules_of(weighed) != rules_of(model_of(replace(tree, scores=2.0 * tree.scores), fusion))


def test_of_two_classes_the_effect_is_the_difference():
    goal = Goal("y", states=("a", "b"), prior=(0.5, 0.5))
    tree = stump("z", "x", (0.5, 0.5), (0.6, 0.4), (0.2, 0.8))
    tree = replace(tree, scores=np.array([(0.0, 0.0), (-0.2, 0.2), (0.3, -0.3)]))
    model = model_of(tree, Fusion("y", ("z",), (0.1, -0.1)), goal=goal)
    first, second = rules_of(model)
    assert (second.effect, second.effect_class) == (pytest.approx(0.4), "b")
    assert second.decision == "b", "it is about the class that it adds to"
    assert str(first) == "if x is yes then y a 0.20 of 4 rows; adds +0.60 for a"
    assert str(second) == "if x is no then y b 0.40 of 6 rows; adds +0.40 for b"
    assert rules_of(model).start == "to begin with: +0.20 for a"
