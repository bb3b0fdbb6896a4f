"""How far a rule moves what is decided, in every kind of tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import LinguisticHierarchyClassifier, LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.data import Kind
from solah.explain.effects import explain_effect, tree_weights
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


def test_a_tree_that_is_weighed_moves_evidence_by_all_the_weights_above_it():
    first, second, third = (
        stump(name, f"x{name}", ROOT, TOWARDS_B, TOWARDS_C) for name in ("z1", "z2", "z3")
    )
    inner = Fusion("z4", ("z1", "z2"), (2.0, 0.5), (0.0, 0.0, 0.0))
    outer = Fusion("y", ("z4", "z3"), (3.0, 1.5), (0.1, 0.0, -0.1))
    model = model_of(first, second, inner, third, outer)
    assert tree_weights(model) == {"z1": 6.0, "z2": 1.5, "z3": 1.5, "z4": 3.0}
    gain = np.log(TOWARDS_B) - np.log(ROOT)
    strength = gain.max() - gain.mean()
    effects = {rule.tree: rule.effect for rule in rules_of(model) if rule.support == 6}
    assert effects == pytest.approx(
        {"z1": 6 * strength, "z2": 1.5 * strength, "z3": 1.5 * strength}
    )
    assert {rule.effect_class for rule in rules_of(model) if rule.support == 6} == {"b"}


def test_the_effect_of_a_tree_with_a_negative_weight_is_for_another_class():
    tree = stump("z1", "x", ROOT, TOWARDS_B, TOWARDS_C)
    model = model_of(tree, Fusion("y", ("z1",), (-1.0,), (0.0, 0.0, 0.0)))
    assert rules_of(model)[0].effect_class == "c"


def test_the_effect_of_a_rule_is_the_evidence_of_its_tree_when_it_fires_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 2)).astype(str)
    y = np.where(rng.random(300) < 0.2, "odd", X[:, 0])
    model = LinguisticHierarchyClassifier("a <- x0; b <- x1; y <- a, b", fusion="weigh").fit(X, y)
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
    assert [rule.effect for rule in rules] == pytest.approx([2.0, 2.5])
    assert [rule.effect_class for rule in rules] == [None, None]
    assert [rule.impact for rule in rules] == ["2", "2.5"]


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
    tree = stump("z1", "x", ROOT, TOWARDS_B, TOWARDS_C)
    fusion = Fusion("z2", ("z1",), (1.0,), (0.0, 0.0, 0.0))
    top = stump("y", "z2", ROOT, TOWARDS_B, TOWARDS_C)
    assert "moves the belief of its tree towards" in explain_effect(model_of(tree))
    assert "the evidence that is added up" in explain_effect(model_of(tree, fusion))
    assert "where nothing is added up" in explain_effect(model_of(tree, fusion, top))
    number = LinguisticTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    assert explain_effect(number.model_) == "Effect is how far a rule moves the estimate of y."


def test_rules_are_equal_whatever_stands_around_them():
    alone = model_of(stump("z1", "x", ROOT, TOWARDS_B, TOWARDS_C))
    weighed = model_of(alone.root, Fusion("y", ("z1",), (5.0,), (0.0, 0.0, 0.0)))
    assert rules_of(alone)[0].effect != rules_of(weighed)[0].effect
    assert rules_of(alone) == rules_of(weighed)
