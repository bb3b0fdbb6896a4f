"""Labelled rows in, a tree for the model document out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.model import Tree
from solah.tree.growth import grow

if TYPE_CHECKING:
    from solah.labels.rows import LabelledRows
    from solah.model import Attribute
    from solah.tree.growth import GrowthSettings


def learn_tree(
    name: str,
    inputs: tuple[Attribute, ...],
    rows: LabelledRows,
    weight_unit: float,
    settings: GrowthSettings,
) -> Tree:
    """Grow a tree on rows whose weights are in the given unit."""
    grown = grow(rows, rows.sets, rows.goal_weights(), settings)
    return Tree(
        name=name,
        inputs=inputs,
        split=grown.shape.attribute,
        first_child=grown.shape.first_child,
        support=grown.weight * weight_unit,
        belief=grown.belief,
    )
