"""The estimator for numbers that is one linguistic decision tree; words describe the goal."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from solah.estimators.regressing import NumberMixin
from solah.estimators.tree_base import TREE_CONSTRAINTS, LinguisticTree
from solah.kernels.arrays import FocalSets
from solah.kernels.choose import kernel
from solah.labels.goals import NumberGoal
from solah.labels.placement import place_peaks
from solah.labels.weights import split_weights
from solah.labels.words import MAX_WORDS, default_names
from solah.model import Goal
from solah.sklearn_private import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.data import Table
    from solah.estimators.regressing import NumberColumn
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.growth import Criterion, NullBranch


class LinguisticTreeRegressor(NumberMixin, LinguisticTree):
    """A decision tree whose branches are sentences about a number.

    The goal is described by words like any continuous attribute. A branch keeps the distribution
    over the goal's focal sets, and the estimate is the mean of the focal sets' mean goal values.

    Parameters
    ----------
    n_labels, placement, words, kinds, criterion, purity, min_support, min_gain, max_depth,
    null_branch, max_rules, rule_cost, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    goal_labels : int, default=5
        How many words describe the goal.

    Attributes
    ----------
    model_ : Model
        The model document: words, tree and all.
    n_branches_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticTreeClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah import LinguisticTreeRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> tree = LinguisticTreeRegressor(n_labels=5).fit(x, x[:, 0] ** 2)
    >>> tree.predict([[0.5]]).round(2)
    array([0.26])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        "goal_labels": [Interval(Integral, 2, MAX_WORDS, closed="both")],
    }

    def __init__(
        self,
        n_labels: int | Mapping[str, int] = 3,
        *,
        goal_labels: int = 5,
        placement: Placement = "quantile",
        words: Mapping[str, WordsByHand] | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        criterion: Criterion = "information_gain",
        purity: float = 1.0,
        min_support: float = 0.01,
        min_gain: float | None = 0.0,
        max_depth: int | None = None,
        null_branch: NullBranch = "parent",
        max_rules: int | None = None,
        rule_cost: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_labels = n_labels
        self.goal_labels = goal_labels
        self.placement = placement
        self.words = words
        self.kinds = kinds
        self.criterion = criterion
        self.purity = purity
        self.min_support = min_support
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.null_branch = null_branch
        self.max_rules = max_rules
        self.rule_cost = rule_cost
        self.n_jobs = n_jobs

    def _learn_numbers(self, table: Table, numbers: NumberColumn) -> None:
        peaks = place_peaks(numbers.counted, self.goal_labels, self.placement)
        labels, weights = _label_goal(numbers.values, peaks), numbers.weights
        goal = Goal(
            numbers.name,
            words=default_names((len(peaks) + 1) // 2),
            peaks=peaks,
            centres=_centres(labels, weights, peaks),
        )
        described = NumberGoal.of(goal, labels, weights, numbers.weight_unit)
        self._learn_from(self._rows(table, described))


def _label_goal(numbers: Float, peaks: tuple[float, ...]) -> Labels:
    sets = FocalSets(
        peaks=np.array(peaks),
        ignorance=np.full(len(peaks), 1 / len(peaks)),
        offsets=np.array([0, len(peaks)], dtype=np.int32),
    )
    labels = np.empty((len(numbers), 1), dtype=np.uint32)
    kernel().label(np.ascontiguousarray(numbers[:, None]), sets, labels)
    return labels[:, 0].copy()


def _centres(goals: Labels, weights: Int64, peaks: tuple[float, ...]) -> tuple[float, ...]:
    """Return E(y|F): the mean number of each focal set; its peak where it has no weight.

    Between two peaks the mass of the upper set gives where a number stands, so that only integers
    are summed, and the result does not depend on the order of the rows.
    """
    lower, shares = split_weights(goals, weights)
    weight_of = np.zeros(len(peaks) + 1, dtype=np.int64)
    sum_of = np.zeros(len(peaks) + 1)
    gaps = np.append(np.diff(peaks), 0.0)
    for place, share in enumerate(shares):
        _, (_, above) = split_weights(goals, share)
        weights_here, above_here = np.zeros((2, len(peaks)), dtype=np.int64)
        np.add.at(weights_here, lower, share)
        np.add.at(above_here, lower, above)
        weight_of[place : place + len(peaks)] += weights_here
        sum_of[place : place + len(peaks)] += weights_here * np.array(peaks) + above_here * gaps
    return tuple(
        float(total / weight) if weight else peak
        for peak, total, weight in zip(peaks, sum_of, weight_of, strict=False)
    )
