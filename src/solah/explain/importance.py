"""A tree or a model in, the share of its information gain that each input brought out."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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
    gained = np.maximum(gained, 0.0)
    total = gained.sum()
    return gained / total if total > 0 else gained


def attribute_importances(model: Model) -> Float:
    """Return the attributes' shares: what a tree brings upwards is shared by its inputs."""
    share_of = defaultdict(float, {model.root.name: 1.0})
    for tree in reversed(model.trees):
        for attribute, share in zip(tree.inputs, importances(tree), strict=True):
            share_of[attribute.origin] += share_of[tree.name] * float(share)
    return np.array([share_of[attribute.name] for attribute in model.attributes])
