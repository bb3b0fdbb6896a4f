"""The kernels in plain NumPy: the oracle in tests, and the fallback without a compiler.

They do the same operations in the same order as ``native/``, so their results are equal bit for
bit: integers in training, and in prediction the same float64 steps along the same walk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.kernels.arrays import (
    MASS_BITS,
    MASS_MASK,
    MASS_ONE,
    SLOPE_SCALE,
    SPREAD,
    WEIGHT_ONE,
    Described,
    Routes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.kernels.arrays import (
        Bytes,
        Float,
        FocalSets,
        Forest,
        Int32,
        Int64,
        Labels,
        Readings,
        TreeShape,
    )


name = "reference"


def label(values: Float, sets: FocalSets, out: Labels) -> None:
    """Describe readings by their focal sets."""
    for a in range(sets.n_features):
        peaks = _of(sets.peaks, sets, a)
        lower, upper_mass, ignorant = _describe(values[:, a], peaks)
        fixed = np.floor(upper_mass * MASS_ONE + 0.5).astype(np.int64)
        labels = np.where(ignorant, len(peaks) << MASS_BITS, (lower << MASS_BITS) + fixed)
        out[:, a] = labels


def accumulate(
    rows: Described,
    targets: Labels,
    weights: Int64,
    sets: FocalSets,
    tree: TreeShape,
    slots: Int32,
    out: Int64,
) -> None:
    """Add the rows that reach a leaf with a slot to ``out[slot, bin, target]``."""
    for node, here, weight in _walk(rows, weights, sets, tree):
        if slots[node] < 0:
            continue
        counts = out[slots[node]]
        target = (targets[here] >> MASS_BITS).astype(np.int64)
        upper = _share(weight, targets[here] & MASS_MASK)
        _add_rows(rows, here, target, weight - upper, sets, counts)
        both = upper > 0
        _add_rows(rows, here[both], target[both] + 1, upper[both], sets, counts)


def route(rows: Described, weights: Int64, sets: FocalSets, tree: TreeShape) -> Routes:
    """Find the leaves that rows reach."""
    walk = list(_walk(rows, weights, sets, tree))
    reached = np.concatenate([here for _, here, _ in walk] or [np.empty(0, np.int64)])
    leaves = np.repeat([node for node, _, _ in walk], [len(here) for _, here, _ in walk])
    shares = np.concatenate([weight for _, _, weight in walk] or [np.empty(0, np.int64)])
    by_row = np.argsort(reached, kind="stable")
    starts = np.searchsorted(reached[by_row], np.arange(len(rows) + 1))
    return Routes(starts.astype(np.int64), leaves[by_row].astype(np.int32), shares[by_row])


def share_weights(
    routes: Routes, classes: Int64, weights: Int64, beliefs: Float, out: Int64
) -> None:
    """Share rows' weights among their leaves by how likely each made the class."""
    row = np.repeat(np.arange(len(classes)), np.diff(routes.starts))
    target = classes[row]
    support = routes.weights.astype(np.float64) * beliefs[routes.leaves, target]
    likelihood = np.bincount(row, support, len(classes))
    possible = likelihood > 0
    per_unit = np.divide(weights, likelihood, out=np.zeros(len(classes)), where=possible)
    np.add.at(out, (routes.leaves, target), (support * per_unit[row] + 0.5).astype(np.int64))


def score_labels(
    forest: Forest,
    labels: Labels,
    classes: Int64,
    weights: Int64,
    scores: Float,
    likelihood: Float,
    out: Int64,
) -> None:
    """Find how likely the scores of forests make rows' classes, and how to change them."""
    rows, whole = Described.plain(labels), np.where(weights > 0, WEIGHT_ONE, 0)
    here = np.flatnonzero(whole)
    walks = [
        walk
        for root in forest.roots.tolist()
        for walk in _walk(rows, whole, forest.sets, forest.trees, root)
    ]
    reached = [(forest.places[node], taking, weight) for node, taking, weight in walks]
    reached.append((forest.bias_place, here, whole[here]))
    evidence = np.zeros((len(labels), scores.shape[1]))
    for place, taking, weight in reached:
        part = weight.astype(np.float64) * (1.0 / WEIGHT_ONE)
        evidence[taking] += part[:, None] * scores[place]
    every = np.arange(len(classes))
    excess = softmax(evidence)
    likelihood[:] = np.where(whole > 0, excess[every, classes], 1.0)
    excess[every, classes] -= 1.0
    units = weights.astype(np.float64) * (SLOPE_SCALE / WEIGHT_ONE)
    for place, taking, weight in reached:
        change = (weight * units[taking])[:, None] * excess[taking]
        out[place] += change.astype(np.int64).sum(axis=0)


def softmax(evidence: Float) -> Float:
    """Turn scores ``(n_rows, n_classes)`` into probabilities: e^score, normalised."""
    shares = _exp_of_negative(evidence - evidence.max(axis=1, keepdims=True))
    total = np.zeros(len(shares))
    for of_class in shares.T:  # one after the other: a sum by pairs would round otherwise
        total += of_class
    return shares / total[:, None]


