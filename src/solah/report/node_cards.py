"""Describes what the page shows of each node of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell, spell_number
from solah.explain.rules import told_rules
from solah.explain.weights import numbers_of, signed
from solah.model.document import Task, Tree
from solah.model.evaluate import part_outputs, trace
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
    program = model.program
    stages = trace(program, np.full((1, len(program.features)), np.nan))
    described = []
    for place, node in enumerate(model.nodes):
        stage, part = program.part_numbers[node.name]
        is_part = node.name not in program.stage_numbers
        adds = stages[stage].parts[part].weights if is_part else stages[stage].outputs
        belief = part_outputs(program, node.name, adds)[0]
        is_sum = model.goal.is_additive_number
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
                "n_rules": len(told_rules(tree, model.goal)) if tree else 0,
                "rules": describe_lines(model, tree, rules_a_tree) if tree else [],
                "belief": [] if is_sum else belief.tolist(),
                "result": signed(adds[0, 0]) if is_sum and is_part else _result(model.goal, belief),
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
        return f"adds up {count(len(node.origins), 'tree')}"
    is_named_after_input = _title(node, places) != node.name
    return node.name if is_named_after_input else ", ".join(node.origins)


def _about(node: Node, places: Mapping[str, int]) -> str:
    """Name the inputs of a node, and its size."""
    rules = f", {count(node.n_rules, 'rule')}" if isinstance(node, Tree) else ""
    return f"{_hint(node, places)}{rules}"


def _result(goal: Goal, belief: Float) -> str:
    if goal.task is Task.REGRESSION:
        return f"about {spell_number(float(numbers_of(goal, belief)))}"
    place = int(goal.decide(belief[None, :])[0])
    return f"{spell(goal.states[place])} {belief[place]:.2f}"
