"""Read data frames (PyArrow, Polars, pandas and others that export Arrow) and arrays as tables.

How the types of columns are taken:

- numbers as they are, without a copy where possible; with nulls, and decimals, as float64;
- booleans as bool; with nulls among them as the text "True" and "False";
- strings as text, with None for the words for missing;
- categoricals as ``nominal`` text; ordered ones (a pandas ordered categorical, a Polars Enum, an
  ordered dictionary of Arrow) with their ``order``;
- objects of Python by what they hold, see :func:`as_column`;
- dates as text, as in a file. Times of day, durations, bytes and nested values are refused.
"""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from numbers import Real
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.cells import TextCells, order_of_texts, to_text
from solah.data.dates import date_part
from solah.data.spelling import spell
from solah.data.table import Column, Table
from solah.exceptions import ColumnError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

_FEW_ROWS = 1_000
_NONE = np.array([None], dtype=object)
_NUMBERS = (Real, Decimal, np.bool_)
_DATES = (datetime.date, np.datetime64)
_TIMES = (datetime.time, datetime.timedelta, np.timedelta64)
_MIDNIGHT = " 00:00:00"
# pandas' own missing values, known by name so that pandas need not be imported.
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def is_frame(obj: object) -> bool:
    """Whether :func:`from_frame` takes an object.

    Examples
    --------
    >>> is_frame([[1.0, 2.0]])
    False
    """
    return hasattr(obj, "__arrow_c_stream__") and hasattr(obj, "columns")


def is_dask(data: object) -> bool:
    """Whether data are a collection of Dask."""
    return hasattr(data, "__dask_graph__") and type(data).__module__.startswith("dask")


def from_frame(frame: Any, only: Collection[str] | None = None) -> Table:
    """Take the columns of a data frame.

    Parameters
    ----------
    frame : data frame
        A data frame of pandas, or any that exports Arrow, such as one of Polars or PyArrow.
    only : collection of str, optional
        The columns to take; what others hold does not matter.

    Returns
    -------
    Table
        The columns in their order. Names that are numbers, as pandas' default names, become text.

    Raises
    ------
    ColumnError
        If a name occurs twice, has several levels, or is a number where others are text.
    DataError
        If a column holds neither numbers nor text.

    Examples
    --------
    >>> import polars as pl
    >>> from_frame(pl.DataFrame({"height": [1, None]})).column("height").values
    array([ 1., nan])
    """
    if not hasattr(frame, "iloc"):  # which pandas' frames have
        return from_arrow(frame, only)
    names = frame_names(frame)
    wanted, places = base_columns(names, only), {name: j for j, name in enumerate(names)}
    columns = _numbers_by_type(frame, names) if len(frame) <= _FEW_ROWS else {}
    for name in wanted:
        if name not in columns:
            columns[name] = _pandas_column(name, frame.iloc[:, places[name]])
    return Table(tuple(columns[name] for name in wanted), len(frame))


def from_arrow(data: Any, only: Collection[str] | None = None) -> Table:
    """Take the columns of an Arrow table or record batch, or of anything that exports Arrow.

    Every cell has the meaning that ``cells.py`` gives it. Strings stay text: see
    :func:`solah.data.cells.understand` for text that is numbers throughout.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_arrow(pa.table({"wet": ["TRUE", "NA"]})).column("wet").values
    array(['True', None], dtype=object)
    """
    import pyarrow as pa

    if type(data).__module__.startswith("polars."):
        # Arrow has no integers of 128 bits.
        wide = [name for name, type_ in data.schema.items() if str(type_) in ("Int128", "UInt128")]
        data = data.cast(dict.fromkeys(wide, float)) if wide else data
    table = data if isinstance(data, pa.Table) else pa.table(data)
    names = frame_names(table)
    places = {name: j for j, name in enumerate(names)}
    columns = (arrow_column(name, table.column(places[name])) for name in base_columns(names, only))
    return Table(tuple(columns), table.num_rows)


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


