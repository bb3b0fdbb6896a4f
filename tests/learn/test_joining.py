"""Branches with nearly the same counts of classes are joined."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_trees import learned_trees
from sklearn.datasets import load_breast_cancer, load_wine

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    load_model,
)
from solah.data import Kind
from solah.learn.tree import simplify_tree
from solah.model.features import discrete_feature


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree(wine):
    return learned_trees(LinguisticTreeClassifier(), *wine)[0]


@pytest.mark.parametrize("max_rules", [60, 20, 7, 2, 1])
def test_there_are_at_most_as_many_rules_as_asked_for(wine, max_rules):
    model = LinguisticTreeClassifier(max_rules=max_rules).fit(*wine)
    assert len(model.rules()) == model.n_rules_ <= max_rules
    assert model.n_rules_ >= max_rules - 1


def test_rules_keep_all_rows_and_what_they_counted(tree):
    joined = simplify_tree(tree, 10, 0.0)
    counts = [(t.support[:, None] * t.belief)[t.leaves].sum(axis=0) for t in (tree, joined)]
    np.testing.assert_allclose(counts[0], counts[1])


def test_the_pair_that_loses_least_goes_first(tree):
    """Joining costs log-likelihood of the training rows, and greedily as little as possible."""

    def likelihood(one):
        counts = (one.support[:, None] * one.belief)[one.leaves]
        return np.sum(counts * np.log(np.maximum(one.belief[one.leaves], 1e-300)))

    losses = [likelihood(tree) - likelihood(simplify_tree(tree, n, 0.0)) for n in (60, 30, 15, 5)]
    assert losses == sorted(losses)
    assert losses[0] < losses[-1] / 5


def test_states_without_an_order_are_joined_across(tmp_path):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green", "black"], 400)
    y = np.isin(colour, ["red", "green"]) ^ (rng.random(400) < 0.05)
    X = colour.astype(object)[:, None]
    model = LinguisticTreeClassifier(max_rules=2).fit(X, y)
    premises = {rule.premise for rule in model.rules()}
    assert premises == {"x0 is black or blue", "x0 is green or red"}
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert [str(rule) for rule in loaded.rules()] == [str(rule) for rule in model.rules()]


def test_order_and_threads_leave_no_trace():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    one = LinguisticTreeClassifier(max_rules=12).fit(X, y).model_
    assert LinguisticTreeClassifier(max_rules=12).fit(X[order], y[order]).model_ == one
    assert LinguisticTreeClassifier(max_rules=12, n_jobs=3).fit(X, y).model_ == one


def paths(tree):
    """Yield the leaves of a tree, each with the places of the children on the way to it."""
    stack = [(0, ())]
    while stack:
        node, path = stack.pop()
        if tree.split[node] < 0:
            yield node, path
        else:
            stack += [(child, (*path, k)) for k, child in enumerate(tree.children(node))]


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_branch_has_the_shares_of_all_leaves_that_it_was(tree, seed, max_rules):
    belief = np.random.default_rng(seed).dirichlet(np.ones(3), len(tree.split))
    before = replace(tree, belief=belief)
    after = simplify_tree(before, max_rules)
    counts = np.zeros_like(after.belief)
    for leaf, path in paths(before):
        node, steps = 0, iter(path)
        while after.split[node] >= 0:
            node = after.children(node)[next(steps)]
        counts[after.heads[node]] += before.support[leaf] * belief[leaf]
    heads = np.unique(after.heads[after.leaves])
    weights = counts[heads].sum(axis=1, keepdims=True)
    expected = counts[heads] / np.maximum(weights, 1e-300)
    has_rows = weights[:, 0] > 1e-9
    np.testing.assert_allclose(after.belief[heads][has_rows], expected[has_rows], atol=1e-9)
    assert after.node().n_rules <= max_rules


def test_joining_costs_nothing_only_where_nothing_differs(tree):
    same = replace(tree, belief=np.tile(tree.belief[0], (len(tree.split), 1)))
    assert simplify_tree(same, rule_cost=1e-9).split.tolist() == [-1]


MIXED_KINDS = {"colour": "categorical", "shape": "categorical", "grade": "ordinal"}
WIRING = "z <- colour, grade, size; y <- z, shape"
ESTIMATORS = {
    "a tree": LinguisticTreeClassifier(),
    "refitted leaves": LinguisticTreeClassifier(leaves="refitted", shrinkage=3.0),
    "a number": LinguisticTreeRegressor(),
    "beliefs": LinguisticHierarchyClassifier(WIRING),
    "evidence": RuleClassifier(feature_groups={"z": ["colour", "grade", "size"]}),
}


def mixed_rows(seed, n_rows):
    """Draw rows of all kinds of columns, and classes that depend on all of them."""
    rng = np.random.default_rng(seed)
    colour, shape = rng.integers(0, 8, n_rows), rng.integers(0, 4, n_rows)
    grade, size = rng.choice([1.0, 2.0, 5.0, 9.0], n_rows), rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "colour": np.array(list("abcdefgh"), object)[colour],
            "shape": np.array(list("pqrs"), object)[shape],
            "grade": grade,
            "size": size,
        }
    )
    score = rng.normal(size=8)[colour] + rng.normal(size=4)[shape] + size * grade / 5
    return X, np.digitize(score, np.quantile(score, [0.3, 0.6]))


@settings(max_examples=15)
@given(
    st.sampled_from(sorted(ESTIMATORS)),
    st.integers(0, 2**32 - 1),
    st.integers(20, 150),
    st.sampled_from([2, 5, 8, 13, 20, 40]),
)
def test_no_kind_of_column_makes_more_rules_than_asked_for(which, seed, n_rows, max_rules):
    X, y = mixed_rows(seed, n_rows)
    limit = "tree__max_rules" if which == "beliefs" else "max_rules"
    estimator = (
        ESTIMATORS[which].set_params(feature_types=MIXED_KINDS, **{limit: max_rules}).fit(X, y)
    )
    assert len(estimator.rules()) == estimator.n_rules_ <= max_rules


def test_states_without_an_order_are_one_rule_across_a_branch_that_goes_on(tree):
    """a and c have the same scores; b is split further, which matters to an order only."""
    inputs = tuple(
        discrete_feature(name, kind, ("a", "b", "c"), (0.2, 0.3, 0.5))
        for name, kind in (("colour", Kind.CATEGORICAL), ("grade", Kind.ORDINAL))
    )
    one, other = [0.9, 0.1], [0.4, 0.6]

    def split_on(first, second):
        return replace(
            tree,
            inputs=inputs,
            split=np.array([first, -1, second, -1, -1, -1, -1], np.int32),
            first_child=np.array([1, 0, 4, 0, 0, 0, 0], np.int32),
            support=np.ones(7),
            belief=np.array([one, one, other, one, other, one, other]),
        )

    assert split_on(0, 1).heads.tolist() == [0, 1, 2, 1, 4, 5, 6]
    assert split_on(1, 0).heads.tolist() == [0, 1, 2, 3, 4, 5, 4]
