"""Read a data frame of any library (pandas, Polars, PyArrow, through narwhals) as a table.

How a frame's types are taken:

- numbers as they are, without a copy where the library allows; nullable ones with nulls as
  float64 with NaN; decimals as float64;
- truth values as bool; with nulls among them as the text "True" and "False", so that the states
  keep readable names;
- strings as text, without spaces around it and with None for the words for missing;
- categoricals as text that is ``nominal``, ordered ones (a pandas ordered
  categorical, a Polars Enum, a PyArrow ordered dictionary) with their ``order``;
- pandas' object columns by what they hold, see :func:`solah.data.arrays.as_column`;
- a column of nulls only and of no type as text;
- dates as text, as in a file; times of day, durations, bytes and nested values are refused.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.arrays import as_column, date_column, no_times, no_use
from solah.data.cells import order_of_texts, to_text
from solah.data.dates import date_part
from solah.data.spelling import spell
from solah.data.table import Column, Table
from solah.exceptions import ColumnError

if TYPE_CHECKING:
    from collections.abc import Collection

    import narwhals.stable.v2 as nw
    from numpy.typing import NDArray

_FEW_ROWS = 1_000


def is_frame(obj: object) -> bool:
    """Tell whether an object is a data frame that :func:`from_frame` takes.

    Examples
    --------
    >>> is_frame([[1.0, 2.0]])
    False
    """
    if isinstance(obj, (np.ndarray, list, tuple, str, os.PathLike)):
        return False  # the common cases need no import
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(obj))


def is_dask(data: object) -> bool:
    """Tell whether data are a collection of Dask."""
    return hasattr(data, "__dask_graph__") and type(data).__module__.startswith("dask")


def from_frame(frame: Any, only: Collection[str] | None = None) -> Table:
    """Take the columns of a data frame.

    Parameters
    ----------
    frame : data frame
        Any eager data frame that narwhals knows, such as one of pandas, Polars or PyArrow.
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
    import narwhals.stable.v2 as nw

    is_small = nw.dependencies.is_pandas_dataframe(frame) and len(frame) <= _FEW_ROWS
    found = _columns_by_type(frame) if is_small else _each_series(frame)
    columns = {}
    for name in only or found:
        part = None if name in found else date_part(name, found)
        source = name if part is None else part.column
        if source not in found:
            raise ColumnError.unknown(name, list(found))
        one = found[source]
        columns[source] = one if isinstance(one, Column) else _column(source, one)
    return Table(tuple(columns.values()), len(frame))


def _each_series(frame: Any) -> dict[str, Column | nw.Series[Any]]:
    """Return the series of a frame by name."""
    import narwhals.stable.v2 as nw

    try:
        series = list(nw.from_native(frame, eager_only=True).iter_columns())
    except nw.exceptions.DuplicateError as error:
        found = " ".join(str(error).split())
        raise ColumnError(f"a column name of the frame is there twice: {found}") from None
    return dict(zip(_names([one.name for one in series]), series, strict=True))


def _columns_by_type(frame: Any) -> dict[str, Column | nw.Series[Any]]:
    """Return the columns of a pandas frame by name: those of one NumPy type at once, else series.

    For a few rows this takes a fraction of the time of one series after the other.
    """
    places: dict[np.dtype[Any] | None, list[int]] = {}
    for j, dtype in enumerate(frame.dtypes.tolist()):
        is_number = isinstance(dtype, np.dtype) and dtype.kind in "biuf"
        places.setdefault(dtype if is_number else None, []).append(j)
    names = _names(frame.columns.tolist())
    found: dict[str, Column | nw.Series[Any]] = {}
    for dtype, of_type in places.items():
        part = frame if len(places) == 1 else frame.iloc[:, of_type]
        if dtype is None:
            found |= _each_series(part)
        else:
            values = part.to_numpy()
            found |= {names[j]: Column(names[j], values[:, k]) for k, j in enumerate(of_type)}
    return {name: found[name] for name in names}


def frame_names(frame: Any) -> list[str]:
    """Return what :func:`from_frame` calls the columns of a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_names(pd.DataFrame([[7, 8]]))
    ['0', '1']
    """
    import narwhals.stable.v2 as nw

    return _names(nw.from_native(frame, eager_only=True).columns)


def _names(names: list[Any]) -> list[str]:
    """Write the names of columns as text."""
    if any(isinstance(name, tuple) for name in names):
        shown = next(name for name in names if isinstance(name, tuple))
        raise ColumnError(
            f"the columns have names of several levels, such as {tuple(map(str, shown))}; "
            "join the levels: frame.columns = ['_'.join(map(str, name)) for name in frame.columns]"
        )
    are_text = {isinstance(name, str) for name in names}
    if len(are_text) > 1:
        shown = next(name for name in names if not isinstance(name, str))
        raise ColumnError(
            f"some columns have names that are not text, such as {spell(shown)}; make all of "
            "them text: frame.columns = frame.columns.astype(str)"
        )
    texts = [name if isinstance(name, str) else _as_text(name) for name in names]
    text, times = Counter(texts).most_common(1)[0] if texts else ("", 0)
    if times > 1:
        raise ColumnError(f"column {text!r} is there twice; rename one of them")
    return texts


def _as_text(name: Any) -> str:
    return "" if name is None or name != name else spell(name)


def _column(name: str, series: nw.Series[Any]) -> Column:
    """Choose the way in by the column's type."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name, _numbers(series))
    if dtype == nw.Boolean and not series.null_count():
        return Column(name, series.to_numpy().astype(bool, copy=False))
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _categorical(name, series)
    if isinstance(dtype, (nw.Date, nw.Datetime)):
        return date_column(name, series.to_list())
    if dtype.is_temporal():
        raise no_times(name)
    if dtype.is_nested() or dtype == nw.Binary:
        raise no_use(name, str(dtype))
    return as_column(name, _with_none(series))


def _numbers(series: nw.Series[Any]) -> NDArray[Any]:
    """Take numbers as NumPy has them, and as float64 those that it has not."""
    import narwhals.stable.v2 as nw

    if isinstance(series.dtype, (nw.Decimal, nw.Int128, nw.UInt128)):
        series = series.cast(nw.Float64)
    values: NDArray[Any] = series.to_numpy()
    return values if values.dtype.kind in "iuf" else values.astype(np.float64)


def _with_none(series: nw.Series[Any]) -> NDArray[Any]:
    """Return the values as they are, or as objects with None where some are null."""
    values: NDArray[Any] = series.to_numpy()
    if not series.null_count():
        return values
    values = values.astype(object)
    # PyArrow's dictionaries forget their nulls on the way to NumPy, so the mask is always applied.
    values[np.asarray(series.is_null().to_list(), dtype=bool)] = None
    return values


def _categorical(name: str, series: nw.Series[Any]) -> Column:
    text = to_text(as_column(name, _with_none(series)))
    return Column(name, text.values, _order(series), nominal=True)


def _order(series: nw.Series[Any]) -> tuple[str, ...] | None:
    """Return the states of an ordered categorical."""
    import narwhals.stable.v2 as nw

    if isinstance(series.dtype, nw.Enum):
        return order_of_texts(series.dtype.categories)
    native = series.to_native()
    if getattr(getattr(native, "type", None), "ordered", False):
        return order_of_texts(native.combine_chunks().dictionary.to_pylist())
    return None