def as_array(values: Any) -> NDArray[Any]:
    """Make an array of nested lists without turning numbers beside text into text."""
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def frame_names(frame: Any) -> list[str]:
    """Return the names that :func:`from_frame` gives to the columns of a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_names(pd.DataFrame([[7, 8]]))
    ['0', '1']
    """
    names: list[Any] = list(getattr(frame, "column_names", frame.columns))
    if any(isinstance(name, tuple) for name in names):
        shown = next(name for name in names if isinstance(name, tuple))
        raise ColumnError(
            f"the columns have names of several levels, such as {tuple(map(str, shown))}; "
            "join the levels: frame.columns = ['_'.join(map(str, name)) for name in frame.columns]"
        )
    if len({isinstance(name, str) for name in names}) > 1:
        shown = next(name for name in names if not isinstance(name, str))
        raise ColumnError(
            f"some columns have names that are not text, such as {spell(shown)}; make all of "
            "them text: frame.columns = frame.columns.astype(str)"
        )
    texts = ["" if name is None or name != name else spell(name) for name in names]
    text, times = Counter(texts).most_common(1)[0] if texts else ("", 0)
    if times > 1:
        raise ColumnError(f"duplicate column {text!r}; rename one of them")
    return texts


def base_columns(names: list[str], only: Collection[str] | None) -> list[str]:
    """List the columns to read; a part of a date ("hour of time") needs the column of dates."""
    known = frozenset(names)
    found: dict[str, None] = {}
    for name in names if only is None else only:
        part = None if name in known else date_part(name, known)
        if part is None and name not in known:
            raise ColumnError.unknown(name, names)
        found[name if part is None else part.column] = None
    return list(found)


# Columns of Arrow


def arrow_column(name: str, values: Any) -> Column:
    """Take an array or chunked array of Arrow."""
    import pyarrow as pa

    kind, types = values.type, pa.types
    if types.is_dictionary(kind):  # its values are names, whatever they look like
        if isinstance(values, pa.ChunkedArray):
            values = values.unify_dictionaries().combine_chunks()
        words = to_text(arrow_column(name, values.dictionary)).values
        order = order_of_texts(values.dictionary.to_pylist()) if kind.ordered else None
        return Column(name, _decoded(values, words), order, nominal=True)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        values = values.cast(pa.float64()) if types.is_decimal(kind) else values
        is_single = isinstance(values, pa.ChunkedArray) and values.num_chunks == 1
        values = values.chunk(0) if is_single else values
        return Column(name, values.to_numpy(zero_copy_only=False))
    if types.is_boolean(kind):
        if not values.null_count:
            return Column(name, values.to_numpy(zero_copy_only=False).astype(bool, copy=False))
        return Column(name, text_values(values.cast(pa.string()), TextCells().of))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(name, text_values(values, TextCells().of))
    if types.is_null(kind):
        return Column(name, np.full(len(values), None, dtype=object))
    if types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us", tz=kind.tz), safe=False)
    if types.is_timestamp(kind) or types.is_date(kind):
        return date_column(name, values.to_pylist())
    raise no_times(name) if types.is_temporal(kind) else no_use(name, str(kind))


