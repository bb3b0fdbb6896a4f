"""What must always hold of either kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_strategies import (
    binned_numbers,
    focal_sets,
    random_readings,
    random_tree,
    routed_rows,
    training_rows,
)

from solah.exceptions import SolahError
from solah.kernels import native, reference
from solah.kernels.arrays import (
    MASS_BITS,
    MASS_MASK,
    MASS_ONE,
    SLOPE_SCALE,
    WEIGHT_ONE,
    Described,
    FocalSets,
    Routes,
    TreeShape,
)
from solah.kernels.choose import available_threads, count_threads, kernel, map_slices

KERNELS = [pytest.param(reference, id="reference")]
if native.load() is not None:
    KERNELS.append(pytest.param(native, id="native"))

THREE_SETS = FocalSets(
    peaks=np.array([0.0, 1.0, 3.0]),
    mean_masses=np.array([0.5, 0.25, 0.25]),
    offsets=np.array([0, 3], dtype=np.int32),
)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize(
    ("value", "lower", "upper_mass"),
    [
        (-5.0, 0, 0.0),
        (0.0, 0, 0.0),
        (0.25, 0, 0.25),
        (1.0, 1, 0.0),
        (2.0, 1, 0.5),
        (3.0, 2, 0.0),
        (np.inf, 2, 0.0),
        (-np.inf, 0, 0.0),
        (np.nan, 3, 0.0),
        (1.0 - 1e-12, 1, 0.0),  # a mass that rounds to one belongs to the next set
    ],
)
def test_a_value_is_described_by_its_neighbouring_sets(kernels, value, lower, upper_mass):
    labels = np.empty((1, 1), dtype=np.uint32)
    kernels.label(np.array([[value]]), THREE_SETS, labels)
    assert labels[0, 0] >> MASS_BITS == lower
    assert (labels[0, 0] & MASS_MASK) / MASS_ONE == upper_mass


@pytest.mark.parametrize("kernels", KERNELS)
@given(case=training_rows())
def test_no_weight_is_lost_on_the_way_to_the_leaves(kernels, case):
    sets, labels, _, weights, tree, _ = case
    routes = kernels.route(labels, weights, sets, tree)
    rows = np.repeat(np.arange(len(labels)), np.diff(routes.starts))
    arrived = np.zeros(len(labels), dtype=np.int64)
    np.add.at(arrived, rows, routes.weights)
    np.testing.assert_array_equal(arrived, weights)
    assert (tree.feature[routes.leaves] < 0).all()


@pytest.mark.parametrize("kernels", KERNELS)
@given(case=training_rows())
def test_counts_of_every_feature_sum_to_the_weights(kernels, case):
    sets, labels, targets, weights, _, n_targets = case
    counts = np.zeros((1, int(sets.bins[-1]), n_targets), dtype=np.int64)
    slots = np.zeros(1, dtype=np.int32)
    kernels.accumulate(labels, targets, weights, sets, TreeShape.stump(), slots, counts)
    by_feature = np.add.reduceat(counts[0].sum(axis=1), sets.bins[:-1])
    assert (by_feature == weights.sum()).all()


@pytest.mark.parametrize("kernels", KERNELS)
@given(sets=focal_sets(), seed=st.integers(0, 2**32 - 1))
def test_predictions_are_distributions(kernels, sets, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(sets, rng)
    rows = random_readings(sets, rng, 20)
    out = np.empty((20, 3))
    kernels.predict(rows, sets, tree, rng.dirichlet(np.ones(3), len(tree.feature)), out)
    assert (out >= 0).all()
    np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("kernels", KERNELS)
@given(case=routed_rows())
def test_speaking_is_walking_and_weighing(kernels, case):
    forest, labels, classes, weights, scores = case
    slope, likelihood = np.zeros(scores.shape, dtype=np.int64), np.ones(len(classes))
    kernels.score_labels(forest, labels, classes, weights, scores, likelihood, slope)
    routes = routes_of(kernels, forest, labels)
    row = np.repeat(np.arange(len(labels)), np.diff(routes.starts))
    part = routes.weights / WEIGHT_ONE
    added = np.zeros((len(labels), scores.shape[1]))
    np.add.at(added, row, part[:, None] * scores[routes.leaves])
    excess = np.exp(added - added.max(axis=1, keepdims=True))
    excess /= excess.sum(axis=1, keepdims=True)
    expected = np.where(weights > 0, excess[np.arange(len(labels)), classes], 1.0)
    np.testing.assert_allclose(likelihood, expected, atol=1e-9)
    excess[np.arange(len(labels)), classes] -= 1.0
    change = np.zeros(scores.shape)
    units = weights[row] / WEIGHT_ONE * SLOPE_SCALE
    np.add.at(change, routes.leaves, (routes.weights * units)[:, None] * excess[row])
    np.testing.assert_allclose(slope, change, rtol=1e-6, atol=len(row) + 64)


def routes_of(kernels, forest, labels):
    """Walk rows through the trees of a forest one after the other; the bias comes last."""
    ends = [*forest.roots[1:].tolist(), len(forest.trees.feature)]
    whole = np.full(len(labels), WEIGHT_ONE)
    of_trees = []
    for root, end in zip(forest.roots.tolist(), ends, strict=True):
        nodes = slice(root, end)
        children = (forest.trees.first_child[nodes] - root).astype(np.int32)
        tree = TreeShape(forest.trees.feature[nodes], children, forest.trees.depth)
        of_trees.append((kernels.route(Described.plain(labels), whole, forest.sets, tree), root))
    leaves, reached, starts = [], [], [0]
    for row in range(len(labels)):
        for routes, root in of_trees:
            here = slice(routes.starts[row], routes.starts[row + 1])
            leaves.append(forest.places[root + routes.leaves[here]])
            reached.append(routes.weights[here])
        leaves.append([forest.bias_place])
        reached.append([WEIGHT_ONE])
        starts.append(sum(map(len, leaves)))
    return Routes(
        np.array(starts, dtype=np.int64),
        np.concatenate([np.empty(0), *leaves]).astype(np.int32),
        np.concatenate([np.empty(0), *reached]).astype(np.int64),
    )


@pytest.mark.parametrize("kernels", KERNELS)
@given(case=binned_numbers())
def test_numbers_are_found_between_the_edges_of_their_bins(kernels, case):
    values, edges = case
    known = ~np.isnan(values)
    bins = np.empty(len(values), dtype=np.int32)
    kernels.find(values, edges, bins)
    assert (bins[~known] == len(edges)).all()
    assert (edges[bins[known]] <= values[known]).all()
    assert (values[known] < np.append(edges, np.inf)[bins[known] + 1]).all()


def test_depth_is_that_of_the_longest_branch():
    sets = FocalSets(np.arange(4.0), np.full(4, 0.5), np.array([0, 2, 4], dtype=np.int32))
    shape = TreeShape.of(
        np.array([0, -1, 1, -1, -1], np.int32), np.array([1, 0, 3, 0, 0], np.int32), sets
    )
    assert shape.depth == 2
    assert TreeShape.stump().depth == 0


def test_the_environment_chooses_the_kernel(monkeypatch):
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert kernel().name == "reference"
    monkeypatch.setenv("SOLAH_KERNEL", "fastest")
    with pytest.raises(SolahError, match="must be 'native' or 'reference'. Got 'fastest'"):
        kernel()


def test_a_native_kernel_that_is_not_there_is_an_error_with_the_way_out(monkeypatch):
    monkeypatch.setattr(native, "load", lambda: None)
    assert kernel().name == "reference"
    monkeypatch.setenv("SOLAH_KERNEL", "native")
    with pytest.raises(SolahError, match="without a C compiler.*pip install"):
        kernel()


@pytest.mark.parametrize("n_threads", [1, 2, 7, 100])
@pytest.mark.parametrize("n_rows", [0, 1, 5, 64])
def test_slices_cover_the_rows_once(n_rows, n_threads):
    slices = map_slices(lambda part: range(part.start, part.stop), n_rows, n_threads)
    assert [row for part in slices for row in part] == list(range(n_rows))


def test_jobs_are_counted_as_in_scikit_learn():
    everything = available_threads()
    assert everything >= 1
    assert [count_threads(n) for n in (None, 1, 3, -1)] == [1, 1, 3, everything]
    assert count_threads(-1000) == 1
    with pytest.raises(SolahError, match="must not be 0"):
        count_threads(0)
