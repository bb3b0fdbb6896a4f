"""Reads the rows to decide on, and the truth about them: frames, tables, and paths of files."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from solah.data import Column, Table, as_column, from_frame, is_frame, read_table, to_numbers
from solah.data.cells import encode_states
from solah.exceptions import DataError, ParameterError
from solah.model.document import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.model.document import Goal


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether data are the path of a file, or of several."""
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


def goal_column(goal: Goal, table: Table, y: Any) -> Column | None:
    """Return the truth about rows: y or, without it, the column of the goal's name, if any.

    Raises
    ------
    DataError
        If y is not as long as the table.
    """
    if y is None:
        return table.column(goal.name) if goal.name in table.names else None
    column = y if isinstance(y, Column) else as_column(goal.name, np.asarray(y))
    if len(column.values) != table.n_rows:
        raise DataError(f"X has {table.n_rows} rows, but y has {len(column.values)} values")
    return column


def read_truth(goal: Goal, table: Table, y: Any) -> NDArray[np.float64]:
    """Return the places of the true classes or the true numbers; NaN where they are unknown."""
    column = goal_column(goal, table, y)
    if column is None:
        return np.full(table.n_rows, np.nan)
    if goal.task is Task.REGRESSION:
        return to_numbers(column).values
    return encode_states(column, goal.states)
