"""The tables to compute and a results folder in, one summary that everything is shown from out."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from time import process_time
from typing import TYPE_CHECKING, Any

from reproduction.cache import ResultCache
from reproduction.data import entry_of, find_missing, how_to_get
from reproduction.findings import find_bars, find_out
from reproduction.tables import TABLES
from solah.exceptions import DatasetError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reproduction.cells import Cell, Figures
    from reproduction.scope import Scope
    from solah.progress import Advance

_WEIGHTS = {"optlah": 400, "solah": 10, "neural network": 5}
"""Roughly how long kinds of models take on the same rows, so that long cells start first."""


@dataclass(frozen=True)
class Reproduction:
    """Some of the paper's tables, planned but not computed yet.

    Attributes
    ----------
    names : the tables
    scope : how much to compute
    folder : the results folder
    missing : the data sets that are not available
    """

    names: tuple[str, ...]
    scope: Scope
    folder: Path
    missing: tuple[str, ...]

    @classmethod
    def plan(cls, names: Iterable[str], scope: Scope, folder: Path) -> Reproduction:
        """Plan the work, and find out which data are available.

        Parameters
        ----------
        names : iterable of str
            Keys of :data:`TABLES`; none means all.
        scope : Scope
        folder : Path
            The results folder; it need not exist yet.

        Raises
        ------
        ParameterError
            If there is no such table.
        DatasetError
            If none of the data sets that the tables need is available.
        """
        wanted = tuple(dict.fromkeys(names)) or tuple(TABLES)
        for name in wanted:
            if name not in TABLES:
                raise ParameterError(f"there is no table {name!r}{did_you_mean(name, TABLES)}")
        needed = sorted({cell.data for name in wanted for cell in TABLES[name](scope).cells})
        missing = find_missing(needed)
        if {entry_of(name).name for name in needed} == set(missing):
            raise DatasetError(f"none of the data sets is available: {how_to_get(missing)}")
        return cls(wanted, scope, folder, missing)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Everything to compute, each cell once, the long ones first."""
        needed = {cell: None for name in self.names for cell in TABLES[name](self.scope).cells}
        available = [cell for cell in needed if entry_of(cell.data).name not in self.missing]
        return tuple(sorted(available, key=_cost, reverse=True))

    def has_searches_left(self) -> bool:
        """Whether genetic searches are among what still has to be computed."""
        return any(_is_search(cell) and self._cache.find(cell) is None for cell in self.cells)

    def run(
        self, n_jobs: int | None = None, advance: Advance = lambda steps, news="": None
    ) -> dict[str, Any]:
        """Compute the cells that are not stored yet, and lay out the tables.

        Parameters
        ----------
        n_jobs : int, default=None
            How many processes; None leaves it to joblib.
        advance : callable
            Called with the number of cells that were found or finished.

        Returns
        -------
        summary : dict of plain values
        """
        return self._summary(self._cache.run(self.cells, _compute, n_jobs, advance))

    @property
    def _cache(self) -> ResultCache:
        return ResultCache(self.folder / "cells")

    def _summary(self, results: dict[Cell, Figures]) -> dict[str, Any]:
        tables = [table for name in self.names for table in TABLES[name](self.scope).make(results)]
        seconds = {"optlah": 0.0, "others": 0.0}
        for cell, figures in results.items():
            seconds["optlah" if _is_search(cell) else "others"] += figures["processor_seconds"]
        by_name = {table["name"]: table for table in tables}
        return {
            "solah": version("solah"),
            "settings": {
                "folds": self.scope.folds,
                "seeds": self.scope.seeds,
                "runs": self.scope.runs,
                "optlah": list(self.scope.optlah),
                "population": self.scope.population,
                "generations": self.scope.generations,
            },
            "machine": {
                "python": platform.python_version(),
                "numpy": version("numpy"),
                "scikit-learn": version("scikit-learn"),
                "processors": os.cpu_count(),
            },
            "missing": list(self.missing),
            "processor_seconds": seconds,
            "tables": tables,
            "findings": find_out(by_name),
            "bars": find_bars(by_name, seconds),
        }


def _compute(cell: Cell) -> Figures:
    start = process_time()
    figures = cell.compute()
    return {**figures, "processor_seconds": process_time() - start}


def _is_search(cell: Cell) -> bool:
    return cell.recipe is not None and cell.recipe.kind == "optlah"


def _cost(cell: Cell) -> float:
    """Estimate how long a cell takes, in units of no meaning."""
    if cell.recipe is None:
        return 0
    entry = entry_of(cell.data)
    size = 100_000 if cell.data != entry.name else entry.n_rows * entry.n_features
    return _WEIGHTS.get(cell.recipe.kind, 1) * size * (cell.folds or 1)
