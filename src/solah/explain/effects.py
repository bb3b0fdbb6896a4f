"""Measures how far the branches of a model's trees move what is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.model.document import Fusion, Task

if TYPE_CHECKING:
    from solah.data import State
    from solah.model.document import Goal, Model, Tree


class Effect(NamedTuple):
    """How far something moves what is decided, and the state that gains most by it, if any."""

    size: float
    state: State | None = None


def tree_weights(model: Model) -> dict[str, float]:
    """Return the weight of each input of a fusion in the end, by the nodes' names.

    The weights of all fusions on the way up are multiplied, to where evidence becomes belief.
    """
    weights: dict[str, float] = {}
    for node in reversed(model.nodes):
        if isinstance(node, Fusion):
            above = weights.get(node.name, 1.0)
            weights |= zip(node.origins, (above * weight for weight in node.weights), strict=True)
    return weights


def effects_of(tree: Tree, goal: Goal, weight: float | None) -> list[Effect]:
    """Return how far each node of a tree moves what is decided, from where the tree begins.

    Parameters
    ----------
    tree : Tree
    goal : Goal
    weight : float or None
        The weight of the tree's evidence; None where no fusion adds it up.

    Returns
    -------
    effects : list of Effect
        One per node. A tree that feeds a fusion moves evidence, by its own times the weight;
        another moves belief; what counts is the state that gains most. A number moves up or down.
    """
    if goal.task is Task.REGRESSION:
        expected = tree.belief @ np.array(goal.centres)
        return [Effect(size) for size in np.abs(expected - expected[0]).tolist()]
    gains = tree.belief - tree.belief[0] if weight is None else weight * tree.evidence
    # Gains and losses cancel out, so that a largest gain below 0 is a matter of rounding.
    sizes = np.maximum(gains.max(axis=1), 0.0).tolist()
    winners = gains.argmax(axis=1).tolist()
    return [
        Effect(size, goal.states[winner] if size > 0 else None)
        for size, winner in zip(sizes, winners, strict=True)
    ]


def explain_effect(model: Model) -> str:
    """Explain in one sentence what the effect of a rule of this model is."""
    if model.goal.task is Task.REGRESSION:
        return f"Effect is how far a rule moves the estimate of {model.goal.name}."
    weights = tree_weights(model)
    of_belief = "the belief of its tree"
    of_evidence = "the evidence that is added up (its tree's weight included)"
    if not weights:
        moved = of_belief
    elif all(tree.name in weights for tree in model.trees):
        moved = of_evidence
    else:
        moved = f"{of_evidence} or, where nothing is added up, {of_belief}"
    return f"Effect is how far a rule moves {moved} towards the class that gains most."
