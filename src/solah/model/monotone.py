"""What a model promises of single attributes, and whether it keeps it.

Each tree keeps the promise by itself: from one focal set of the attribute to the next, whatever the
other readings are, its evidence for the class rises against that for every other class, or stays.
Memberships go over linearly from set to set, so the sum of all trees keeps it for every reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Monotonic, Tree

# What rounding may take from a step, beside the largest score of a model: evidence is learnt on
# devices with 24 bits behind the point.
_ROUNDING = 1e-6
_MOST_CELLS = 1 << 22


def may_be_monotonic(attribute: Attribute) -> bool:
    """Tell whether the readings of an attribute have an order: not states that are only named."""
    if attribute.is_ordered:
        return True
    return len(attribute.states) == 2 and not any(isinstance(s, str) for s in attribute.states)


def signs_of(promises: Sequence[Monotonic], n_outputs: int) -> Float:
    """Return what steps of scores are multiplied with to give numbers that must not be negative.

    Parameters
    ----------
    promises : sequence of Monotonic
        Those of one attribute.
    n_outputs : int
        How many scores a rule has.

    Returns
    -------
    signs : ndarray of shape (n_inequalities, n_outputs)
        For a class, one line for each other class: its evidence less that of the other.
    """
    lines = []
    for one in promises:
        own = np.zeros(n_outputs)
        own[one.state] = one.direction
        others = [k for k in range(n_outputs) if k != one.state]
        lines += [own - one.direction * (np.arange(n_outputs) == k) for k in others] or [own]
    return np.unique(np.array(lines).reshape(len(lines), n_outputs), axis=0)


def steps_of(tree: Tree, name: str) -> Float | None:
    """Return the steps of a tree's scores along an attribute: ``(n_steps, n_outputs)``.

    None where the tree has too many combinations of focal sets to look at.
    """
    place = [attribute.name for attribute in tree.inputs].index(name)
    if math.prod(attribute.n_focal_sets for attribute in tree.inputs) > _MOST_CELLS:
        return None
    table = leaf_table(tree)
    scores = tree.evidence[np.moveaxis(table, place, 0)]
    return np.asarray(np.diff(scores, axis=0).reshape(-1, scores.shape[-1]))


def leaf_table(tree: Tree) -> NDArray[np.intp]:
    """Return the leaf of each combination of focal sets, one axis for each input."""
    leaves = np.zeros([attribute.n_focal_sets for attribute in tree.inputs], dtype=np.intp)

    def fill(node: int, where: tuple[slice | int, ...]) -> None:
        split = int(tree.split[node])
        if split < 0:
            leaves[where] = node
            return
        for number, child in enumerate(tree.children(node)):
            fill(child, (*where[:split], number, *where[split + 1 :]))

    fill(0, (slice(None),) * len(tree.inputs))
    return leaves


def broken_promises(model: Model) -> Iterator[str]:
    """Say of each promise that the model does not keep where it breaks it."""
    attributes = {attribute.name: attribute for attribute in model.attributes}
    least = 0.0 if model.goal.is_additive_number else 1.0
    slack = _ROUNDING * max(least, *(float(np.abs(tree.evidence).max()) for tree in model.trees))
    for promise in model.monotonic:
        attribute = attributes.get(promise.attribute)
        shown = shorten(promise.attribute)
        if attribute is None:
            yield f"{shown} is none of the model's attributes"
        elif not may_be_monotonic(attribute):
            yield f"the states of {shown} have no order"
        elif any(tree.scores is None for tree in model.trees):
            yield f"{shown} can be monotonic only where evidence is added up"
        else:
            signs = signs_of([promise], model.goal.size)
            for tree in model.trees:
                if least_step(tree, promise.attribute, signs) < -slack:
                    verb = "falls" if promise.direction > 0 else "rises"
                    yield f"{shorten(tree.name)} {verb} with {shown}"


def least_step(tree: Tree, name: str, signs: Float) -> float:
    """Return the least step of a tree along an attribute, times signs; it must not be negative."""
    if name not in tree.origins:
        return 0.0
    steps = steps_of(tree, name)
    return -math.inf if steps is None else float((steps @ signs.T).min(initial=0.0))
