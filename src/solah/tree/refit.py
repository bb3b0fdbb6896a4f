"""Leaves' beliefs by maximum likelihood, where counting would blur them twice.

A prediction is linear in the leaves' distributions: P(c|x) = sum_B w_B(x) nu_B(c). Given the
tree, their most likely values are found by an update that keeps each a distribution::

    nu_B(c) <- [ nu_B(c) * sum_{i in c} w_B(x_i) / P(c|x_i) + a * prior_B(c) ], normalised

The sums are of integers, so neither the rows' order nor the number of threads leaves a trace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import WEIGHT_ONE
from solah.kernels.choose import kernel, map_slices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Described, Float, Int64, Routes
    from solah.model import Tree


def refit_beliefs(
    tree: Tree,
    rows: Described,
    codes: Int64,
    weights: Int64,
    *,
    heads: NDArray[np.intp],
    prior_weight: float,
    n_threads: int = 1,
) -> Float:
    """Return beliefs ``(n_nodes, n_classes)`` whose leaves make the classes most likely.

    Parameters
    ----------
    tree : Tree
        Its leaves' beliefs are the prior.
    rows : Described
        The training rows.
    codes : (n_rows,) the rows' classes
    weights : (n_rows,) what each row counts for
    heads : (n_nodes,) the first leaf of the branch that a leaf is in
    prior_weight : float
        What the prior counts for (a), in the weights' unit.
    n_threads : int, default=1
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    whole = np.where(weights > 0, WEIGHT_ONE, 0)
    use = kernel()
    routes: dict[int, Routes] = {}

    def route(part: slice) -> None:
        found = use.route(rows.rows(part), whole[part], tree.sets, tree.shape)
        routes[part.start] = replace(found, leaves=heads[found.leaves].astype(np.int32))

    def credit(trees: Sequence[Tree]) -> list[Int64]:
        (beliefs,) = (one.belief for one in trees)

        def of_part(part: slice) -> Int64:
            share = np.zeros(beliefs.shape, dtype=np.int64)
            use.credit(routes[part.start], codes[part], weights[part], beliefs, share)
            return share

        return [np.sum(map_slices(of_part, len(rows), n_threads), axis=0)]

    map_slices(route, len(rows), n_threads)
    return refitted([tree], [heads], [prior_weight], credit)[0]


def refitted(
    trees: Sequence[Tree],
    heads: Sequence[NDArray[np.intp]],
    prior_weights: Sequence[float],
    credit: Callable[[Sequence[Tree]], Sequence[Int64]],
    n_rounds: int = 30,
) -> list[Float]:
    """Return the beliefs of trees side by side, given who shares rows' weights among leaves.

    Parameters
    ----------
    trees, heads, prior_weights
        As in ``refit_beliefs``, one a tree.
    credit : callable
        Given trees with the beliefs so far, returns for each the shares ``(n_nodes, n_classes)``.
    n_rounds : int, default=30
    """
    current = list(trees)
    for _ in range(n_rounds):
        for j, credited in enumerate(credit(current)):
            tree, leaf = trees[j], trees[j].split < 0
            pulled = credited[leaf] + prior_weights[j] * tree.belief[leaf]
            belief = current[j].belief.copy()
            belief[leaf] = pulled / pulled.sum(axis=1, keepdims=True)
            current[j] = replace(current[j], belief=belief)
    return [tree.belief[of_tree] for tree, of_tree in zip(current, heads, strict=True)]
