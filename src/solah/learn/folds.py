"""Described rows in, the fold of each row out, whatever order the rows stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.data.digests import chain, mix

if TYPE_CHECKING:
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64, Labels


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


def piecewise_folds(
    labels: Labels, codes: Int64, weights: Int64, plain: Float, n_folds: int
) -> Int64 | None:
    """Deal the weight of rows out to folds, the classes spread evenly.

    Rows that say the same are dealt out one after another, as if they differed, and a row that
    weighs as much as several is dealt out in as many pieces: so two rows are a row of weight two,
    the order of the rows does not matter, and a table with few different rows has every kind of
    row on both sides.

    Parameters
    ----------
    labels, codes, n_folds
        As in :func:`content_folds`.
    weights : (n_rows,) positive integers
    plain : (n_classes,) what one row of each class weighs, in the same unit

    Returns
    -------
    dealt : (n_folds, n_rows) integers, or None
        How much of each row's weight is in each fold; None where no class has two pieces.
    """
    digests = row_digests(labels, codes)
    dealt = np.zeros((n_folds, len(codes)), dtype=np.int64)
    start = most = 0
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        _, kind = np.unique(digests[rows], return_inverse=True)
        totals = np.bincount(kind, weights[rows].astype(np.float64))
        pieces = np.maximum(1, np.rint(totals / plain[code])).astype(np.int64)
        before = start + np.cumsum(pieces) - pieces
        shares = np.cumsum(_counts(before, pieces, n_folds), axis=0)[:, kind]
        until = shares * weights[rows] // pieces[kind]
        dealt[:, rows] = np.diff(until, axis=0, prepend=0)
        start += int(pieces.sum())
        most = max(most, int(pieces.sum()))
    return dealt if most > 1 else None


def _counts(before: Int64, pieces: Int64, n_folds: int) -> Int64:
    """Count the pieces that each fold gets of each kind, dealt out in turn from ``before`` on."""
    place = (np.arange(n_folds)[:, None] - before[None, :]) % n_folds
    counts: Int64 = np.maximum(0, (pieces[None, :] - place + n_folds - 1) // n_folds)
    return counts


def row_digests(labels: Labels, codes: Int64) -> UInt64:
    """Turn what each row says into one number that looks random."""
    columns = (column.astype(np.uint64) for column in labels.T)
    return chain(columns, mix(codes.astype(np.uint64)))
