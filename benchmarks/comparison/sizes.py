"""A learned model in, how much there is to read out, in the model's own unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RULE_UNITS = ("rules", "leaves")
"""What can be compared as a number of things to read; terms are of another kind."""


@dataclass(frozen=True)
class Size:
    """How many rules, leaves or terms there are, and how many conditions one has on average.

    None is for what a model does not have.
    """

    count: float | None
    length: float | None = None


def size_of_rules(estimator: Any) -> Size:
    """Measure one of our models: rules with weight, and their conditions."""
    rules = estimator.rules()
    return Size(estimator.n_rules_, mean_length([len(rule.conditions) for rule in rules]))


def size_of_trees(trees: list[Any]) -> Size:
    """Measure scikit-learn's trees: leaves, and the splits above one."""
    depths = np.concatenate([_leaf_depths(tree.tree_) for tree in trees])
    return Size(len(depths), mean_length(depths))


def size_of_boosting(estimator: Any) -> Size:
    """Measure scikit-learn's histogram boosting: the leaves of all its trees."""
    # There is no public way to the trees.
    nodes = [tree.nodes for stage in estimator._predictors for tree in stage]
    depths = np.concatenate([tree["depth"][tree["is_leaf"] == 1] for tree in nodes])
    return Size(len(depths), mean_length(depths))


def mean_length(lengths: Any) -> float | None:
    """Return the mean; None where there is nothing."""
    return float(np.mean(lengths)) if len(lengths) else None


def _leaf_depths(tree: Any) -> np.ndarray:
    depths = np.zeros(tree.node_count, dtype=int)
    is_split = tree.children_left >= 0
    for node in np.flatnonzero(is_split):  # children follow their parents
        depths[[tree.children_left[node], tree.children_right[node]]] = depths[node] + 1
    return depths[~is_split]
