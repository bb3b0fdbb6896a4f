"""Described rows in, the fold of each row out, whatever order the rows stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from solah.kernels.arrays import Int64, Labels

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
    state = _mix(codes.astype(np.uint64))
    for column in labels.T:
        state = _mix(state ^ column.astype(np.uint64))
    return (state % np.uint64(n_folds)).astype(np.int64)


def _mix(
    state: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    mixed = state + _STEP  # wraps around, as it should
    for shift, factor in _MIXERS:
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> _LAST_SHIFT)
