"""Describes a model for the page: its arithmetic, and which leaves each listed rule has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.explain.changing.rounding import has_whole_numbers
from solah.explain.rules import MISSING
from solah.export.arithmetic import describe_arithmetic
from solah.model.document import Tree
from solah.report.rule_lines import strongest_rules

if TYPE_CHECKING:
    from solah.model.document import Goal, Model


def describe_live(model: Model, max_rules: int) -> dict[str, Any]:
    """Describe a model as the page's scripts read it.

    Parameters
    ----------
    model : Model
    max_rules : int
        How many rules of each tree are listed on the page: the leaves of each are named.
    """
    described = describe_arithmetic(model)
    for attribute, parts in zip(model.attributes, described["attributes"], strict=True):
        if has_whole_numbers(attribute):
            parts["whole"] = True
    for node, parts in zip(model.nodes, described["nodes"], strict=True):
        if isinstance(node, Tree):
            parts["fires"] = _fires(node, model.goal, max_rules)
    return described


def _fires(tree: Tree, goal: Goal, max_rules: int) -> list[list[int]]:
    """Name the leaves of each rule that is listed, in the order of the list.

    That of a rule for a missing reading is ``MISSING``.
    """
    leaves: dict[int, list[int]] = {head: [] for head, _ in strongest_rules(tree, goal, max_rules)}
    for leaf in tree.leaves.tolist():
        if (head := int(tree.heads[leaf])) in leaves:
            leaves[head].append(leaf)
    if MISSING in leaves:
        leaves[MISSING].append(MISSING)
    return list(leaves.values())
