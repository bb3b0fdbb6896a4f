"""What all tables are made of: columns, rows, notes, and lines that are still to be computed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from reproduction.cells import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reproduction.cells import Figures
    from reproduction.models import Recipe
    from reproduction.published import Printed

    Results = Mapping[Cell, Figures]

Row = dict[str, Any]
Table = dict[str, Any]

SETTINGS = {"paper": "PAPER", "default": "default", "": ""}
PRINTED = "as printed"
NOT_AVAILABLE = "not available"

MEASURES = (
    ("accuracy", "A", "share"),
    ("auc", "AUC", "share"),
    ("branches", "β", "count"),
    ("rules", "rules", "count"),
    ("clusters", "K", "count"),
    ("levels", "levels", "count"),
    ("seconds", "T (s)", "seconds"),
)
"""The columns of what is measured of a model: key, title, kind."""
_SIZES = ("branches", "rules", "clusters", "levels")


@dataclass(frozen=True)
class TablePlan:
    """A table that can be made once its cells are computed.

    Attributes
    ----------
    cells : what has to be computed
    make : the figures of those cells -> the table, and others that belong to it
    """

    cells: list[Cell]
    make: Callable[[Results], list[Table]]


@dataclass(frozen=True)
class Line:
    """A table row that has to be computed: a model measured over folds.

    Attributes
    ----------
    words : the columns before its figures
    data : the rows' name
    recipe : the model
    folds, seeds : how many folds, and how often they are shuffled
    """

    words: Row
    data: str
    recipe: Recipe
    folds: int
    seeds: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The size of the model trained on all rows, then the scores over folds, one per seed."""
        scores = (
            Cell(self.data, "folds", self.recipe, self.folds, seed) for seed in range(self.seeds)
        )
        return (Cell(self.data, "all rows", self.recipe), *scores)

    def row(self, results: Results) -> Row:
        """Fill in the figures; without its data, the row only has a note."""
        settings = SETTINGS[self.recipe.variant]
        if any(cell not in results for cell in self.cells):
            return {**self.words, "settings": f"{settings}, {NOT_AVAILABLE}"}
        whole, *folds = (results[cell] for cell in self.cells)
        aucs = [fold["auc"] for fold in folds if fold["auc"] is not None]
        return {
            **self.words,
            "settings": settings,
            "folds": self.folds,
            "accuracy": fmean(fold["accuracy"] for fold in folds),
            "auc": fmean(aucs) if aucs else None,
            "seconds": fmean(f["learning_seconds"] + f["testing_seconds"] for f in folds),
            "choosing_seconds": fmean(fold["choosing_seconds"] for fold in folds),
            **{name: whole[f"n_{name}"] for name in _SIZES},
            "chosen": whole["chosen"],
        }


def printed_row(printed: Printed, **words: Any) -> Row:
    """Make the row of what the paper prints."""
    return {**words, "settings": PRINTED, **vars(printed)}


def cells_of(lines: Iterable[Line | Row]) -> list[Cell]:
    """List what has to be computed for these rows."""
    return [cell for line in lines if isinstance(line, Line) for cell in line.cells]


def rows_of(lines: Iterable[Line | Row], results: Results) -> list[Row]:
    """Fill in the rows that were to be computed."""
    return [line.row(results) if isinstance(line, Line) else line for line in lines]


def make_table(
    name: str,
    title: str,
    columns: Iterable[tuple[str, str, str]],
    rows: list[Row],
    notes: Iterable[str] = (),
) -> Table:
    """Make a table of plain values.

    Parameters
    ----------
    name : str
        What the user calls it.
    title : str
    columns : iterable of (key, title, kind)
        The kinds are those of :func:`reproduction.page.format_table`.
    rows : list of dicts
        Values by key; a row may have more than is shown.
    notes : iterable of str
        Sentences to print below it.
    """
    return {
        "name": name,
        "title": title,
        "columns": [dict(zip(("key", "title", "kind"), one, strict=True)) for one in columns],
        "rows": rows,
        "notes": list(notes),
    }
