"""One computation in, its figures out: a model on a set, with the folds of one seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from comparison.models import MODELS, measure_size
from comparison.scores import score_fold
from comparison.sets import KNOWN, load_rows, source_of
from solah.evaluation import Plan, over_all_classes, plan_splits, refuse_cut_short
from solah.model import Task

if TYPE_CHECKING:
    from comparison.models import Model
    from solah.datasets import Dataset
    from solah.evaluation import Split

Figures = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A model on a set with the folds of one seed.

    Attributes
    ----------
    set_name : the set's name
    model : the model's name
    seed : what the folds are shuffled with, and the model's own seed
    folds : how many folds; fewer where there are fewer groups
    rows : the most rows of the set
    made_with : the version, or the digest of the source, that the model comes from
    """

    set_name: str
    model: str
    seed: int
    folds: int
    rows: int
    made_with: str

    @property
    def name(self) -> str:
        """A readable name, fit for a file; other folds or rows take the same file."""
        return f"{self.set_name}.{self.model}.seed-{self.seed}"

    @property
    def data(self) -> str:
        """The data set that the rows come from; cells are kept with its fingerprint."""
        return source_of(self.set_name)

    @property
    def settings(self) -> dict[str, Any]:
        """All that the figures depend on, as plain values."""
        return asdict(self)

    def compute(self) -> Figures:
        """Train and test on every fold, on one processor; NaN becomes None."""
        material = load_rows(self.set_name, self.rows)
        plan = Plan(self.folds, seed=self.seed)
        splits = plan_splits(material.target, Task.CLASSIFICATION, plan, material.groups)
        with threadpool_limits(1):
            folds = [
                _on_split(MODELS[self.model], material, split, self.seed) for split in splits.splits
            ]
        return {
            "rows": material.table.n_rows,
            "features": len(material.feature_names),
            "classes": len(material.class_counts),
            "method": splits.method,
            "notes": [*splits.notes, *self._sampled(material.table.n_rows)],
            "each": folds,
        }

    def _sampled(self, n_rows: int) -> list[str]:
        whole = {entry.name: entry.n_rows for entry in KNOWN}.get(self.set_name, n_rows)
        return [f"{n_rows:,} of {whole:,} rows"] if n_rows < whole else []


def _on_split(model: Model, material: Dataset, split: Split, seed: int) -> dict[str, float | None]:
    estimator = model.make(material, len(split.train), seed)
    learned_rows, tested_rows = material.table.take(split.train), material.table.take(split.test)
    start = perf_counter()
    estimator.fit(learned_rows, material.target[split.train])
    seconds = perf_counter() - start
    refuse_cut_short(estimator)
    classes = np.unique(material.target)
    beliefs = estimator.predict_proba(tested_rows)
    whole = over_all_classes(beliefs, estimator.classes_, classes)
    size = measure_size(estimator)
    figures = {
        **score_fold(material.target[split.test], whole, classes),
        "size": size.count,
        "length": size.length,
        "seconds": seconds,
    }
    return {name: _plain(value) for name, value in figures.items()}


def _plain(value: float | None) -> float | None:
    return None if value is None or isnan(value) else float(value)
