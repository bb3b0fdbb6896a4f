"""Random focal sets, trees and rows, for tests that hold for all of them."""

import numpy as np
from hypothesis import strategies as st

from solah.kernels.arrays import (
    MASS_BITS,
    MASS_ONE,
    MAX_GROWN_LEAVES,
    MISSING_BIN,
    SPREAD,
    WEIGHT_ONE,
    Described,
    FocalSets,
    Forest,
    Readings,
    TreeShape,
)
from solah.kernels.reference import label


@st.composite
def focal_sets(draw, max_features=4):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=max_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    peaks = [np.cumsum(rng.uniform(0.01, 2.0, size)) - 2.0 for size in sizes]
    mean_masses = [rng.dirichlet(np.ones(size)) for size in sizes]
    return FocalSets(
        peaks=np.concatenate(peaks),
        mean_masses=np.concatenate(mean_masses),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
    )


def random_tree(sets, rng, max_nodes=60):
    """Grow a random tree that uses a feature at most once on a branch."""
    feature, first_child, used = [-1], [0], [frozenset()]
    for node in range(max_nodes):
        free = [a for a in range(sets.n_features) if node < len(used) and a not in used[node]]
        if node >= len(feature) or not free or (node and rng.random() < 0.4):
            continue
        feature[node] = a = int(rng.choice(free))
        first_child[node] = len(feature)
        for _ in range(sets.sizes[a]):
            feature.append(-1)
            first_child.append(0)
            used.append(used[node] | {a})
    return TreeShape.of(np.array(feature, np.int32), np.array(first_child, np.int32), sets)


def random_values(sets, rng, n_rows):
    """Draw readings inside, outside and exactly on the peaks, and unknown ones."""
    values = rng.uniform(-4.0, 12.0, (n_rows, sets.n_features))
    on_peak = rng.choice(sets.peaks, values.shape)
    values = np.where(rng.random(values.shape) < 0.2, on_peak, values)
    values[rng.random(values.shape) < 0.15] = np.nan
    return values


def random_inputs(sets, rng, n_rows):
    """Describe random readings; some features have their masses spread in some rows."""
    labels = np.empty((n_rows, sets.n_features), dtype=np.uint32)
    label(random_values(sets, rng, n_rows), sets, labels)
    offsets, parts, width = np.full(sets.n_features, -1, dtype=np.int32), [], 0
    for a in np.flatnonzero(rng.random(sets.n_features) < 0.4):
        sums = np.cumsum(rng.dirichlet(np.ones(sets.sizes[a]) * 0.5, n_rows), axis=1)
        cumulated = np.rint(np.insert(sums, 0, 0.0, axis=1) * MASS_ONE)
        cumulated[:, -1] = MASS_ONE
        parts.append(cumulated.astype(np.uint32))
        offsets[a], width = width, width + sets.sizes[a] + 1
        labels[rng.random(n_rows) < 0.8, a] = SPREAD << MASS_BITS
    spread = np.hstack([*parts, np.empty((n_rows, 0), dtype=np.uint32)])
    return Described(labels, np.ascontiguousarray(spread), offsets)


def random_readings(sets, rng, n_rows):
    """Draw readings, with the masses of some features given."""
    offsets, parts, width = np.full(sets.n_features, -1, dtype=np.int32), [], 0
    for a in np.flatnonzero(rng.random(sets.n_features) < 0.4):
        parts.append(rng.dirichlet(np.ones(sets.sizes[a]), n_rows))
        offsets[a], width = width, width + sets.sizes[a]
    given = np.ascontiguousarray(np.hstack([*parts, np.empty((n_rows, 0))]))
    return Readings(random_values(sets, rng, n_rows), given, offsets)


