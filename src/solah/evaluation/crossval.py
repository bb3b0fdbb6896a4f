"""Named estimators and labelled rows in, their scores on unseen rows out, fold by fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from solah.data import Table
from solah.evaluation.scores import (
    ClassScores,
    NumberScores,
    over_all_classes,
    score_beliefs,
    score_numbers,
)
from solah.evaluation.splits import Plan, groups_for, plan_splits
from solah.exceptions import SolahError
from solah.model import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.evaluation.splits import Split
    from solah.kernels.arrays import Float

OnFold = Callable[["Fold"], None]
_SIZES = ("n_clusters", "n_levels", "n_rules", "n_branches")


@dataclass(frozen=True)
class Spread:
    """The mean and the standard deviation (of a sample) of a measure over the folds."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Tested:
    """What an estimator made of the test rows of a fold.

    Attributes
    ----------
    rows : (n_rows,) their places among all rows
    decided : (n_rows,) the places of the classes decided for, or the estimates of a number
    beliefs : (n_rows, n_classes) the belief in each class; of a number, none
    """

    rows: NDArray[np.intp]
    decided: NDArray[Any]
    beliefs: Float


@dataclass(frozen=True)
class Fold:
    """How one estimator did on one fold.

    Attributes
    ----------
    estimator : the estimator's name
    repeat, fold : which fold it was, from 0
    scores : the scores on the test rows
    n_clusters, n_levels, n_rules, n_branches : the size of what was learnt; None for estimators
        that have no such size
    seconds : the time to learn
    tested : what the estimator made of the test rows
    """

    estimator: str
    repeat: int
    fold: int
    scores: ClassScores | NumberScores
    n_clusters: int | None
    n_levels: int | None
    n_rules: int | None
    n_branches: int | None
    seconds: float
    tested: Tested = field(compare=False, repr=False)

    @property
    def measures(self) -> dict[str, float]:
        """The scores, sizes and time by name; what the estimator does not have is left out."""
        sizes = {name: getattr(self, name) for name in _SIZES}
        known = {name: float(size) for name, size in sizes.items() if size is not None}
        return {**vars(self.scores), **known, "seconds": self.seconds}


@dataclass(frozen=True)
class CrossValidation:
    """The folds of all estimators.

    Attributes
    ----------
    task : classification or regression
    plan : the plan that was kept; it may have fewer folds than were asked for
    method : how the rows were split, in words
    folds : how each estimator did on each fold
    notes : what the user should know
    """

    task: Task
    plan: Plan
    method: str
    folds: tuple[Fold, ...]
    notes: tuple[str, ...] = ()

    @property
    def estimators(self) -> tuple[str, ...]:
        """The estimators' names, in order."""
        return tuple(dict.fromkeys(fold.estimator for fold in self.folds))

    def spreads(self, estimator: str) -> dict[str, Spread]:
        """Return the spread of each measure over an estimator's folds.

        Parameters
        ----------
        estimator : str
            The estimator's name.

        Returns
        -------
        spreads : dict of measure name to Spread
            Folds where a measure is NaN do not count; NaN if that is all of them.
        """
        rows = [fold.measures for fold in self.folds if fold.estimator == estimator]
        return {name: _spread([row[name] for row in rows]) for name in rows[0]}