def exp_of_scores(scores: Float) -> Float:
    """Return e^score; beyond 80 up or down it stays as it is there."""
    bounded = np.clip(scores, -80.0, 80.0)
    found = _exp_of_negative(-np.abs(bounded))
    return np.asarray(np.where(bounded > 0, 1.0 / found, found))


def _exp_of_negative(x: Float) -> Float:
    """Return e^x for x <= 0, of additions and multiplications only: every machine rounds alike."""
    x = np.maximum(x, -700.0)
    k = np.trunc(x * 1.4426950408889634 - 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    total = np.full_like(r, 1 / math.factorial(13))
    for i in range(12, -1, -1):
        total = total * r + 1 / math.factorial(i)
    return np.ldexp(total, k.astype(np.int32))


def find(values: Float, edges: Float, out: Int32) -> None:
    """Find the bins of numbers, which begin at the edges."""
    out[:] = np.searchsorted(edges[1:], values, side="right")
    out[np.isnan(values)] = len(edges)


def predict(rows: Readings, sets: FocalSets, tree: TreeShape, beliefs: Float, out: Float) -> None:
    """Average the leaves' beliefs over the branches that readings take."""
    out[:] = 0.0
    stack = [(0, np.arange(len(rows.values)), np.ones(len(rows.values)))]
    while stack:
        node, here, weight = stack.pop()
        a = int(tree.feature[node])
        if a < 0:
            out[here] += weight[:, None] * beliefs[node]
            continue
        children = []
        for k, mass in enumerate(_input_masses(rows, here, sets, a).T):
            below = weight * mass
            alive = below > 0
            if alive.any():
                children.append((int(tree.first_child[node]) + k, here[alive], below[alive]))
        stack.extend(reversed(children))


def masses(x: Float, sets: FocalSets, a: int) -> Float:
    """Spread values over a feature's focal sets: one row a value, summing to 1."""
    peaks = _of(sets.peaks, sets, a)
    lower, upper_mass, ignorant = _describe(x, peaks)
    masses = np.zeros((len(x), len(peaks)))
    rows = np.arange(len(x))
    masses[rows, np.minimum(lower + 1, len(peaks) - 1)] = upper_mass
    masses[rows, lower] = 1.0 - upper_mass
    masses[ignorant] = _of(sets.mean_masses, sets, a)
    return masses


def _of(flat: Float, sets: FocalSets, a: int) -> Float:
    """Return one feature's part of a flat array."""
    return flat[sets.offsets[a] : sets.offsets[a + 1]]


def _describe(x: Float, peaks: Float) -> tuple[Int64, Float, NDArray[np.bool_]]:
    """Find the lower focal set, the mass of the one above it, and which values are unknown."""
    ignorant = np.isnan(x)
    lower = np.asarray((x[:, None] >= peaks[None, 1:]).sum(axis=1), dtype=np.int64)
    at_peak = ignorant | (lower == len(peaks) - 1) | (x <= peaks[lower])
    above = np.minimum(lower + 1, len(peaks) - 1)
    upper_mass = np.zeros(len(x))
    i = ~at_peak
    upper_mass[i] = (x[i] - peaks[lower[i]]) / (peaks[above[i]] - peaks[lower[i]])
    return lower, upper_mass, ignorant


def _share(weight: Int64, mass: NDArray[Any]) -> Int64:
    """Take the share of integer weights, rounded half up."""
    return (weight * mass.astype(np.int64) + (MASS_ONE >> 1)) >> MASS_BITS


def _input_masses(rows: Readings, here: Int64, sets: FocalSets, a: int) -> Float:
    """Take the masses of an input: given ones, or those of its readings."""
    start = rows.offsets[a]
    if start >= 0:
        return rows.given[here, start : start + sets.sizes[a]]
    return masses(rows.values[here, a], sets, a)


def _walk(
    rows: Described, weights: Int64, sets: FocalSets, tree: TreeShape, root: int = 0
) -> Iterator[tuple[int, Int64, Int64]]:
    """Yield the leaves, depth first, each with the rows that reach it and their weights."""
    here = np.flatnonzero(weights > 0)
    stack = [(root, here, weights[here])]
    while stack:
        node, here, weight = stack.pop()
        a = int(tree.feature[node])
        if a < 0:
            yield node, here, weight
            continue
        children = []
        for k, below in enumerate(_child_weights(rows, here, weight, sets, a)):
            alive = below > 0
            if alive.any():
                children.append((int(tree.first_child[node]) + k, here[alive], below[alive]))
        stack.extend(reversed(children))


def _child_weights(
    rows: Described, here: Int64, weight: Int64, sets: FocalSets, a: int
) -> Iterator[Int64]:
    """Split weights over the focal sets; the parts of a row add up to its weight."""
    label_ = rows.labels[here, a]
    lower = label_ >> MASS_BITS
    upper = _share(weight, label_ & MASS_MASK)
    by_share = (lower == sets.sizes[a]) | (lower == SPREAD)
    cumulated = _cumulated(rows, here, sets, a)
    for k in range(sets.sizes[a]):
        labelled = np.where(lower == k, weight - upper, np.where(lower + 1 == k, upper, 0))
        shared = _share(weight, cumulated[:, k + 1]) - _share(weight, cumulated[:, k])
        yield np.where(by_share, shared, labelled)


def _cumulated(rows: Described, here: Int64, sets: FocalSets, a: int) -> Labels:
    """Return the masses summed up, of inputs that are spread and of unknown ones."""
    start = rows.offsets[a]
    mean_masses = sets.cumulated_ignorance[sets.bins[a] : sets.bins[a + 1]]
    of_rows = np.broadcast_to(mean_masses, (len(here), len(mean_masses)))
    if start < 0:
        return of_rows
    spread = rows.labels[here, a] >> MASS_BITS == SPREAD
    own = rows.spread[here, start : start + sets.sizes[a] + 1]
    return np.where(spread[:, None], own, of_rows)


def _add_rows(
    rows: Described, here: Int64, target: Int64, weight: Int64, sets: FocalSets, out: Int64
) -> None:
    """Add weighted rows of known targets to the bins of one node."""
    for a in range(sets.n_features):
        labels = rows.labels[here, a]
        spread = labels >> MASS_BITS == SPREAD
        if spread.any():
            shares = _child_weights(rows, here[spread], weight[spread], sets, a)
            for k, share in enumerate(shares):
                np.add.at(out, (sets.bins[a] + k, target[spread]), share)
        i = ~spread
        bins = sets.bins[a] + (labels[i] >> MASS_BITS).astype(np.int64)
        upper = _share(weight[i], labels[i] & MASS_MASK)
        np.add.at(out, (bins, target[i]), weight[i] - upper)
        both = upper > 0
        np.add.at(out, (bins[both] + 1, target[i][both]), upper[both])


class _Split(NamedTuple):
    gain: float = 0.0  # there is none
    feature: int = 0
    bin: int = 0
    missing_left: bool = False


def grow(
    bins: Bytes,
    sizes: Int32,
    nominal: Bytes,
    gradient: Int32,
    curvature: Int32,
    weights: Int32,
    n_leaves: int,
    ridge: float,
    least: int,
    leaf: Int32,
    gains: Float,
) -> int:
    """Grow one small regression tree on binned readings."""
    cells = np.minimum(bins, sizes[:, None]).astype(np.int64)
    terms = np.stack([gradient, curvature, weights]).astype(np.int64)

    def best_split(number: int) -> _Split:
        here = np.flatnonzero(leaf == number)
        return _best_split(cells[:, here], sizes, nominal, terms[:, here], ridge, least)

    leaf[:] = np.where(weights > 0, 0, -1)
    best = [best_split(0)]
    while len(best) < n_leaves:
        parted = int(np.argmax([split.gain for split in best]))
        gain, a, b, missing_left = best[parted]
        if gain <= 0:
            break
        gains[a, b] += gain
        known_left = cells[a] == b if nominal[a] else cells[a] <= b
        goes_left = np.where(cells[a] == sizes[a], missing_left, known_left)
        leaf[(leaf == parted) & ~goes_left] = len(best)
        best[parted] = best_split(parted)
        best.append(best_split(len(best)))
    return len(best)


def _best_split(
    cells: Int64, sizes: Int32, nominal: Bytes, terms: Int64, ridge: float, least: int
) -> _Split:
    """Find the split of some rows with the largest gain: the lowest feature, then bin, if tied.

    A missing reading goes right unless the left gives more.
    """
    best = _Split()
    whole = terms.sum(axis=1)[:, None]
    for a, size in enumerate(sizes.tolist()):
        histogram = np.zeros((len(terms), size + 1), dtype=np.int64)
        for sums, term in zip(histogram, terms, strict=True):
            np.add.at(sums, cells[a], term)
        known, missing = histogram[:, :size], histogram[:, size:]
        left = known if nominal[a] else np.cumsum(known, axis=1)[:, :-1]
        if left.size == 0:
            continue
        by_side = np.stack([_gains(side, whole, ridge, least) for side in (left, left + missing)])
        b = int(np.argmax(by_side.max(axis=0)))
        right_gain, left_gain = by_side[:, b].tolist()
        if max(right_gain, left_gain) > best.gain:
            best = _Split(max(right_gain, left_gain), a, b, left_gain > right_gain)
    return best


def _gains(left: Int64, whole: Int64, ridge: float, least: int) -> Float:
    """Compute the gains of splits from the sums on their left; 0 where a side weighs too little."""
    right = whole - left
    gains = _merit(left, ridge) + _merit(right, ridge) - _merit(whole, ridge)
    enough = (left[2] >= least) & (right[2] >= least)
    return np.where(enough, gains, 0.0)


def _merit(sums: Int64, ridge: float) -> Float:
    gradient, curvature = sums[:2].astype(np.float64)
    merit: Float = gradient * gradient / (curvature + ridge)
    return merit
