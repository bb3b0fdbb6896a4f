"""Conversion of X, y, weights and groups to tables, targets and integers, as in scikit-learn."""

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
from solah.data.dates import are_dates, date_part
from solah.data.digests import digest_column
from solah.data.spelling import plain, read_number, spell
from solah.evaluation.policies import thresholds_of
from solah.exceptions import (
    ColumnError,
    DataError,
    IdentifierWarning,
    ParameterError,
    did_you_mean,
    shorten,
)
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.labels.targets import ClassTarget, integer_weights
from solah.model import Target
from solah.model.encode import is_path, read_path
from solah.model.limits import LEAST_THRESHOLD, what_classes_must_be
from solah.scale import is_scan
from solah.sklearn_private import check_sample_weight

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float

_MIN_ROWS_OF_IDENTIFIER = 20

# --- features ----------------------------------------------------------------------------------


def tolerant_tags(tags: Any) -> Any:
    """Return the tags with missing values, texts, categories and sparse arrays allowed."""
    tags.input_tags.allow_nan = True
    tags.input_tags.sparse = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags


def _is_plain(estimator: BaseEstimator, X: Any) -> bool:
    """Whether an array has the form of the fitted rows, so that it needs no checks."""
    is_matrix = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2
    named = hasattr(estimator, "feature_names_in_")
    return is_matrix and not named and X.shape[1] == getattr(estimator, "n_features_in_", -1)


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """Read features from an array, a list, a frame, a table or a file.

    With ``reset`` the names and the number of features are set on the estimator. Otherwise they are
    compared with those of its fit.
    """
    if hasattr(X, "toarray"):  # a sparse array
        X = X.toarray()
    if is_frame(X):
        table = from_frame(X)
        if reset or list(table.names) != _given_names(estimator):
            validate_data(estimator, X, "no_validation", skip_check_array=True, reset=reset)
    elif isinstance(X, Table) or (not isinstance(X, np.ndarray) and is_path(X)):
        table = X = X if isinstance(X, Table) else read_path(X)
        if reset:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
            estimator.n_features_in_ = len(table.columns)
    else:
        if hasattr(X, "collect_schema"):
            raise DataError("this frame is lazy; call its collect() first")
        if not isinstance(X, np.ndarray) and is_scan(X):
            raise DataError(
                "this does not take rows in several files or frames; pass one array, frame or "
                "file at a time"
            )
        array = X
        if reset or not _is_plain(estimator, X):
            array = validate_data(
                estimator, X, "no_validation", dtype=None, ensure_all_finite=False, reset=reset
            )
        names = _numbered(estimator) if reset else _given_names(estimator)
        table = from_array(as_array(X) if array.dtype.kind in "US" else array, names)
    shape = table.n_rows, len(table.columns)
    if 0 in shape:
        raise DataError(
            f"Found array with 0 {'feature(s)' if shape[0] else 'sample(s)'} (shape={shape}) "
            "while a minimum of 1 is required."
        )
    if reset:
        parts = table.date_parts(getattr(estimator, "feature_types", None) or ())
        names = [part for name in table.names for part in parts.get(name, [name])]
        if not names:
            raise DataError(
                f"the dates in {', '.join(map(repr, parts))} give no features, as no hour, "
                f"weekday or month repeats; pass other columns"
            )
        estimator._given_names, estimator._column_names = list(table.names), names
        return table.select(names)
    given, names = _given_names(estimator), known_names(estimator)
    absent = next((name for name in given if name not in table.names), None)
    if absent is None or all(_has(table, name) for name in names):
        return table.select(names)
    is_numbered = hasattr(estimator, "feature_names_in_") or given == _numbered(estimator)
    if isinstance(X, Table) or not is_numbered:
        raise ColumnError.unknown(absent, table.names)
    # By position, as scikit-learn has it, which warns of the names.
    columns = zip(table.columns, given, strict=True)
    named = tuple(replace(column, name=name) for column, name in columns)
    return replace(table, columns=named).select(names)


def _has(table: Table, name: str) -> bool:
    """Whether a table has a column, or the dates from which it is computed."""
    return name in table.names or date_part(name, table.names) is not None


def known_names(estimator: BaseEstimator) -> list[str]:
    """Return the names of the features as text: x0, x1 and so on for arrays.

    Columns of dates have a feature for each part ("hour of time").
    """
    return list(getattr(estimator, "_column_names", None) or _given_names(estimator))


