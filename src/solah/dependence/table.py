"""Columns of a table in memory, coded at once: distinct values, or bins where there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from solah.data import Kind, as_array, as_column
from solah.dependence.coding import code_column
from solah.dependence.columns import Coding, Columns
from solah.dependence.sums import PairSums
from solah.dependence.threads import map_threads
from solah.exceptions import DataError, ParameterError
from solah.kernels.choose import count_threads
from solah.kernels.coded import N_SUMS
from solah.labels.drawing import LIMITS
from solah.labels.goals import integer_weights

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.data import Column, Table
    from solah.dependence.columns import Pair
    from solah.dependence.matrix import Progress
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded
    from solah.labels.drawing import Limits

Method: TypeAlias = Literal["auto", "exact", "binned"]

# The codes of one run of pairs go before those of the next one come.
_PAIRS_IN_A_RUN = 64
_PAIRS_AT_ONCE = 16


@dataclass(frozen=True, eq=False, kw_only=True)
class TableColumns(Columns):
    """Columns of a table in memory.

    Attributes
    ----------
    columns : the columns, and what they are
    weights : (n_rows,) the rows' weights, integers of size ``unit``; None for ones
    limits : how bins are chosen
    """

    columns: Sequence[tuple[Column, Kind]]
    weights: Int64 | None
    limits: Limits

    @classmethod
    def of(
        cls,
        table: Table,
        kinds: Sequence[Kind],
        goal: ArrayLike,
        *,
        nominal_goal: bool,
        sample_weight: ArrayLike | None = None,
        method: Method = "auto",
        n_jobs: int | None = None,
        on_progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        limits: Limits = LIMITS,
    ) -> TableColumns:
        """Take attributes and a goal.

        Parameters
        ----------
        table : Table
            Settled attributes.
        kinds : sequence of Kind
            What each attribute is: categorical ones have 0-1 distances, others those of numbers.
        goal : array-like of shape (n_rows,)
            Classes or their codes (``nominal_goal``), or numbers.
        nominal_goal : bool
            Whether the goal's values are names.
        sample_weight, method, n_jobs, on_progress, checkpoint
            As in :func:`~solah.dependence.measures.distance_correlation_matrix`.
        limits : Limits
            How many rows are measured exactly.
        """
        of_goal = read_column("y", goal, nominal_goal)
        n_values = len(of_goal[0].values)
        if n_values != table.n_rows:
            raise DataError(f"y has {n_values} values where the table has {table.n_rows} rows")
        return cls.read(
            [*zip(table.columns, kinds, strict=True), of_goal],
            table.n_rows,
            sample_weight,
            method,
            n_jobs,
            on_progress=on_progress,
            checkpoint=checkpoint,
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
        checkpoint: str | os.PathLike[str] | None = None,
        limits: Limits = LIMITS,
    ) -> TableColumns:
        """Take settled columns; check what was asked for."""
        if method not in ("auto", "exact", "binned"):
            raise ParameterError(f"'method' must be 'auto', 'exact' or 'binned'. Got {method!r}.")
        if n_rows == 0:
            raise DataError("there are no rows to measure a dependence on")
        binned = method == "binned" or (method == "auto" and n_rows > limits.exact_rows)
        if not binned and n_rows >= 2**31:
            raise DataError(f"{n_rows} rows are too many for method='exact'; take 'binned'")
        weights, unit = _read_weights(sample_weight, n_rows)
        return cls(
            names=tuple(column.name for column, _ in columns),
            method="binned" if binned else "exact",
            unit=unit,
            n_threads=count_threads(n_jobs),
            on_progress=on_progress,
            checkpoint=checkpoint,
            columns=columns,
            weights=weights,
            limits=limits,
        )

    def code(self) -> Coding:
        """Code all columns."""
        return Coding(self._code(range(len(self.columns))), self.weights)

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
        return np.concatenate(list(map_threads(work, starts, self.n_threads)))

    def _code(self, places: Sequence[int]) -> list[Coded]:
        bins = self.limits if self.method == "binned" else None

        def work(place: int) -> Coded:
            return code_column(*self.columns[place], self.weights, bins)

        return list(map_threads(work, places, self.n_threads))


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
