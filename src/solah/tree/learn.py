"""Labelled rows in, a tree for the model document out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.model import Tree
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
    """Grow a tree on rows whose weights are in the given unit, then improve its leaves."""
    grown = grow(rows, rows.sets, rows.goal_weights(), settings)
    tree = Tree(
        name=name,
        inputs=inputs,
        split=grown.shape.attribute,
        first_child=grown.shape.first_child,
        support=grown.weight * weight_unit,
        belief=grown.belief,
    )
    return improve_leaves(tree, rows, weight_unit, settings.leaves)
