"""LID3: trees grow from counts, level by level; then branches are joined and leaves improved.

For a branch B, with the weights of its rows summed by target (the paper's symbols)::

    P(c|B)   = weight of target c in B / weight of B
    E(B)     = - sum_c P(c|B) log2 P(c|B)
    EE(B,x)  = sum_F (weight of B+F / weight of B) E(B+F)
    IG(B,x)  = E(B) - EE(B,x)

A prediction is linear in the leaves' distributions, P(c|x) = sum_B w_B(x) nu_B(c), so that counting
them with fractional weights blurs twice. Given the tree, their most likely values are found by an
update that keeps each a distribution::

    nu_B(c) <- [ nu_B(c) * sum_{i in c} w_B(x_i) / P(c|x_i) + a * prior_B(c) ], normalised
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from solah.kernels.arrays import MAX_DEPTH, TreeShape
from solah.learn.tree import Tree, simplify_tree
from solah.model.features import flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, FocalSets, Int32, Int64
    from solah.learn.memory import MemoryRows
    from solah.model import Feature

Criterion = Literal["information_gain", "gain_ratio", "in_order"]
NullBranch = Literal["parent", "uniform"]
Leaves = Literal["counted", "refitted"]
LEAVES: tuple[Leaves, ...] = get_args(Leaves)

# Gains that differ by less are ties: rounding must not choose a feature.
_GAIN_GRAIN = 2.0**-40
# The counts of a part of a level fit into this memory.
_BATCH_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class LeafSettings:
    """How the beliefs of leaves come from the rows.

    Attributes
    ----------
    leaves : ``"counted"``, or ``"refitted"`` by maximum likelihood
    shrinkage : how many rows of its parent's belief a branch takes on
    prior_weight : how many rows the counted belief weighs when leaves are refitted
    n_rounds : how often refitted leaves are updated
    """

    leaves: Leaves = "counted"
    shrinkage: float = 0.0
    prior_weight: float = 2.0
    n_rounds: int = 30


@dataclass(frozen=True)
class TreeSettings:
    """What is split, on what, when to stop, and what leaves believe.

    ``min_support`` is in the counts' own unit; ``min_gain`` None splits even where nothing is
    gained, as the paper does. ``n_belief_words`` is how many words describe what a tree below
    believes; None takes its distribution as masses, as the paper does. Branches are joined until
    there are at most ``max_rules``, and while one is worth less than ``rule_cost`` nats.
    """

    criterion: Criterion = "information_gain"
    purity: float = 1.0
    min_support: float = 0.0
    min_gain: float | None = None
    max_depth: int | None = None
    null_branch: NullBranch = "parent"
    leaves: LeafSettings = LeafSettings()
    n_belief_words: int | None = None
    max_rules: int | None = None
    rule_cost: float = 0.0


@dataclass(frozen=True, eq=False)
class Question:
    """The leaves of a growing tree whose counts are asked for: those that have a slot.

    The answer is ``(slot, feature's bin, target)``, sums of weights.
    """

    tree: TreeShape
    slots: Int32

    @property
    def n_slots(self) -> int:
        """How many leaves are asked for."""
        return int(self.slots.max()) + 1


ROOT = Question(TreeShape.stump(), np.zeros(1, dtype=np.int32))
"""The counts of all rows."""


def learn_tree(
    name: str, inputs: tuple[Feature, ...], settings: TreeSettings, rows: MemoryRows
) -> Tree:
    """Grow a tree, join its branches, and improve its leaves."""
    unit, leaves = rows.facts.weight_unit, settings.leaves
    grown = _grow(inputs, settings, rows)
    split, first_child, support = grown.feature, grown.first_child, grown.counts.sum(axis=1)
    tree = Tree(name, inputs, split, first_child, support * unit, grown.belief)
    heads = np.arange(len(tree.split))
    if settings.max_rules is not None or settings.rule_cost > 0:
        tree = simplify_tree(tree, settings.max_rules, settings.rule_cost)
        heads = tree.heads
    if leaves.shrinkage > 0:
        tree = replace(tree, belief=_shrunk(tree, leaves.shrinkage, heads))
    if leaves.leaves == "refitted":
        is_leaf, counted = tree.split < 0, tree
        for _ in range(leaves.n_rounds):
            (shares,) = rows.share_weights([tree], [heads])
            pulled = shares[is_leaf] + leaves.prior_weight / unit * counted.belief[is_leaf]
            belief = tree.belief.copy()
            belief[is_leaf] = pulled / pulled.sum(axis=1, keepdims=True)
            tree = replace(tree, belief=belief)
        tree = replace(tree, belief=tree.belief[heads])
    return tree


def _shrunk(tree: Tree, n_rows: float, heads: NDArray[np.intp]) -> Float:
    """Draw each branch towards its parent, from the root down, as if rows of it were there too.

    A branch that no row reaches has nothing of its own and keeps what it was given.
    """
    beliefs = tree.belief.copy()
    of_branch = np.bincount(heads, tree.support, len(heads))[heads]
    # Children follow their parents, so a parent is done before its children.
    for node in np.flatnonzero(tree.split >= 0).tolist():
        below = tree.children(node)
        support = of_branch[below, None]
        shrunk = (support * beliefs[below] + n_rows * beliefs[node]) / (support + n_rows)
        beliefs[below] = np.where(support > 0, shrunk, beliefs[below])
    return beliefs


def _grow(inputs: tuple[Feature, ...], settings: TreeSettings, rows: MemoryRows) -> _Draft:
    """Grow a tree level by level, from counts of the rows at the leaves of each level."""
    target_weights = rows.facts.sums.astype(np.float64)
    draft = _Draft(flatten(inputs), target_weights, settings)
    while len(draft.frontier):
        shape, level = draft.shape(), draft.next_level()
        size = max(1, _BATCH_BYTES // (8 * int(draft.sets.bins[-1]) * len(target_weights)))
        for start in range(0, len(level), size):
            batch = level[start : start + size]
            slots = np.full(len(shape.feature), -1, dtype=np.int32)
            slots[batch] = np.arange(len(batch))
            (counts,) = rows.count([inputs], [Question(shape, slots)])
            draft.extend(batch, counts)
    return draft


class _Draft:
    """The growing tree: a table of nodes, and the frontier of those that may be split."""

    def __init__(self, sets: FocalSets, target_weights: Float, settings: TreeSettings) -> None:
        self.sets = sets
        self.settings = settings
        self.depth = 0
        self.feature = np.full(1, -1, dtype=np.int32)
        self.first_child = np.zeros(1, dtype=np.int32)
        self.used = np.zeros((1, sets.n_features), dtype=bool)
        self.counts = target_weights[None, :]
        self.belief = self._beliefs(self.counts, np.full_like(self.counts, 1 / len(target_weights)))
        self.frontier = np.flatnonzero(self._may_be_split(np.zeros(1, dtype=np.int64)))

    def shape(self) -> TreeShape:
        # Copied: the counter still walks this tree while a part of its level is being extended.
        return TreeShape(self.feature.copy(), self.first_child.copy(), self.depth)

    def next_level(self) -> NDArray[np.intp]:
        """Take the frontier; the nodes that are added from now on make the next one."""
        level, self.frontier = self.frontier, np.empty(0, dtype=np.intp)
        self.depth += 1
        return level

    def extend(self, nodes: NDArray[np.intp], counts: Int64) -> None:
        """Split nodes, given their counts by bin, on the feature that gains most."""
        # The totals of these very counts: with the parent's, whose unknown rows were shared in
        # floats, a rounding error would pass for a gain.
        totals = counts[:, : self.sets.bins[1]].sum(axis=1).astype(np.float64)
        reached = totals.any(axis=1)
        nodes, totals = nodes[reached], totals[reached]
        shared = _spread_ignorance(counts[reached], self.sets)
        gains = _gains(shared, totals, self.sets, self.settings.criterion)
        gains[self.used[nodes]] = -np.inf
        best = np.argmax(gains, axis=1).astype(np.int32)
        if self.settings.min_gain is not None:
            worthy = gains[np.arange(len(nodes)), best] > self.settings.min_gain
            nodes, shared, best = nodes[worthy], shared[worthy], best[worthy]
        self._add_children(nodes, best, shared)

    def _add_children(self, nodes: NDArray[np.intp], split: Int32, counts: Float) -> None:
        sizes = self.sets.sizes[split].astype(np.int64)
        n_known = len(self.feature)
        starts = np.cumsum(sizes) - sizes
        parent = np.repeat(np.arange(len(nodes)), sizes)
        bins = np.repeat(self.sets.bins[split] - starts, sizes) + np.arange(sizes.sum())
        children = counts[parent, bins]

        self.feature[nodes] = split
        self.first_child[nodes] = n_known + starts
        used = self.used[nodes].copy()
        used[np.arange(len(nodes)), split] = True
        added = len(children)
        self.feature = np.append(self.feature, np.full(added, -1, dtype=np.int32))
        self.first_child = np.append(self.first_child, np.zeros(added, dtype=np.int32))
        self.used = np.concatenate([self.used, used[parent]])
        self.counts = np.concatenate([self.counts, children])
        if self.settings.null_branch == "parent":
            unsupported = self.belief[nodes][parent]
        else:
            unsupported = np.full_like(children, 1 / children.shape[1])
        self.belief = np.concatenate([self.belief, self._beliefs(children, unsupported)])
        new = np.arange(n_known, n_known + added)
        self.frontier = np.concatenate([self.frontier, new[self._may_be_split(new)]])

    def _may_be_split(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        settings = self.settings
        weight: Float = self.counts[nodes].sum(axis=1)
        may: NDArray[np.bool_] = (weight > 0) & (weight >= settings.min_support)
        may &= self.belief[nodes].max(axis=1) < settings.purity
        may &= ~self.used[nodes].all(axis=1)
        if self.depth >= min(settings.max_depth or MAX_DEPTH, MAX_DEPTH):
            may[:] = False
        return may

    @staticmethod
    def _beliefs(counts: Float, unsupported: Float) -> Float:
        """Divide counts by their sum; a branch without weight believes what it is given."""
        weight = counts.sum(axis=1, keepdims=True)
        beliefs = unsupported.copy()
        np.divide(counts, weight, out=beliefs, where=weight > 0)
        return beliefs


def _spread_ignorance(counts: Int64, sets: FocalSets) -> Float:
    """Share the rows that are unknown in a feature among its focal sets."""
    spread = counts.astype(np.float64)
    for a in range(sets.n_features):
        unknown_bin = sets.bins[a + 1] - 1
        if counts[:, unknown_bin].any():
            masses = sets.mean_masses[sets.offsets[a] : sets.offsets[a + 1]]
            spread[:, sets.bins[a] : unknown_bin] += (
                spread[:, unknown_bin, None, :] * masses[None, :, None]
            )
            spread[:, unknown_bin] = 0.0
    return spread


def _gains(counts: Float, totals: Float, sets: FocalSets, criterion: Criterion) -> Float:
    """Return IG(B, x) for every node and feature, rounded to a grain.

    With the criterion ``in_order`` the first feature always gains most.
    """
    if criterion == "in_order":
        return np.tile(-np.arange(sets.n_features, dtype=np.float64), (len(totals), 1))
    weight = totals.sum(axis=1)
    shares = counts / weight[:, None, None]
    of_sets = shares.sum(axis=2)
    entropy = -_x_log_x(totals / weight[:, None]).sum(axis=1)
    # weight(B+F)/weight(B) * E(B+F), with the division inside the logarithm multiplied out.
    expected = _sum_by_feature(_x_log_x(of_sets) - _x_log_x(shares).sum(axis=2), sets)
    gains: Float = entropy[:, None] - expected
    if criterion == "gain_ratio":
        spread = -_sum_by_feature(_x_log_x(of_sets), sets)
        gains[spread <= _GAIN_GRAIN] = 0.0
        np.divide(gains, spread, out=gains, where=spread > _GAIN_GRAIN)
    rounded: Float = np.rint(gains / _GAIN_GRAIN) * _GAIN_GRAIN
    return rounded


def _x_log_x(x: Float) -> Float:
    return x * np.log2(x, out=np.zeros_like(x), where=x > 0)


def _sum_by_feature(of_bins: Float, sets: FocalSets) -> Float:
    return np.add.reduceat(of_bins, sets.bins[:-1], axis=1)
