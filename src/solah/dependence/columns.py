"""Columns to be measured, wherever their rows are: some pairs of them, or all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from solah.dependence.checkpoint import Checkpoint, fingerprint_of
from solah.dependence.matrix import MatrixWork
from solah.dependence.statistics import correlations

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from solah.dependence.matrix import Progress
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Coding:
    """The codes of all rows, and their weights (None for ones)."""

    columns: Sequence[Coded]
    weights: Int64 | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns(ABC):
    """Columns to be measured; where there is a goal, it is the last.

    ``TableColumns`` are in memory; ``PassedColumns`` are read in passes over their rows. Equal rows
    have equal correlations in both, bit for bit.

    Attributes
    ----------
    names : the columns' names
    method : "exact" or "binned", as the columns are coded
    unit : what a weight of one stands for, in rows
    n_threads : how many threads compute
    on_progress : called with the number of pairs that are done, and of all pairs
    checkpoint : the folder where finished tiles are kept; None for none
    """

    names: tuple[str, ...]
    method: str
    unit: float
    n_threads: int = 1
    on_progress: Progress | None = None
    checkpoint: str | os.PathLike[str] | None = None

    @abstractmethod
    def code(self) -> Coding | None:
        """Code all rows; None where the sums of all pairs are to be had without."""

    @abstractmethod
    def sums(self, pairs: Sequence[Pair]) -> Float:
        """Sum up pairs of columns, ``(n_pairs, 9)``, over the rows that have both values."""

    def correlate(self, pairs: Sequence[Pair], *, bias_corrected: bool) -> Float:
        """Compute the distance correlations of some pairs."""
        return correlations(self.sums(pairs), unit=self.unit, bias_corrected=bias_corrected)

    def correlate_all(self, *, bias_corrected: bool) -> Float:
        """Compute the matrix of the distance correlations of all pairs."""
        coding = self.code()
        if coding is None:
            return self._counted(bias_corrected)
        correlate = partial(correlations, unit=self.unit, bias_corrected=bias_corrected)
        work = MatrixWork(coding.columns, coding.weights, correlate, self.n_threads)
        return work.run(self._opened(coding, bias_corrected), self.on_progress)

    def _counted(self, bias_corrected: bool) -> Float:
        matrix = np.eye(len(self.names))
        pairs = list(combinations(range(len(self.names)), 2))
        rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        found = self.correlate(pairs, bias_corrected=bias_corrected)
        matrix[rows, columns] = matrix[columns, rows] = found
        return matrix

    def _opened(self, coding: Coding, bias_corrected: bool) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        coded, weights = coding.columns, coding.weights
        fingerprint = fingerprint_of(coded, weights, self.method, self.unit, bias_corrected)
        n_rows = len(coded[0].codes) if coded else 0
        about = f"{len(coded):,} columns of {n_rows:,} rows, {self.method}"
        about += ", bias-corrected" if bias_corrected else ""
        about += "" if weights is None else ", weighted"
        return Checkpoint.open(self.checkpoint, fingerprint, about)
