"""LID3: a tree grows from counts, level by level.

Growth never sees a row. It asks for the counts of the branches at the frontier, chooses how to
extend them, and asks again; the rows may be in memory, in files or on a cluster.

For a branch B, with the weights of its rows summed by goal (the paper's symbols)::

    P(c|B)   = weight of goal c in B / weight of B
    E(B)     = - sum_c P(c|B) log2 P(c|B)
    EE(B,x)  = sum_F (weight of B+F / weight of B) E(B+F)
    IG(B,x)  = E(B) - EE(B,x)
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from solah.kernels.arrays import MAX_DEPTH, TreeShape
from solah.learn.tree import Tree, simplify_tree
from solah.model.attributes import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, FocalSets, Int32, Int64
    from solah.learn.rows import Rows
    from solah.model import Attribute


Criterion = Literal["information_gain", "gain_ratio", "in_order"]
NullBranch = Literal["parent", "uniform"]
Leaves = Literal["counted", "refitted"]
LEAVES: tuple[Leaves, ...] = get_args(Leaves)

# Gains that differ by less are ties: rounding must not choose an attribute.
_GAIN_GRAIN = 2.0**-40
_BATCH_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, eq=False)
class Question:
    """What growth asks for: the counts of the leaves of a growing tree that have a slot.

    The answer is ``(slot, attribute's bin, goal)``, sums of weights.
    """

    tree: TreeShape
    slots: Int32

    @property
    def n_slots(self) -> int:
        """How many leaves are asked for."""
        return int(self.slots.max()) + 1


Growth = Generator[Question, "Int64", "GrownTree"]


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


COUNTED = LeafSettings()


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
    leaves: LeafSettings = COUNTED
    n_belief_words: int | None = None
    max_rules: int | None = None
    rule_cost: float = 0.0


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree as a table of nodes, with each node's weight and belief about the goal."""

    shape: TreeShape
    weight: Float
    belief: Float


def growing(sets: FocalSets, goal_weights: Int64, settings: TreeSettings) -> Growth:
    """Grow a tree, asking for counts as they are needed, level by level."""
    draft = _Draft(sets, goal_weights.astype(np.float64), settings)
    while len(draft.frontier):
        shape, level = draft.shape(), draft.next_level()
        for batch in _batches(level, int(sets.bins[-1]) * len(goal_weights)):
            slots = np.full(len(shape.attribute), -1, dtype=np.int32)
            slots[batch] = np.arange(len(batch))
            draft.extend(batch, (yield Question(shape, slots)))
    return draft.finish()


class _Draft:
    """The growing tree: a table of nodes, and the frontier of those that may be split."""

    def __init__(self, sets: FocalSets, goal_weights: Float, settings: TreeSettings) -> None:
        self.sets = sets
        self.settings = settings
        self.depth = 0
        self.attribute = np.full(1, -1, dtype=np.int32)
        self.first_child = np.zeros(1, dtype=np.int32)
        self.used = np.zeros((1, sets.n_attributes), dtype=bool)
        self.counts = goal_weights[None, :]
        self.belief = self._beliefs(self.counts, np.full_like(self.counts, 1 / len(goal_weights)))
        self.frontier = np.flatnonzero(self._may_be_split(np.zeros(1, dtype=np.int64)))

    def shape(self) -> TreeShape:
        # Copied: the counter still walks this tree while a part of its level is being extended.
        return TreeShape(self.attribute.copy(), self.first_child.copy(), self.depth)

    def next_level(self) -> NDArray[np.intp]:
        """Take the frontier; the nodes that are added from now on make the next one."""
        level, self.frontier = self.frontier, np.empty(0, dtype=np.intp)
        self.depth += 1
        return level

    def extend(self, nodes: NDArray[np.intp], counts: Int64) -> None:
        """Split nodes, given their counts by bin, on the attribute that gains most."""
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

    def finish(self) -> GrownTree:
        shape = TreeShape.of(self.attribute, self.first_child, self.sets)
        return GrownTree(shape, self.counts.sum(axis=1), self.belief)

    def _add_children(self, nodes: NDArray[np.intp], split: Int32, counts: Float) -> None:
        sizes = self.sets.sizes[split].astype(np.int64)
        n_known = len(self.attribute)
        starts = np.cumsum(sizes) - sizes
        parent = np.repeat(np.arange(len(nodes)), sizes)
        bins = np.repeat(self.sets.bins[split] - starts, sizes) + np.arange(sizes.sum())
        children = counts[parent, bins]

        self.attribute[nodes] = split
        self.first_child[nodes] = n_known + starts
        used = self.used[nodes].copy()
        used[np.arange(len(nodes)), split] = True
        added = len(children)
        self.attribute = np.append(self.attribute, np.full(added, -1, dtype=np.int32))
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


def _batches(nodes: NDArray[np.intp], numbers_per_node: int) -> Iterator[NDArray[np.intp]]:
    """Cut a level so that the counts of a part fit into a bounded memory."""
    size = max(1, _BATCH_BYTES // (8 * numbers_per_node))
    for start in range(0, len(nodes), size):
        yield nodes[start : start + size]


def _spread_ignorance(counts: Int64, sets: FocalSets) -> Float:
    """Share the rows that are unknown in an attribute among its focal sets."""
    spread = counts.astype(np.float64)
    for a in range(sets.n_attributes):
        unknown_bin = sets.bins[a + 1] - 1
        if counts[:, unknown_bin].any():
            masses = sets.ignorance[sets.offsets[a] : sets.offsets[a + 1]]
            spread[:, sets.bins[a] : unknown_bin] += (
                spread[:, unknown_bin, None, :] * masses[None, :, None]
            )
            spread[:, unknown_bin] = 0.0
    return spread


def _gains(counts: Float, totals: Float, sets: FocalSets, criterion: Criterion) -> Float:
    """Return IG(B, x) for every node and attribute, rounded to a grain.

    With the criterion ``in_order`` the attribute that stands first always gains most.
    """
    if criterion == "in_order":
        return np.tile(-np.arange(sets.n_attributes, dtype=np.float64), (len(totals), 1))
    weight = totals.sum(axis=1)
    shares = counts / weight[:, None, None]
    of_sets = shares.sum(axis=2)
    entropy = -_x_log_x(totals / weight[:, None]).sum(axis=1)
    # weight(B+F)/weight(B) * E(B+F), with the division inside the logarithm multiplied out.
    expected = _sum_by_attribute(_x_log_x(of_sets) - _x_log_x(shares).sum(axis=2), sets)
    gains: Float = entropy[:, None] - expected
    if criterion == "gain_ratio":
        spread = -_sum_by_attribute(_x_log_x(of_sets), sets)
        gains[spread <= _GAIN_GRAIN] = 0.0
        np.divide(gains, spread, out=gains, where=spread > _GAIN_GRAIN)
    rounded: Float = np.rint(gains / _GAIN_GRAIN) * _GAIN_GRAIN
    return rounded


def _x_log_x(x: Float) -> Float:
    return x * np.log2(x, out=np.zeros_like(x), where=x > 0)


def _sum_by_attribute(of_bins: Float, sets: FocalSets) -> Float:
    return np.add.reduceat(of_bins, sets.bins[:-1], axis=1)


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A tree that is to be learnt: its name, its inputs, and how."""

    name: str
    inputs: tuple[Attribute, ...]
    settings: TreeSettings


@dataclass(frozen=True, eq=False)
class _Drafted:
    """A tree with the first leaf of each node's branch: leaves with one head are one branch."""

    tree: Tree
    heads: NDArray[np.intp]
    settings: TreeSettings

    @classmethod
    def of(cls, task: TreeTask, grown: GrownTree, weight_unit: float) -> _Drafted:
        """Name a grown tree, and join its branches as the settings say."""
        settings = task.settings
        tree = Tree(
            name=task.name,
            inputs=task.inputs,
            split=grown.shape.attribute,
            first_child=grown.shape.first_child,
            support=grown.weight * weight_unit,
            belief=grown.belief,
        )
        heads = np.arange(len(tree.split))
        if settings.max_rules is not None or settings.rule_cost > 0:
            tree = simplify_tree(tree, settings.max_rules, settings.rule_cost)
            heads = tree.heads
        if settings.leaves.shrinkage > 0:
            tree = replace(tree, belief=shrink_beliefs(tree, settings.leaves.shrinkage, heads))
        return cls(tree, heads, settings)


def learn_trees(tasks: Sequence[TreeTask], rows: Rows) -> list[Tree]:
    """Grow trees side by side, join their branches, and improve their leaves."""
    drafts = [
        _Drafted.of(task, grown, rows.facts.weight_unit)
        for task, grown in zip(tasks, grow_trees(tasks, rows), strict=True)
    ]
    refitted = [draft for draft in drafts if draft.settings.leaves.leaves == "refitted"]
    beliefs = iter(_refit(refitted, rows))
    return [
        replace(draft.tree, belief=next(beliefs)) if draft in refitted else draft.tree
        for draft in drafts
    ]


def grow_trees(tasks: Sequence[TreeTask], rows: Rows) -> list[GrownTree]:
    """Grow trees side by side: each pass answers what all of them ask."""
    goal_sums = rows.facts.sums
    growths = [growing(flatten(task.inputs), goal_sums, task.settings) for task in tasks]
    grown: dict[int, GrownTree] = {}
    answers: dict[int, Int64 | None] = dict.fromkeys(range(len(tasks)))
    while answers:
        questions = dict(_asked(growths, answers, grown))
        inputs = [tasks[number].inputs for number in questions]
        counts = rows.count(inputs, list(questions.values())) if questions else []
        answers = dict(zip(questions, counts, strict=True))
    return [grown[number] for number in range(len(tasks))]


def _asked(
    growths: Sequence[Growth], answers: Mapping[int, Int64 | None], grown: dict[int, GrownTree]
) -> Iterator[tuple[int, Question]]:
    """Answer growing trees; yield what they ask next, and note those that are done."""
    for number, answer in answers.items():
        try:
            growth = growths[number]
            yield number, next(growth) if answer is None else growth.send(answer)
        except StopIteration as end:
            grown[number] = end.value


def shrink_beliefs(tree: Tree, n_rows: float, heads: NDArray[np.intp]) -> Float:
    """Draw each branch towards its parent, from the root down, as if rows of it were there too.

    A branch that no row reaches has nothing of its own and keeps what it was given.
    """
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


def _refit(drafts: Sequence[_Drafted], rows: Rows) -> list[Float]:
    """Return the beliefs whose leaves make the rows' classes most likely."""
    if not drafts:
        return []
    heads = [draft.heads for draft in drafts]
    current = [draft.tree for draft in drafts]
    for _ in range(max(draft.settings.leaves.n_rounds for draft in drafts)):
        shares = rows.share_weights(current, heads)
        current = [
            _refitted(draft, tree, share, rows.facts.weight_unit)
            for draft, tree, share in zip(drafts, current, shares, strict=True)
        ]
    return [tree.belief[of_tree] for tree, of_tree in zip(current, heads, strict=True)]


def _refitted(draft: _Drafted, tree: Tree, shares: Int64, weight_unit: float) -> Tree:
    """Return a tree after one round of the update."""
    leaf = tree.split < 0
    prior_weight = draft.settings.leaves.prior_weight / weight_unit
    pulled = shares[leaf] + prior_weight * draft.tree.belief[leaf]
    belief = tree.belief.copy()
    belief[leaf] = pulled / pulled.sum(axis=1, keepdims=True)
    return replace(tree, belief=belief)
