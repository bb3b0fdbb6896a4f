"""Describes what the page shows of each node of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell
from solah.model.document import Task, Tree
from solah.report.fusion_inputs import FusionInputs
from solah.report.rule_lines import describe_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model, Node


def describe_nodes(model: Model, rules_a_tree: int) -> list[dict[str, Any]]:
    """Describe the nodes from bottom to top, with their beliefs when nothing is known.

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
    inputs = FusionInputs.of(model)
    described = []
    for place, node in enumerate(model.nodes):
        belief = inputs.resulting_belief(node.name, inputs.start[node.name])
        tree = node if isinstance(node, Tree) else None
        described.append(
            {
                "place": place,
                "name": node.name,
                "is_tree": tree is not None,
                "title": _title(node, places),
                "hint": _hint(node, places),
                "about": _about(node, places),
                "inputs": [places[origin] for origin in node.origins if origin in places],
                "weight": inputs.weights.get(node.name),
                "n_rules": tree.n_rules if tree else 0,
                "rules": describe_lines(tree, model.goal, inputs, rules_a_tree) if tree else [],
                "belief": belief.tolist(),
                "result": _result(model.goal, belief),
            }
        )
    return described


def _title(node: Node, places: Mapping[str, int]) -> str:
    """Call a tree by its one attribute, which is clearer than a made-up name."""
    only = node.origins[0] if len(node.origins) == 1 else node.name
    return node.name if only in places else only


def _hint(node: Node, places: Mapping[str, int]) -> str:
    """Name the inputs of a node in a few words, or the node where its title is its input."""
    if not isinstance(node, Tree):
        return f"weighs {count(len(node.origins), 'tree')}"
    is_named_after_input = _title(node, places) != node.name
    return node.name if is_named_after_input else ", ".join(node.origins)


def _about(node: Node, places: Mapping[str, int]) -> str:
    """Name the inputs of a node, and its size."""
    rules = f", {count(node.n_rules, 'rule')}" if isinstance(node, Tree) else ""
    return f"{_hint(node, places)}{rules}"


def _result(goal: Goal, belief: Float) -> str:
    if goal.task is Task.REGRESSION:
        return f"about {float(belief @ np.array(goal.centres)):.4g}"
    place = int(goal.decide(belief[None, :])[0])
    return f"{spell(goal.states[place])} {belief[place]:.2f}"