def sums_by_column(estimator: BaseEstimator, amounts: Mapping[str, float]) -> Float:
    """Add up an amount of each feature by the columns that they are computed from."""
    given = _given_names(estimator)
    sums = dict.fromkeys(given, 0.0)
    for name in known_names(estimator):
        part = None if name in sums else date_part(name, given)
        sums[name if part is None else part.column] += amounts.get(name, 0.0)
    return np.array(list(sums.values()))


def _given_names(estimator: BaseEstimator) -> list[str]:
    """Return the names of the columns as text.

    ``feature_names_in_`` has them only where all names are text, as in scikit-learn's estimators.
    """
    own = getattr(estimator, "_given_names", None) or getattr(estimator, "_column_names", None)
    return list(getattr(estimator, "feature_names_in_", own or _numbered(estimator)))


def _numbered(estimator: BaseEstimator) -> list[str]:
    return [f"x{j}" for j in range(estimator.n_features_in_)]


def read_problem(
    path: Any, y: Any, sample_weight: Any, groups: Any = None
) -> tuple[Table, Column, Any, Any]:
    """Read features, the target, weights and groups from a file; the last two may be its columns.

    Parameters
    ----------
    path : the path of one file
    y : the name of the target's column
    sample_weight : the name of a column, weights, or None
    groups : the name of a column, a group per row, or None
    """
    if not isinstance(y, str):
        raise ParameterError(
            f"y must be the name of a column if X is a file. Got {type(y).__name__}."
        )
    table = read_path(path)
    named = [name for name in (y, sample_weight, groups) if isinstance(name, str)]
    for name in named:
        if name not in table.names:
            raise ColumnError.unknown(name, table.names)
    if isinstance(sample_weight, str):
        sample_weight = to_numbers(table.column(sample_weight)).values
    if isinstance(groups, str):
        groups = table.column(groups)
    features = [name for name in table.names if name not in named]
    if not features:
        raise DataError(f"no column is left to predict {y!r} with")
    return table.select(features), table.column(y), sample_weight, groups


def without_identifiers(table: Table, named: Collection[str]) -> Table:
    """Drop columns that number or name the rows, with a warning, unless the user names them."""

    def names_rows(column: Column) -> bool:
        values = column.values
        if len(values) < _MIN_ROWS_OF_IDENTIFIER or values.dtype.kind not in "iufO":
            return False
        if column.is_text:
            differ = len(set(values.tolist())) == len(values) and column.order is None
            is_words = differ and not any(
                one is None or read_number(one) is not None for one in values
            )
            return is_words and not are_dates(values)
        return bool((np.diff(values) == 1).all() and float(values[0]).is_integer())

    found = {
        column.name: "categorical" if column.is_text else "continuous"
        for column in table.columns
        if column.name not in named and names_rows(column)
    }
    if not found or len(found) == len(table.names):
        return table
    level, frame = 1, sys._getframe()  # the warning names the line that called solah
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("solah", "sklearn"):
        level, frame = level + 1, frame.f_back
    for name, kind in found.items():
        warnings.warn(IdentifierWarning(name, kind), stacklevel=level)
    return table.select([name for name in table.names if name not in found])


# --- weights and groups ------------------------------------------------------------------------


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
            f"{int(np.argmax(missing)) + 1}); drop these rows, or give each a group"
        )
    digests = digest_column(column)
    refuse_one_group(digests)
    return digests


def refuse_one_group(digests: UInt64) -> None:
    """Raise an error if all rows belong to one group."""
    if len(np.unique(digests)) < 2:
        raise DataError(
            "'groups' has only one group, but settings are compared on held-out groups; pass "
            "rows of at least two groups, or drop 'groups'"
        )


# --- targets -----------------------------------------------------------------------------------


def read_classes(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, NDArray[Any]]:
    """Read the target's name (of a named series, else ``class``) and its classes."""
    name, classes = _read_target(
        estimator, as_truth(y) if isinstance(y, Column) else y, n_rows, "class"
    )
    if classes.dtype == object:
        _refuse_missing(as_column("y", classes).missing())
    try:
        check_classification_targets(classes)
    except ValueError as error:
        raise DataError(str(error)) from None
    return name, classes


