"""What users hand to an estimator in, a table out, by the rules of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from solah.data import Table, from_array, from_frame, is_frame
from solah.exceptions import ColumnError, DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from solah.kernels.arrays import Float


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """Read attributes from an array, a list, a frame or a table.

    With ``reset`` the estimator learns the names and the number of its attributes; without, they
    are compared with those it knows.
    """
    if isinstance(X, Table):
        return _read_table(estimator, X, reset=reset)
    if is_frame(X):
        validate_data(estimator, X, "no_validation", skip_check_array=True, reset=reset)
        table = from_frame(X)
        _check_size(table.n_rows, len(table.columns))
        return table
    array = validate_data(
        estimator, X, "no_validation", dtype=None, ensure_all_finite=False, reset=reset
    )
    names = list(getattr(estimator, "feature_names_in_", ())) or [
        f"x{j}" for j in range(array.shape[1])
    ]
    return from_array(array, names)


def read_weights(sample_weight: Any, n_rows: int) -> Float:
    """Read sample weights: one a row, or none for ones."""
    rows = np.empty((n_rows, 1))
    weights: Float = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    return weights


def read_classes(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, NDArray[Any]]:
    """Read the goal's name (of a named series, else ``class``) and its classes."""
    classes = _read_goal(estimator, y, n_rows)
    if classes.dtype == object:
        _refuse_missing(np.array([value is None or value != value for value in classes], bool))
    check_classification_targets(classes)
    return _goal_name(y, "class"), classes


def read_numbers(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, Float]:
    """Read the goal's name (of a named series, else ``y``) and its numbers."""
    numbers = np.asarray(_read_goal(estimator, y, n_rows), dtype=np.float64)
    _refuse_missing(~np.isfinite(numbers))
    return _goal_name(y, "y"), numbers


def _read_goal(estimator: BaseEstimator, y: Any, n_rows: int) -> NDArray[Any]:
    if y is None:
        raise DataError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    goal: NDArray[Any] = column_or_1d(y, warn=True)
    if len(goal) != n_rows:
        raise DataError(f"X has {n_rows} rows, but y has {len(goal)} values")
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
    return name if isinstance(name, str) and name else default


def _read_table(estimator: BaseEstimator, table: Table, *, reset: bool) -> Table:
    _check_size(table.n_rows, len(table.columns))
    if reset:
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
        estimator.n_features_in_ = len(table.columns)
        return table
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        raise ColumnError("the model was fitted on columns without names; give it an array")
    return table.select(known)


def _check_size(n_rows: int, n_columns: int) -> None:
    if n_rows == 0 or n_columns == 0:
        raise DataError(
            f"Found array with 0 {'sample(s)' if n_rows == 0 else 'feature(s)'} "
            f"(shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
        )
