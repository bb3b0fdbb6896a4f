"""Reads X, y, weights and groups as tables, targets and integers, by the rules of scikit-learn."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Number, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import compute_sample_weight
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
from solah.data.spelling import plain, spell
from solah.exceptions import (
    ColumnError,
    DataError,
    IdentifierWarning,
    ParameterError,
    did_you_mean,
    shorten,
)
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.labels.goals import ClassGoal
from solah.labels.weights import integer_weights
from solah.model import Goal
from solah.model.encode import is_path, read_path
from solah.model.limits import LEAST_THRESHOLD, what_classes_must_be
from solah.scale import is_scan
from solah.sklearn_private import check_sample_weight

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float


_LEAST_ROWS_OF_IDENTIFIER = 20

# --- features ----------------------------------------------------------------------------------


def tolerant_tags(tags: Any) -> Any:
    """Tell scikit-learn that missing values, strings and categories are welcome."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """Read attributes from an array, a list, a frame, a table or a file.

    With ``reset`` the estimator learns the names and the number of its attributes; without, they
    are compared with those it knows.
    """
    if is_frame(X):
        table = from_frame(X)
        validate_data(estimator, X, "no_validation", skip_check_array=True, reset=reset)
        _check_size(table.n_rows, len(table.columns))
        if reset:
            estimator._column_names = list(table.names)
        return table if reset else _known_columns(estimator, table)
    if not isinstance(X, np.ndarray):
        X = read_path(X) if is_path(X) else X
        if isinstance(X, Table):
            return _read_table(estimator, X, reset=reset)
        _refuse_other_rows(X)
    array = validate_data(
        estimator, X, "no_validation", dtype=None, ensure_all_finite=False, reset=reset
    )
    if array.dtype.kind in "US":
        array = as_array(X)
    if reset:
        estimator._column_names = _numbered(estimator)
    return from_array(array, known_names(estimator))


def _refuse_other_rows(X: Any) -> None:
    """Refuse rows that are not in memory."""
    if hasattr(X, "collect_schema"):
        raise DataError("this frame is lazy; call its collect() first")
    if is_scan(X):
        raise DataError(
            "rows in several files or frames cannot be taken here; give one array, frame or file "
            "at a time"
        )


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


def without_identifiers(table: Table, named: Collection[str]) -> Table:
    """Leave out columns that number the rows, with a warning, unless somebody names them."""
    found = [
        column.name
        for column in table.columns
        if column.name not in named and _numbers_rows(column.values)
    ]
    kept = [name for name in table.names if name not in found]
    if not found or not kept:
        return table
    for name in found:
        warnings.warn(IdentifierWarning(name), stacklevel=_level_of_caller())
    return table.select(kept)


def _numbers_rows(values: Any) -> bool:
    """Whether values are whole numbers that grow by one from row to row."""
    if values.dtype.kind not in "iuf" or len(values) < _LEAST_ROWS_OF_IDENTIFIER:
        return False
    steps = np.diff(values)
    return bool((steps == 1).all() and float(values[0]).is_integer())


def _level_of_caller() -> int:
    """Return how far above its caller the code stands that asked solah to learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("solah", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


# --- classes and their weights ------------------------------------------------------------------


def read_class_goal(
    estimator: BaseEstimator,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    n_rows: int,
) -> ClassGoal:
    """Read the classes and the weights of the rows by an estimator's parameters."""
    name, classes = read_classes(estimator, y, n_rows)
    states, codes = np.unique(classes, return_inverse=True)
    goal = class_goal(estimator, name, states)
    class_weight = settle_class_weight(estimator.class_weight, states.tolist())
    of_classes = compute_sample_weight(class_weight, classes)
    weights = read_weights(sample_weight, n_rows) * of_classes
    integers, unit = integer_weights(weights)
    return ClassGoal(goal, states, codes, integers, unit)


def class_goal(estimator: BaseEstimator, name: str, states: NDArray[Any]) -> Goal:
    """Name the goal and its classes by an estimator's parameters."""
    if len(states) > MAX_FOCAL_SETS:
        raise DataError(
            f"the goal {name!r} has {len(states)} classes, and solah tells at most "
            f"{MAX_FOCAL_SETS} apart; if it is a number, use LinguisticTreeRegressor "
            "(--task regression)"
        )
    named = tuple(map(_as_state, states.tolist()))
    needed = what_classes_must_be(named)
    if needed is not None:
        raise DataError(f"the classes of {name!r} must be {needed}. Got {shorten(named)}.")
    settle_class_weight(estimator.class_weight, states.tolist())
    return Goal(
        name,
        states=named,
        thresholds=settle_thresholds(estimator.thresholds, states.tolist()),
    )


def read_known_classes(estimator: BaseEstimator, y: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the place of each row's class among those that an estimator knows."""
    name, observed = read_classes(estimator, y, n_rows)
    places = {each: place for place, each in enumerate(estimator.classes_.tolist())}
    codes = [places.get(each, -1) for each in observed.tolist()]
    if -1 in codes:
        row = codes.index(-1)
        raise DataError(
            f"row {row + 1} of {name!r} is {shorten(observed[row])}, which no row was when the "
            "model was fitted; a new class needs a new fit"
        )
    return np.array(codes, dtype=np.intp)


def refuse_absent_classes(classes: ArrayLike, y: ArrayLike) -> None:
    """See that the first rows have all classes that are to come."""
    absent = sorted(set(np.asarray(classes).tolist()) - set(np.asarray(y).tolist()))
    if absent:
        raise DataError(
            f"'classes' has {shorten(absent[0])}, and the first rows have none of it; words and "
            "trees are learnt from the first rows, so give rows of all classes"
        )


def settle_thresholds(
    thresholds: Mapping[Any, float] | None, classes: Sequence[Any]
) -> tuple[float, ...]:
    """Complete the thresholds of some classes: the others share what is left of 1.

    Examples
    --------
    >>> settle_thresholds({"sick": 0.2}, ["sick", "well"])
    (0.2, 0.8)
    """
    if thresholds is not None and not isinstance(thresholds, Mapping):
        raise ParameterError(
            f"'thresholds' must be a mapping of classes to numbers. Got {shorten(thresholds)}."
        )
    if not thresholds or len(classes) == 1:
        return ()
    given: dict[int, float] = {}
    for name, threshold in thresholds.items():
        place = _find(name, classes)
        if place is None:
            raise _no_such_class("thresholds", name, classes)
        if place in given:
            raise ParameterError(f"'thresholds' names the class {shorten(name)} twice")
        if not isinstance(threshold, Real) or not 0 < threshold < 1:
            raise ParameterError(
                f"the threshold of class {shorten(name)} must be above 0 and below 1. "
                f"Got {threshold!r} instead."
            )
        given[place] = float(threshold)
    n_others = len(classes) - len(given)
    left = 1 - sum(given.values())
    if n_others and left <= 0:
        raise ParameterError(
            "the thresholds must sum to less than 1, for the other classes share the rest. "
            f"Got {sum(given.values()):g}."
        )
    if not n_others and abs(left) > 1e-9:
        raise ParameterError(
            "the thresholds of all classes must sum to 1; leave one class out, and it gets the rest"
        )
    settled = tuple(given.get(place, left / max(n_others, 1)) for place in range(len(classes)))
    if min(settled) < LEAST_THRESHOLD:
        raise ParameterError(
            f"every threshold must be {LEAST_THRESHOLD:g} at least, also what is left for the "
            f"classes without one. Got {min(settled):g}."
        )
    return settled


def settle_class_weight(
    class_weight: str | Mapping[Any, float] | None, classes: Sequence[Any]
) -> str | dict[Any, float] | None:
    """Find the classes that a mapping of weights names, by their value or their spelling.

    A class that no row has is left out where all others are named, as in scikit-learn: then it is
    no misspelling, and some folds may lack a rare class.

    Examples
    --------
    >>> settle_class_weight({"1": 5.0}, [0, 1])
    {1: 5.0}
    """
    if not isinstance(class_weight, Mapping):
        return class_weight
    found: dict[Any, float] = {}
    strangers = []
    for name, weight in class_weight.items():
        place = _find(name, classes)
        if place is None:
            strangers.append(name)
        elif classes[place] in found:
            raise ParameterError(f"'class_weight' names the class {shorten(name)} twice")
        else:
            found[classes[place]] = weight
    if strangers and len(found) < len(classes):
        raise _no_such_class("class_weight", strangers[0], classes)
    return found


def _find(name: Any, classes: Sequence[Any]) -> int | None:
    """Find a class by its value, or by how it is spelt."""
    places = range(len(classes))
    return next((i for i in places if classes[i] == name or str(classes[i]) == str(name)), None)


def _no_such_class(parameter: str, name: Any, classes: Sequence[Any]) -> ParameterError:
    known = did_you_mean(str(name), [str(each) for each in classes])
    return ParameterError(
        f"{parameter!r} names the class {shorten(name)}, which the rows do not have{known}"
    )


def _as_state(value: Any) -> str | int | float | bool:
    """Name a class; a whole number is one, however it was stored."""
    state: str | int | float | bool
    state = plain(value) if isinstance(value, str | int | float | bool) else str(value)
    return state