def read_numbers(estimator: BaseEstimator, y: Any, n_rows: int) -> tuple[str, Float]:
    """Read the target's name (of a named series, else ``y``) and its numbers."""
    try:
        target = to_numbers(y) if isinstance(y, Column) else y
    except DataError:
        raise DataError(
            f"the target {y.name!r} has values that are not numbers; use a classifier for classes"
        ) from None
    name, values = _read_target(estimator, target, n_rows, "y")
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "the target has values that are not numbers; use a classifier for classes"
        ) from None
    _refuse_missing(~np.isfinite(numbers))
    return name, numbers


def _read_target(
    estimator: BaseEstimator, y: Any, n_rows: int, default_name: str
) -> tuple[str, NDArray[Any]]:
    if y is None:
        raise DataError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    target: NDArray[Any] = y.values if isinstance(y, Column) else y
    if type(target) is not np.ndarray or target.ndim != 1:
        target = column_or_1d(target, warn=True)
    if len(target) != n_rows:
        raise DataError(f"X has {n_rows} rows, but y has {len(target)} values")
    if target.dtype.kind in "mM":
        raise DataError("y holds dates or times; make classes or numbers of them")
    if target.dtype.kind == "f":
        _refuse_missing(~np.isfinite(target))
    name = getattr(y, "name", None)
    is_named = isinstance(name, str | Number) and name != ""
    return spell(name) if is_named else default_name, target


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise DataError(
            f"Input y contains NaN or infinity in {int(missing.sum())} rows (first: row "
            f"{int(np.argmax(missing)) + 1}); drop these rows"
        )


def read_class_target(
    estimator: BaseEstimator, y: Any, sample_weight: Any, n_rows: int
) -> ClassTarget:
    """Return the classes and row weights that an estimator's parameters define."""
    name, classes = read_classes(estimator, y, n_rows)
    states, codes = np.unique(classes, return_inverse=True)
    target = class_target(estimator, name, states)
    class_weight = match_class_weight(estimator.class_weight, states.tolist())
    of_classes = compute_sample_weight(class_weight, classes)
    integers, unit = integer_weights(read_weights(sample_weight, n_rows) * of_classes)
    return ClassTarget(target, states, codes, integers, unit)


def class_target(estimator: BaseEstimator, name: str, states: NDArray[Any]) -> Target:
    """Return the target's name and classes that an estimator's parameters define."""
    if len(states) > MAX_FOCAL_SETS:
        raise DataError(
            f"the target {name!r} has {len(states)} classes, more than the limit of "
            f"{MAX_FOCAL_SETS}; if it is a number, use LinguisticTreeRegressor "
            f"(--type {name}=continuous)"
        )
    # A whole number is one, however it was stored.
    named = tuple(
        plain(one) if isinstance(one, str | int | float | bool) else str(one)
        for one in states.tolist()
    )
    needed = what_classes_must_be(named)
    if needed is not None:
        raise DataError(f"the classes of {name!r} must be {needed}. Got {shorten(named)}.")
    match_class_weight(estimator.class_weight, states.tolist())
    thresholds = complete_thresholds(estimator.thresholds, states.tolist())
    return Target(name, classes=named, thresholds=thresholds)


