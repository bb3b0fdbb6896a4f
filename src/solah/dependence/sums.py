"""Compute the sums of pairs of coded columns in the fastest way.

Few levels go through a table of joint counts, many levels through sorted points; both are exact
for the levels they are given. Counts are integers, so those of chunks of rows add up to those of
the whole, which goes to :func:`table_sums` once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels import dependence_native as native
from solah.kernels import dependence_reference as reference
from solah.kernels.choose import kernel
from solah.kernels.coded import N_SUMS, nine_sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded

# A table costs time by its cells, points by their number and its logarithm.
CELLS_PER_ROW = 4


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums up pairs of columns, and remembers what a column without missing values needs alone.

    Attributes
    ----------
    columns : the columns, by their numbers
    weights : (n_rows,) the rows' weights; None for ones
    """

    columns: Mapping[int, Coded]
    weights: Int64 | None
    _margins: dict[int, tuple[Float, Float]] = field(default_factory=dict)

    def of(self, first: Int64, second: Int64) -> Float:
        """Sum up pairs of columns, given by their numbers, over the rows that have both values.

        Returns
        -------
        array of shape (n_pairs, 9)
            The sums that :func:`~solah.dependence.statistics.correlations` takes, in
            which the two columns of a pair may have changed places.
        """
        sums = np.empty((len(first), N_SUMS))
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        by_table = np.array([self._suits_table(*pair) for pair in pairs], dtype=bool)
        if by_table.any():
            tables = [self._names_first(*pairs[at]) for at in np.flatnonzero(by_table)]
            sums[by_table] = implementation().pair_sums(tables, self.weights)
        if not by_table.all():
            sums[~by_table] = self._by_points([pairs[at] for at in np.flatnonzero(~by_table)])
        return sums

    def _suits_table(self, first: int, second: int) -> bool:
        a, b = self.columns[first], self.columns[second]
        return a.is_small and b.is_small and a.n_levels * b.n_levels <= CELLS_PER_ROW * len(a.codes)

    def _names_first(self, first: int, second: int) -> tuple[Coded, Coded]:
        return _names_first(self.columns[first], self.columns[second])

    def _workspace(self) -> Float:
        """Return working memory for the points of any pair."""
        n_levels = max(column.n_levels for column in self.columns.values())
        n_rows = max(len(column.codes) for column in self.columns.values())
        return np.empty(8 * max(n_rows, n_levels) + 2 * n_levels + 1)

    def _by_points(self, pairs: Sequence[tuple[int, int]]) -> Float:
        work = self._workspace()
        sides, margins = [], []
        for first, second in pairs:
            a, b = self.columns[first], self.columns[second]
            if (b.values is not None, b.n_levels) < (a.values is not None, a.n_levels):
                first, second, a, b = second, first, b, a
            complete = a.is_complete and b.is_complete
            rows_a, margins_a = self._own(first) if complete else self._common(a, b, work)
            rows_b, margins_b = self._own(second) if complete else self._common(b, a, work)
            sides.append(((a, rows_a), (b, rows_b)))
            margins.append((margins_a, margins_b))
        of_a, of_b = np.array(margins).swapaxes(0, 1)
        products = implementation().point_products(sides, self.weights, work)
        return nine_sums(of_a.T, of_b.T, products.T).T

    def _own(self, column: int) -> tuple[Float, Float]:
        if column not in self._margins:
            coded = self.columns[column]
            self._margins[column] = self._common(coded, coded, np.empty(coded.n_levels))
        return self._margins[column]

    def _common(self, a: Coded, b: Coded, work: Float) -> tuple[Float, Float]:
        """Return the levels' sums of distances, and the margins, over the rows that b has too."""
        rows, margins = implementation().margins(a, b, self.weights, work)
        return rows, margins


def table_sums(counts: Int64, a: Coded, b: Coded) -> Float:
    """Compute the nine sums from joint counts, whose last row and column are for missing values."""
    first, second = _names_first(a, b)
    counts = np.ascontiguousarray(counts if first is a else counts.T, dtype=np.int64)
    # The tables in C have as many levels as a byte can number, and no room for more.
    is_small = a.is_small and b.is_small
    sums: Float = (implementation() if is_small else reference).count_sums(counts, first, second)
    return sums


def implementation() -> ModuleType:
    """Return the module that computes: C where it was compiled and is wanted, else NumPy."""
    return reference if kernel().name == "reference" else native


def _names_first(a: Coded, b: Coded) -> tuple[Coded, Coded]:
    """Put names before numbers, as the sums of tables want them."""
    return (b, a) if a.values is not None and b.values is None else (a, b)
