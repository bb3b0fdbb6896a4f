"""Leaves' beliefs by maximum likelihood, where counting would blur them twice.

A prediction is linear in the leaves' distributions: P(c|x) = sum_B w_B(x) nu_B(c). Given the
tree, their most likely values are found by an update that keeps each a distribution::

    nu_B(c) <- [ nu_B(c) * sum_{i in c} w_B(x_i) / P(c|x_i) + a * prior_B(c) ], normalised
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.tree.paths import branch_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Described, Float
    from solah.model import Tree

_GRAIN = 2.0**-30


def refit_beliefs(
    tree: Tree,
    rows: Described,
    codes: NDArray[np.intp],
    weights: Float,
    *,
    prior_weight: float = 2.0,
    n_rounds: int = 30,
) -> Float:
    """Return beliefs ``(n_nodes, n_classes)`` whose leaves make the classes most likely.

    Parameters
    ----------
    tree : Tree
        Its leaves' beliefs are the prior.
    rows : Described
        The training rows.
    codes : (n_rows,) the rows' classes
    weights : (n_rows,) how many rows each row counts for
    prior_weight : float, default=2.0
        How many rows the prior weighs (a).
    n_rounds : int, default=30
    """
    paths = branch_shares(tree, rows)
    observed = np.zeros((len(rows), tree.belief.shape[1]))
    observed[np.arange(len(rows)), codes] = weights
    prior, beliefs = tree.belief, tree.belief.copy()
    for _ in range(n_rounds):
        predicted = np.asarray(paths @ beliefs)
        pull = np.divide(observed, predicted, out=np.zeros_like(observed), where=predicted > 0)
        beliefs = beliefs * np.asarray(paths.T @ pull) + prior_weight * prior
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    inner = tree.split >= 0
    beliefs[inner] = prior[inner]
    # Rounded, since the order of the rows leaves its trace in the last bits.
    return np.asarray(np.rint(beliefs / _GRAIN) * _GRAIN)
