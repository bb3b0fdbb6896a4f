"""Columns, rows and notes in, a table of plain values out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]
Table = dict[str, Any]

SETTINGS = {"paper": "PAPER", "default": "default", "": ""}
PRINTED = "the paper prints"
NOT_AT_HAND = "not at hand"

MEASURES = (
    ("accuracy", "A", "share"),
    ("auc", "AUC", "share"),
    ("branches", "β", "count"),
    ("rules", "rules", "count"),
    ("clusters", "K", "count"),
    ("levels", "levels", "count"),
    ("seconds", "T (s)", "seconds"),
)
"""What is measured of a model: key, title, kind."""


def make_table(
    name: str,
    title: str,
    columns: Iterable[tuple[str, str, str]],
    rows: list[Row],
    notes: Iterable[str] = (),
) -> Table:
    """Lay out a table.

    Parameters
    ----------
    name : str
        What the user calls it.
    title : str
    columns : iterable of (key, title, kind)
        The kinds are those of :mod:`solah.reproduction.spelling`.
    rows : list of dicts
        A value by key; a row may have more than is shown.
    notes : iterable of str
        What a reader should know.

    Returns
    -------
    table : dict of plain values
    """
    return {
        "name": name,
        "title": title,
        "columns": [dict(zip(("key", "title", "kind"), one, strict=True)) for one in columns],
        "rows": rows,
        "notes": list(notes),
    }
