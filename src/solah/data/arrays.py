"""Make columns and tables of NumPy arrays; finds what Python objects hold."""

from __future__ import annotations

import datetime
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.cells import TextCells
from solah.data.spelling import spell
from solah.data.table import Column, Table
from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NUMBERS = (Real, Decimal, np.bool_)
_DATES = (datetime.date, np.datetime64)
_TIMES = (datetime.time, datetime.timedelta, np.timedelta64)
_MIDNIGHT = " 00:00:00"
# pandas' own missing values, known by name so that pandas need not be imported.
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def as_column(name: str, values: NDArray[Any]) -> Column:
    """Make a column of an array of numbers, truth values, strings or Python objects.

    Numbers and truth values are taken without a copy. Objects become numbers when all are
    numbers, truth values when all are, and text when strings are among them. Truth values with
    some missing become the text "True" and "False", and dates become text as in a file.

    Raises
    ------
    DataError
        If the values are times of day, durations, complex numbers or something nested.

    Examples
    --------
    >>> import numpy as np
    >>> as_column("age", np.array([7, None, 9], dtype=object)).values
    array([ 7., nan,  9.])
    """
    kind = values.dtype.kind
    if kind in "biuf":
        return Column(name, values)
    if kind in "UT":
        return _from_objects(name, values.astype(object))
    if kind == "O":
        return _from_objects(name, values)
    if kind == "M":
        return date_column(name, values.astype("datetime64[s]").tolist())
    if kind == "m":
        raise no_times(name)
    raise no_use(name, str(values.dtype))


def as_array(values: Any) -> NDArray[Any]:
    """Make an array of nested lists without turning numbers beside text into text."""
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def from_array(values: NDArray[Any], names: Sequence[str]) -> Table:
    """Make a table of a two-dimensional array; columns of numbers are not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from_array(np.array([["7", "red"], [8, None]], dtype=object), ["age", "colour"]).names
    ('age', 'colour')
    """
    columns = tuple(as_column(name, values[:, j]) for j, name in enumerate(names))
    return Table(columns, len(values))


def date_column(name: str, dates: Sequence[Any]) -> Column:
    """Make a column of dates: text as in a file, without a time where all are at midnight.

    Examples
    --------
    >>> date_column("day", [datetime.datetime(2026, 1, 31), None]).values
    array(['2026-01-31', None], dtype=object)
    """
    texts = [None if date is None or date != date else str(date) for date in dates]
    if all(text.endswith(_MIDNIGHT) for text in texts if text is not None):
        texts = [None if text is None else text.removesuffix(_MIDNIGHT) for text in texts]
    return Column(name, np.array(texts, dtype=object))


def no_times(name: str) -> DataError:
    """Say that a column holds dates or times, and what to do."""
    return DataError(
        f"column {name!r} holds dates or times; make numbers of it, such as the hour or the day "
        f"of the week, or drop it (--drop {name})",
        remedy=f"--drop {name}",
    )


def no_use(name: str, what: str) -> DataError:
    """Say that a column holds something that is neither number nor text, and what to do."""
    return DataError(
        f"column {name!r} holds values of type {what}; make numbers or text of it, "
        f"or drop it (--drop {name})",
        remedy=f"--drop {name}",
    )


def _from_objects(name: str, values: NDArray[Any]) -> Column:
    """Decide by the types that occur, of which there are few."""
    if set(map(type, values)) <= {str, type(None)}:
        return Column(name, TextCells().of(values))
    cells = [None if _is_missing(value) else value for value in values]
    types = {type(cell) for cell in cells if cell is not None}
    if types and _all(types, (bool, np.bool_)) and None not in cells:
        return Column(name, np.array(cells, dtype=bool))
    if types and _all(types, _NUMBERS) and not _all(types, (bool, np.bool_)):
        return Column(name, _numbers(name, cells))
    if _all(types, (str, *_NUMBERS)):
        return Column(name, TextCells().of(None if one is None else spell(one) for one in cells))
    if _all(types, _DATES):
        return date_column(name, cells)
    strange = next(t for t in types if not issubclass(t, (str, *_NUMBERS)))
    raise (
        no_times(name)
        if issubclass(strange, (*_DATES, *_TIMES))
        else no_use(name, strange.__name__)
    )


def _is_missing(value: object) -> bool:
    if isinstance(value, (float, np.floating, Decimal)):
        return bool(np.isnan(float(value)))
    return type(value).__name__ in _MISSING_TYPES


def _all(types: set[type], allowed: tuple[type, ...]) -> bool:
    return all(issubclass(t, allowed) for t in types)


def _numbers(name: str, cells: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except OverflowError:
        raise DataError(f"column {name!r} holds a whole number too large for a float") from None
