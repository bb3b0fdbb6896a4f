"""Follows rows through the trees of a model: masses, shares, averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import masses
from solah.model.beliefs import read_inputs, signals_of
from solah.model.encode import Coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Tree

_BLOCK_NUMBERS = 1 << 21


@dataclass(frozen=True, eq=False)
class Walk:
    """Rows on their way through a model.

    Attributes
    ----------
    rows : the rows
    signals : what goes up from each node, by its name
    described : for each tree by name, the masses ``(n_rows, n_focal_sets)`` of each input
    """

    rows: Coded
    signals: Mapping[str, Float]
    described: Mapping[str, list[Float]]


def walk(model: Model, rows: Coded) -> Walk:
    """Send rows through a model."""
    signals = signals_of(model, rows)
    described = {tree.name: _describe(tree, rows, signals) for tree in model.trees}
    return Walk(rows, signals, described)


def _describe(tree: Tree, rows: Coded, below: Mapping[str, Float]) -> list[Float]:
    read = read_inputs(tree, rows, below, slice(0, rows.n_rows))
    return [
        read.given[:, start : start + int(tree.sets.sizes[a])]
        if start >= 0
        else masses(read.values[:, a], tree.sets, a)
        for a, start in enumerate(read.offsets.tolist())
    ]


def shares(tree: Tree, described: Sequence[Float]) -> Float:
    """Return how much of each row reaches each node: ``(n_nodes, n_rows)``, 1 at the root."""
    reached = np.ones((len(tree.split), len(described[0])))
    for node in np.flatnonzero(tree.split >= 0).tolist():
        below = tree.children(node)
        reached[below.start : below.stop] = reached[node] * described[tree.split[node]].T
    return reached


def averages(tree: Tree, leaves: Float, described: Sequence[Float]) -> Float:
    """Average the scores of the leaves below each node: ``(n_nodes, n_rows, n_goals)``.

    Parameters
    ----------
    tree : Tree
    leaves : ndarray of shape (n_nodes, n_goals)
        The scores of each leaf.
    described : the masses of the tree's inputs
    """
    n_rows = len(described[0])
    scores = np.repeat(leaves[:, None, :], n_rows, axis=1)
    # Children stand behind their parents, so they are known before them.
    for node in np.flatnonzero(tree.split >= 0)[::-1].tolist():
        below = tree.children(node)
        scores[node] = weighted_sum(
            scores[below.start : below.stop].transpose(1, 0, 2), described[tree.split[node]]
        )
    return scores


def weighted_sum(scores: Float, masses: Float) -> Float:
    """Sum ``scores`` ``(n_rows, n_sets, n_goals)`` with masses ``(n_rows, n_sets)``, set by set.

    One after the other, so that a row comes out the same with any other rows beside it.
    """
    total = np.zeros((len(scores), scores.shape[2]))
    for k, mass in enumerate(masses.T):
        total += scores[:, k] * mass[:, None]
    return total


def in_blocks(rows: Coded, model: Model) -> Iterator[Coded]:
    """Cut rows into pieces that go through a model at once."""
    size = rows_at_once(model)
    for start in range(0, max(rows.n_rows, 1), size):
        stop = min(start + size, rows.n_rows)
        columns = {name: values[start:stop] for name, values in rows.columns.items()}
        yield Coded(columns, stop - start)


def rows_at_once(model: Model) -> int:
    """Return how many rows go together, so that the scores of the largest tree fit."""
    largest = max(len(tree.split) for tree in model.trees)
    return max(16, _BLOCK_NUMBERS // (largest * model.goal.size))
