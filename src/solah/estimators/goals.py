"""Reads the classes and weights that users give as labelled goals and integer weights."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import compute_sample_weight

from solah.data.spelling import plain
from solah.estimators.inputs import read_classes, read_weights
from solah.exceptions import DataError, ParameterError, did_you_mean, shorten
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.labels.goals import ClassGoal
from solah.labels.weights import integer_weights
from solah.model import Goal
from solah.model.limits import LEAST_THRESHOLD, what_classes_must_be

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator


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
