"""Writes a model as plain values, from which the page computes decisions."""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from solah.data.spelling import spell
from solah.explain.rules import MISSING
from solah.model.beliefs import fusion_inputs
from solah.model.document import Task, Tree
from solah.report.rule_lines import strongest_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.model.attributes import Attribute
    from solah.model.document import Fusion, Goal, Model


def describe_arithmetic(model: Model, max_rules: int) -> dict[str, Any]:
    """Describe all that a decision needs, nodes and attributes known by their numbers.

    Parameters
    ----------
    model : Model
    max_rules : int
        How many rules of each tree are listed on the page: the leaves of each are named.

    Returns
    -------
    arithmetic : dict
        What ``evaluate.js`` reads.
    """
    attributes = {attribute.name: place for place, attribute in enumerate(model.attributes)}
    nodes = {node.name: place for place, node in enumerate(model.nodes)}
    weighed = fusion_inputs(model.nodes)
    described = []
    for node in model.nodes:
        if isinstance(node, Tree):
            parts = _tree(node, attributes, nodes)
            parts["fires"] = _fires(node, model.goal, max_rules)
        else:
            parts = _fusion(node, nodes)
        described.append({"name": node.name, "weighed": node.name in weighed} | parts)
    return {
        "goal": _goal(model.goal),
        "size": model.goal.size,
        "attributes": [_attribute(attribute) for attribute in model.attributes],
        "nodes": described,
    }


def _goal(goal: Goal) -> dict[str, Any]:
    return {
        "name": goal.name,
        "labels": [spell(state) for state in goal.states] or _focal_sets(goal.words),
        "thresholds": list(goal.thresholds),
        "start": goal.log_prior.tolist(),
        "centres": list(goal.centres),
        "isNumber": goal.task is Task.REGRESSION,
        "isSum": goal.is_additive_number,
    }


def _focal_sets(words: tuple[str, ...]) -> list[str]:
    """Name the focal sets of a number's words, from low to high."""
    pairs = (f"{low}-or-{high}" for low, high in pairwise(words))
    return [name for both in zip_longest(words, pairs) for name in both if name is not None]


def _attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "continuous": attribute.is_continuous,
        "coded": attribute.is_coded,
        "ordered": attribute.is_ordered,
        "words": list(attribute.words),
        "sets": list(attribute.set_words),
        "peaks": list(attribute.peaks),
        "ignorance": list(attribute.ignorance),
        "low": attribute.low,
        "high": attribute.high,
        "moved": attribute.is_moved,
    }


def _tree(tree: Tree, attributes: Mapping[str, int], nodes: Mapping[str, int]) -> dict[str, Any]:
    """Describe a tree, with the scores of its leaves: evidence, or beliefs."""
    goes_up = tree.belief if tree.scores is None else tree.scores
    scores: list[list[float] | None] = [None] * len(tree.split)
    for leaf in tree.leaves.tolist():
        scores[leaf] = goes_up[leaf].tolist()
    return {
        "inputs": [_input(attribute, attributes, nodes) for attribute in tree.inputs],
        "depth": tree.shape.depth,
        "split": tree.split.tolist(),
        "first": tree.first_child.tolist(),
        "scores": scores,
        "variance": tree.variance,
        "missing": tree.missing and list(tree.missing.scores),
    }


def _input(
    attribute: Attribute, attributes: Mapping[str, int], nodes: Mapping[str, int]
) -> dict[str, Any]:
    if attribute.tree is not None:
        return {
            "node": nodes[attribute.tree],
            "place": attribute.place,
            "peaks": list(attribute.peaks),
            "ignorance": list(attribute.ignorance),
        }
    if attribute.name in nodes:
        return {"node": nodes[attribute.name]}
    parts = {"partedAt": list(attribute.parted_at)} if attribute.parted_at else {}
    return {"attribute": attributes[attribute.name]} | parts


def _fusion(fusion: Fusion, nodes: Mapping[str, int]) -> dict[str, Any]:
    return {
        "origins": [nodes[name] for name in fusion.origins],
        "bias": list(fusion.bias),
    }


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
