"""A model in, what the page shows of each of its nodes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell
from solah.model.document import Task, Tree
from solah.report.hearing import Hearing
from solah.report.rule_lines import describe_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model, Node


def describe_nodes(model: Model, rules_a_tree: int) -> list[dict[str, Any]]:
    """Describe the nodes from bottom to top, with what they say when nothing is known.

    Parameters
    ----------
    model : Model
    rules_a_tree : int
        How many rules of each tree to list.

    Returns
    -------
    nodes : list of dict
    """
    places = {node.name: place for place, node in enumerate(model.nodes)}
    hearing = Hearing.of(model)
    described = []
    for place, node in enumerate(model.nodes):
        belief = hearing.made_believe(node.name, hearing.start[node.name])
        tree = node if isinstance(node, Tree) else None
        described.append(
            {
                "place": place,
                "name": node.name,
                "is_tree": tree is not None,
                "title": _title(node, places),
                "hint": _hint(node, places),
                "about": _about(node, places),
                "hears": [places[origin] for origin in node.origins if origin in places],
                "weight": hearing.loudness.get(node.name),
                "n_rules": tree.n_rules if tree else 0,
                "rules": describe_lines(tree, model.goal, hearing, rules_a_tree) if tree else [],
                "belief": belief.tolist(),
                "says": _says(model.goal, belief),
            }
        )
    return described


def _title(node: Node, places: Mapping[str, int]) -> str:
    """Call a tree by its one attribute, which says more than a made-up name."""
    only = node.origins[0] if len(node.origins) == 1 else node.name
    return node.name if only in places else only


def _hint(node: Node, places: Mapping[str, int]) -> str:
    """Say in a few words what a node listens to, or its own name where that says no more."""
    if not isinstance(node, Tree):
        return f"weighs {count(len(node.origins), 'tree')}"
    is_named_after_input = _title(node, places) != node.name
    return node.name if is_named_after_input else ", ".join(node.origins)


def _about(node: Node, places: Mapping[str, int]) -> str:
    """Say what a node listens to, and its size."""
    rules = f", {count(node.n_rules, 'rule')}" if isinstance(node, Tree) else ""
    return f"{_hint(node, places)}{rules}"


def _says(goal: Goal, belief: Float) -> str:
    if goal.task is Task.REGRESSION:
        return f"about {float(belief @ np.array(goal.centres)):.4g}"
    place = int(goal.decide(belief[None, :])[0])
    return f"{spell(goal.states[place])} {belief[place]:.2f}"
