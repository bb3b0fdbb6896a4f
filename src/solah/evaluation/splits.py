"""A goal, its groups and a plan in; which rows are learnt from and which are tested on out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

from solah.data.spelling import count
from solah.exceptions import DataError
from solah.model import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Plan:
    """How often to split, and from which seed."""

    folds: int = 10
    repeats: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Split:
    """One fold: the rows to learn from and the rows to test on."""

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
    goal: NDArray[Any], task: Task, plan: Plan, groups: NDArray[Any] | None = None
) -> Splits:
    """Split rows into shuffled folds; classes are spread evenly, groups are kept together.

    Parameters
    ----------
    goal : ndarray of shape (n_rows,)
    task : Task
    plan : Plan
        Repeat ``r`` is shuffled with the seed ``plan.seed + r``.
    groups : ndarray of shape (n_rows,), default=None
        Rows of one group are never split between learning and test.

    Returns
    -------
    splits : Splits

    Raises
    ------
    DataError
        If the rows or groups are too few to be split at all.
    """
    folds, notes = _possible_folds(goal, task, plan.folds, groups)
    kept = replace(plan, folds=folds)
    return Splits(kept, _method(task, groups), tuple(_split(goal, task, kept, groups)), notes)


def groups_for(estimator: Any, groups: NDArray[Any] | str | None) -> dict[str, Any]:
    """Return the argument of ``fit`` by which an estimator keeps groups together in its own folds.

    Parameters
    ----------
    estimator : estimator
    groups : ndarray of shape (n_rows,), the name of a column, or None

    Returns
    -------
    given : dict
        Empty without groups, with one group alone, and where ``fit`` takes none.
    """
    if groups is None or not has_fit_parameter(estimator, "groups"):
        return {}
    is_one = not isinstance(groups, str) and len(np.unique(groups)) < 2
    return {} if is_one else {"groups": groups}


def _possible_folds(
    goal: NDArray[Any], task: Task, folds: int, groups: NDArray[Any] | None
) -> tuple[int, tuple[str, ...]]:
    """Lower the number of folds to what the data allow, and say what the user should know."""
    classes, counts = np.unique(goal, return_counts=True)
    limits = {count(len(goal), "row"): len(goal)}
    if task is Task.CLASSIFICATION:
        largest = int(counts.max())
        limits[f"{count(largest, 'row')} in the largest class"] = largest
    if groups is not None:
        n_groups = len(np.unique(groups))
        limits[count(n_groups, "group")] = n_groups
    what, limit = min(limits.items(), key=lambda each: each[1])
    if limit < 2:
        raise DataError(f"there is only {what}: too little to learn from some and test on others")
    if limit < folds:
        return limit, (f"{what}, so {limit} folds instead of {folds}",)
    if groups is not None or task is Task.REGRESSION:
        return folds, ()
    return folds, _rare_classes(classes, counts, folds)


def _rare_classes(classes: NDArray[Any], counts: NDArray[np.intp], folds: int) -> tuple[str, ...]:
    rare = [
        f"{name} ({count})"
        for name, count in zip(classes.tolist(), counts.tolist(), strict=True)
        if count < folds
    ]
    if not rare:
        return ()
    shown = ", ".join(rare[:5]) + (", …" if len(rare) > 5 else "")
    return (f"fewer rows than folds, so absent from some of them: {shown}",)


def _method(task: Task, groups: NDArray[Any] | None) -> str:
    spread = "stratified" if task is Task.CLASSIFICATION else "shuffled"
    return spread if groups is None else f"{spread}, {len(np.unique(groups))} groups kept together"


def _split(goal: NDArray[Any], task: Task, plan: Plan, groups: NDArray[Any] | None) -> list[Split]:
    splitter = {
        (True, False): StratifiedKFold,
        (True, True): StratifiedGroupKFold,
        (False, False): KFold,
        (False, True): GroupKFold,
    }[task is Task.CLASSIFICATION, groups is not None]
    rows = np.zeros(len(goal))
    splits = []
    for repeat in range(plan.repeats):
        cut = splitter(plan.folds, shuffle=True, random_state=plan.seed + repeat)
        with warnings.catch_warnings():
            # Rare classes: said in a note already.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(cut.split(rows, np.asarray(goal), groups))
        splits += [
            Split(repeat, fold, train, test)
            for fold, (train, test) in enumerate(parts)
            if len(test)
        ]
    return splits
