"""Splits rows into folds, and measures estimators on the held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

from solah.data import Table
from solah.data.spelling import count
from solah.evaluation.scores import (
    ClassScores,
    NumberScores,
    over_all_classes,
    score_numbers,
    score_probabilities,
)
from solah.exceptions import DataError
from solah.model import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

_SIZES = ("n_clusters", "n_levels", "n_rules", "n_branches")

# --- folds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How often to split, and from which seed."""

    folds: int = 10
    repeats: int = 1
    seed: int = 0


class Split(NamedTuple):
    """One fold: the training rows and the test rows."""

    repeat: int
    fold: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Splits:
    """The folds of all repeats.

    Attributes
    ----------
    plan : the plan that was kept; it may have fewer folds than were asked for
    method : how the rows were split, in words
    splits : the folds, repeat by repeat
    notes : what the user should know
    """

    plan: Plan
    method: str
    splits: tuple[Split, ...]
    notes: tuple[str, ...]


def plan_splits(
    target: NDArray[Any], task: Task, plan: Plan, groups: NDArray[Any] | None = None
) -> Splits:
    """Split rows into shuffled folds, stratified by class; groups are kept together.

    Repeat ``r`` is shuffled with the seed ``plan.seed + r``.

    Raises
    ------
    DataError
        If the rows or groups are too few to be split at all.
    """
    are_classes = task is Task.CLASSIFICATION
    plan, notes = _possible(target, are_classes, plan, groups)
    if groups is None:
        splitter, method = (StratifiedKFold, "stratified") if are_classes else (KFold, "shuffled")
    else:
        splitter = StratifiedGroupKFold if are_classes else GroupKFold
        spread = "stratified" if are_classes else "shuffled"
        method = f"{spread}, {len(np.unique(groups))} groups kept together"
    splits = []
    for repeat in range(plan.repeats):
        cut = splitter(plan.folds, shuffle=True, random_state=plan.seed + repeat)
        with warnings.catch_warnings():
            # Rare classes have a note already.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(cut.split(np.zeros(len(target)), np.asarray(target), groups))
        splits += [Split(repeat, fold, *rows) for fold, rows in enumerate(parts) if len(rows[1])]
    return Splits(plan, method, tuple(splits), notes)


def _possible(
    target: NDArray[Any], are_classes: bool, plan: Plan, groups: NDArray[Any] | None
) -> tuple[Plan, tuple[str, ...]]:
    """Lower the number of folds to what the data allow, and note what the user should know."""
    classes, counts = np.unique(target, return_counts=True)
    limits = {count(len(target), "row"): len(target)}
    if are_classes:
        largest = int(counts.max())
        limits[f"{count(largest, 'row')} in the largest class"] = largest
    if groups is not None:
        n_groups = len(np.unique(groups))
        limits[count(n_groups, "group")] = n_groups
    what, limit = min(limits.items(), key=lambda each: each[1])
    if limit < 2:
        raise DataError(f"there is only {what}: too little to learn from some and test on others")
    if limit < plan.folds:
        note = f"{what}, so {limit} folds instead of {plan.folds}"
        return replace(plan, folds=limit), (note,)
    each = zip(classes.tolist(), counts.tolist(), strict=True)
    rare = [f"{name} ({n_rows})" for name, n_rows in each if n_rows < plan.folds]
    if groups is not None or not are_classes or not rare:
        return plan, ()
    shown = ", ".join(rare[:5]) + (", …" if len(rare) > 5 else "")
    return plan, (f"fewer rows than folds, so absent from some of them: {shown}",)


def groups_for(estimator: Any, groups: NDArray[Any] | str | None) -> dict[str, Any]:
    """Return the argument of ``fit`` by which an estimator keeps groups together in its own folds.

    Empty without groups, with one group alone, and where ``fit`` takes none. Groups may be the name
    of a column.
    """
    if groups is None or not has_fit_parameter(estimator, "groups"):
        return {}
    is_one = not isinstance(groups, str) and len(np.unique(groups)) < 2
    return {} if is_one else {"groups": groups}


# --- metrics ------------------------------------------------------------------------------------


