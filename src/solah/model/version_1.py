"""Read documents of format version 1, in which fusions weigh trees.

The evidence of a tree was told from its beliefs; since version 2 it stands in scores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ModelFormatError, shorten
from solah.model.beliefs import fusion_inputs
from solah.model.document import Fusion, Model
from solah.model.limits import MOST_SCORE
from solah.model.reading import (
    FIELDS,
    MAX_TREES,
    Version,
    check_evidence,
    read_fields,
    read_origins,
    read_scores,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from solah.data.json_reader import Reader
    from solah.model.document import Goal, Node


def read_version_1(document: Reader) -> Model:
    """Read a model; its trees get scores, and its fusions lose their weights."""
    fields = document.record(FIELDS)
    weights: dict[str, float] = {}

    def read_weighing(reader: Reader, below: Collection[str], goal: Goal) -> Fusion:
        parts = reader.record(["name", "weighs", "bias"])
        weighed = [item.record(["tree", "weight"]) for item in parts["weighs"].items(1, MAX_TREES)]
        names = read_origins(parts["weighs"], [one["tree"] for one in weighed], below)
        for name, one in zip(names, weighed, strict=True):
            weights[name] = one["weight"].number(-MOST_SCORE, MOST_SCORE)
        return Fusion(parts["name"].text(), names, read_scores(parts["bias"], goal))

    model = read_fields(fields, Version("weighs", read_weighing, has_scores=False))
    model = _without_weights(model, weights, fields["trees"])
    check_evidence(model, fields["trees"])
    return model


def _without_weights(model: Model, weights: Mapping[str, float], trees: Reader) -> Model:
    """Multiply weights into the scores of trees.

    A group has no bias from version 2 on, and the shares of the classes, from which the first tree
    tells its evidence, belong to the goal.
    """
    if not model.fusions:
        return model
    added = fusion_inputs(model.nodes)
    nodes: list[Node] = []
    in_all: dict[str, float] = {}
    for node in reversed(model.nodes):
        above = in_all.get(node.name, 1.0)
        if abs(above) > MOST_SCORE:
            raise ModelFormatError(
                f"{trees.place}: the weights above {shorten(node.name)} come to {above:.3g}, and "
                f"may come to {MOST_SCORE:g}"
            )
        if isinstance(node, Fusion):
            in_all |= {name: above * weights[name] for name in node.origins}
            nodes.append(replace(node, bias=()) if node.name in added else node)
        elif node.name in added:
            scores = np.where(node.split[:, None] < 0, above * node.evidence, 0.0)
            nodes.append(replace(node, scores=scores))
        else:
            nodes.append(node)
    first = next(tree for tree in model.trees if tree.name in added)
    goal = replace(model.goal, prior=tuple(first.belief[0].tolist()))
    return replace(model, goal=goal, nodes=tuple(reversed(nodes)))
