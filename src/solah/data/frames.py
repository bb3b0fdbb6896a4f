"""Read data frames (PyArrow, Polars, pandas and others that export Arrow) as tables.

How the types of columns are taken:

- numbers as they are, without a copy where possible; with nulls, and decimals, as float64;
- truth values as bool; with nulls among them as the text "True" and "False";
- strings as text, with None for the words for missing;
- categoricals as ``nominal`` text; ordered ones (a pandas ordered categorical, a Polars Enum, an
  ordered dictionary of Arrow) with their ``order``;
- pandas' object columns by what they hold, see :func:`solah.data.arrays.as_column`;
- dates as text, as in a file. Times of day, durations, bytes and nested values are refused.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.arrays import as_column, date_column, no_times, no_use
from solah.data.cells import TextCells, order_of_texts, to_text
from solah.data.dates import date_part
from solah.data.spelling import spell
from solah.data.table import Column, Table
from solah.exceptions import ColumnError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

_FEW_ROWS = 1_000
_NONE = np.array([None], dtype=object)


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
        If a name is there twice, has several levels, or is a number where others are text.
    DataError
        If a column holds neither numbers nor text.

    Examples
    --------
    >>> import polars as pl
    >>> from_frame(pl.DataFrame({"height": [1, None]})).column("height").values
    array([ 1., nan])
    """
    if not _is_pandas(frame):
        return from_arrow(frame, only)
    names = _names(frame.columns.tolist())
    wanted, places = _wanted(names, only), {name: j for j, name in enumerate(names)}
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

    if not isinstance(data, pa.Table):
        data = pa.table(_with_arrow_types(data))
    table = data
    names = _names(table.column_names)
    places = {name: j for j, name in enumerate(names)}
    columns = (arrow_column(name, table.column(places[name])) for name in _wanted(names, only))
    return Table(tuple(columns), table.num_rows)


def frame_names(frame: Any) -> list[str]:
    """Return the names that :func:`from_frame` gives to the columns of a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_names(pd.DataFrame([[7, 8]]))
    ['0', '1']
    """
    names = getattr(frame, "column_names", frame.columns)
    return _names(list(names))


def arrow_column(name: str, values: Any) -> Column:
    """Take an array or chunked array of Arrow."""
    import pyarrow as pa

    kind, types = values.type, pa.types
    if types.is_dictionary(kind):
        return _categorical(name, values)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Column(name, _numbers(values))
    if types.is_boolean(kind):
        if not values.null_count:
            return Column(name, values.to_numpy(zero_copy_only=False).astype(bool, copy=False))
        return Column(name, text_values(values.cast(pa.string()), TextCells()))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(name, text_values(values, TextCells()))
    if types.is_null(kind):
        return Column(name, np.full(len(values), None, dtype=object))
    if types.is_timestamp(kind):
        microseconds = pa.timestamp("us", tz=kind.tz)
        return date_column(name, values.cast(microseconds, safe=False).to_pylist())
    if types.is_date(kind):
        return date_column(name, values.to_pylist())
    raise no_times(name) if types.is_temporal(kind) else no_use(name, str(kind))


def text_values(values: Any, cells: TextCells) -> NDArray[Any]:
    """Read Arrow strings, each distinct one once."""
    import pyarrow as pa

    encoded = values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return _decoded(encoded, cells.of(encoded.dictionary.to_pylist()))


def _decoded(encoded: Any, texts: NDArray[Any]) -> NDArray[Any]:
    """Replace the codes of a dictionary array by texts, and null by None."""
    codes = encoded.indices.cast("int64").fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(texts, _NONE)[codes])


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.startswith("pandas.") or hasattr(frame, "iloc")


def _with_arrow_types(frame: Any) -> Any:
    """Make float64 of 128-bit integers of Polars, which Arrow does not have."""
    if not type(frame).__module__.startswith("polars."):
        return frame
    wide = [name for name, dtype in frame.schema.items() if str(dtype) in ("Int128", "UInt128")]
    return frame.cast(dict.fromkeys(wide, float)) if wide else frame


def _wanted(names: list[str], only: Collection[str] | None) -> Iterable[str]:
    """List the columns to take; a part of a date ("hour of time") needs the column of dates."""
    found: dict[str, None] = {}
    known = frozenset(names)
    for name in names if only is None else only:
        part = None if name in known else date_part(name, known)
        if part is None and name not in known:
            raise ColumnError.unknown(name, names)
        found[name if part is None else part.column] = None
    return found


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


def _names(names: list[Any]) -> list[str]:
    """Write the names of columns as text."""
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
        raise ColumnError(f"column {text!r} is there twice; rename one of them")
    return texts


def _numbers(values: Any) -> NDArray[Any]:
    """Take numbers as NumPy has them, and as float64 where some are null and for decimals."""
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    if isinstance(values, pa.ChunkedArray) and values.num_chunks == 1:
        values = values.chunk(0)
    numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return numbers


def _categorical(name: str, values: Any) -> Column:
    """Take a dictionary of Arrow: its values are names, whatever they look like."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    words = to_text(arrow_column(name, values.dictionary)).values
    order = order_of_texts(values.dictionary.to_pylist()) if values.type.ordered else None
    return Column(name, _decoded(values, words), order, nominal=True)
