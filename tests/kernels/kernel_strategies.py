"""Random focal sets, trees and rows, for tests that hold for all of them."""

import numpy as np
from hypothesis import strategies as st

from solah.kernels.arrays import (
    MASS_BITS,
    MASS_ONE,
    SPREAD,
    WEIGHT_ONE,
    Described,
    FocalSets,
    Readings,
    TreeShape,
)
from solah.kernels.reference import label


@st.composite
def focal_sets(draw, max_attributes=4):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=max_attributes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    peaks = [np.cumsum(rng.uniform(0.01, 2.0, size)) - 2.0 for size in sizes]
    ignorance = [rng.dirichlet(np.ones(size)) for size in sizes]
    return FocalSets(
        peaks=np.concatenate(peaks),
        ignorance=np.concatenate(ignorance),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
    )


def random_tree(sets, rng, max_nodes=60):
    """Grow a random tree that uses an attribute at most once on a branch."""
    attribute, first_child, used = [-1], [0], [frozenset()]
    for node in range(max_nodes):
        free = [a for a in range(sets.n_attributes) if node < len(used) and a not in used[node]]
        if node >= len(attribute) or not free or (node and rng.random() < 0.4):
            continue
        attribute[node] = a = int(rng.choice(free))
        first_child[node] = len(attribute)
        for _ in range(sets.sizes[a]):
            attribute.append(-1)
            first_child.append(0)
            used.append(used[node] | {a})
    return TreeShape.of(np.array(attribute, np.int32), np.array(first_child, np.int32), sets)


def random_values(sets, rng, n_rows):
    """Draw readings inside, outside and exactly on the peaks, and unknown ones."""
    values = rng.uniform(-4.0, 12.0, (n_rows, sets.n_attributes))
    on_peak = rng.choice(sets.peaks, values.shape)
    values = np.where(rng.random(values.shape) < 0.2, on_peak, values)
    values[rng.random(values.shape) < 0.15] = np.nan
    return values


def random_inputs(sets, rng, n_rows):
    """Describe random readings; some attributes have their masses spread in some rows."""
    labels = np.empty((n_rows, sets.n_attributes), dtype=np.uint32)
    label(random_values(sets, rng, n_rows), sets, labels)
    offsets, parts, width = np.full(sets.n_attributes, -1, dtype=np.int32), [], 0
    for a in np.flatnonzero(rng.random(sets.n_attributes) < 0.4):
        sums = np.cumsum(rng.dirichlet(np.ones(sets.sizes[a]) * 0.5, n_rows), axis=1)
        cumulated = np.rint(np.insert(sums, 0, 0.0, axis=1) * MASS_ONE)
        cumulated[:, -1] = MASS_ONE
        parts.append(cumulated.astype(np.uint32))
        offsets[a], width = width, width + sets.sizes[a] + 1
        labels[rng.random(n_rows) < 0.8, a] = SPREAD << MASS_BITS
    spread = np.hstack([*parts, np.empty((n_rows, 0), dtype=np.uint32)])
    return Described(labels, np.ascontiguousarray(spread), offsets)


def random_readings(sets, rng, n_rows):
    """Draw readings, with the masses of some attributes given."""
    offsets, parts, width = np.full(sets.n_attributes, -1, dtype=np.int32), [], 0
    for a in np.flatnonzero(rng.random(sets.n_attributes) < 0.4):
        parts.append(rng.dirichlet(np.ones(sets.sizes[a]), n_rows))
        offsets[a], width = width, width + sets.sizes[a]
    given = np.ascontiguousarray(np.hstack([*parts, np.empty((n_rows, 0))]))
    return Readings(random_values(sets, rng, n_rows), given, offsets)


@st.composite
def training_rows(draw, max_rows=40):
    """Return focal sets, inputs, goals, weights, a tree, and how many goals there are."""
    sets = draw(focal_sets())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_goals = draw(st.integers(1, max_rows)), draw(st.integers(2, 4))
    inputs = random_inputs(sets, rng, n_rows)
    goals = rng.integers(0, (n_goals - 1) << MASS_BITS, n_rows, dtype=np.uint32)
    weights = rng.integers(0, WEIGHT_ONE, n_rows, endpoint=True)
    weights[rng.random(n_rows) < 0.2] = 0
    return sets, inputs, goals, weights, random_tree(sets, rng), n_goals
