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

pytestmark = pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")


def assert_equal(kernel, *given, outputs=(), **named):
    """Let both kernels do the same with outputs of their own; what they return is equal, too."""
    found = []
    for kernels in (native, reference):
        own = [output.copy() for output in outputs]
        found.append((getattr(kernels, kernel)(*given, *own, **named), own))
    (ours, our_outputs), (oracle, oracle_outputs) = found
    for one, other in zip(our_outputs, oracle_outputs, strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("starts", "leaves", "weights") if kernel == "route" else ():
        np.testing.assert_array_equal(getattr(ours, name), getattr(oracle, name))
    assert kernel == "route" or ours == oracle


@given(focal_sets(), st.integers(0, 2**32 - 1))
def test_labels_and_predictions_are_equal(sets, seed):
    rng = np.random.default_rng(seed)
    values = random_values(sets, rng, 50)
    assert_equal("label", values, sets, outputs=[np.empty(values.shape, dtype=np.uint32)])
    tree, rows = random_tree(sets, rng), random_readings(sets, rng, 30)
    beliefs = rng.dirichlet(np.ones(3), len(tree.feature))
    assert_equal("predict", rows, sets, tree, beliefs, outputs=[np.empty((30, 3))])


@given(training_rows(), st.integers(0, 2**32 - 1))
def test_counts_routes_and_shares_are_equal(case, seed):
    sets, labels, targets, weights, tree, n_targets = case
    leaves = np.flatnonzero(tree.feature < 0)
    slots = np.full(len(tree.feature), -1, dtype=np.int32)
    slots[leaves[::2]] = np.arange(len(leaves[::2]))
    counts = np.zeros((len(leaves[::2]), int(sets.bins[-1]), n_targets), dtype=np.int64)
    assert_equal("accumulate", labels, targets, weights, sets, tree, slots, outputs=[counts])
    assert_equal("route", labels, weights, sets, tree)
    beliefs = np.random.default_rng(seed).dirichlet(np.full(n_targets, 0.3), len(tree.feature))
    beliefs[beliefs < 0.1] = 0.0  # so that some rows are thought impossible
    classes, routes = (targets >> 24).astype(np.int64), reference.route(labels, weights, sets, tree)
    shares = np.zeros(beliefs.shape, dtype=np.int64)
    assert_equal("share_weights", routes, classes, weights, beliefs, outputs=[shares])


@given(routed_rows())
def test_scored_rows_are_equal(case):
    scores = case[-1]
    outputs = [np.empty(len(case[1])), np.zeros(scores.shape, dtype=np.int64)]
    assert_equal("score_labels", *case, outputs=outputs)


@given(binned_numbers())
def test_bins_are_equal(case):
    values, edges = case
    assert_equal("find", values, edges, outputs=[np.empty(len(values), dtype=np.int32)])


@given(grown_rows())
def test_grown_trees_are_equal(case):
    n_rows, n_features = case["bins"].shape[1], len(case["sizes"])
    given = [case.pop(name) for name in list(case)]
    outputs = [np.empty(n_rows, dtype=np.int32), np.full((n_features, 256), 0.1)]
    assert_equal("grow", *given, outputs=outputs)
