"""Coded columns in, the sums of their pairs out, by the way that is fastest.

Few levels go through a table of joint counts, many levels through sorted points; both are exact
for the levels they are given. Counts are integers, so those of chunks of rows add up to those of
the whole: ``sum(joint_counts(...) for chunks)``, then :func:`table_sums` once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solah.hierarchy.dependence import native, reference
from solah.kernels.choose import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from solah.hierarchy.dependence.columns import Coded
    from solah.kernels.arrays import Float, Int64

# A table costs time by its cells, points by their number and its logarithm.
CELLS_PER_ROW = 4


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums up pairs of columns, and remembers what a column without missing values needs alone.

    Attributes
    ----------
    columns : the columns
    weights : (n_rows,) the rows' weights; None for ones
    """

    columns: Sequence[Coded]
    weights: Int64 | None
    _margins: dict[int, tuple[Float, Float]] = field(default_factory=dict)

    def workspace(self) -> Float:
        """Return working memory, for one thread."""
        n_levels = max((column.n_levels for column in self.columns), default=0)
        n_rows = max((len(column.codes) for column in self.columns), default=0)
        return np.empty(8 * max(n_rows, n_levels) + 2 * n_levels + 1)

    def of(self, first: int, second: int, work: Float) -> Float:
        """Sum up a pair over the rows that have both values.

        Returns
        -------
        array of shape (9,)
            The sums that :func:`~solah.hierarchy.dependence.statistics.correlations` takes, in
            which the two columns may have changed places.
        """
        a, b = self.columns[first], self.columns[second]
        if a.is_small and b.is_small and a.n_levels * b.n_levels <= CELLS_PER_ROW * len(a.codes):
            return table_sums(joint_counts(a, b, self.weights), a, b)
        if (b.values is not None, b.n_levels) < (a.values is not None, a.n_levels):
            first, second, a, b = second, first, b, a
        complete = a.is_complete and b.is_complete
        rows_a, margins_a = self._own(first) if complete else self._common(a, b, work)
        rows_b, margins_b = self._own(second) if complete else self._common(b, a, work)
        pair = implementation().point_products(a, rows_a, b, rows_b, self.weights, work)
        return nine_sums(margins_a, margins_b, pair)

    def _own(self, column: int) -> tuple[Float, Float]:
        if column not in self._margins:
            coded = self.columns[column]
            self._margins[column] = self._common(coded, coded, np.empty(coded.n_levels))
        return self._margins[column]

    def _common(self, a: Coded, b: Coded, work: Float) -> tuple[Float, Float]:
        """Return the levels' sums of distances, and the margins, over the rows that b has too."""
        rows, margins = implementation().margins(a, b, self.weights, work)
        return rows, margins


def joint_counts(a: Coded, b: Coded, weights: Int64 | None = None) -> Int64:
    """Count the rows by their two levels, both small: a pure function of its rows, additive.

    Returns
    -------
    array of shape (a.n_levels + 1, b.n_levels + 1)
        Sums of weights; the last row and column are for missing values.
    """
    counts = np.zeros((a.n_levels + 1, b.n_levels + 1), dtype=np.int64)
    implementation().add_joint_counts(a, b, weights, counts)
    return counts


def table_sums(counts: Int64, a: Coded, b: Coded) -> Float:
    """Compute the nine sums from joint counts."""
    joint = counts[: a.n_levels, : b.n_levels].astype(np.float64)
    return nine_sums(*implementation().table_sums(joint, a.values, b.values))


def nine_sums(margins_a: Float, margins_b: Float, pair: Float) -> Float:
    """Put the sums into the order that ``correlations`` takes."""
    return np.concatenate([margins_a[:1], pair, margins_a[1:], margins_b[1:]])


def implementation() -> ModuleType:
    """Return the module that computes: C where it was compiled and is wanted, else NumPy."""
    return reference if kernel().name == "reference" else native
