"""Labelled rows in, a tree for the model document out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model import Tree
from solah.model.joining import simplify_tree
from solah.tree.growth import grow
from solah.tree.leaves import improve_leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.labels.rows import LabelledRows
    from solah.model import Attribute
    from solah.tree.growth import GrownTree, TreeSettings


def learn_tree(
    name: str,
    inputs: tuple[Attribute, ...],
    rows: LabelledRows,
    weight_unit: float,
    settings: TreeSettings,
) -> Tree:
    """Grow a tree on rows of the given unit of weight, join its branches, improve its leaves."""
    grown = grow(rows, rows.sets, rows.goal_weights(), settings)
    tree = named_tree(name, inputs, grown, weight_unit)
    tree, heads = joined_tree(tree, settings)
    return improve_leaves(tree, heads, rows, weight_unit, settings.leaves)


def named_tree(
    name: str, inputs: tuple[Attribute, ...], grown: GrownTree, weight_unit: float
) -> Tree:
    """Give a grown tree a name and its inputs."""
    return Tree(
        name=name,
        inputs=inputs,
        split=grown.shape.attribute,
        first_child=grown.shape.first_child,
        support=grown.weight * weight_unit,
        belief=grown.belief,
    )


def joined_tree(tree: Tree, settings: TreeSettings) -> tuple[Tree, NDArray[np.intp]]:
    """Join branches as the settings say; return the first leaf of each node's branch, too."""
    if settings.max_rules is None and settings.rule_cost <= 0:
        return tree, np.arange(len(tree.split))
    joined = simplify_tree(tree, settings.max_rules, settings.rule_cost)
    return joined, joined.heads
