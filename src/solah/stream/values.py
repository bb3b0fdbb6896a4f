"""Convert tables and classes to plain Python values row by row, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from solah.data import Column, Table, as_array, as_column
from solah.data.spelling import plain, spell
from solah.exceptions import DataError
from solah.model.encode import encode_goal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.model.document import Goal

Value: TypeAlias = str | int | float | bool
Reading: TypeAlias = Value | None


def read_labels(y: Any, n_rows: int) -> list[Reading]:
    """Read the class of each row, None where it is not known; whole numbers become integers.

    Examples
    --------
    >>> read_labels([1.0, float("nan"), None], 3)
    [1, None, None]
    >>> read_labels(["ripe", None, 2], 3)
    ['ripe', None, 2]
    """
    values = as_array(y.values if isinstance(y, Column) else y)
    if values.shape != (n_rows,):
        raise DataError(
            f"y must have one class for each of the {n_rows} rows. "
            f"Got an array of shape {values.shape}."
        )
    column = as_column("y", values)
    if column.values.dtype.kind == "f" and np.isinf(column.values).any():
        row = int(np.isinf(column.values).argmax())
        raise DataError(f"row {row + 1} of y is infinite; a class is a text or a finite number")
    # From the values as they came: in a column, one text makes texts of all numbers beside it.
    labels = zip(values.tolist(), column.missing(), strict=True)
    return [None if is_missing else plain(label) for label, is_missing in labels]


def plain_values(column: Column) -> list[Reading]:
    """Return the values of a column, None for what is missing."""
    values: list[Reading] = column.values.tolist()
    if column.values.dtype.kind != "f":
        return values
    return [None if value != value else value for value in values]


def split_rows(table: Table) -> list[tuple[Reading, ...]]:
    """Part a table into rows.

    Examples
    --------
    >>> split_rows(Table((Column("a", np.array([1.0, np.nan])), Column("b", np.arange(2))), 2))
    [(1.0, 0), (None, 1)]
    """
    return list(zip(*map(plain_values, table.columns), strict=True))


def as_table(rows: Sequence[Sequence[Reading]], like: Sequence[Column]) -> Table:
    """Make a table of rows, with the names and the nature of other columns."""
    by_column = zip(*rows, strict=True) if rows else [()] * len(like)
    columns = (
        Column(one.name, _values(one.name, cells), one.order, one.nominal)
        for one, cells in zip(like, by_column, strict=True)
    )
    return Table(tuple(columns), len(rows))


def as_goal(name: str, labels: Sequence[Reading]) -> Column:
    """Make a column of classes: integers where all are, text where some are text.

    Examples
    --------
    >>> as_goal("state", [1, "ripe", None]).values
    array(['1', 'ripe', None], dtype=object)
    >>> as_goal("state", [0, 1]).values
    array([0, 1])
    """
    values = _values(name, labels)
    if values.dtype.kind == "f" and all(isinstance(label, int) for label in labels):
        values = values.astype(np.int64)
    return Column(name, values)


def places_of(labels: Sequence[Reading], goal: Goal) -> NDArray[np.intp]:
    """Return each class's place among the goal's; negative where it is missing or unseen."""
    return encode_goal(as_goal(goal.name, labels), goal)


def _values(name: str, cells: Sequence[Reading]) -> NDArray[Any]:
    types = set(map(type, cells))
    if float in types and types <= {float, type(None)}:  # as most readings are
        return np.array(cells, dtype=np.float64)
    # A whole number beside text is spelt without a point, however its column came in.
    texts = {one for one in types if issubclass(one, str)}
    is_mixed = bool(texts) and not types <= {*texts, type(None)}
    objects = np.empty(len(cells), dtype=object)
    objects[:] = [spell(cell) if is_mixed and cell is not None else cell for cell in cells]
    return as_column(name, objects).values
