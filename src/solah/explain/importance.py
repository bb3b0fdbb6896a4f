"""Computes the importance of inputs: their shares of what a tree or a model knows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from solah.model.evaluate import completeness, missing_share
from solah.model.program import Link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Tree


def importances(tree: Tree) -> Float:
    """Return the inputs' shares of the weighted information gain of all splits."""
    belief = tree.belief
    logs = np.log2(belief, out=np.zeros_like(belief), where=belief > 0)
    impurity = -(belief * logs).sum(axis=1) * tree.support
    gained = np.zeros(len(tree.inputs))
    for node in np.flatnonzero(tree.split >= 0):
        below = tree.children(int(node))
        gained[tree.split[node]] += impurity[node] - impurity[below.start : below.stop].sum()
    return _shares(np.maximum(gained, 0.0))


def evidence_importances(tree: Tree) -> Float:
    """Return the inputs' shares of the variance of the branches' evidence."""
    weight = np.where(tree.split < 0, tree.support, 0.0)
    total = weight[:, None] * tree.evidence
    parted = np.zeros(len(tree.inputs))
    # Children are behind their parents, so they are summed up before them.
    for node in np.flatnonzero(tree.split >= 0)[::-1].tolist():
        below = slice(tree.children(node).start, tree.children(node).stop)
        weight[node], total[node] = weight[below].sum(), total[below].sum(axis=0)
        known = weight[below] > 0
        if known.any():
            means = total[below][known] / weight[below][known, None]
            apart = ((means - total[node] / weight[node]) ** 2).sum(axis=1)
            parted[tree.split[node]] += weight[below][known] @ apart
    return _shares(parted)


def attribute_importances(model: Model) -> Float:
    """Return the attributes' shares: what a part brings upwards is shared by its inputs.

    The axes of a term share by the information that they gained or, in a sum, by how much they
    spread its weights. The parts of a group share by how far their weights are from 0 on average.
    """
    share_of = node_shares(model)
    return np.array([share_of[attribute.name] for attribute in model.attributes])


def node_shares(model: Model) -> Mapping[str, float]:
    """Return the shares of nodes and attributes in what the model knows, by name."""
    trees = {tree.name: tree for tree in model.trees}
    share_of = defaultdict(float, {model.root.name: 1.0})
    for stage in reversed(model.program.stages):
        is_sum = stage.link is not Link.SHARES
        spreads = [_spread(trees[term.name]) for term in stage.terms]
        for group in stage.groups:
            spreads.append(float(np.linalg.norm([spreads[part] for part in group.parts])))
        for group in reversed(stage.groups if is_sum else ()):
            shares = _shares(np.array([spreads[part] for part in group.parts]))
            for part, share in zip(group.parts, shares.tolist(), strict=True):
                share_of[stage.part_names[part]] += share_of[group.name] * share
        for tree in (trees[term.name] for term in stage.terms):
            shares = evidence_importances(tree) if is_sum else importances(tree)
            for one, share in zip(tree.inputs, shares.tolist(), strict=True):
                share_of[one.origin] += share_of[tree.name] * share
    return share_of


def known_of(model: Model, readings: Float) -> Float:
    """Return the share of a model's knowledge that the known readings of each row can reach.

    In a sum it is that of the terms that are not missing. Else it is that of the attributes whose
    reading is known, in the importances.

    Parameters
    ----------
    model : Model
    readings : ndarray of shape (n_rows, n_features)
    """
    if model.program.has_variances:
        return completeness(missing_share(model.program, readings))
    shares = attribute_importances(model)
    if not shares.any():  # no reading makes a difference
        return np.ones(len(readings))
    return np.asarray(np.minimum((~np.isnan(readings) * shares).sum(axis=1), 1.0))


def _spread(tree: Tree) -> float:
    """Return how far a tree's weights are from 0, over the training rows (root mean square)."""
    support = tree.support[tree.leaves]
    squares = (tree.evidence[tree.leaves] ** 2).sum(axis=1)
    return float(np.sqrt(support @ squares / max(support.sum(), 1e-300)))


def _shares(parts: Float) -> Float:
    total = parts.sum()
    return parts / total if total > 0 else parts
