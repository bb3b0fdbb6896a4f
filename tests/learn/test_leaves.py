"""Leaves that are shrunk towards their parents, or refitted by maximum likelihood."""

import numpy as np
import pytest
from learned_trees import learned_trees
from sklearn.datasets import load_breast_cancer, load_iris

from solah import (
    LinguisticTreeClassifier,
    SelfOrganisedHierarchyClassifier,
)
from solah.kernels.reference import masses
from solah.model.features import flatten
from solah.model.format import to_json


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


def log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y].clip(1e-12)).mean()


def tree(**parameters):
    return LinguisticTreeClassifier(2, min_support=0.05, **parameters)


def test_refitted_leaves_make_the_training_classes_more_likely(cancer):
    X, y = cancer
    counted = log_loss(tree().fit(X, y), X, y)
    losses = [
        log_loss(tree(leaves="refitted", prior_weight=a).fit(X, y), X, y) for a in (100, 2, 0.01)
    ]
    assert counted > losses[0] > losses[1] > losses[2]


def test_refitted_leaves_are_distributions_and_the_rest_stays(cancer):
    (ours,) = learned_trees(tree(leaves="refitted"), *cancer)
    (theirs,) = learned_trees(tree(), *cancer)
    np.testing.assert_allclose(ours.belief.sum(axis=1), 1.0)
    assert (ours.belief >= 0).all()
    np.testing.assert_array_equal(ours.split, theirs.split)
    np.testing.assert_array_equal(ours.support, theirs.support)
    inner = ours.split >= 0
    np.testing.assert_array_equal(ours.belief[inner], theirs.belief[inner])


def leaf_shares(tree, X):
    """Return the share of each row that reaches each leaf; 0 for inner nodes."""
    shares = np.zeros((len(X), len(tree.split)))
    shares[:, 0] = 1.0
    for node in np.flatnonzero(tree.split >= 0).tolist():
        place = tree.split[node]
        parts = masses(X[:, place], flatten([tree.inputs[place]]), 0)
        shares[:, list(tree.children(node))] = shares[:, [node]] * parts
        shares[:, node] = 0.0
    return shares


def naive_refit(tree, X, y, prior_weight, n_rounds=30):
    """Do the update as the formula has it, on a dense matrix."""
    shares, prior = leaf_shares(tree, X), tree.belief
    beliefs = prior.copy()
    for _ in range(n_rounds):
        likelihood = (shares @ beliefs)[np.arange(len(y)), y]
        pulled = np.zeros_like(beliefs)
        for c in range(beliefs.shape[1]):
            mine = y == c
            pulled[:, c] = beliefs[:, c] * (shares[mine] / likelihood[mine, None]).sum(axis=0)
        beliefs = pulled + prior_weight * prior
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


def test_the_update_is_that_of_the_formula():
    X, y = load_iris(return_X_y=True)
    (counted,) = learned_trees(tree(), X, y)
    (refitted,) = learned_trees(tree(leaves="refitted", prior_weight=3.0), X, y)
    expected = naive_refit(counted, X, y, 3.0)
    leaves = counted.leaves
    np.testing.assert_allclose(refitted.belief[leaves], expected[leaves], atol=1e-7)


def test_order_threads_and_kernels_leave_no_trace(cancer, monkeypatch):
    X, y = cancer
    order = np.random.default_rng(0).permutation(len(y))

    def document(X, y, **parameters):
        settings = {"n_words": 3, "min_support": 0.01, **parameters}
        settings |= {"leaves": "refitted", "shrinkage": 1.5}
        return to_json(
            SelfOrganisedHierarchyClassifier.with_settings({}, **settings).fit(X, y).model_
        )

    one = document(X, y)
    assert document(X[order], y[order]) == one
    assert document(X, y, n_jobs=3) == one
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert document(X, y) == one


def test_a_row_of_weight_two_is_two_rows_and_one_of_none_is_no_row(cancer):
    X, y = cancer
    weights = np.arange(len(y)) % 3
    settings = {"leaves": "refitted", "shrinkage": 2.0, "min_support": 10}
    weighted = LinguisticTreeClassifier(**settings).fit(X, y, weights)
    repeated = LinguisticTreeClassifier(**settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


def test_shrinkage_draws_a_branch_to_its_parent(cancer):
    X, y = cancer
    plain, shrunk = (
        learned_trees(LinguisticTreeClassifier(max_depth=1, shrinkage=s), X, y)[0]
        for s in (0.0, 5.0)
    )
    support = plain.support[1:, None]
    expected = (support * plain.belief[1:] + 5.0 * plain.belief[0]) / (support + 5.0)
    np.testing.assert_allclose(shrunk.belief[1:], expected)
    np.testing.assert_array_equal(shrunk.belief[0], plain.belief[0])


def test_an_empty_branch_keeps_what_it_was_given(cancer):
    X, y = cancer
    settings = {"null_branch": "uniform", "min_gain": None, "max_depth": 3}
    estimator = LinguisticTreeClassifier(shrinkage=3.0, leaves="refitted", **settings)
    (tree,) = learned_trees(estimator, X, y)
    empty = tree.support == 0
    assert empty.any()
    np.testing.assert_allclose(tree.belief[empty], 0.5)
