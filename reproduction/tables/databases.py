"""The properties of the databases, beside those that the paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.cells import Cell
from reproduction.tables.layout import NOT_AVAILABLE, TablePlan, make_table

if TYPE_CHECKING:
    from reproduction.cells import Figures
    from reproduction.published import Database
    from reproduction.scope import Scope
    from reproduction.tables.layout import Row

_COLUMNS = (
    ("data", "data", "text"),
    ("features", "n", "count"),
    ("paper_features", "paper's n", "count"),
    ("classes", "N_g", "count"),
    ("paper_classes", "paper's N_g", "count"),
    ("rows", "N", "count"),
    ("paper_rows", "paper's N", "count"),
    ("counts", "N_c", "counts"),
    ("paper_counts", "paper's N_c", "counts"),
    ("missing", "missing values", "count"),
    ("difference", "what differs", "text"),
)
_OURS = ("features", "classes", "rows", "counts", "missing", "constant")
_COMPARED = {
    "features": "features",
    "classes": "classes",
    "rows": "rows",
    "counts": "classes' sizes",
}


def plan(scope: Scope) -> TablePlan:
    """Set our properties and the paper's side by side."""
    cells = {database.name: Cell(database.name, "properties") for database in scope.databases}
    return TablePlan(
        list(cells.values()),
        lambda results: [
            make_table(
                "databases",
                "The databases",
                _COLUMNS,
                [_row(one, results.get(cells[one.name])) for one in scope.databases],
            )
        ],
    )


def _row(database: Database, figures: Figures | None) -> Row:
    printed = database.properties
    row: Row = {
        "data": database.title,
        "name": database.name,
        **{f"paper_{name}": value for name, value in vars(printed).items()},
        "paper_counts": sorted(printed.counts, reverse=True),
    }
    if figures is None:
        return {**row, "difference": NOT_AVAILABLE}
    row |= {name: figures[name] for name in _OURS}
    differing = ", ".join(
        title for key, title in _COMPARED.items() if row[key] != row[f"paper_{key}"]
    )
    remark = f": {database.remark}" if database.remark else ""
    return {**row, "difference": f"{differing}{remark}" if differing else "nothing"}
