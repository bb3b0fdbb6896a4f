"""Find the form of each column of an open Parquet file.

The footer tells almost all. Only a column that may have gaps, in a file without statistics, and
the states of an ordered one are looked for in the rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from solah.data import from_frame
from solah.data.cells import order_of_texts
from solah.exceptions import DataError, FileFormatError, require
from solah.scale.forms import Form, join_forms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SCAN_ROWS = 65_536


def column_forms(file: Any, path: Path) -> dict[str, Form | None]:
    """Return the form of each column; None for values of which nothing can be made."""
    schema = file.schema_arrow
    for name, number in Counter(schema.names).items():
        if number > 1 or not name:
            fault = f"{number} columns named {name!r}" if name else "a column without a name"
            raise FileFormatError(f"{path} has {fault}; give each a name of its own")
    leaves = file.metadata.schema
    places = {leaves.column(place).path: place for place in range(len(leaves))}
    forms = {field.name: _form_of_type(field.type) for field in schema}
    for name, form in forms.items():
        if form is not None and form.order is not None:
            forms[name] = _ordered(form, file, name, path)
        elif form is not None and form != form.with_gaps() and _has_nulls(file, name, places[name]):
            forms[name] = form.with_gaps()
    return forms


@cache
def _form_of_type(type_: Any) -> Form | None:
    """Return the form of a column of this type that has no gaps."""
    schema = require("pyarrow", "parquet", "reading Parquet files").schema([("values", type_)])
    try:
        column = from_frame(schema.empty_table()).columns[0]
    except DataError:
        return None  # reported when the column is asked for
    is_empty = str(type_) == "null"
    return Form(column.values.dtype.name, column.order, column.nominal, is_empty)


def _ordered(form: Form, file: Any, name: str, path: Path) -> Form | None:
    """Join the orders of all row groups, each of which has a dictionary of its own."""
    orders = {order_of_texts(batch.column(0).dictionary.to_pylist()) for batch in _scan(file, name)}
    whole: dict[str, Form | None] = {name: form}
    for order in sorted(orders):
        whole = join_forms(whole, {name: replace(form, order=order)}, f"a row group of {path}")
    return whole[name]


def _has_nulls(file: Any, name: str, place: int) -> bool:
    """Tell whether a column has a gap: by the footer, or else by reading it."""
    footer = file.metadata
    for group in range(footer.num_row_groups):
        statistics = footer.row_group(group).column(place).statistics
        if statistics is None or not statistics.has_null_count:
            return any(batch.column(0).null_count for batch in _scan(file, name))
        if statistics.null_count:
            return True
    return False


def _scan(file: Any, name: str) -> Iterator[Any]:
    """Yield the batches of one column."""
    for batch in file.iter_batches(_SCAN_ROWS, columns=[name], use_threads=False):
        yield batch.select([name])  # "a" also brings "a.b"
