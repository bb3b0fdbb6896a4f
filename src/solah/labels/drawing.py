"""Samples of rows, drawn by the digests of their values, and the limits above which they are drawn.

Of equal rows one is drawn, with the weight of all: a table of few different rows is
drawn whole. Neither the order of the rows nor their partition matters, and a smaller sample is part
of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data.digests import chain, digest_column, mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64


@dataclass(frozen=True)
class Limits:
    """Sizes at which learning changes its method.

    Attributes
    ----------
    many_rows : with more rows, a sample replaces all rows where these would be read many times
    exact_rows : with more rows, dependence is measured in bins
    selection_rows : number of rows that settings are compared on
    selection_values : number of values in them, times classes, that is enough
    selection_least : fewer rows are never taken, however many values they have
    """

    many_rows: int = 20_000
    exact_rows: int = 20_000
    selection_rows: int = 5_000
    selection_values: int = 2_000_000
    selection_least: int = 500

    def rows_to_select_by(self, n_features: int, n_classes: int) -> int:
        """Return how many different rows are enough to compare settings by."""
        enough = self.selection_values // (n_features * n_classes)
        return min(self.selection_rows, max(enough, self.selection_least))


LIMITS = Limits()


class Drawn(NamedTuple):
    """Different rows, by their digests.

    Attributes
    ----------
    rows : (n_drawn,) the index of the first occurrence of each
    weights : (n_drawn,) the weight of all rows equal to it
    counts : (n_drawn,) how many rows are equal to it, itself included; where these differ in
        weight, how many equally weighted ones are as informative (Kish's effective sample size)
    digests : (n_drawn,) increasing
    """

    rows: NDArray[np.intp]
    weights: Int64
    counts: Float
    digests: UInt64


def digest_rows(table: Table, of_target: UInt64) -> UInt64:
    """Return one number per row: the digest of its values and of its target."""
    return digest_values(map(digest_column, table.columns), of_target)


def digest_values(of_columns: Iterable[UInt64], of_target: UInt64) -> UInt64:
    """Turn the digests of rows' values, and those of their targets, into one number per row."""
    # Mixed once more, so that a target differs from a value of the first column.
    return chain(of_columns, mix(of_target))


def digest_within(digests: UInt64, groups: UInt64 | None) -> UInt64:
    """Return digests that differ for equal rows of different groups, if there are any."""
    return digests if groups is None else mix(digests ^ groups)


def draw_rows(digests: UInt64, weights: Int64, n_rows: int, counts: Float | None = None) -> Drawn:
    """Draw the different rows whose digests are smallest.

    Parameters
    ----------
    digests : (n_rows,) the digests of the rows' values
    weights : (n_rows,) rows of weight zero are not drawn
    n_rows : int
        How many to draw, or all if there are fewer different ones.
    counts : (n_rows,) as those of ``Drawn``, where equal rows are joined already
    """
    used = np.flatnonzero(weights)
    if len(used) > n_rows:
        bound = np.partition(digests[used], n_rows - 1)[n_rows - 1]
        # Equal rows share a digest, so the bound lets enough different ones through
        # only if none do; else all are looked at.
        few = used[digests[used] <= bound]
        if len(np.unique(digests[few])) >= n_rows:
            used = few
    distinct, first, kind = np.unique(digests[used], return_index=True, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, kind, weights[used])
    of_rows = 1.0 if counts is None else counts[used]
    squares = np.bincount(kind, weights[used].astype(np.float64) ** 2 / of_rows)
    counts = sums.astype(np.float64) ** 2 / squares
    drawn = slice(n_rows)
    return Drawn(used[first[drawn]], sums[drawn], counts[drawn], distinct[drawn])
