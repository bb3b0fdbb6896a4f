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


def group_folds(groups: UInt64, codes: Int64, weights: Int64 | Float, n_folds: int) -> Int64:
    """Deal groups of rows out to folds, so that no group is learnt from and tested on.

    Groups are dealt out in turn: by the class that most of a group is of, so that classes are
    spread where each group has one, and by their digests, so that neither the order of the rows
    nor the names' order matters.

    Parameters
    ----------
    groups : (n_rows,) the digests of the groups' names
    codes : (n_rows,) the classes
    weights : (n_rows,) what the rows weigh
    n_folds : int

    Returns
    -------
    folds : (n_rows,) numbers from 0; there are as many as groups, if these are fewer than folds
    """
    names, numbers = np.unique(groups, return_inverse=True)
    of_classes = np.zeros((len(names), int(codes.max()) + 1))
    np.add.at(of_classes, (numbers, codes), weights)
    order = np.lexsort((names, of_classes.argmax(axis=1)))
    folds = np.empty(len(names), dtype=np.int64)
    folds[order] = np.arange(len(names)) % n_folds
    return folds[numbers]


def row_digests(labels: Labels, codes: Int64) -> UInt64:
    """Turn what each row says into one number that looks random."""
    columns = (column.astype(np.uint64) for column in labels.T)
    return chain(columns, mix(codes.astype(np.uint64)))
