"""The C kernels do what the NumPy kernels do, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_strategies import (
    binned_numbers,
    focal_sets,
    grown_rows,
    random_readings,
    random_tree,
    random_values,
    routed_rows,
    training_rows,
)

from solah.kernels import native, reference
from solah.kernels.arrays import WEIGHT_ONE

pytestmark = pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")


@given(focal_sets(), st.integers(0, 2**32 - 1))
def test_labels_are_equal(sets, seed):
    values = random_values(sets, np.random.default_rng(seed), 50)
    ours, oracle = (np.empty(values.shape, dtype=np.uint32) for _ in range(2))
    native.label(values, sets, ours)
    reference.label(values, sets, oracle)
    np.testing.assert_array_equal(ours, oracle)


@given(training_rows())
def test_counts_are_equal(case):
    sets, labels, goals, weights, tree, n_goals = case
    leaves = np.flatnonzero(tree.attribute < 0)
    slots = np.full(len(tree.attribute), -1, dtype=np.int32)
    slots[leaves[::2]] = np.arange(len(leaves[::2]))
    shape = (len(leaves[::2]), int(sets.bins[-1]), n_goals)
    ours, oracle = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    native.accumulate(labels, goals, weights, sets, tree, slots, ours)
    reference.accumulate(labels, goals, weights, sets, tree, slots, oracle)
    np.testing.assert_array_equal(ours, oracle)


@given(training_rows())
def test_routes_are_equal(case):
    sets, labels, _, weights, tree, _ = case
    ours = native.route(labels, weights, sets, tree)
    oracle = reference.route(labels, weights, sets, tree)
    np.testing.assert_array_equal(ours.starts, oracle.starts)
    np.testing.assert_array_equal(ours.leaves, oracle.leaves)
    np.testing.assert_array_equal(ours.weights, oracle.weights)


@given(training_rows(), st.integers(0, 2**32 - 1))
def test_credits_are_equal(case, seed):
    sets, labels, goals, weights, tree, n_goals = case
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.full(n_goals, 0.3), len(tree.attribute))
    beliefs[beliefs < 0.1] = 0.0  # so that some rows are thought impossible
    classes = (goals >> 24).astype(np.int64)
    routes = reference.route(labels, weights, sets, tree)
    ours, oracle = (np.zeros(beliefs.shape, dtype=np.int64) for _ in range(2))
    native.share_weights(routes, classes, weights, beliefs, ours)
    reference.share_weights(routes, classes, weights, beliefs, oracle)
    np.testing.assert_array_equal(ours, oracle)


@given(training_rows(), st.integers(0, 2**32 - 1))
def test_weighings_are_equal(case, seed):
    sets, labels, goals, weights, tree, n_goals = case
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(tree.attribute), n_goals)) * rng.choice([1.0, 30.0, 2000.0])
    classes = (goals >> 24).astype(np.int64)
    routes = reference.route(labels, np.full(len(labels), WEIGHT_ONE), sets, tree)
    slopes = [np.zeros(scores.shape, dtype=np.int64) for _ in range(2)]
    likelihoods = [np.empty(len(classes)) for _ in range(2)]
    native.score_routes(routes, classes, weights, scores, likelihoods[0], slopes[0])
    reference.score_routes(routes, classes, weights, scores, likelihoods[1], slopes[1])
    np.testing.assert_array_equal(*likelihoods)
    np.testing.assert_array_equal(*slopes)


@given(routed_rows())
def test_what_is_spoken_is_equal(case):
    forest, labels, classes, weights, scores = case
    slopes = [np.zeros(scores.shape, dtype=np.int64) for _ in range(2)]
    likelihoods = [np.empty(len(classes)) for _ in range(2)]
    native.score_labels(forest, labels, classes, weights, scores, likelihoods[0], slopes[0])
    reference.score_labels(forest, labels, classes, weights, scores, likelihoods[1], slopes[1])
    np.testing.assert_array_equal(*likelihoods)
    np.testing.assert_array_equal(*slopes)


@given(binned_numbers())
def test_bins_are_equal(case):
    values, _, edges, _ = case
    ours, oracle = (np.empty(len(values), dtype=np.int32) for _ in range(2))
    native.find(values, edges, ours)
    reference.find(values, edges, oracle)
    np.testing.assert_array_equal(ours, oracle)


@given(binned_numbers())
def test_fine_counts_are_equal(case):
    values, weights, edges, scales = case
    sums = [np.zeros(len(edges), dtype=np.int64) for _ in range(2)]
    places = [np.zeros((2, len(edges)), dtype=np.int64) for _ in range(2)]
    native.fine_count(values, weights, edges, scales, sums[0], places[0])
    reference.fine_count(values, weights, edges, scales, sums[1], places[1])
    np.testing.assert_array_equal(*sums)
    np.testing.assert_array_equal(*places)


@given(focal_sets(), st.integers(0, 2**32 - 1))
def test_predictions_are_equal(sets, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(sets, rng)
    rows = random_readings(sets, rng, 30)
    beliefs = rng.dirichlet(np.ones(3), len(tree.attribute))
    ours, oracle = np.empty((30, 3)), np.empty((30, 3))
    native.predict(rows, sets, tree, beliefs, ours)
    reference.predict(rows, sets, tree, beliefs, oracle)
    np.testing.assert_array_equal(ours, oracle)


@given(grown_rows())
def test_grown_trees_are_equal(case):
    n_rows, n_attributes = case["bins"].shape[1], len(case["sizes"])
    leaves = [np.empty(n_rows, dtype=np.int32) for _ in range(2)]
    gains = [np.full((n_attributes, 256), 0.1) for _ in range(2)]
    ours = native.grow(**case, leaf=leaves[0], gains=gains[0])
    oracle = reference.grow(**case, leaf=leaves[1], gains=gains[1])
    assert ours == oracle
    np.testing.assert_array_equal(*leaves)
    np.testing.assert_array_equal(*gains)
