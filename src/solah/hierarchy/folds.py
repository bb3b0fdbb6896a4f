"""Described rows in, the fold of each row out, whatever order the rows stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Int64, Labels

    UInt64 = NDArray[np.uint64]

# Steele, Lea and Flood's SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)


def content_folds(labels: Labels, codes: Int64, n_folds: int) -> Int64:
    """Put rows into folds by what they say.

    Rows that say the same are in one fold, so that no row is judged by a model that has learnt
    its twin; and neither the order of the rows nor their partition matters.

    Parameters
    ----------
    labels : (n_rows, n_attributes) the rows described
    codes : (n_rows,) their classes
    n_folds : int

    Returns
    -------
    folds : (n_rows,) numbers from 0
    """
    return (row_digests(labels, codes) % np.uint64(n_folds)).astype(np.int64)


def stratified_folds(labels: Labels, codes: Int64, n_folds: int) -> Int64 | None:
    """Put rows into folds by what they say, the classes spread evenly.

    Parameters
    ----------
    labels, codes, n_folds
        As in :func:`content_folds`.

    Returns
    -------
    folds : (n_rows,) numbers from 0, or None
        None where no class has two rows that differ, and nothing can be compared.
    """
    digests = row_digests(labels, codes)
    folds = np.empty(len(codes), dtype=np.int64)
    start = most = 0
    for code in np.unique(codes):
        of_class = codes == code
        different, numbers = np.unique(digests[of_class], return_inverse=True)
        folds[of_class] = (start + numbers) % n_folds
        start += len(different)
        most = max(most, len(different))
    return folds if most > 1 else None


def row_digests(labels: Labels, codes: Int64) -> UInt64:
    """Turn what each row says into one number that looks random."""
    state = _mix(codes.astype(np.uint64))
    for column in labels.T:
        state = _mix(state ^ column.astype(np.uint64))
    return state


def _mix(state: UInt64) -> UInt64:
    mixed = state + _STEP  # wraps around, as it should
    for shift, factor in _MIXERS:
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> _LAST_SHIFT)
