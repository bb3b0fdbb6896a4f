"""Trees that speak together: scores fitted to make rows' classes most likely."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from solah import LinguisticHierarchyClassifier, LinguisticLabeller, LinguisticTreeClassifier
from solah.estimators.goals import read_class_goal
from solah.estimators.inputs import read_features
from solah.kernels.arrays import SLOPE_SCALE
from solah.learn.evidence import EvidenceModel, leaf_conditions
from solah.learn.fusion import grow_trees, routed_rows
from solah.learn.memory import MemoryRows
from solah.learn.organising import Organiser


def sing(X, y, weights=None, **settings):
    """Grow a tree an attribute (or one for all), and walk the rows through them."""
    model = LinguisticTreeClassifier(**settings)
    table = read_features(model, X, reset=True)
    goal = read_class_goal(model, y, weights, table.n_rows)
    data = MemoryRows(model._describe(table, goal.weights), goal)
    clusters = [(j,) for j in range(len(table.names))]
    hierarchy = Organiser(None, table.names, "y")._flat(clusters)
    growth = model._tree_settings(goal.weights, goal.weight_unit)
    kinds = dict.fromkeys((node.name for node in hierarchy.nodes), "tree")
    trees = grow_trees(hierarchy, data, kinds, growth)
    return EvidenceModel.of(trees), routed_rows(trees, data), goal.goal.size


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


@pytest.mark.parametrize("penalty", [0.5, 2.0, 20.0])
def test_voices_of_single_words_are_a_logistic_regression_on_masses(cancer, penalty):
    X, y = cancer
    model, rows, n_classes = sing(X, y)
    likelihood, _ = rows.through(model.places).likelihood(
        model.scores(model.fit(rows, n_classes, penalty))
    )
    masses = LinguisticLabeller().fit(X).transform(X)
    # Two classes with a score each: a difference of d costs d²/4.
    peer = LogisticRegression(C=2 / penalty, max_iter=10_000, tol=1e-8).fit(masses, y)
    beliefs = peer.predict_proba(masses)[np.arange(len(y)), y]
    np.testing.assert_allclose(likelihood, beliefs, atol=2e-3)


def test_slopes_are_those_of_the_loss(cancer):
    X, y = cancer
    model, rows, n_classes = sing(X, y)
    routed = rows.through(model.places)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(model.n_branches + 1, n_classes))
    _, slope = routed.likelihood(scores)

    def loss(scores):
        likelihood, _ = routed.likelihood(scores)
        return -np.log(likelihood).sum()

    for branch, goal in [(1, 0), (7, 1), (model.n_branches, 1)]:
        step = np.zeros_like(scores)
        step[branch, goal] = 1e-5
        numeric = (loss(scores + step) - loss(scores - step)) / 2e-5
        assert slope[branch, goal] / (SLOPE_SCALE * rows.one_row) == pytest.approx(
            numeric, abs=1e-4
        )


def test_order_and_threads_leave_no_trace(cancer, monkeypatch):
    X, y = cancer
    order = np.random.default_rng(0).permutation(len(y))
    model, rows, n_classes = sing(X, y)
    one = model.fit(rows, n_classes, 2.0)
    other, rows, _ = sing(X[order], y[order])
    np.testing.assert_array_equal(other.fit(rows, n_classes, 2.0), one)
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    np.testing.assert_array_equal(other.fit(rows, n_classes, 2.0), one)


def test_a_row_of_weight_two_is_two_rows(cancer):
    X, y = cancer
    weights = np.arange(len(y)) % 3
    weighted = sing(X, y, weights, n_labels=2)
    repeated = sing(np.repeat(X, weights, axis=0), np.repeat(y, weights), n_labels=2)
    fits = [model.fit(rows, size, 2.0) for model, rows, size in (weighted, repeated)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-5)


def test_a_larger_penalty_makes_for_softer_voices(cancer):
    model, rows, n_classes = sing(*cancer)
    strength = [np.abs(model.fit(rows, n_classes, p)[:-1]).sum() for p in (0.5, 5.0, 50.0)]
    assert strength == sorted(strength, reverse=True)


def test_what_is_left_after_joining_still_decides(cancer):
    model, rows, n_classes = sing(*cancer)
    whole = rows.through(model.places).likelihood(model.scores(model.fit(rows, n_classes, 2.0)))[0]
    for max_rules in (20, 10, 4):
        fewer, parameters = model.fit_joined(rows, n_classes, 2.0, max_rules=max_rules)
        assert fewer.n_rules <= max_rules
        likelihood = rows.through(fewer.places).likelihood(fewer.scores(parameters))[0]
        assert np.log(likelihood).mean() > np.log(whole).mean() - 0.15


def test_a_tree_with_one_branch_left_says_nothing(cancer):
    model, rows, n_classes = sing(*cancer)
    fewer, parameters = model.fit_joined(rows, n_classes, 2.0, max_rules=1)
    assert fewer.n_rules == 0
    likelihood, _ = rows.through(fewer.places).likelihood(fewer.scores(parameters))
    shares = np.bincount(cancer[1]) / len(cancer[1])
    np.testing.assert_allclose(likelihood, shares[cancer[1]], atol=1e-4)


def test_words_speak_for_themselves_before_combinations():
    """Where two words act alone, a tree of both learns it from few rows of each combination."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    odds = 4 * (X[:, 0] - 0.5) + 4 * (X[:, 1] - 0.5)
    y = (rng.random(400) < 1 / (1 + np.exp(-odds))).astype(int)
    both = LinguisticHierarchyClassifier("z <- x0, x1; y <- z", fusion="weigh", penalty=4.0)
    unseen = rng.random((2000, 2))
    truth = 1 / (1 + np.exp(-4 * (unseen.sum(axis=1) - 1)))
    error = np.abs(both.fit(X, y).predict_proba(unseen)[:, 1] - truth).mean()
    assert error < 0.1


def test_conditions_of_leaves_are_their_words():
    X, y = load_wine(return_X_y=True)
    tree = LinguisticTreeClassifier(max_depth=2).fit(X, y).model_.trees[0]
    conditions = leaf_conditions(tree)
    assert sorted(conditions) == tree.leaves.tolist()
    assert {len(each) for each in conditions.values()} <= {1, 2}


def test_the_fit_is_better_than_the_prior(cancer):
    model, rows, n_classes = sing(*cancer)
    likelihood, _ = rows.through(model.places).likelihood(
        model.scores(model.fit(rows, n_classes, 2.0))
    )
    prior = np.tile(np.bincount(cancer[1]) / len(cancer[1]), (len(cancer[1]), 1))
    assert -np.log(likelihood).mean() < 0.5 * log_loss(cancer[1], prior)
