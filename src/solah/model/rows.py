"""Make a table of rows that come as values by name: from a command line, a request, JSON lines."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import MISSING_WORDS, Column, Table, as_column
from solah.data.cells import TextCells, encode_states
from solah.data.dates import date_part
from solah.data.spelling import read_number
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
        if part is None:
            columns[name] = _column(name, values, one)
        else:
            columns[name] = Column(name, _texts(name, values))
    return Table(tuple(columns.values()), len(rows))


class ValueKind(StrEnum):
    """What a JSON value is to an attribute of a model."""

    NUMBER = "number"
    CATEGORY = "category"
    MISSING = "missing"
    UNSEEN = "unseen"
    WRONG_TYPE = "wrong type"


def value_kinds(values: Sequence[Any], attribute: Attribute) -> list[ValueKind]:
    """Return what each value of a column is to an attribute of a model.

    Parameters
    ----------
    values : sequence
        JSON values, or other Python objects.
    attribute : Attribute
        One whose values are measured takes numbers, also as text such as ``"25%"``, and truth
        values. Any other takes its categories, see :mod:`solah.data.cells`.

    Returns
    -------
    kinds : list of ValueKind
        ``UNSEEN`` is a category that no training row had. ``WRONG_TYPE`` is a text for a number,
        or a list, an object or an infinite number.

    Examples
    --------
    >>> from solah.data import Kind
    >>> from solah.model.attributes import discrete_attribute
    >>> wet = discrete_attribute("wet", Kind.BINARY, (False, True), (0.5, 0.5))
    >>> [kind.value for kind in value_kinds([True, "TRUE", 1, "?", "soaked", []], wet)]
    ['category', 'category', 'category', 'missing', 'unseen', 'wrong type']
    """
    kinds = [_simple_kind(value) for value in values]
    simple = [place for place, kind in enumerate(kinds) if kind is None]
    column = as_column(attribute.name, _objects([values[place] for place in simple]))
    if attribute.is_coded:
        is_known = ~np.isnan(encode_states(column, attribute.states))
        found = [ValueKind.CATEGORY if known else ValueKind.UNSEEN for known in is_known]
    else:
        is_number = [_number(values[place]) is not None for place in simple]
        found = [ValueKind.NUMBER if known else ValueKind.WRONG_TYPE for known in is_number]
    for place, kind in zip(simple, found, strict=True):
        kinds[place] = kind
    return [kind for kind in kinds if kind is not None]


def _simple_kind(value: Any) -> ValueKind | None:
    """Return what a value is to any attribute; None for a number, a text or a truth value."""
    if value is None or value != value:
        return ValueKind.MISSING
    if isinstance(value, str):
        return ValueKind.MISSING if value.strip() in MISSING_WORDS else None
    if not isinstance(value, int | float) or abs(value) > sys.float_info.max:
        return ValueKind.WRONG_TYPE
    return None


def _number(value: Any) -> float | None:
    return read_number(value.strip()) if isinstance(value, str) else float(value)


def _objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Make an array of values that may be lists themselves."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _texts(name: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    for value in values:
        if value is not None and not isinstance(value, str):
            raise DataError(f"{name!r} must be a date as text. Got {shorten(value)}.")
    return TextCells().of(values)


def _column(name: str, values: Sequence[Any], attribute: Attribute) -> Column:
    """Make a column of values, if all of them can be values of the attribute."""
    kinds = value_kinds(values, attribute)
    for value, kind in zip(values, kinds, strict=True):
        if kind is ValueKind.WRONG_TYPE:
            raise _wrong_type(value, attribute)
    known = [
        None if kind is ValueKind.MISSING else value
        for value, kind in zip(values, kinds, strict=True)
    ]
    if attribute.is_coded:
        return as_column(name, _objects(known))
    numbers = [np.nan if value is None else _number(value) for value in known]
    return Column(name, np.array(numbers, dtype=np.float64))


def _wrong_type(value: Any, attribute: Attribute) -> DataError:
    if isinstance(value, str):
        return DataError(
            f"{attribute.name!r} is measured, so its value is a number. Got {shorten(value)}; "
            "leave it out if it is not known"
        )
    return DataError(f"{attribute.name!r} must be a number or a text. Got {shorten(value)}.")
