"""Figures of cells in, tables of plain values out.

wish.py        how much is asked for
layout.py      columns and rows -> a table
lines.py       a model on folds -> a row
sms.py · databases.py · trees.py · comparison.py: the paper's tables
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.reproduction.tables import comparison, databases, sms, trees
from solah.reproduction.tables.wish import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solah.reproduction.cells import Cell
    from solah.reproduction.published import Study
    from solah.reproduction.tables.layout import Table
    from solah.reproduction.tables.lines import Line, Results

__all__ = ["TABLES", "TableMaker", "Wish"]


@dataclass(frozen=True)
class TableMaker:
    """A table of the paper's.

    Attributes
    ----------
    about : what it shows, in a few words
    cells : a wish -> the cells that it needs
    make : a wish and the cells' figures -> the table, and others that belong to it
    """

    about: str
    cells: Callable[[Wish], list[Cell]]
    make: Callable[[Wish, Results], list[Table]]


def _cells_of(lines: Iterable[Line]) -> list[Cell]:
    return [cell for line in lines for cell in line.cells]


def _study(study: Callable[[Wish], Study], about: str) -> TableMaker:
    return TableMaker(
        about,
        lambda wish: _cells_of(
            line for _, _, lines in sms.study_lines(study(wish), wish) for line in lines
        ),
        lambda wish, results: [sms.study_table(study(wish), wish, results)],
    )


def _sweep(study: Callable[[Wish], Study], about: str) -> TableMaker:
    return TableMaker(
        about,
        lambda wish: _cells_of(
            line for _, _, lines in sms.sweep_lines(study(wish), wish) for line in lines
        ),
        lambda wish, results: [sms.sweep_table(study(wish), wish, results)],
    )


TABLES = {
    "sms20": _study(lambda wish: wish.sms20, "text messages, 20 keywords"),
    "sweep20": _sweep(lambda wish: wish.sms20, "the same for k = 2 … 10"),
    "sms14": _study(lambda wish: wish.sms14, "text messages, 14 keywords"),
    "sweep14": _sweep(lambda wish: wish.sms14, "the same for k = 2 … 10"),
    "databases": TableMaker(
        "the 12 databases",
        databases.cells,
        lambda wish, results: [databases.table(wish, results)],
    ),
    "ldt": TableMaker(
        "SOLAH against the single tree",
        lambda wish: _cells_of(trees.all_lines(wish)),
        lambda wish, results: [trees.table(wish, results)],
    ),
    "high": TableMaker(
        "the two databases with many attributes",
        lambda wish: _cells_of(line for _, _, line in trees.high_lines(wish)),
        lambda wish, results: [trees.high_table(wish, results)],
    ),
    "comparison": TableMaker("SOLAH against other models", comparison.cells, comparison.tables),
}
"""The tables that can be asked for, by name."""
