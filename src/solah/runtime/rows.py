"""Make a table of rows that come as values by name: from a command line, a request, JSON lines."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Table
from solah.data.dates import date_part
from solah.data.spelling import is_number, parse_written_numbers, spell
from solah.exceptions import ColumnError, DataError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model import Attribute

    Row = dict[str, Any]

_ALIKE = 0.75


def check_row_names(row: Row, names: Sequence[str]) -> Row:
    """Return a row; refuse a name in it that is likely another one misspelt."""
    free = [name for name in names if name not in row]
    for name in row:
        if name not in names and get_close_matches(name, free, n=1, cutoff=_ALIKE):
            raise ColumnError.unknown(name, free, "the model")
    return row


def rows_table(rows: Sequence[Row], attributes: Sequence[Attribute]) -> Table:
    """Make a table of rows, with a column for each attribute; what a row lacks is unknown.

    Of an attribute that is told from dates, the table has the column of dates if rows name it.

    Parameters
    ----------
    rows : sequence of dict
        Values by name: numbers, texts, truth values or None.
    attributes : sequence of Attribute
        Those of the model.

    Returns
    -------
    table : Table

    Raises
    ------
    DataError
        If a value is of another type, or a text where a number is measured.
    """
    named = {name for row in rows for name in row}
    columns: dict[str, Column] = {}
    for one in attributes:
        part = None if one.name in named else date_part(one.name, named)
        name = one.name if part is None else part.column
        values = [row.get(name) for row in rows]
        columns[name] = Column(name, _values(values, one) if part is None else _texts(name, values))
    return Table(tuple(columns.values()), len(rows))


def _texts(name: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    for value in values:
        if value is not None and not isinstance(value, str):
            raise DataError(f"{name!r} must be a date as text. Got {shorten(value)}.")
    return np.array([value or None for value in values], dtype=object)


def _values(values: Sequence[Any], attribute: Attribute) -> np.ndarray[Any, Any]:
    """Make numbers of values if all of them are, and texts if not."""
    texts = [_as_text(value, attribute) for value in values]
    strange = [text for text in texts if text is not None and not is_number(text)]
    if not strange:
        return np.array([np.nan if text is None else float(text) for text in texts])
    if not attribute.is_coded:
        raise DataError(
            f"{attribute.name!r} is measured, so its value is a number. Got {shorten(strange[0])}; "
            "leave it out if it is not known"
        )
    return np.array(texts, dtype=object)


def _as_text(value: Any, attribute: Attribute) -> str | None:
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool):  # as the states of the attribute write it
        known = {str(state) for state in attribute.states}
        return str(value) if str(value) in known else str(value).lower()
    if isinstance(value, str) and not attribute.is_coded:
        written = parse_written_numbers([value])  # such as 25%
        return value if written is None else repr(float(written[0][0]))
    if isinstance(value, (str, int, float)):
        return spell(value)
    raise DataError(f"{attribute.name!r} must be a number or a text. Got {shorten(value)}.")
