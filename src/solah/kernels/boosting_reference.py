"""The growth of boosted trees in plain NumPy: what ``native/boosting.c`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from solah.kernels.arrays import Bytes, Float, Int32, Int64


class _Split(NamedTuple):
    gain: float = 0.0  # there is none
    attribute: int = 0
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
    """Find the split of some rows with the largest gain: the lowest attribute, then bin, if tied.

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
