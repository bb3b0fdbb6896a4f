"""Rows as numbers: from tables, files, and values by name."""

from __future__ import annotations

import glob
import os
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from solah.data import (
    MISSING_WORDS,
    Column,
    Table,
    as_column,
    from_frame,
    is_frame,
    read_table,
    to_numbers,
)
from solah.data.cells import TextCells, encode_states
from solah.data.dates import date_part
from solah.data.spelling import read_number, spell
from solah.exceptions import ColumnError, DataError, ParameterError, UnseenCategoryWarning, shorten
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.model.document import Target
    from solah.model.features import Feature

    Row = dict[str, Any]


# How alike two names must be for one to be taken for the other misspelt.
_ALIKE = 0.75


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows as numbers: one column per feature, by name."""

    columns: Mapping[str, NDArray[Any]]
    n_rows: int


def code(table: Table, features: Iterable[Feature]) -> Coded:
    """Turn the features' columns into numbers, each as it is."""
    columns = {feature.name: encode_column(table, feature) for feature in features}
    return Coded(columns, table.n_rows)


def encode(table: Table, features: Sequence[Feature]) -> NDArray[np.float64]:
    """Turn the features' columns into a matrix ``(n_rows, n_features)`` for the kernels."""
    matrix = np.empty((table.n_rows, len(features)))
    Encoder(table, dict(enumerate(features))).encode(slice(0, table.n_rows), matrix)
    return matrix


def encode_column(table: Table, feature: Feature) -> NDArray[Any]:
    """Turn a feature's column into numbers for the kernels."""
    column = table.column(feature.name)
    if feature.is_coded:
        return encode_states(column, feature.categories)
    return to_numbers(column, first_row=table.first_row).values


class Encoder:
    """Encodes a table block by block, so that no copy of all its columns is needed.

    Parameters
    ----------
    table : Table
    features : mapping of int to Feature
        What to encode, by the columns of the matrix to fill.
    """

    def __init__(self, table: Table, features: Mapping[int, Feature]) -> None:
        self._columns = {j: table.column(one.name) for j, one in features.items()}
        self._states = {j: one.categories for j, one in features.items() if one.is_coded}
        for j, column in self._columns.items():
            if (
                j not in self._states and column.is_text
            ):  # the whole column shows how numbers are written
                self._columns[j] = to_numbers(column, first_row=table.first_row)

    def encode(self, rows: slice, out: NDArray[np.float64]) -> None:
        """Fill in the columns of a matrix that has as many rows as the slice."""
        for j, column in self._columns.items():
            if j in self._states:
                block = column.rows(rows.start, rows.stop)
                out[:, j] = encode_states(block, self._states[j])
            else:
                out[:, j] = column.values[rows]


UNSEEN, MISSING = -1, -2


def encode_target(column: Column, target: Target) -> NDArray[np.intp]:
    """Replace each true class by its place among the target's, or by UNSEEN or MISSING."""
    codes = encode_states(column, target.classes)
    places = np.where(np.isnan(codes), UNSEEN, codes).astype(np.intp)
    places[column.missing()] = MISSING
    return places


def warn_of_unseen(table: Table, features: Iterable[Feature]) -> None:
    """Warn, once for each column, of readings that are states which no training row had."""
    for feature in features:
        if feature.is_coded and feature.categories:
            found = find_unseen(table.column(feature.name), feature)
            if found is not None:
                warnings.warn(found, stacklevel=4)


def find_unseen(column: Column, feature: Feature) -> UnseenCategoryWarning | None:
    """Find the readings of a column that are states no training row had; None if none is."""
    distinct = set(column.values.tolist()) if column.is_text else np.unique(column.values)
    each = np.array(list(distinct), dtype=column.values.dtype)
    is_known = ~np.isnan(encode_states(replace(column, values=each), feature.categories))
    strange = each[~is_known & ~replace(column, values=each).missing()]
    if not len(strange):
        return None
    unseen = set(strange.tolist())
    times = Counter(value for value in column.values.tolist() if value in unseen)
    value, n_value = min(times.items(), key=lambda item: (-item[1], spell(item[0])))
    known = tuple(map(spell, feature.categories))
    return UnseenCategoryWarning(column.name, spell(value), n_value, times.total(), known)


