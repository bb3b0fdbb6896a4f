"""Columns of a table in memory: coded at once, and measured pair by pair or all together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np

from solah.data import Kind, as_array, as_column
from solah.dependence.coding import code_column
from solah.dependence.statistics import correlations
from solah.dependence.sums import PairSums
from solah.exceptions import DataError, ParameterError
from solah.kernels.choose import count_threads
from solah.kernels.coded import N_SUMS
from solah.labels.drawing import LIMITS
from solah.labels.targets import integer_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from solah.data import Column, Table
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded
    from solah.labels.drawing import Limits

_S = TypeVar("_S")
_T = TypeVar("_T")
Pair: TypeAlias = tuple[int, int]
Method: TypeAlias = Literal["auto", "exact", "binned"]

Progress: TypeAlias = "Callable[[int, int], object]"

# The codes of one run of pairs go before those of the next one come.
_PAIRS_IN_A_RUN = 64
_PAIRS_AT_ONCE = 16
# All pairs are measured block by block. This much may be remembered of a block's columns: of a row
# of a column, its code and its place in the order, and the level's value and sum of distances.
_BLOCK_BYTES = 2**28
_BYTES_A_CELL = 4 + 4 + 8 + 8
_BLOCK_WIDTHS = (16, 128)


@dataclass(frozen=True, eq=False, kw_only=True)
class TableColumns:
    """Columns of a table in memory; where there is a target, it is the last.

    Attributes
    ----------
    columns : the columns, and what they are
    method : "exact" or "binned", as the columns are coded
    weights : (n_rows,) the rows' weights, integers; None for ones
    unit : the number of rows that a weight of one equals
    n_threads : how many threads compute
    on_progress : called with the number of pairs that are done, and of all pairs
    """

    columns: Sequence[tuple[Column, Kind]]
    method: str
    weights: Int64 | None
    unit: float
    n_threads: int = 1
    on_progress: Progress | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        kinds: Sequence[Kind],
        target: ArrayLike,
        *,
        nominal_target: bool,
        sample_weight: ArrayLike | None = None,
        method: Method = "auto",
        n_jobs: int | None = None,
        on_progress: Progress | None = None,
        limits: Limits = LIMITS,
    ) -> TableColumns:
        """Take features and a target.

        Parameters
        ----------
        table : Table
            Features of known types.
        kinds : sequence of Kind
            What each feature is: categorical ones have 0-1 distances, others those of numbers.
        target : array-like of shape (n_rows,)
            Classes or their codes (``nominal_target``), or numbers.
        nominal_target : bool
            Whether the target's values are names.
        sample_weight, method, n_jobs, on_progress
            As in :func:`~solah.dependence.measures.distance_correlation_matrix`.
        limits : Limits
            How many rows are measured exactly.
        """
        of_target = read_column("y", target, nominal_target)
        n_values = len(of_target[0].values)
        if n_values != table.n_rows:
            raise DataError(f"y has {n_values} values where the table has {table.n_rows} rows")
        return cls.read(
            [*zip(table.columns, kinds, strict=True), of_target],
            table.n_rows,
            sample_weight,
            method,
            n_jobs,
            on_progress=on_progress,
            limits=limits,
        )

    @classmethod
    def read(
        cls,
        columns: Sequence[tuple[Column, Kind]],
        n_rows: int,
        sample_weight: ArrayLike | None,
        method: Method,
        n_jobs: int | None = None,
        *,
        on_progress: Progress | None = None,
        limits: Limits = LIMITS,
    ) -> TableColumns:
        """Take columns of known types; check the method."""
        if method not in ("auto", "exact", "binned"):
            raise ParameterError(f"'method' must be 'auto', 'exact' or 'binned'. Got {method!r}.")
        if n_rows == 0:
            raise DataError("there are no rows to measure a dependence on")
        binned = method == "binned" or (method == "auto" and n_rows > limits.exact_rows)
        if not binned and n_rows >= 2**31:
            raise DataError(f"{n_rows} rows are too many for method='exact'; take 'binned'")
        weights, unit = _read_weights(sample_weight, n_rows)
        return cls(
            columns=columns,
            method="binned" if binned else "exact",
            weights=weights,
            unit=unit,
            n_threads=count_threads(n_jobs),
            on_progress=on_progress,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column, _ in self.columns)

    def correlate(self, pairs: Sequence[Pair], *, bias_corrected: bool) -> Float:
        """Compute the distance correlations of some pairs."""
        return correlations(self.sums(pairs), unit=self.unit, bias_corrected=bias_corrected)

    def correlate_all(self, *, bias_corrected: bool) -> Float:
        """Compute the matrix of the distance correlations of all pairs.

        Pairs are taken in square blocks, so that what is remembered of columns beside their codes
        stays small: it goes with the block.
        """
        coded = self._code(range(len(self.columns)))
        n_columns, n_rows = len(coded), len(coded[0].codes) if coded else 0
        matrix, n_done = np.eye(n_columns), 0
        width = _block_width(n_rows)
        starts = range(0, n_columns, width)
        for top, left in ((top, left) for top in starts for left in starts if left >= top):
            used = {*range(top, min(top + width, n_columns))}
            used |= {*range(left, min(left + width, n_columns))}
            # Copies share the codes; what they remember goes with them.
            pair_sums = PairSums({at: replace(coded[at]) for at in used}, self.weights)

            def measured(first: int, left: int = left, sums: PairSums = pair_sums) -> Float:
                others = np.arange(max(first + 1, left), min(left + width, n_columns))
                found = sums.of(np.full(len(others), first), others)
                return correlations(found, unit=self.unit, bias_corrected=bias_corrected)

            firsts = range(top, min(top + width, min(left + width, n_columns) - 1))
            for first, found in zip(firsts, self._mapped(measured, firsts), strict=True):
                others = slice(max(first + 1, left), max(first + 1, left) + len(found))
                matrix[first, others] = matrix[others, first] = found
                n_done += len(found)
                if self.on_progress is not None:
                    self.on_progress(n_done, n_columns * (n_columns - 1) // 2)
        return matrix

    def sums(self, pairs: Sequence[Pair]) -> Float:
        """Sum up pairs of columns, a run of them at a time."""
        sums = np.empty((len(pairs), N_SUMS))
        coded: dict[int, Coded] = {}
        for start in range(0, len(pairs), _PAIRS_IN_A_RUN):
            stop = min(start + _PAIRS_IN_A_RUN, len(pairs))
            used = sorted({column for pair in pairs[start:stop] for column in pair})
            new = [column for column in used if column not in coded]
            coded = {column: coded[column] for column in used if column in coded}
            coded |= zip(new, self._code(new), strict=True)
            sums[start:stop] = self._sums_of_run(coded, pairs[start:stop])
            if self.on_progress is not None:
                self.on_progress(stop, len(pairs))
        return sums

    def _sums_of_run(self, coded: dict[int, Coded], pairs: Sequence[Pair]) -> Float:
        pair_sums = PairSums(coded, self.weights)
        first, second = np.array(pairs, dtype=np.int64).T

        def work(start: int) -> Float:
            few = slice(start, start + _PAIRS_AT_ONCE)
            return pair_sums.of(first[few], second[few])

        starts = range(0, len(pairs), _PAIRS_AT_ONCE)
        return np.concatenate(list(self._mapped(work, starts)))

    def _code(self, places: Iterable[int]) -> list[Coded]:
        def work(place: int) -> Coded:
            column, kind = self.columns[place]
            return code_column(column, kind, self.weights, in_bins=self.method == "binned")

        return list(self._mapped(work, places))

    def _mapped(self, work: Callable[[_S], _T], items: Iterable[_S]) -> Iterator[_T]:
        """Map over items on threads; results keep their order."""
        if self.n_threads == 1:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(self.n_threads) as pool:
            yield from pool.map(work, items)


def _block_width(n_rows: int) -> int:
    """Return how many columns a block is wide."""
    fitting = _BLOCK_BYTES // (2 * _BYTES_A_CELL * max(n_rows, 1))
    return min(max(fitting, _BLOCK_WIDTHS[0]), _BLOCK_WIDTHS[1])


def read_column(name: str, values: ArrayLike, nominal: bool) -> tuple[Column, Kind]:
    """Read an array as a column of names or of numbers."""
    array = as_array(values)
    if array.ndim != 1:
        raise DataError(f"{name} must have one dimension. Got an array of shape {array.shape}.")
    column = as_column(name, array)
    return column, Kind.CATEGORICAL if nominal or column.is_text else Kind.CONTINUOUS


def _read_weights(sample_weight: ArrayLike | None, n_rows: int) -> tuple[Int64 | None, float]:
    if sample_weight is None:
        return None, 1.0
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise DataError(f"sample_weight must be numbers. Got values of type {weights.dtype}.")
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight must have one value for each of the {n_rows} rows. "
            f"Got an array of shape {weights.shape}."
        )
    return integer_weights(weights.astype(np.float64))
