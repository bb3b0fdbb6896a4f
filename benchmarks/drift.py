"""Sensors drift: what learning from a few labelled rows brings, on the device and off it.

    SOLAH_DATA=… python benchmarks/drift.py [--rules 100] [--rows-a-class 10] [--seeds 5]

Data: the gas-sensor drift set, batches in the order in which they were measured over years. A model
is fitted on the first batch and never sees its structure changed. Each later batch is new to it: a
few rows of each class are labelled, drawn at random, and the rest is tested on. Compared: the model
as it was; after ``partial_fit`` (the integers of a device that learns) on these rows, once and
five times; and, as what a computer could do instead, a new fit on the first batch and the labelled
rows together, and one on the labelled rows alone. Accuracies are means over the seeds of the draw.
The second batch was looked at when the usual pace was chosen; the others were not.
"""

from __future__ import annotations

import argparse
import copy
from typing import TYPE_CHECKING

import numpy as np
from comparison.sensor_sets import load

from solah import RuleClassifier

if TYPE_CHECKING:
    from solah.datasets import Dataset

COLUMNS = ("as it was", "learned once", "five times", "fit with both", "fit again")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", type=int, default=100)
    parser.add_argument("--rows-a-class", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    data = load("gas_drift")
    batches = list(dict.fromkeys(data.groups.tolist()))
    first = np.flatnonzero(data.groups == batches[0])
    model = fitted(data, first, options.rules)
    print(f"{batches[0]}: {len(first)} rows, {model.n_rules_} rules; then, with")
    print(f"{options.rows_a_class} labelled rows a class, means over {options.seeds} draws:")
    print(f"  {'batch':<8}{'rows':>6}" + "".join(f"{name:>15}" for name in COLUMNS))
    means = []
    for batch in batches[1:]:
        rows = np.flatnonzero(data.groups == batch)
        draws = [
            accuracies(model, data, first, rows, options.rows_a_class, seed, options.rules)
            for seed in range(options.seeds)
        ]
        means.append(np.mean(draws, axis=0))
        print(f"  {batch:<8}{len(rows):>6}{spelt(means[-1])}", flush=True)
    print(f"  {'mean':<8}{'':>6}{spelt(np.mean(means, axis=0))}")


def fitted(data: Dataset, rows: np.ndarray, max_rules: int) -> RuleClassifier:
    model = RuleClassifier(max_rules=max_rules)
    return model.fit(data.table.take(rows), data.target[rows])


def accuracies(
    model: RuleClassifier,
    data: Dataset,
    first: np.ndarray,
    rows: np.ndarray,
    n_a_class: int,
    seed: int,
    max_rules: int,
) -> list[float]:
    labelled = draw(data.target, rows, n_a_class, seed)
    tested = np.setdiff1d(rows, labelled)
    candidates = [
        model,
        learned(model, data, labelled, 1),
        learned(model, data, labelled, 5),
        fitted(data, np.concatenate([first, labelled]), max_rules),
        fitted(data, labelled, max_rules),
    ]
    return [one.score(data.table.take(tested), data.target[tested]) for one in candidates]


def draw(target: np.ndarray, rows: np.ndarray, n_a_class: int, seed: int) -> np.ndarray:
    """Draw rows to label: ``n_a_class`` of each class, in random order."""
    rng = np.random.default_rng(seed)
    classes = [rng.permutation(rows[target[rows] == each]) for each in np.unique(target[rows])]
    return rng.permutation(np.concatenate([of_class[:n_a_class] for of_class in classes]))


def learned(
    model: RuleClassifier, data: Dataset, labelled: np.ndarray, n_times: int
) -> RuleClassifier:
    learning = copy.copy(model)
    for _ in range(n_times):
        learning.partial_fit(data.table.take(labelled), data.target[labelled])
    return learning


def spelt(scores: np.ndarray) -> str:
    return "".join(f"{score:>15.3f}" for score in scores)


if __name__ == "__main__":
    main()
