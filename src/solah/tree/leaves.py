"""A grown tree and its rows in, the same tree with better leaves out: shrunk, refitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from solah.kernels.arrays import MASS_BITS
from solah.tree.refit import refit_beliefs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.labels.rows import LabelledRows
    from solah.model import Tree

Leaves = Literal["counted", "refitted"]
LEAVES: tuple[Leaves, ...] = get_args(Leaves)


@dataclass(frozen=True)
class LeafSettings:
    """How the beliefs of leaves come from the rows.

    Attributes
    ----------
    leaves : ``"counted"``, or ``"refitted"`` by maximum likelihood
    shrinkage : how many rows of its parent's belief a branch takes on
    prior_weight : how many rows the counted belief weighs when leaves are refitted
    """

    leaves: Leaves = "counted"
    shrinkage: float = 0.0
    prior_weight: float = 2.0


COUNTED = LeafSettings()


def improve_leaves(
    tree: Tree,
    heads: NDArray[np.intp],
    rows: LabelledRows,
    weight_unit: float,
    settings: LeafSettings,
) -> Tree:
    """Shrink the beliefs of a tree of classes, and refit its leaves, as the settings say.

    A branch that no row reaches has nothing of its own and keeps what it was given. Leaves with
    one head are one branch and stay so.
    """
    if settings.shrinkage > 0:
        tree = replace(tree, belief=shrink_beliefs(tree, settings.shrinkage, heads))
    if settings.leaves == "counted":
        return tree
    codes = (rows.goals >> MASS_BITS).astype(np.int64)
    beliefs = refit_beliefs(
        tree,
        rows.inputs,
        codes,
        rows.weights,
        heads=heads,
        prior_weight=settings.prior_weight / weight_unit,
        n_threads=rows.n_threads,
    )
    return replace(tree, belief=beliefs)


def shrink_beliefs(tree: Tree, n_rows: float, heads: NDArray[np.intp]) -> Float:
    """Draw each branch towards its parent, from the root down, as if rows of it were there too."""
    beliefs = tree.belief.copy()
    of_branch = np.bincount(heads, tree.support, len(heads))[heads]
    # Children stand behind their parents, so a parent is settled before its children.
    for node in np.flatnonzero(tree.split >= 0):
        first = tree.first_child[node]
        below = slice(first, first + tree.sets.sizes[tree.split[node]])
        support = of_branch[below, None]
        shrunk = (support * beliefs[below] + n_rows * beliefs[node]) / (support + n_rows)
        beliefs[below] = np.where(support > 0, shrunk, beliefs[below])
    return beliefs