def text_values(values: Any, understand: Callable[[list[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Read Arrow strings, each distinct one once."""
    import pyarrow as pa

    encoded = values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return _decoded(encoded, understand(encoded.dictionary.to_pylist()))


def _decoded(encoded: Any, texts: NDArray[Any]) -> NDArray[Any]:
    """Replace the codes of a dictionary array by texts, and null by None."""
    codes = encoded.indices.cast("int64").fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(texts, _NONE)[codes])


# Columns of pandas


def _numbers_by_type(frame: Any, names: list[str]) -> dict[str, Column]:
    """Take the columns of a pandas frame that are numbers, those of one NumPy type at once.

    For a few rows this takes a fraction of the time of one series after the other.
    """
    places: dict[Any, list[int]] = {}
    for j, dtype in enumerate(frame.dtypes.tolist()):
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            places.setdefault(dtype, []).append(j)
    columns: dict[str, Column] = {}
    for of_type in places.values():
        values = (frame if len(of_type) == len(names) else frame.iloc[:, of_type]).to_numpy()
        columns |= {names[j]: Column(names[j], values[:, k]) for k, j in enumerate(of_type)}
    return columns


def _pandas_column(name: str, series: Any) -> Column:
    """Take a series: by NumPy where its type is NumPy's, else by Arrow."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return as_column(name, series.to_numpy())
    if dtype.name == "category":
        categories = to_text(as_column(name, series.cat.categories.to_numpy())).values
        texts = np.append(categories, _NONE)[series.cat.codes.to_numpy()]  # -1 is missing
        order = order_of_texts(series.cat.categories) if series.cat.ordered else None
        return Column(name, texts, order, nominal=True)
    if str(dtype).startswith("Sparse"):
        return as_column(name, np.asarray(series))
    import pyarrow as pa

    try:
        return arrow_column(name, pa.array(series))
    except pa.ArrowException:
        return as_column(name, series.to_numpy(dtype=object))


# Columns of NumPy and Python


def as_column(name: str, values: NDArray[Any]) -> Column:
    """Make a column of an array of numbers, booleans, strings or Python objects.

    Numbers and booleans are taken without a copy. Objects become numbers when all are
    numbers, booleans when all are, and text when strings are among them. Booleans with
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
    if kind == "M":
        return date_column(name, values.astype("datetime64[s]").tolist())
    if kind == "m":
        raise no_times(name)
    if kind not in "UTO":
        raise no_use(name, str(values.dtype))
    objects = values.astype(object, copy=False)
    if set(map(type, objects)) <= {str, type(None)}:
        return Column(name, TextCells().of(objects))
    return _from_objects(name, objects)


def _from_objects(name: str, values: NDArray[Any]) -> Column:
    """Decide by the types that occur, of which there are few."""

    def is_missing(value: object) -> bool:
        if isinstance(value, (float, np.floating, Decimal)):
            return bool(np.isnan(float(value)))
        return type(value).__name__ in _MISSING_TYPES

    cells = [None if is_missing(value) else value for value in values]
    types = {type(cell) for cell in cells if cell is not None}

    def are_all(allowed: tuple[type, ...]) -> bool:
        return all(issubclass(t, allowed) for t in types)

    are_truth = are_all((bool, np.bool_))
    if types and are_truth and None not in cells:
        return Column(name, np.array(cells, dtype=bool))
    if types and are_all(_NUMBERS) and not are_truth:
        try:
            return Column(name, np.array([np.nan if c is None else float(c) for c in cells]))
        except OverflowError:
            message = f"column {name!r} holds a whole number too large for a float"
            raise DataError(message) from None
    if are_all((str, *_NUMBERS)):
        return Column(name, TextCells().of(None if one is None else spell(one) for one in cells))
    if are_all(_DATES):
        return date_column(name, cells)
    strange = next(t for t in types if not issubclass(t, (str, *_NUMBERS)))
    is_time = issubclass(strange, (*_DATES, *_TIMES))
    raise no_times(name) if is_time else no_use(name, strange.__name__)


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
    """Return the error for a column of dates or times."""
    return DataError(
        f"column {name!r} holds dates or times; convert it to numbers, such as the hour or the "
        f"day of the week, or drop it (--drop {quote(name)})",
        remedy=f"--drop {quote(name)}",
    )


def no_use(name: str, what: str) -> DataError:
    """Return the error for a column of something that is neither number nor text."""
    return DataError(
        f"column {name!r} holds values of type {what}; convert it to numbers or text, "
        f"or drop it (--drop {quote(name)})",
        remedy=f"--drop {quote(name)}",
    )
