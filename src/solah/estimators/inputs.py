"""Reads what users pass to an estimator as a table, by the rules of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from solah.data import (
    Column,
    Table,
    as_array,
    as_column,
    from_array,
    from_frame,
    is_frame,
    to_numbers,
)
from solah.data.cells import as_truth
from solah.data.digests import digest_column
from solah.data.spelling import spell
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.runtime.reading import is_path, read_path
from solah.scale import is_scan
from solah.sklearn_private import check_sample_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """Read attributes from an array, a list, a frame, a table or a file.

    With ``reset`` the estimator learns the names and the number of its attributes; without, they
    are compared with those it knows.
    """
    if is_path(X):
        X = read_path(X)
    if isinstance(X, Table):
        return _read_table(estimator, X, reset=reset)
    if is_frame(X):
        table = from_frame(X)
        validate_data(estimator, X, "no_validation", skip_check_array=True, reset=reset)
        _check_size(table.n_rows, len(table.columns))
        if reset:
            estimator._column_names = list(table.names)
        return table if reset else _known_columns(estimator, table)
    if hasattr(X, "collect_schema"):
        raise DataError("this frame is lazy; call its collect() first")
    if is_scan(X):
        raise DataError(
            "rows in several files or frames cannot be taken here; give one array, frame or file "
            "at a time"
        )
    array = validate_data(
        estimator, X, "no_validation", dtype=None, ensure_all_finite=False, reset=reset
    )
    if array.dtype.kind in "US":
        array = as_array(X)
    if reset:
        estimator._column_names = _numbered(estimator)
    return from_array(array, known_names(estimator))


def read_problem(
    path: Any, y: Any, sample_weight: Any, groups: Any = None
) -> tuple[Table, Column, Any, Any]:
    """Read attributes, the goal, weights and groups from a file whose columns they are.

    Parameters
    ----------
    path : the path of one file
    y : the name of the goal's column
    sample_weight : the name of a column, weights, or None
    groups : the name of a column, a group per row, or None
    """
    if not isinstance(y, str):
        raise ParameterError(
            f"the goal of a file's rows is one of its columns; give its name as y. Got "
            f"{type(y).__name__}."
        )
    table = read_path(path)
    names = [name for name in (y, sample_weight, groups) if isinstance(name, str)]
    for name in names:
        if name not in table.names:
            raise ColumnError.unknown(name, table.names)
    weights = sample_weight
    if isinstance(sample_weight, str):
        weights = to_numbers(table.column(sample_weight)).values
    attributes = [name for name in table.names if name not in names]
    if not attributes:
        raise DataError(f"no column is left to decide {y!r} with")
    if isinstance(groups, str):
        groups = table.column(groups)
    return table.select(attributes), table.column(y), weights, groups


def read_weights(sample_weight: Any, n_rows: int) -> Float:
    """Read sample weights: one per row, or none for ones."""
    rows = np.empty((n_rows, 1))
    weights: Float = check_sample_weight(sample_weight, rows, dtype=np.float64)
    return weights


def read_groups(groups: Any, n_rows: int) -> UInt64 | None:
    """Digest the groups of rows: one value per row, or None for none.

    Raises
    ------
    DataError
        If a row has no group, or if there are fewer than two groups.
    """
    if groups is None:
        return None
    column = groups if isinstance(groups, Column) else as_column("groups", column_or_1d(groups))
    if len(column.values) != n_rows:
        raise DataError(f"X has {n_rows} rows, but 'groups' has {len(column.values)} values")
    missing = column.missing()
    if missing.any():
        raise DataError(
            f"'groups' has no value in {int(missing.sum())} rows (first: row "
            f"{int(np.argmax(missing)) + 1}); leave these rows out, or give each a group"
        )
    digests = digest_column(column)
    refuse_one_group(digests)
    return digests


def refuse_one_group(digests: UInt64) -> None:
    """Refuse rows that all belong to one group."""
    if len(np.unique(digests)) < 2:
        raise DataError(
            "'groups' has only one group, and what is learnt from some groups is tried on others; "
            "give rows of two groups at least, or leave 'groups' out"
        )


def read_classes(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, NDArray[Any]]:
    """Read the goal's name (of a named series, else ``class``) and its classes."""
    classes = _read_goal(estimator, as_truth(y) if isinstance(y, Column) else y, n_rows)
    if classes.dtype == object:
        _refuse_missing(as_column("y", classes).missing())
    try:
        check_classification_targets(classes)
    except ValueError as error:
        raise DataError(str(error)) from None
    return _goal_name(y, "class"), classes


def read_numbers(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, Float]:
    """Read the goal's name (of a named series, else ``y``) and its numbers."""
    try:
        goal = to_numbers(y) if isinstance(y, Column) else y
    except DataError:
        raise DataError(
            f"the goal {y.name!r} has values that are not numbers; use a classifier for classes"
        ) from None
    observed = _read_goal(estimator, goal, n_rows)
    try:
        numbers = np.asarray(observed, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "the goal has values that are not numbers; use a classifier for classes"
        ) from None
    _refuse_missing(~np.isfinite(numbers))
    return _goal_name(y, "y"), numbers


def _read_goal(estimator: BaseEstimator, y: Any, n_rows: int) -> NDArray[Any]:
    if y is None:
        raise DataError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    goal: NDArray[Any] = column_or_1d(y.values if isinstance(y, Column) else y, warn=True)
    if len(goal) != n_rows:
        raise DataError(f"X has {n_rows} rows, but y has {len(goal)} values")
    if goal.dtype.kind in "mM":
        raise DataError("y holds dates or times; make classes or numbers of them")
    if goal.dtype.kind == "f":
        _refuse_missing(~np.isfinite(goal))
    return goal


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise DataError(
            f"Input y contains NaN or infinity in {int(missing.sum())} rows (first: row "
            f"{int(np.argmax(missing)) + 1}); leave these rows out"
        )


def _goal_name(y: Any, default: str) -> str:
    name = getattr(y, "name", None)
    return spell(name) if isinstance(name, str | Number) and name != "" else default


def known_names(estimator: BaseEstimator) -> list[str]:
    """Return the names of the attributes as text: x0, x1 and so on for arrays.

    ``feature_names_in_`` has them only where all names are text, as scikit-learn demands. Its own
    estimators know no others.
    """
    own = getattr(estimator, "_column_names", None) or _numbered(estimator)
    return list(getattr(estimator, "feature_names_in_", own))


def _numbered(estimator: BaseEstimator) -> list[str]:
    return [f"x{j}" for j in range(estimator.n_features_in_)]


def _known_columns(estimator: BaseEstimator, table: Table) -> Table:
    """Find the columns of fit by name, or by position where scikit-learn warns of their names."""
    names = known_names(estimator)
    absent = [name for name in names if name not in table.names]
    if not absent:
        return table.select(names)
    if not hasattr(estimator, "feature_names_in_") and names != _numbered(estimator):
        raise ColumnError.unknown(absent[0], table.names)
    columns = zip(table.columns, names, strict=True)
    return replace(table, columns=tuple(replace(column, name=name) for column, name in columns))


def _read_table(estimator: BaseEstimator, table: Table, *, reset: bool) -> Table:
    _check_size(table.n_rows, len(table.columns))
    if reset:
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
        estimator.n_features_in_ = len(table.columns)
        estimator._column_names = list(table.names)
        return table
    return table.select(known_names(estimator))


def _check_size(n_rows: int, n_columns: int) -> None:
    if n_rows == 0 or n_columns == 0:
        raise DataError(
            f"Found array with 0 {'sample(s)' if n_rows == 0 else 'feature(s)'} "
            f"(shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
        )
