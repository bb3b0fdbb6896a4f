"""One computation, the unit that is cached: a model on one data set, or a data set's properties."""

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
    score_probabilities,
)
from solah.model import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from reproduction.models import Recipe
    from solah.datasets import Dataset

    Indices = NDArray[np.intp]

Figures = dict[str, Any]
Work = Literal["properties", "all rows", "folds", "half"]

_SIZES = ("n_clusters", "n_levels", "n_rules", "n_branches")
_SECONDS = ("learning_seconds", "choosing_seconds", "testing_seconds")


@dataclass(frozen=True)
class Cell:
    """One computation.

    Attributes
    ----------
    data : the name of the rows
    task : the properties of the data; the size of a model trained on all rows; the scores of a
        model over folds; those of a model trained on one half of the rows, on the other half
    recipe : the model; None for properties
    folds : how many folds
    seed : what the rows are shuffled with: the seed of the folds, or the number of the run
    """

    data: str
    task: Work
    recipe: Recipe | None = None
    folds: int | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """A unique and readable name that can be a file's."""
        words = [self.data]
        if self.recipe is not None:
            words += [self.recipe.label, *([self.recipe.variant] if self.recipe.variant else [])]
        words.append(self.task.replace(" ", "-") if self.folds is None else f"{self.folds}-folds")
        if self.seed is not None:
            words.append(f"{'run' if self.task == 'half' else 'seed'}-{self.seed}")
        return ".".join(words)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything the figures depend on, as plain values."""
        return asdict(self)

    def compute(self) -> Figures:
        """Do the computation; return plain values, None where a score is NaN."""
        rows = load_rows(self.data)
        if self.recipe is None:
            return _properties(rows)
        if self.task == "all rows":
            return _on_all_rows(self.recipe, rows)
        splits = self._splits(rows.target)
        return _means([_on_split(self.recipe, rows, *split, self.seed or 0) for split in splits])

    def _splits(self, target: NDArray[Any]) -> Iterator[tuple[Indices, Indices]]:
        if self.folds is None:
            halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=self.seed)
            yield from halves.split(np.zeros(len(target)), target)
            return
        plan = Plan(self.folds, seed=self.seed or 0)
        for split in plan_splits(target, Task.CLASSIFICATION, plan).splits:
            yield split.train, split.test


def _properties(rows: Dataset) -> Figures:
    columns = rows.table.columns
    return {
        "features": len(columns),
        "constant": [c.name for c in columns if len(set(c.values[~c.missing()].tolist())) < 2],
        "classes": len(rows.class_counts),
        "rows": rows.table.n_rows,
        "counts": sorted(rows.class_counts.values(), reverse=True),
        "missing": int(sum(column.missing().sum() for column in columns)),
    }


def _on_all_rows(recipe: Recipe, rows: Dataset) -> Figures:
    estimator = recipe.make(rows, rows.table.n_rows, 0)
    start = perf_counter()
    estimator.fit(rows.table, rows.target)
    return {**_sizes_and_times(estimator, perf_counter() - start), "chosen": _chosen(estimator)}


def _on_split(recipe: Recipe, rows: Dataset, train: Indices, test: Indices, seed: int) -> Figures:
    estimator = recipe.make(rows, len(train), seed)
    train_rows, test_rows = rows.table.take(train), rows.table.take(test)
    start = perf_counter()
    estimator.fit(train_rows, rows.target[train])
    trained = perf_counter()
    refuse_cut_short(estimator)
    beliefs = estimator.predict_proba(test_rows)
    tested = perf_counter()
    classes = np.unique(rows.target)
    whole = over_all_classes(beliefs, estimator.classes_, classes)
    scores = score_probabilities(rows.target[test], whole, classes)
    return {
        "accuracy": scores.accuracy,
        "auc": None if np.isnan(scores.auc) else scores.auc,
        **_sizes_and_times(estimator, trained - start),
        "testing_seconds": tested - trained,
    }


def _means(folds: list[Figures]) -> Figures:
    """Average scores and sizes over the folds, and add up the seconds."""
    means = {}
    for name in ("accuracy", "auc", *_SIZES):
        known = [fold[name] for fold in folds if fold[name] is not None]
        means[name] = float(np.mean(known)) if known else None
    sums = {name: float(sum(fold[name] for fold in folds)) for name in _SECONDS}
    return {**means, **sums, "each": folds}


def _sizes_and_times(estimator: Any, seconds: float) -> Figures:
    """Describe the model, and separate the time to choose k and theta from the rest."""
    choosing = float(getattr(estimator, "selection_seconds_", 0.0))
    sizes = {name: getattr(estimator, f"{name}_", None) for name in _SIZES}
    if sizes["n_branches"] is None and hasattr(estimator, "model_"):
        sizes["n_branches"] = estimator.model_.n_branches  # the rules of an additive model
    return {**sizes, "learning_seconds": seconds - choosing, "choosing_seconds": choosing}


def _chosen(estimator: Any) -> dict[str, Any] | None:
    """Return the k and theta that were chosen, and the hierarchy they lead to."""
    candidates = getattr(estimator, "candidates_", ())
    if not candidates:
        return None
    best = max(candidates, key=lambda one: float(one.score))
    return {
        "n_clusters": best.n_clusters,
        "level_gap": best.level_gap,
        "score": float(best.score),
        "hierarchy": str(estimator.hierarchy_),
        "candidates": len(candidates),
    }
