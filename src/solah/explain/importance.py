"""Computes the importance of inputs: their shares of what a tree or a model knows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import fusion_inputs, measured_by, unknown_of
from solah.model.document import Fusion, Tree
from solah.model.encode import code, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Node


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
    # Children stand behind their parents, so they are summed up before them.
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
    """Return the attributes' shares: what a node brings upwards is shared by its inputs.

    A tree's inputs share by the information they gained, or, where it is weighed, by how much
    they part the evidence of its branches; a fusion's by how far their evidence moves beliefs on
    average.
    """
    share_of = node_shares(model)
    return np.array([share_of[attribute.name] for attribute in model.attributes])


def node_shares(model: Model) -> Mapping[str, float]:
    """Return the shares of nodes and attributes in what the model knows, by name."""
    spreads: dict[str, float] = {}
    for node in model.nodes:
        spreads[node.name] = _spread(node, spreads)
    weighed = fusion_inputs(model.nodes)
    share_of = defaultdict(float, {model.root.name: 1.0})
    for node in reversed(model.nodes):
        if isinstance(node, Tree):
            origins = [attribute.origin for attribute in node.inputs]
            shares = evidence_importances(node) if node.name in weighed else importances(node)
        else:
            origins = list(node.origins)
            shares = _shares(np.array([spreads[name] for name in origins]))
        for origin, share in zip(origins, shares.tolist(), strict=True):
            share_of[origin] += share_of[node.name] * share
    return share_of


def known_shares(rows: Float, importances: Float) -> Float:
    """Return the share of a model's knowledge that the known readings of each row can reach.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_attributes)
        NaN where a reading is not known.
    importances : ndarray of shape (n_attributes,)
    """
    if not importances.any():  # nothing was learnt that a reading could tell
        return np.ones(len(rows))
    return np.asarray(np.minimum((~np.isnan(rows) * importances).sum(axis=1), 1.0))


def known_of(model: Model, table: Table) -> Float:
    """Return the share of a model's knowledge that the known readings of each row can reach.

    Where a fusion decides, it is that of the trees that are known in the spread of all evidence;
    else that of the attributes whose reading is known in the importances.
    """
    if isinstance(model.root, Fusion) and any(tree.variance for tree in model.trees):
        unknown = unknown_of(model, code(table, measured_by(model.nodes)))
        return unknown[model.root.name].known
    return known_shares(encode(table, model.attributes), attribute_importances(model))


def _spread(node: Node, spreads: Mapping[str, float]) -> float:
    """Return how far a node's evidence is from none, over the training rows (root mean square)."""
    if not isinstance(node, Tree):
        return float(np.linalg.norm([spreads[name] for name in node.origins]))
    weight = node.support[node.leaves]
    squares = (node.evidence[node.leaves] ** 2).sum(axis=1)
    return float(np.sqrt(weight @ squares / max(weight.sum(), 1e-300)))


def _shares(parts: Float) -> Float:
    total = parts.sum()
    return parts / total if total > 0 else parts
