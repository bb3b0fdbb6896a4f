"""Computes the importance of inputs: their shares of what a tree or a model knows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from solah.model.document import TreeNode
from solah.model.evaluate import completeness, missing_share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Term


def _information_gains(tree: TreeNode) -> Float:
    """Return the inputs' shares of the weighted information gain of all splits."""
    walk = tree.walk
    beliefs = np.array([branch.belief for branch in tree.branches])
    supports = np.array([branch.support for branch in tree.branches])
    leaves = walk.split < 0
    # Joined branches have the same shares, so it does not matter how they share their rows.
    n_leaves = np.bincount(walk.child[leaves], minlength=len(supports))
    rule = np.where(leaves, walk.child, 0)
    weight = np.where(leaves, supports[rule] / n_leaves[rule], 0.0)
    counts = weight[:, None] * beliefs[rule]
    gained = np.zeros(len(tree.inputs))
    # Children are behind their parents, so they are summed up before them.
    for node in np.flatnonzero(~leaves)[::-1].tolist():
        first, place = walk.child[node], walk.split[node]
        below = slice(first, first + tree.inputs[place].n_focal_sets)
        counts[node] = counts[below].sum(axis=0)
        gained[place] += _impurity(counts[node][None])[0] - _impurity(counts[below]).sum()
    return _shares(np.maximum(gained, 0.0))


def _impurity(counts: Float) -> Float:
    """Return the entropy of the classes, times their weight, for each line."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(counts * logs).sum(axis=1))


def _spreads_of_inputs(term: Term) -> Float:
    """Return the inputs' shares of the variance of a term's weights."""
    if len(term.inputs) == 1:
        return np.ones(1)
    counts = term.counts[..., None]
    of_first = counts.sum(axis=1)
    means = (counts * term.weights).sum(axis=1) / np.maximum(of_first, 1e-300)
    whole = (of_first * means).sum(axis=0) / max(float(of_first.sum()), 1e-300)
    within = (counts * (term.weights - means[:, None]) ** 2).sum()
    return _shares(np.array([(of_first * (means - whole) ** 2).sum(), within]))


def feature_importances(model: Model) -> Float:
    """Return the features' shares: what a part brings upwards is shared by its inputs.

    The axes of a term share by the information that they gained or, in a sum, by how much they
    spread its weights. The parts of a group share by how far their weights are from 0 on average.
    """
    share_of = node_shares(model)
    return np.array([share_of[feature.name] for feature in model.features])


def importance_intervals(model: Model) -> dict[str, tuple[float, float]]:
    """Return where the importance of each feature is in nine of ten resamples, by its name.

    Empty if uncertainty was not estimated.
    """
    known = model.uncertainty.recurrences if model.uncertainty else ()
    features = {one.name for one in model.features}
    return {
        one.features[0]: (one.low, one.high)
        for one in known
        if len(one.features) == 1 and not one.word and one.features[0] in features
    }


def node_shares(model: Model) -> Mapping[str, float]:
    """Return the shares of parts and features in what the model knows, by name."""
    share_of = defaultdict(float, {model.root.name: 1.0})
    for node, stage in reversed([*zip(model.nodes, model.program.stages, strict=True)]):
        if isinstance(node, TreeNode):
            shares = _information_gains(node)
            for one, share in zip(node.inputs, shares.tolist(), strict=True):
                share_of[one.origin] += share_of[node.name] * share
            continue
        spreads = list(map(_spread, node.terms))
        for group in stage.groups:
            spreads.append(float(np.linalg.norm([spreads[part] for part in group.parts])))
        for group in reversed(stage.groups):
            shares = _shares(np.array([spreads[part] for part in group.parts]))
            for part, share in zip(group.parts, shares.tolist(), strict=True):
                share_of[stage.part_names[part]] += share_of[group.name] * share
        for term, name in zip(node.terms, stage.part_names, strict=False):
            shares = _spreads_of_inputs(term)
            for side, share in zip(term.inputs, shares.tolist(), strict=True):
                share_of[side.feature.origin] += share_of[name] * share
    return share_of


def known_of(model: Model, readings: Float) -> Float:
    """Return the share of a model's knowledge that the known readings of each row can reach.

    In a sum it is that of the terms that are not missing. Else it is that of the features whose
    reading is known, in the importances.

    Parameters
    ----------
    model : Model
    readings : ndarray of shape (n_rows, n_features)
    """
    if model.program.has_variances:
        return completeness(missing_share(model.program, readings))
    shares = feature_importances(model)
    if not shares.any():  # no reading makes a difference
        return np.ones(len(readings))
    return np.asarray(np.minimum((~np.isnan(readings) * shares).sum(axis=1), 1.0))


def _spread(term: Term) -> float:
    """Return how far a term's weights are from 0, over the training rows (root mean square)."""
    squares = (term.weights**2).sum(axis=-1)
    return float(np.sqrt((term.counts * squares).sum() / max(float(term.counts.sum()), 1e-300)))


def _shares(parts: Float) -> Float:
    total = parts.sum()
    return parts / total if total > 0 else parts
