"""The databases in, their properties beside the paper's out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.reproduction.cells import Cell
from solah.reproduction.tables.layout import NOT_AT_HAND, make_table

if TYPE_CHECKING:
    from solah.reproduction.cells import Figures
    from solah.reproduction.published import Database
    from solah.reproduction.tables.layout import Row, Table
    from solah.reproduction.tables.lines import Results
    from solah.reproduction.tables.wish import Wish

_OURS = ("attributes", "classes", "rows", "counts", "missing", "constant")
_COLUMNS = (
    ("data", "data", "text"),
    ("attributes", "n", "count"),
    ("paper_attributes", "paper's n", "count"),
    ("classes", "N_g", "count"),
    ("paper_classes", "paper's N_g", "count"),
    ("rows", "N", "count"),
    ("paper_rows", "paper's N", "count"),
    ("counts", "N_c", "counts"),
    ("paper_counts", "paper's N_c", "counts"),
    ("missing", "missing values", "count"),
    ("difference", "what differs", "text"),
)


def cells(wish: Wish) -> list[Cell]:
    """List what has to be computed."""
    return [_cell(database) for database in wish.databases]


def table(wish: Wish, results: Results) -> Table:
    """Lay our properties and the paper's side by side."""
    rows = [_row(database, results.get(_cell(database))) for database in wish.databases]
    return make_table("databases", "The databases", _COLUMNS, rows)


def _cell(database: Database) -> Cell:
    return Cell(database.name, "properties")


def _row(database: Database, figures: Figures | None) -> Row:
    printed = database.properties
    row: Row = {
        "data": database.title,
        "name": database.name,
        **{f"paper_{name}": value for name, value in vars(printed).items()},
        "paper_counts": sorted(printed.counts, reverse=True),
    }
    if figures is None:
        return {**row, "difference": NOT_AT_HAND}
    row |= {name: figures[name] for name in _OURS}
    return {**row, "difference": _difference(row, database.remark)}


def _difference(row: Row, remark: str) -> str:
    names = {
        "attributes": "attributes",
        "classes": "classes",
        "rows": "rows",
        "counts": "classes' sizes",
    }
    differing = [name for key, name in names.items() if row[key] != row[f"paper_{key}"]]
    found = f"{', '.join(differing)}{': ' if remark else ''}" if differing else ""
    return f"{found}{remark}" if differing else "nothing"
