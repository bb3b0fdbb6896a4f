"""A model, data and a number of folds in, the line of a table out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from solah.reproduction.cells import Cell
from solah.reproduction.tables.layout import NOT_AT_HAND, PRINTED, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.reproduction.cells import Figures
    from solah.reproduction.models import Recipe
    from solah.reproduction.published import Printed
    from solah.reproduction.tables.layout import Row

    Results = Mapping[Cell, Figures]

_SIZES = {
    "branches": "n_branches",
    "rules": "n_rules",
    "clusters": "n_clusters",
    "levels": "n_levels",
}


@dataclass(frozen=True)
class Line:
    """A model that is measured over folds.

    Attributes
    ----------
    data : the material's name
    recipe : the model
    folds, seeds : how many folds, and how often they are shuffled
    """

    data: str
    recipe: Recipe
    folds: int
    seeds: int = 1

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What has to be computed: the scores, and the size of the model of all rows."""
        return (*self._fold_cells, self._whole_cell)

    def row(self, results: Results, **words: Any) -> Row:
        """Make the line, with the words that stand before its figures."""
        settings = SETTINGS[self.recipe.variant]
        if any(cell not in results for cell in self.cells):
            return {**words, "settings": f"{settings}, {NOT_AT_HAND}"}
        folds = [results[cell] for cell in self._fold_cells]
        whole = results[self._whole_cell]
        return {
            **words,
            "settings": settings,
            "folds": self.folds,
            "accuracy": fmean(fold["accuracy"] for fold in folds),
            "auc": _mean([fold["auc"] for fold in folds]),
            "seconds": fmean(f["learning_seconds"] + f["testing_seconds"] for f in folds),
            "choosing_seconds": fmean(fold["choosing_seconds"] for fold in folds),
            **{name: whole[figure] for name, figure in _SIZES.items()},
            "chosen": whole["chosen"],
        }

    @property
    def _fold_cells(self) -> tuple[Cell, ...]:
        return tuple(
            Cell(self.data, "folds", self.recipe, self.folds, seed) for seed in range(self.seeds)
        )

    @property
    def _whole_cell(self) -> Cell:
        return Cell(self.data, "all rows", self.recipe)


def printed_row(printed: Printed, **words: Any) -> Row:
    """Make the line of what the paper prints."""
    return {**words, "settings": PRINTED, **vars(printed)}


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
