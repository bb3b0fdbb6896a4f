"""Measures how far the branches of a model's trees move what is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.explain.weights import gain_of, numbers_of
from solah.model.document import Task

if TYPE_CHECKING:
    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model, Tree


class Effect(NamedTuple):
    """How far something moves what is decided, and the state that gains most by it, if any."""

    size: float
    state: State | None = None


def effects_of(tree: Tree, goal: Goal) -> list[Effect]:
    """Return how far each node of a tree moves what is decided, from where the tree begins.

    Parameters
    ----------
    tree : Tree
    goal : Goal

    Returns
    -------
    effects : list of Effect
        One per node. A tree that feeds a fusion moves evidence, by its scores: of two classes by
        their difference. Another moves belief. What counts is the state that gains most. A number
        moves up or down.
    """
    if goal.task is Task.REGRESSION:
        return [Effect(size) for size in np.abs(_moves(tree, goal)).tolist()]
    if tree.scores is not None:
        return [Effect(*gain_of(scores, goal.states)) for scores in tree.scores.tolist()]
    gains = tree.belief - tree.belief[0]
    # Gains and losses cancel out, so that a largest gain below 0 is a matter of rounding.
    sizes = np.maximum(gains.max(axis=1), 0.0).tolist()
    winners = gains.argmax(axis=1).tolist()
    return [
        Effect(size, goal.states[winner] if size > 0 else None)
        for size, winner in zip(sizes, winners, strict=True)
    ]


def _moves(tree: Tree, goal: Goal) -> Float:
    """Return how far each node moves a number."""
    if tree.scores is not None:
        return tree.scores[:, 0]
    expected = numbers_of(goal, tree.belief)
    return np.asarray(expected - expected[0])


def explain_effect(model: Model) -> str:
    """Explain in one sentence what the effect of a rule of this model is."""
    if model.goal.task is Task.REGRESSION:
        return f"Effect is how far a rule moves the estimate of {model.goal.name}."
    of_belief = "the belief of its tree"
    of_evidence = "the evidence that is added up"
    if not model.fusions:
        moved = of_belief
    elif all(tree.scores is not None for tree in model.trees):
        moved = of_evidence
    else:
        moved = f"{of_evidence} or, where nothing is added up, {of_belief}"
    return f"Effect is how far a rule moves {moved} towards the class that gains most."
