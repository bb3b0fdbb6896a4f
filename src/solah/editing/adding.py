"""Makes the tree of a rule that a person adds."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import did_you_mean, shorten
from solah.model.joining import weighted_variance
from solah.model.structure import fresh_name
from solah.rulefile.words import InputWords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.attributes import Attribute
    from solah.model.document import Model
    from solah.rulefile.sentence import StatedCondition, StatedRule

_MOST_CELLS = 100_000


def tree_record(model: Model, rule: StatedRule) -> dict[str, Any]:
    """Return a tree with one rule, as the document has it; all else adds nothing.

    Nobody counted its rows, so it has none. Its variance, where trees have one, is that of readings
    as ``ignorance`` has them, each attribute by itself.
    """
    attributes = [_attribute(model, condition) for condition in rule.conditions]
    meant = [
        set(InputWords(one).places(condition))
        for one, condition in zip(attributes, rule.conditions, strict=True)
    ]
    sizes = [one.n_focal_sets for one in attributes]
    if math.prod(sizes) > _MOST_CELLS:
        raise rule.conditions[-1].token.fail(
            f"these attributes have more than {_MOST_CELLS:,} combinations of words"
        )
    goal = model.goal
    told = {"mean": 0.0} if goal.is_additive_number else {"belief": list(goal.prior)}
    nodes = _inner_nodes(attributes, told)
    scores = rule.scores_for(goal.states)
    cells = []
    for cell in product(*map(range, sizes)):
        is_meant = all(place in places for place, places in zip(cell, meant, strict=True))
        cells.append(scores if is_meant else (0.0,) * goal.size)
        nodes.append({"support": 0.0, **told, "scores": list(cells[-1])})
    variance = 0.0
    if has_variances(model):
        masses = [math.prod(one) for one in product(*(one.ignorance for one in attributes))]
        variance = weighted_variance(np.array(cells), np.array(masses))
    names = " & ".join(one.name for one in attributes)
    taken = {one.name for one in (*model.attributes, *model.nodes)}
    return {
        "name": fresh_name(f"by hand: {names}", taken),
        "inputs": [one.name for one in attributes],
        "variance": variance,
        "nodes": nodes,
    }


def has_variances(model: Model) -> bool:
    """Tell whether what is unknown makes a model less sure: whether its trees have variances."""
    return any(tree.variance for tree in model.trees)


def _attribute(model: Model, condition: StatedCondition) -> Attribute:
    known = {attribute.name: attribute for attribute in model.attributes}
    if condition.attribute not in known:
        near = did_you_mean(condition.attribute, known)
        raise condition.token.fail(
            f"the model has no attribute {shorten(condition.attribute)}{near}"
        )
    if condition.form == "missing":
        raise condition.token.fail("a rule for a missing reading is set, not added")
    return known[condition.attribute]


def _inner_nodes(attributes: Sequence[Attribute], told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a tree that asks all attributes one after the other, but its leaves."""
    nodes: list[dict[str, Any]] = []
    n_level, first = 1, 1
    for attribute in attributes:
        for _ in range(n_level):
            nodes.append({"split": attribute.name, "first_child": first, "support": 0.0, **told})
            first += attribute.n_focal_sets
        n_level *= attribute.n_focal_sets
    return nodes