@st.composite
def training_rows(draw, max_rows=40):
    """Return focal sets, inputs, targets, weights, a tree, and how many targets there are."""
    sets = draw(focal_sets())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_targets = draw(st.integers(1, max_rows)), draw(st.integers(2, 4))
    inputs = random_inputs(sets, rng, n_rows)
    targets = rng.integers(0, (n_targets - 1) << MASS_BITS, n_rows, dtype=np.uint32)
    weights = rng.integers(0, WEIGHT_ONE, n_rows, endpoint=True)
    weights[rng.random(n_rows) < 0.2] = 0
    return sets, inputs, targets, weights, random_tree(sets, rng), n_targets


@st.composite
def routed_rows(draw, max_rows=40):
    """Return a forest, labels, classes, weights and scores."""
    sets = draw(focal_sets())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    trees = [random_tree(sets, rng, 20) for _ in range(draw(st.integers(1, 4)))]
    n_rows, n_classes = draw(st.integers(1, max_rows)), draw(st.integers(2, 4))
    labels = np.empty((n_rows, sets.n_features), dtype=np.uint32)
    label(random_values(sets, rng, n_rows), sets, labels)
    n_voices = draw(st.integers(1, 30))
    scores = rng.normal(size=(n_voices + 1, n_classes)) * rng.choice([1.0, 30.0, 2000.0])
    weights = rng.integers(0, WEIGHT_ONE, n_rows, endpoint=True)
    weights[rng.random(n_rows) < 0.2] = 0
    forest = side_by_side(sets, trees, rng.integers(0, n_voices, 999).astype(np.int32), n_voices)
    return forest, labels, rng.integers(0, n_classes, n_rows), weights, scores


def side_by_side(sets, trees, places, bias_place):
    """Put trees into one table, with scores at these places."""
    roots = np.cumsum([0, *(len(tree.feature) for tree in trees)]).astype(np.int32)
    children = [t.first_child + root for t, root in zip(trees, roots, strict=False)]
    table = TreeShape(
        np.concatenate([tree.feature for tree in trees]),
        np.concatenate(children).astype(np.int32),
        max(tree.depth for tree in trees),
    )
    return Forest(sets, table, roots[:-1], places[: roots[-1]], bias_place)


@st.composite
def binned_numbers(draw):
    """Return numbers, and where bins begin."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_edges = draw(st.integers(0, 80)), draw(st.integers(1, 40))
    size = draw(st.sampled_from([1.0, 1e-300, 1e300]))
    edges = np.unique(rng.normal(size=n_edges)) * size
    inside = rng.choice(edges, n_rows) + np.abs(rng.normal(size=n_rows)) * size
    values = np.where(rng.random(n_rows) < 0.3, rng.choice(edges, n_rows), inside)
    values[rng.random(n_rows) < 0.1] = np.nan
    return values, edges


@st.composite
def grown_rows(draw, max_rows=200):
    """Return what a small tree is grown on, by the names of the kernel's parameters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 10, 255]), min_size=1, max_size=8))
    n_rows = draw(st.integers(0, max_rows))
    # Small numbers give many ties; the largest leave no room in 32 bits for a sum of two.
    unit = draw(st.sampled_from([1, 3, 2**20, 2**24, 2**31 - 1]))
    bins = np.array([rng.integers(0, size, n_rows) for size in sizes], dtype=np.uint8)
    bins[rng.random(bins.shape) < draw(st.sampled_from([0.0, 0.2, 0.9]))] = MISSING_BIN
    weights = rng.integers(1, unit, n_rows, dtype=np.int32, endpoint=True)
    weights[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.3]))] = 0
    return {
        "bins": bins,
        "sizes": np.array(sizes, dtype=np.int32),
        "nominal": rng.integers(0, 2, len(sizes), dtype=np.uint8),
        "gradient": rng.integers(-unit - 1, unit, n_rows, dtype=np.int32, endpoint=True),
        "curvature": rng.integers(0, unit, n_rows, dtype=np.int32, endpoint=True),
        "weights": weights,
        "n_leaves": draw(st.integers(2, MAX_GROWN_LEAVES)),
        "ridge": draw(st.sampled_from([1e-3, 1.0, 0.7 * unit])),
        "least": draw(st.sampled_from([0, 1, 5, 20])) * unit,
    }