# --- rows and their targets -----------------------------------------------------------------------


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether data are the path of a file, or of several."""
    return isinstance(data, (str, os.PathLike))


def read_path(path: str | os.PathLike[str]) -> Table:
    """Read all rows of one file; a folder or a pattern of files is refused."""
    text = os.fspath(path)
    is_folder = Path(path).is_dir()
    if is_folder or (glob.has_magic(text) and not Path(path).exists()):
        what = "a folder" if is_folder else "a pattern of files"
        raise DataError(
            f"{text!r} is {what}, and only one file is read into memory at a time; give its files "
            "one by one, or use 'solah predict' for each"
        )
    return read_table(path)


def read_named(X: Any) -> Table:
    """Read rows whose columns have names: a data frame, a table or a file."""
    if isinstance(X, Table):
        return X
    if is_path(X):
        return read_path(X)
    if is_frame(X):
        return from_frame(X)
    raise ParameterError(
        f"X must be a data frame or a Table, whose columns have names. Got {type(X).__name__}."
    )


def target_column(target: Target, table: Table, y: Any) -> Column | None:
    """Return the target of rows: y or, without it, the column of the target's name, if any.

    Raises
    ------
    DataError
        If y is not as long as the table.
    """
    if y is None:
        return table.column(target.name) if target.name in table.names else None
    column = y if isinstance(y, Column) else as_column(target.name, np.asarray(y))
    if len(column.values) != table.n_rows:
        raise DataError(f"X has {table.n_rows} rows, but y has {len(column.values)} values")
    return column


def read_truth(target: Target, table: Table, y: Any) -> NDArray[np.float64]:
    """Return the places of the true classes or the true numbers; NaN where they are unknown."""
    column = target_column(target, table, y)
    if column is None:
        return np.full(table.n_rows, np.nan)
    if target.task is Task.REGRESSION:
        return to_numbers(column).values
    return encode_states(column, target.classes)


# --- rows of values by name ----------------------------------------------------------------------


def check_row_names(row: Row, names: Sequence[str]) -> Row:
    """Return a row; refuse a name in it that is likely another one misspelt."""
    free = [name for name in names if name not in row]
    for name in row:
        if name not in names and get_close_matches(name, free, n=1, cutoff=_ALIKE):
            raise ColumnError.unknown(name, free, "the model")
    return row


def rows_table(rows: Sequence[Row], features: Sequence[Feature]) -> Table:
    """Make a table of rows, with a column for each feature; what a row lacks is unknown.

    For a feature that comes from dates, the table has the column of dates if rows name it.

    Parameters
    ----------
    rows : sequence of dict
        Values by name: numbers, texts, booleans or None.
    features : sequence of Feature
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
    for one in features:
        part = None if one.name in named else date_part(one.name, named)
        name = one.name if part is None else part.column
        values = [row.get(name) for row in rows]
        if part is None:
            columns[name] = _column(name, values, one)
        else:
            columns[name] = Column(name, _texts(name, values))
    return Table(tuple(columns.values()), len(rows))


class ValueKind(StrEnum):
    """What a JSON value is to a feature of a model."""

    NUMBER = "number"
    CATEGORY = "category"
    MISSING = "missing"
    UNSEEN = "unseen"
    WRONG_TYPE = "wrong type"


def value_kinds(values: Sequence[Any], feature: Feature) -> list[ValueKind]:
    """Return what each value of a column is to a feature of a model.

    Parameters
    ----------
    values : sequence
        JSON values, or other Python objects.
    feature : Feature
        One whose values are measured takes numbers, also as text such as ``"25%"``, and booleans.
        Any other takes its categories, see :mod:`solah.data.cells`.

    Returns
    -------
    kinds : list of ValueKind
        ``UNSEEN`` is a category that no training row had. ``WRONG_TYPE`` is a text for a number,
        or a list, an object or an infinite number.

    Examples
    --------
    >>> from solah.data import Kind
    >>> from solah.model.features import discrete_feature
    >>> wet = discrete_feature("wet", Kind.BINARY, (False, True), (0.5, 0.5))
    >>> [kind.value for kind in value_kinds([True, "TRUE", 1, "?", "soaked", []], wet)]
    ['category', 'category', 'category', 'missing', 'unseen', 'wrong type']
    """
    kinds = [_simple_kind(value) for value in values]
    simple = [place for place, kind in enumerate(kinds) if kind is None]
    column = as_column(feature.name, _objects([values[place] for place in simple]))
    if feature.is_coded:
        is_known = ~np.isnan(encode_states(column, feature.categories))
        found = [ValueKind.CATEGORY if known else ValueKind.UNSEEN for known in is_known]
    else:
        is_number = [_number(values[place]) is not None for place in simple]
        found = [ValueKind.NUMBER if known else ValueKind.WRONG_TYPE for known in is_number]
    for place, kind in zip(simple, found, strict=True):
        kinds[place] = kind
    return [kind for kind in kinds if kind is not None]


def _simple_kind(value: Any) -> ValueKind | None:
    """Return the kind of a value that suits no feature; None for a number, text or boolean."""
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


def _column(name: str, values: Sequence[Any], feature: Feature) -> Column:
    """Make a column of values, if all of them can be values of the feature."""
    kinds = value_kinds(values, feature)
    for value, kind in zip(values, kinds, strict=True):
        if kind is ValueKind.WRONG_TYPE:
            raise _wrong_type(value, feature)
    known = [
        None if kind is ValueKind.MISSING else value
        for value, kind in zip(values, kinds, strict=True)
    ]
    if feature.is_coded:
        return as_column(name, _objects(known))
    numbers = [np.nan if value is None else _number(value) for value in known]
    return Column(name, np.array(numbers, dtype=np.float64))


def _wrong_type(value: Any, feature: Feature) -> DataError:
    if isinstance(value, str):
        return DataError(
            f"{feature.name!r} is measured, so its value is a number. Got {shorten(value)}; "
            "omit it if it is missing"
        )
    return DataError(f"{feature.name!r} must be a number or a text. Got {shorten(value)}.")
