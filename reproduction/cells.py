"""One computation in, its figures out: the smallest piece of work, kept when it is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from reproduction.data import load_rows
from solah.evaluation import (
    Plan,
    over_all_classes,
    plan_splits,
    refuse_cut_short,
    score_beliefs,
)
from solah.model import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from reproduction.models import Recipe
    from solah.datasets import Dataset

Figures = dict[str, Any]
Work = Literal["properties", "all rows", "folds", "half"]

_SIZES = ("n_clusters", "n_levels", "n_rules", "n_branches")


@dataclass(frozen=True)
class Cell:
    """One computation.

    Attributes
    ----------
    data : the material's name
    task : the material's properties; the size of a model learnt from all rows; the scores of a
        model over folds; those of a model learnt from one half of the rows, on the other half
    recipe : the model; None for properties
    folds : how many folds
    seed : what folds are shuffled with, or the number of a half's run
    """

    data: str
    task: Work
    recipe: Recipe | None = None
    folds: int | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """A readable name that no other cell has, fit for a file."""
        words = [self.data]
        if self.recipe is not None:
            words += [self.recipe.label, *([self.recipe.variant] if self.recipe.variant else [])]
        words.append(self.task.replace(" ", "-") if self.folds is None else f"{self.folds}-folds")
        if self.seed is not None:
            words.append(f"{'run' if self.task == 'half' else 'seed'}-{self.seed}")
        return ".".join(words)

    @property
    def settings(self) -> dict[str, Any]:
        """All that the figures depend on, as plain values."""
        return asdict(self)

    def compute(self) -> Figures:
        """Do the computation.

        Returns
        -------
        figures : dict of plain values
            NaN is None.
        """
        material = load_rows(self.data)
        if self.recipe is None:
            return _properties(material)
        if self.task == "all rows":
            return _size_of_all_rows(self.recipe, material)
        splits = list(self._splits(material.goal))
        return _over_splits(self.recipe, material, splits, self.seed or 0)

    def _splits(self, goal: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        if self.folds is None:
            halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=self.seed)
            yield from halves.split(np.zeros(len(goal)), goal)
            return
        plan = Plan(self.folds, seed=self.seed or 0)
        for split in plan_splits(goal, Task.CLASSIFICATION, plan).splits:
            yield split.train, split.test


def _properties(material: Dataset) -> Figures:
    columns = material.table.columns
    return {
        "attributes": len(columns),
        "constant": [c.name for c in columns if len(set(c.values[~c.missing()].tolist())) < 2],
        "classes": len(material.class_counts),
        "rows": material.table.n_rows,
        "counts": sorted(material.class_counts.values(), reverse=True),
        "missing": int(sum(column.missing().sum() for column in columns)),
    }


def _size_of_all_rows(recipe: Recipe, material: Dataset) -> Figures:
    estimator = recipe.make(material, material.table.n_rows, 0)
    start = perf_counter()
    estimator.fit(material.table, material.goal)
    return {**_learnt(estimator, perf_counter() - start), "chosen": _chosen(estimator)}


def _over_splits(
    recipe: Recipe,
    material: Dataset,
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    seed: int,
) -> Figures:
    """Learn and test on each split: the mean of scores and sizes, the sum of seconds."""
    folds = [_on_split(recipe, material, train, test, seed) for train, test in splits]
    means = {name: _mean([fold[name] for fold in folds]) for name in ("accuracy", "auc", *_SIZES)}
    sums = {
        name: float(sum(fold[name] for fold in folds))
        for name in ("learning_seconds", "choosing_seconds", "testing_seconds")
    }
    return {**means, **sums, "each": folds}


def _on_split(
    recipe: Recipe,
    material: Dataset,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int,
) -> Figures:
    estimator = recipe.make(material, len(train), seed)
    learnt_rows, tested_rows = material.table.take(train), material.table.take(test)
    start = perf_counter()
    estimator.fit(learnt_rows, material.goal[train])
    learnt = perf_counter()
    refuse_cut_short(estimator)
    beliefs = estimator.predict_proba(tested_rows)
    tested = perf_counter()
    classes = np.unique(material.goal)
    whole = over_all_classes(beliefs, estimator.classes_, classes)
    scores = score_beliefs(material.goal[test], whole, classes)
    return {
        "accuracy": scores.accuracy,
        "auc": _known(scores.auc),
        **_learnt(estimator, learnt - start),
        "testing_seconds": tested - learnt,
    }


def _learnt(estimator: Any, seconds: float) -> Figures:
    """Describe what was learnt, and part the time of choosing k and theta from the rest."""
    choosing = float(getattr(estimator, "selection_seconds_", 0.0))
    sizes = {name: getattr(estimator, f"{name}_", None) for name in _SIZES}
    return {**sizes, "learning_seconds": seconds - choosing, "choosing_seconds": choosing}


def _chosen(estimator: Any) -> dict[str, Any] | None:
    """Tell which k and theta were chosen, and the hierarchy that they lead to."""
    candidates = getattr(estimator, "selection_", ())
    if not candidates:
        return None
    return {
        "n_clusters": estimator.settings_.n_clusters,
        "level_gap": estimator.settings_.level_gap,
        "score": max(float(one.score) for one in candidates if getattr(one, "is_chosen", True)),
        "hierarchy": str(estimator.hierarchy_),
        "candidates": len(candidates),
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
