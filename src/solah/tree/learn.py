"""Labelled rows in, a tree for the model document out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model import Tree
from solah.model.joining import simplify_tree
from solah.tree.growth import grow
from solah.tree.leaves import improve_leaves

if TYPE_CHECKING:
    from solah.labels.rows import LabelledRows
    from solah.model import Attribute
    from solah.tree.growth import TreeSettings


def learn_tree(
    name: str,
    inputs: tuple[Attribute, ...],
    rows: LabelledRows,
    weight_unit: float,
    settings: TreeSettings,
) -> Tree:
    """Grow a tree on rows of the given unit of weight, join its branches, improve its leaves."""
    grown = grow(rows, rows.sets, rows.goal_weights(), settings)
    tree = Tree(
        name=name,
        inputs=inputs,
        split=grown.shape.attribute,
        first_child=grown.shape.first_child,
        support=grown.weight * weight_unit,
        belief=grown.belief,
    )
    heads = np.arange(len(tree.split))
    if settings.max_rules is not None or settings.rule_cost > 0:
        tree = simplify_tree(tree, settings.max_rules, settings.rule_cost)
        heads = tree.heads
    return improve_leaves(tree, heads, rows, weight_unit, settings.leaves)