class Spread(NamedTuple):
    """The mean and the standard deviation (of a sample) of a metric over the folds."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Tested:
    """The predictions of a fold's test rows.

    Attributes
    ----------
    rows : (n_rows,) their indices
    decided : (n_rows,) the indices of the predicted classes, or the predicted numbers
    probabilities : (n_rows, n_classes) the probabilities; empty for a number
    """

    rows: NDArray[np.intp]
    decided: NDArray[Any]
    probabilities: Float


@dataclass(frozen=True)
class Fold:
    """The metrics of one estimator on one fold.

    Attributes
    ----------
    estimator : the estimator's name
    repeat, fold : which fold it was, from 0
    scores : the metrics of the test rows
    sizes : ``n_clusters``, ``n_levels``, ``n_rules`` and ``n_branches``, as far as the estimator
        has them
    seconds : the time to fit
    tested : the predictions of the test rows
    """

    estimator: str
    repeat: int
    fold: int
    scores: ClassScores | NumberScores
    sizes: Mapping[str, int]
    seconds: float
    tested: Tested = field(compare=False, repr=False)

    @property
    def measures(self) -> dict[str, float]:
        """The metrics, sizes and time by name."""
        sizes = {name: float(size) for name, size in self.sizes.items()}
        return {**vars(self.scores), **sizes, "seconds": self.seconds}


@dataclass(frozen=True)
class CrossValidation:
    """The folds of all estimators.

    Attributes
    ----------
    task : classification or regression
    plan, method, notes : as in :class:`Splits`
    folds : the metrics of each estimator on each fold
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
        """Return the spread of each metric over an estimator's folds where it is not NaN."""
        rows = [fold.measures for fold in self.folds if fold.estimator == estimator]
        spreads = {}
        for name in rows[0]:
            known = [row[name] for row in rows if not np.isnan(row[name])] or [float("nan")]
            deviation = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0 * known[0]
            spreads[name] = Spread(float(np.mean(known)), deviation)
        return spreads


def cross_validate(
    estimators: Mapping[str, Any],
    X: Table | NDArray[Any],
    y: NDArray[Any],
    plan: Plan | None = None,
    *,
    groups: NDArray[Any] | None = None,
    on_fold: Callable[[Fold], None] | None = None,
) -> CrossValidation:
    """Measure estimators side by side, all on the same folds.

    Parameters
    ----------
    estimators : mapping of name to estimator
        Classifiers with ``predict_proba``, or regressors; they are cloned.
    X : Table or ndarray
        The features.
    y : ndarray of shape (n_rows,)
        The classes or numbers.
    plan : Plan, default=Plan()
        Folds, repeats and seed.
    groups : ndarray of shape (n_rows,), default=None
        Rows of one group are never split between training and test, nor in the folds by which an
        estimator selects its settings.
    on_fold : callable, default=None
        Called with each :class:`Fold` as soon as it is measured.

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
    >>> result = cross_validate(trees, iris.table, iris.target, Plan(folds=5))
    >>> result.spreads("tree")["accuracy"].mean > 0.9
    True
    """
    are_classes = all(map(is_classifier, estimators.values()))
    task = Task.CLASSIFICATION if are_classes else Task.REGRESSION
    classes = np.unique(np.asarray(y)) if are_classes else None
    take = X.take if isinstance(X, Table) else X.__getitem__
    splits = plan_splits(y, task, plan or Plan(), groups)
    folds = []
    for split in splits.splits:
        for name, prototype in estimators.items():
            estimator = clone(prototype)
            of_rows = None if groups is None else np.asarray(groups)[split.train]
            start = perf_counter()
            estimator.fit(take(split.train), y[split.train], **groups_for(estimator, of_rows))
            seconds = perf_counter() - start
            refuse_cut_short(estimator)
            tested = _test(estimator, take(split.test), split.test, classes)
            y_true = np.asarray(y[split.test])
            if classes is None:
                scores: ClassScores | NumberScores = score_numbers(y_true, tested.decided)
            else:
                decisions = classes[tested.decided]
                scores = score_probabilities(
                    y_true, tested.probabilities, classes, decisions=decisions
                )
            sizes = {one: getattr(estimator, f"{one}_", None) for one in _SIZES}
            known = {one: size for one, size in sizes.items() if size is not None}
            folds.append(Fold(name, split.repeat, split.fold, scores, known, seconds, tested))
            if on_fold is not None:
                on_fold(folds[-1])
    return CrossValidation(task, splits.plan, splits.method, tuple(folds), splits.notes)


def refuse_cut_short(estimator: Any) -> None:
    """Pass an interrupt on: a search that it ended must not count as a whole one."""
    if getattr(estimator, "stop_reason_", None) == "interrupted":
        raise KeyboardInterrupt


def _test(estimator: Any, X: Any, rows: NDArray[np.intp], classes: NDArray[Any] | None) -> Tested:
    if classes is None:
        return Tested(rows, estimator.predict(X), np.empty((len(rows), 0)))
    probabilities = over_all_classes(estimator.predict_proba(X), estimator.classes_, classes)
    if getattr(estimator, "thresholds", None):
        return Tested(rows, np.searchsorted(classes, estimator.predict(X)), probabilities)
    return Tested(rows, np.argmax(probabilities, axis=1), probabilities)