def read_known_classes(estimator: BaseEstimator, y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the index of each row's class among those of a fitted estimator."""
    target = as_truth(y) if isinstance(y, Column) else y
    name, observed = _read_target(estimator, target, n_rows, "class")
    codes_of = {one: code for code, one in enumerate(estimator.classes_.tolist())}
    codes = [codes_of.get(one, -1) for one in observed.tolist()]
    if -1 in codes:
        read_classes(estimator, y, n_rows)  # its errors are about missing values and numbers
        row = codes.index(-1)
        raise DataError(
            f"row {row + 1} of {name!r} is {shorten(observed[row])}, which is not a class of the "
            f"fitted model; fit again to add a class"
        )
    return np.array(codes, dtype=np.intp)


def complete_thresholds(thresholds: Any, classes: Sequence[Any]) -> tuple[float, ...]:
    """Complete the thresholds of some classes, or compute those of a cost matrix.

    Other classes share what is left of 1.

    Examples
    --------
    >>> complete_thresholds({"sick": 0.2}, ["sick", "well"])
    (0.2, 0.8)
    >>> complete_thresholds([[0, 4], [1, 0]], ["sick", "well"])
    (0.2, 0.8)
    """
    if thresholds is None or len(classes) == 1:
        return ()
    if not isinstance(thresholds, Mapping):
        return _thresholds_of_costs(thresholds, len(classes))
    if not thresholds:
        return ()
    given, strangers = _by_class("thresholds", thresholds, classes)
    if strangers:
        raise no_such_class("thresholds", strangers[0], classes)
    for place, threshold in given.items():
        if not isinstance(threshold, Real) or not 0 < float(threshold) < 1:
            raise ParameterError(
                f"the threshold of class {shorten(classes[place])} must be above 0 and below 1. "
                f"Got {threshold!r} instead."
            )
    n_others = len(classes) - len(given)
    left = 1 - sum(given.values())
    if n_others and left <= 0:
        raise ParameterError(
            "the thresholds must sum to less than 1, as the other classes share the rest. "
            f"Got {sum(given.values()):g}."
        )
    if not n_others and abs(left) > 1e-9:
        raise ParameterError(
            f"the thresholds of all classes must sum to 1; got {1 - left:.10g}. Drop one class to "
            "give it the rest"
        )
    rest = left / max(n_others, 1)
    completed = tuple(float(given.get(place, rest)) for place in range(len(classes)))
    if min(completed) < LEAST_THRESHOLD:
        raise ParameterError(
            f"every threshold must be at least {LEAST_THRESHOLD:g}, including those of classes "
            f"that share the rest. Got {min(completed):g}."
        )
    return completed


def _thresholds_of_costs(given: Any, n_classes: int) -> tuple[float, ...]:
    """Return the thresholds at which the expected cost is lowest.

    A row of the matrix is a true class, and a column a predicted one.
    """
    try:
        costs = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.empty(0)
    if costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all():
        raise ParameterError(
            "'thresholds' must be a mapping of classes to numbers, or a cost matrix with a row for "
            f"each of {n_classes} true classes and a column for each predicted one. Got "
            f"{shorten(given)}."
        )
    of_errors = (costs - np.diag(costs)[:, None])[~np.eye(n_classes, dtype=bool)]
    of_errors = of_errors.reshape(n_classes, n_classes - 1)
    if of_errors.min() <= 0:
        raise ParameterError("in a cost matrix, an error must cost more than a correct prediction")
    if not np.allclose(of_errors, of_errors[:, :1]):
        raise ParameterError(
            "with more than two classes, the cost of an error may depend on the true class, and "
            "not on the predicted one: the costs off the diagonal must be equal in each row"
        )
    return thresholds_of(of_errors[:, 0])


def match_class_weight(
    class_weight: str | Mapping[Any, float] | None, classes: Sequence[Any]
) -> str | dict[Any, float] | None:
    """Find the classes that a mapping of weights names, by their value or their text.

    A class that no row has is ignored if all others are named, as in scikit-learn: then it is not a
    misspelling, and some folds may lack a rare class.

    Examples
    --------
    >>> match_class_weight({"1": 5.0}, [0, 1])
    {1: 5.0}
    """
    if not isinstance(class_weight, Mapping):
        return class_weight
    found, strangers = _by_class("class_weight", class_weight, classes)
    if strangers and len(found) < len(classes):
        raise no_such_class("class_weight", strangers[0], classes)
    return {classes[place]: weight for place, weight in found.items()}


def find_class(name: Any, classes: Sequence[Any]) -> int | None:
    """Find a class by its value or its text."""
    places = range(len(classes))
    return next((i for i in places if classes[i] == name or str(classes[i]) == str(name)), None)


def no_such_class(parameter: str, name: Any, classes: Sequence[Any]) -> ParameterError:
    """Return the error for a class that no row has."""
    known = did_you_mean(str(name), [str(one) for one in classes])
    return ParameterError(
        f"{parameter!r} names the class {shorten(name)}, which the rows do not have{known}"
    )


def _by_class(
    parameter: str, given: Mapping[Any, Any], classes: Sequence[Any]
) -> tuple[dict[int, Any], list[Any]]:
    """Return values by the index of their class, and the names that no class has."""
    found: dict[int, Any] = {}
    strangers = []
    for name, value in given.items():
        place = find_class(name, classes)
        if place is None:
            strangers.append(name)
        elif place in found:
            raise ParameterError(f"{parameter!r} names the class {shorten(name)} twice")
        else:
            found[place] = value
    return found, strangers
