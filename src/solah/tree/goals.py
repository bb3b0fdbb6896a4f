"""Classes and weights as users give them in, labelled goals and integer weights out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import compute_sample_weight

from solah.exceptions import DataError
from solah.kernels.arrays import MASS_BITS, MAX_FOCAL_SETS
from solah.labels.inputs import read_classes, read_weights
from solah.labels.rows import integer_weights
from solah.model import Goal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from solah.kernels.arrays import Int64, Labels


@dataclass(frozen=True, eq=False)
class ClassGoal:
    """The goal of a classifier, ready for growth.

    Attributes
    ----------
    goal : its name and states
    classes : (n_classes,) the classes as the user gave them
    codes : (n_rows,) each row's place among the classes
    weights : (n_rows,) integers of at most ``WEIGHT_ONE``
    weight_unit : how much one of them weighs
    """

    goal: Goal
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    weights: Int64
    weight_unit: float

    @property
    def prior(self) -> tuple[float, ...]:
        """The share of each class in the weights."""
        sums = np.zeros(len(self.classes), dtype=np.int64)
        np.add.at(sums, self.codes, self.weights)
        shares: list[float] = (sums.astype(np.float64) / float(sums.sum())).tolist()
        return tuple(shares)

    @property
    def labels(self) -> Labels:
        """The goal of each row, labelled like a reading."""
        return np.asarray(self.codes << MASS_BITS, dtype=np.uint32)


def read_class_goal(
    estimator: BaseEstimator,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    class_weight: str | Mapping[Any, float] | None,
    n_rows: int,
) -> ClassGoal:
    """Read the classes and the weights of the rows."""
    name, classes = read_classes(estimator, y, n_rows)
    states, codes = np.unique(classes, return_inverse=True)
    if len(states) > MAX_FOCAL_SETS:
        raise DataError(
            f"the goal {name!r} has {len(states)} classes, and solah tells at most "
            f"{MAX_FOCAL_SETS} apart; if it is a number, use LinguisticTreeRegressor "
            "(--task regression)"
        )
    weights = read_weights(sample_weight, n_rows) * compute_sample_weight(class_weight, classes)
    integers, unit = integer_weights(weights)
    goal = Goal(name, states=tuple(map(_as_state, states.tolist())))
    return ClassGoal(goal, states, codes, integers, unit)


def _as_state(value: Any) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else str(value)
