"""Check the settings of a measure, and make the measure of columns from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from solah.dependence.checkpoint import Checkpoint, fingerprint_of
from solah.dependence.columns import code_column
from solah.dependence.matrix import MatrixWork
from solah.dependence.pairs import map_threads, sums_of_pairs
from solah.dependence.statistics import correlations
from solah.exceptions import DataError, ParameterError
from solah.kernels.choose import count_threads
from solah.labels.limits import LIMITS
from solah.labels.weights import integer_weights

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.data import Column, Kind
    from solah.dependence.pairs import Progress
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded
    from solah.labels.limits import Limits

Method: TypeAlias = Literal["auto", "exact", "binned"]


@dataclass(frozen=True, eq=False)
class Settings:
    """What all measures share, checked; weights are integers of size ``unit``."""

    weights: Int64 | None
    unit: float
    binned: bool
    bias_corrected: bool
    n_threads: int = 1
    limits: Limits = LIMITS

    @property
    def method(self) -> str:
        """How columns are coded."""
        return "binned" if self.binned else "exact"

    def code(self, columns: Sequence[tuple[Column, Kind]]) -> list[Coded]:
        """Code columns, several at a time."""

        def work(item: tuple[Column, Kind]) -> Coded:
            return code_column(*item, self.weights, self.limits if self.binned else None)

        return list(map_threads(work, columns, self.n_threads))

    def correlate(
        self,
        coded: Sequence[Coded],
        pairs: Sequence[tuple[int, int]],
        on_progress: Progress | None = None,
    ) -> Float:
        """Compute the distance correlations of a few pairs."""
        sums = sums_of_pairs(coded, pairs, self.weights, self.n_threads, on_progress)
        return self._correlations(sums)

    def correlate_all(
        self,
        coded: Sequence[Coded],
        checkpoint: str | os.PathLike[str] | None,
        on_progress: Progress | None,
    ) -> Float:
        """Compute the matrix of the distance correlations of all pairs."""
        work = MatrixWork(coded, self.weights, self._correlations, self.n_threads)
        kept = None if checkpoint is None else self._open(checkpoint, coded)
        return work.run(kept, on_progress)

    def _correlations(self, sums: Float) -> Float:
        return correlations(sums, unit=self.unit, bias_corrected=self.bias_corrected)

    def _open(self, folder: str | os.PathLike[str], coded: Sequence[Coded]) -> Checkpoint:
        fingerprint = fingerprint_of(
            coded, self.weights, self.method, self.unit, self.bias_corrected
        )
        n_rows = len(coded[0].codes) if coded else 0
        about = f"{len(coded):,} columns of {n_rows:,} rows, {self.method}"
        about += ", bias-corrected" if self.bias_corrected else ""
        about += "" if self.weights is None else ", weighted"
        return Checkpoint.open(folder, fingerprint, about)


def read_settings(
    n_rows: int,
    sample_weight: ArrayLike | None,
    method: Method,
    bias_corrected: bool,
    n_jobs: int | None = None,
    limits: Limits = LIMITS,
) -> Settings:
    """Check what was asked for."""
    if method not in ("auto", "exact", "binned"):
        raise ParameterError(f"'method' must be 'auto', 'exact' or 'binned'. Got {method!r}.")
    if n_rows == 0:
        raise DataError("there are no rows to measure a dependence on")
    binned = method == "binned" or (method == "auto" and n_rows > limits.exact_rows)
    if not binned and n_rows >= 2**31:
        raise DataError(f"{n_rows} rows are too many for method='exact'; take 'binned'")
    weights, unit = _read_weights(sample_weight, n_rows)
    return Settings(weights, unit, binned, bias_corrected, count_threads(n_jobs), limits)


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