def cross_validate(
    estimators: Mapping[str, Any],
    X: Table | NDArray[Any],
    y: NDArray[Any],
    plan: Plan | None = None,
    *,
    groups: NDArray[Any] | None = None,
    on_fold: OnFold | None = None,
) -> CrossValidation:
    """Measure estimators side by side, all on the same folds.

    Parameters
    ----------
    estimators : mapping of name to estimator
        Classifiers with ``predict_proba``, or regressors; they are cloned, not changed.
    X : Table or ndarray
        The attributes.
    y : ndarray of shape (n_rows,)
        The classes or numbers.
    plan : Plan, default=Plan()
        Folds, repeats and seed.
    groups : ndarray of shape (n_rows,), default=None
        Rows of one group are never split between learning and test, nor within learning where an
        estimator compares settings on folds of its own.
    on_fold : callable, default=None
        Called with each :class:`Fold` as soon as it is known.

    Returns
    -------
    result : CrossValidation

    Raises
    ------
    DataError
        If the rows or groups are too few to be split at all.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> trees = {"tree": LinguisticTreeClassifier(max_depth=2)}
    >>> result = cross_validate(trees, iris.table, iris.goal, Plan(folds=5))
    >>> result.spreads("tree")["accuracy"].mean > 0.9
    True
    """
    are_classes = all(map(is_classifier, estimators.values()))
    task = Task.CLASSIFICATION if are_classes else Task.REGRESSION
    classes = np.unique(np.asarray(y)) if are_classes else None
    splits = plan_splits(y, task, plan or Plan(), groups)
    folds = []
    for split in splits.splits:
        for name, estimator in estimators.items():
            fold = _run_fold(name, clone(estimator), X, y, split, classes, groups)
            folds.append(fold)
            if on_fold is not None:
                on_fold(fold)
    return CrossValidation(task, splits.plan, splits.method, tuple(folds), splits.notes)


def _run_fold(
    name: str,
    estimator: Any,
    X: Table | NDArray[Any],
    y: NDArray[Any],
    split: Split,
    classes: NDArray[Any] | None,
    groups: NDArray[Any] | None,
) -> Fold:
    learnt_rows, learnt_goal = _rows(X, split.train), y[split.train]
    given = groups_for(estimator, None if groups is None else np.asarray(groups)[split.train])
    start = perf_counter()
    estimator.fit(learnt_rows, learnt_goal, **given)
    seconds = perf_counter() - start
    refuse_cut_short(estimator)
    tested = _test(estimator, _rows(X, split.test), split.test, classes)
    return Fold(
        estimator=name,
        repeat=split.repeat,
        fold=split.fold,
        scores=_score(tested, np.asarray(y[split.test]), classes),
        seconds=seconds,
        tested=tested,
        **{name: _size(estimator, name) for name in _SIZES},
    )


def refuse_cut_short(estimator: Any) -> None:
    """Pass an interrupt on: a search that it ended must not count as a whole one."""
    if getattr(estimator, "stop_reason_", None) == "interrupted":
        raise KeyboardInterrupt


def _size(estimator: Any, name: str) -> int | None:
    try:
        return getattr(estimator, f"{name}_", None)
    except SolahError:  # a hierarchy with other nodes than linguistic ones has no rules
        return None


def _test(
    estimator: Any,
    table: Table | NDArray[Any],
    rows: NDArray[np.intp],
    classes: NDArray[Any] | None,
) -> Tested:
    if classes is None:
        return Tested(rows, estimator.predict(table), np.empty((len(rows), 0)))
    beliefs = over_all_classes(estimator.predict_proba(table), estimator.classes_, classes)
    if getattr(estimator, "thresholds", None):
        return Tested(rows, np.searchsorted(classes, estimator.predict(table)), beliefs)
    return Tested(rows, np.argmax(beliefs, axis=1), beliefs)


def _score(
    tested: Tested, truth: NDArray[Any], classes: NDArray[Any] | None
) -> ClassScores | NumberScores:
    if classes is None:
        return score_numbers(truth, tested.decided)
    return score_beliefs(truth, tested.beliefs, classes, decisions=classes[tested.decided])


def _rows(X: Table | NDArray[Any], rows: NDArray[np.intp]) -> Table | NDArray[Any]:
    return X.take(rows) if isinstance(X, Table) else X[rows]


def _spread(values: list[float]) -> Spread:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return Spread(float("nan"), float("nan"))
    deviation = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    return Spread(float(np.mean(known)), deviation)
