"""Write a model as plain values, from which ``js_runtime/evaluate.js`` computes decisions.

The report page and the JavaScript module both carry that evaluator, and these values.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from solah.data.spelling import spell
from solah.explain.importance import attribute_importances
from solah.model.beliefs import fusion_inputs
from solah.model.document import Fusion, Task, Tree
from solah.model.domain import cell_cuts
from solah.model.policy import Domain, Policy
from solah.model.policy_format import domain_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model


def describe_arithmetic(model: Model) -> dict[str, Any]:
    """Describe all that a decision needs, nodes and attributes known by their numbers.

    Parameters
    ----------
    model : Model

    Returns
    -------
    arithmetic : dict
        What the evaluator reads: all of it is JSON, and no key of it comes from the model.
    """
    attributes = {attribute.name: place for place, attribute in enumerate(model.attributes)}
    nodes = {node.name: place for place, node in enumerate(model.nodes)}
    weighed = fusion_inputs(model.nodes)
    described = []
    for node in model.nodes:
        is_weighed = node.name in weighed
        if isinstance(node, Tree):
            goes_up = node.evidence if is_weighed else node.belief
            parts = _tree(node, goes_up, attributes, nodes)
        else:
            parts = _fusion(node, nodes)
        described.append({"name": node.name, "weighed": is_weighed} | parts)
    return {
        "goal": _goal(model.goal),
        "size": model.goal.size,
        "attributes": [_attribute(attribute) for attribute in model.attributes],
        "nodes": described,
        "policy": _policy(model),
    }


def evaluator_text() -> str:
    """Return the evaluator's source."""
    place = files("solah.export").joinpath("js_runtime", "evaluate.js")
    return place.read_text(encoding="utf-8")


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


def _policy(model: Model) -> dict[str, Any] | None:
    """Describe when the decision on a row by itself is held back; None if it never is in doubt."""
    if model.policy is None and model.domain is None:
        return None
    policy, domain = model.policy or Policy(), model.domain or Domain(())
    importances = attribute_importances(model)
    is_shared = isinstance(model.root, Fusion) and any(tree.variance for tree in model.trees)
    places = {attribute.name: place for place, attribute in enumerate(model.attributes)}
    return {
        "minBelief": list(policy.min_belief),
        "minKnown": policy.min_known if importances.any() else 0.0,
        "shares": None if is_shared else importances.tolist(),
        "inRange": policy.stays_in_range,
        "maxUnseen": policy.max_unseen,
        "cells": [
            {"low": cells.low, "high": cells.high, "cuts": cell_cuts(attribute, cells)}
            for attribute, cells in zip(model.attributes, domain.cells, strict=False)
        ],
        "pairs": [
            record | {"first": places[record["first"]], "second": places[record["second"]]}
            for record in domain_record(domain).get("pairs", [])
        ],
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


def _tree(
    tree: Tree, goes_up: Float, attributes: Mapping[str, int], nodes: Mapping[str, int]
) -> dict[str, Any]:
    """Describe a tree, with what goes up from its leaves: evidence, or beliefs."""
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
