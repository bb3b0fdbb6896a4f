"""Compute all cells of a comparison, and store each in the results folder at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from comparison.cells import Cell
from comparison.models import MODELS
from comparison.sets import source_of
from reproduction.cache import ResultCache
from reproduction.data import entry_of, find_missing, how_to_get
from solah.exceptions import DatasetError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from comparison.cells import Figures
    from comparison.models import Model
    from solah.progress import Advance

_WEIGHTS = {"ripper": 200, "ebm": 100, "solah-paper": 50, "solah": 30, "pruned-tree": 20}
"""Roughly how long models take for the same rows, so that long cells come first."""


@dataclass(frozen=True)
class Request:
    """What to compare.

    Attributes
    ----------
    groups : the sets, by group
    models : the models
    seeds : what the rows are shuffled into folds with
    folds : how many folds
    rows : the most rows of a set
    """

    groups: dict[str, tuple[str, ...]]
    models: tuple[Model, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    folds: int = 10
    rows: int = 20_000

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets of all groups, each once."""
        return tuple(dict.fromkeys(name for group in self.groups.values() for name in group))


@dataclass(frozen=True)
class Results:
    """The figures of the cells that could be computed, and why others could not."""

    figures: dict[Cell, Figures]
    failures: dict[Cell, str]


@dataclass(frozen=True)
class Comparison:
    """Work that is planned.

    Attributes
    ----------
    request : what to compare; its models are those that can be made here
    folder : the results folder
    missing : the sets that are not available
    obstacles : why models are skipped
    """

    request: Request
    folder: Path
    missing: tuple[str, ...]
    obstacles: tuple[str, ...]

    @classmethod
    def plan(cls, request: Request, folder: Path) -> Comparison:
        """Plan the work; see which data and models are at hand, and raise if there are none."""
        absent = find_missing(sorted({source_of(name) for name in request.sets}))
        missing = tuple(name for name in request.sets if source_of(name) in absent)
        if len(missing) == len(request.sets):
            raise DatasetError(f"none of the data is at hand: {how_to_get(missing)}")
        obstacles = tuple(model.obstacle for model in request.models if model.obstacle)
        models = tuple(model for model in request.models if not model.obstacle)
        if not models:
            raise ParameterError(f"no model is left: {'; '.join(obstacles)}")
        return cls(replace(request, models=models), folder, missing, obstacles)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All that has to be computed, the long ones first."""
        request, sizes = self.request, self._sizes
        cells = [
            Cell(name, model.name, seed, request.folds, request.rows, model.made_with)
            for name in sizes
            for model in request.models
            if sizes[name] <= model.most_values
            for seed in request.seeds
        ]
        return tuple(sorted(cells, key=lambda c: -sizes[c.set_name] * _WEIGHTS.get(c.model, 1)))

    @property
    def too_large(self) -> tuple[str, ...]:
        """Which models are skipped on which sets, as they would take too long."""
        return tuple(
            f"{model.name} is skipped on {name}: it would take too long"
            for model in self.request.models
            for name, size in self._sizes.items()
            if size > model.most_values
        )

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The number of values of each set that is at hand."""
        return {
            name: min(entry.n_rows, self.request.rows) * entry.n_features
            for name in self.request.sets
            if name not in self.missing
            for entry in [entry_of(source_of(name))]
        }

    def run(self, n_jobs: int, advance: Advance) -> Results:
        """Compute the cells that are not done yet."""
        cache = ResultCache(self.folder / "cells")
        outcomes = cache.run(self.cells, _compute, n_jobs, advance)
        failures = {cell: o["failure"] for cell, o in outcomes.items() if "failure" in o}
        return Results({c: o for c, o in outcomes.items() if c not in failures}, failures)


def _compute(cell: Cell) -> Figures:
    """Compute a cell; if an extra fails, return the reason."""
    try:
        return cell.compute()
    except Exception as error:
        if not MODELS[cell.model].is_extra:
            raise
        return {"failure": f"{type(error).__name__}: {error}"}
