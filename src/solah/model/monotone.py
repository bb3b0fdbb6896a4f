"""Monotonic constraints of a model, and whether it keeps them.

Each term keeps a constraint by itself: from one word of the feature to the next, whatever the other
value is, its weight for the class rises against that for every other class, or stays. Memberships
change linearly between words, so the sum of all terms keeps it for every value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Monotonic, Term
    from solah.model.features import Feature

# What rounding may take from a step, relative to the largest score: devices learn weights with 24
# bits behind the point.
_ROUNDING = 1e-6


def may_be_monotonic(feature: Feature) -> bool:
    """Whether the values of a feature have an order, as categories have not."""
    if feature.is_ordered:
        return True
    return len(feature.categories) == 2 and not any(isinstance(s, str) for s in feature.categories)


def signs_of(constraints: Sequence[Monotonic], n_outputs: int) -> Float:
    """Return what steps of scores are multiplied with to give numbers that must not be negative.

    Parameters
    ----------
    constraints : sequence of Monotonic
        Those of one feature.
    n_outputs : int
        How many scores a rule has.

    Returns
    -------
    signs : ndarray of shape (n_inequalities, n_outputs)
        For a class, one line for each other class: its score less that of the other.
    """
    lines = []
    for one in constraints:
        own = np.zeros(n_outputs)
        own[one.state] = one.direction
        others = [k for k in range(n_outputs) if k != one.state]
        lines += [own - one.direction * (np.arange(n_outputs) == k) for k in others] or [own]
    return np.unique(np.array(lines).reshape(len(lines), n_outputs), axis=0)


def broken_constraints(model: Model) -> Iterator[str]:
    """Describe where a model breaks each constraint that it does not keep."""
    features = {feature.name: feature for feature in model.features}
    least = 0.0 if model.target.is_additive_number else 1.0
    sizes = [float(np.abs(term.weights).max()) for term in model.terms]
    slack = _ROUNDING * max(least, *sizes, 0.0)
    for constraint in model.monotonic:
        feature = features.get(constraint.feature)
        shown = shorten(constraint.feature)
        if feature is None:
            yield f"the model has no feature {shown}"
        elif not may_be_monotonic(feature):
            yield f"the categories of {shown} have no order"
        elif model.trees:
            yield f"{shown} can be monotonic only in an additive model"
        else:
            signs = signs_of([constraint], model.target.size)
            for term in model.terms:
                if least_step(term, constraint.feature, signs) < -slack:
                    verb = "falls" if constraint.direction > 0 else "rises"
                    others = [shorten(name) for name in term.features if name != constraint.feature]
                    beside = f" beside {others[0]}" if others else ""
                    yield f"the weights {verb[:-1]} with {shown}{beside}"


def least_step(term: Term, name: str, signs: Float) -> float:
    """Return the least step of a term along a feature, times signs; it must not be negative."""
    if name not in term.features:
        return 0.0
    side = term.features.index(name)
    lines = np.moveaxis(term.weights, side, 0)[list(_in_order(term, side))]
    steps = np.diff(lines, axis=0).reshape(-1, term.weights.shape[-1])
    return float((steps @ signs.T).min(initial=0.0))


def _in_order(term: Term, side: int) -> Iterator[int]:
    """Yield the lines of a side by their words: categories may be in any groups."""
    part_of_set, before = term.inputs[side].part_of_set, -1
    for part in part_of_set:
        if part != before:
            yield part
        before = part
