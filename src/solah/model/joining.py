"""Joins branches of trees whose scores are nearly the same.

Leaves below one node with nearly the same scores are joined into one branch: neighbours where focal
sets have an order (``at least medium-or-high``), any two where they have none. A node whose
leaves are all joined is a leaf from then on, and may be joined in turn. The pair that loses least
goes first, so this is cost-complexity pruning in smaller steps.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int32
    from solah.model import Tree


class JoinCost(Protocol):
    """What is lost when two branches become one."""

    def __call__(self, first: Branch, second: Branch) -> float:
        """Return the loss, in units of log-likelihood (nats)."""


@dataclass(eq=False)
class Branch:
    """Leaves that are one branch, or an inner node, which cannot be joined.

    Attributes
    ----------
    places : the places of the children among their siblings
    weight : the training weight of the leaves
    total : their scores, summed with their weights; None for an inner node
    """

    places: list[int]
    weight: float = 0.0
    total: tuple[float, ...] | None = None
    is_gone: bool = False


@dataclass(frozen=True, eq=False)
class JoinedTree:
    """What is left of a tree.

    Attributes
    ----------
    split, first_child : the table of its nodes
    kept : (n_nodes,) the number that each node had before
    heads : (n_nodes,) the first leaf of the branch that a leaf is in; else the node itself
    homes : (n_nodes_before,) for each leaf that was: the first leaf of the branch it is in now
    """

    split: Int32
    first_child: Int32
    kept: NDArray[np.intp]
    heads: NDArray[np.intp]
    homes: NDArray[np.intp]

    @classmethod
    def unchanged(cls, tree: Tree) -> JoinedTree:
        """Return a tree of which nothing is joined."""
        nodes = np.arange(len(tree.split))
        return cls(tree.split, tree.first_child, nodes, nodes, nodes)


def count_cost(first: Branch, second: Branch) -> float:
    """Return the log-likelihood that is lost when two branches' counts of classes are pooled."""
    assert first.total is not None
    assert second.total is not None
    pooled = [a + b for a, b in zip(first.total, second.total, strict=True)]
    return _log_likelihood(first.total) + _log_likelihood(second.total) - _log_likelihood(pooled)


def _log_likelihood(counts: Iterable[float]) -> float:
    known = [one for one in counts if one > 0]
    whole = sum(known)
    return sum(one * math.log(one) for one in known) - (whole * math.log(whole) if whole else 0.0)


def score_cost(first: Branch, second: Branch) -> float:
    """Return about how much log-likelihood is lost when two branches take their mean score.

    That of a row is at most half the square of how far its evidence moves, over four.
    """
    assert first.total is not None
    assert second.total is not None
    if not first.weight or not second.weight:
        return 0.0
    distance = sum(
        (a / first.weight - b / second.weight) ** 2
        for a, b in zip(first.total, second.total, strict=True)
    )
    return distance * first.weight * second.weight / (first.weight + second.weight) / 8


def join_branches(
    trees: Sequence[Tree],
    scores: Sequence[Float],
    cost: JoinCost,
    *,
    max_rules: int | None = None,
    rule_cost: float = 0.0,
    is_additive: bool = False,
) -> list[JoinedTree]:
    """Join branches while that costs little, or while there are too many.

    Parameters
    ----------
    trees : sequence of Tree
    scores : sequence of ndarray of shape (n_nodes, n_goals)
        The scores of each tree's nodes: beliefs or evidence.
    cost : JoinCost
    max_rules : int, default=None
        Go on until there are at most so many branches with weight in all trees together.
    rule_cost : float, default=0.0
        What a branch must be worth to stay.
    is_additive : bool, default=False
        Whether a tree with a single branch adds nothing, and so counts as no rule.

    Returns
    -------
    joined : list of JoinedTree
    """
    return _Joiner(trees, scores, cost, is_additive).join(max_rules, rule_cost)


@dataclass(eq=False)
class _Family:
    """The branches below one node, in the order of their places."""

    tree: int
    node: int
    is_ordered: bool
    branches: list[Branch]
    parent: tuple[_Family, Branch] | None = None
    is_leaf: bool = False


class _Joiner:
    def __init__(
        self, trees: Sequence[Tree], scores: Sequence[Float], cost: JoinCost, is_additive: bool
    ) -> None:
        self.trees, self.cost, self.is_additive = trees, cost, is_additive
        self.families: list[dict[int, _Family]] = [
            self._families(t, tree, of_nodes)
            for t, (tree, of_nodes) in enumerate(zip(trees, scores, strict=True))
        ]
        self.n_rules = [int(np.count_nonzero(t.support[t.leaves] > 0)) for t in trees]
        self._ticket = count()
        self._queue: list[tuple[float, int, _Family, Branch, Branch]] = []
        for of_tree in self.families:
            for family in of_tree.values():
                self._offer(family, _pairs(family.branches, family.is_ordered))

    @staticmethod
    def _families(t: int, tree: Tree, scores: Float) -> dict[int, _Family]:
        totals = (scores * tree.support[:, None]).tolist()
        families: dict[int, _Family] = {}
        owners: dict[int, tuple[_Family, Branch]] = {}
        for node in np.flatnonzero(tree.split >= 0).tolist():
            is_ordered = tree.inputs[tree.split[node]].is_ordered
            family = _Family(t, node, is_ordered, [], owners.get(node))
            for place, child in enumerate(tree.children(node)):
                branch = Branch([place])
                if tree.split[child] < 0:
                    branch.weight, branch.total = float(tree.support[child]), tuple(totals[child])
                else:
                    owners[child] = family, branch
                family.branches.append(branch)
            families[node] = family
        return families

    def join(self, max_rules: int | None, rule_cost: float) -> list[JoinedTree]:
        limit = math.inf if max_rules is None else max_rules
        while self._queue:
            cost, _, family, first, second = heapq.heappop(self._queue)
            if first.is_gone or second.is_gone:
                continue
            if cost > rule_cost and self._count() <= limit:
                break
            self._join(family, first, second)
        return list(map(_rebuild, self.trees, self.families))

    def _count(self) -> int:
        if not self.is_additive:
            return sum(self.n_rules)
        return sum(n_rules for n_rules in self.n_rules if n_rules > 1)

    def _join(self, family: _Family, first: Branch, second: Branch) -> None:
        assert first.total is not None
        assert second.total is not None
        first.is_gone = second.is_gone = True
        if first.weight and second.weight:
            self.n_rules[family.tree] -= 1
        both = Branch(
            places=sorted(first.places + second.places),
            weight=first.weight + second.weight,
            total=tuple(a + b for a, b in zip(first.total, second.total, strict=True)),
        )
        place = family.branches.index(first)
        family.branches[place] = both
        family.branches.remove(second)
        self._settle(family, both)

    def _settle(self, family: _Family, branch: Branch) -> None:
        """Offer a new branch to its neighbours; alone, it turns its node into a leaf."""
        if len(family.branches) > 1:
            self._offer(family, _pairs_with(branch, family.branches, family.is_ordered))
            return
        family.is_leaf = True
        if family.parent is not None:
            above, place = family.parent
            place.weight, place.total = branch.weight, branch.total
            self._settle(above, place)

    def _offer(self, family: _Family, pairs: Iterable[tuple[Branch, Branch]]) -> None:
        for first, second in pairs:
            entry = (self.cost(first, second), next(self._ticket), family, first, second)
            heapq.heappush(self._queue, entry)


def _pairs(branches: Sequence[Branch], is_ordered: bool) -> Iterable[tuple[Branch, Branch]]:
    if is_ordered:
        candidates = list(pairwise(branches))
    else:
        candidates = [(a, b) for i, a in enumerate(branches) for b in branches[i + 1 :]]
    return [(a, b) for a, b in candidates if a.total is not None and b.total is not None]


def _pairs_with(
    branch: Branch, branches: Sequence[Branch], is_ordered: bool
) -> Iterable[tuple[Branch, Branch]]:
    return [pair for pair in _pairs(branches, is_ordered) if branch in pair]


def _rebuild(tree: Tree, families: dict[int, _Family]) -> JoinedTree:
    """Give the nodes that are left new numbers, level by level, and find where old leaves went."""
    split, first_child, kept, heads = [], [], [0], [0]
    homes = np.zeros(len(tree.split), dtype=np.intp)
    for new, old in enumerate(kept):  # which grows on the way
        family = families.get(old)
        if family is None or family.is_leaf:
            split.append(-1)
            first_child.append(0)
            homes[_leaves_below(tree, old)] = heads[new]
            continue
        first = len(kept)
        split.append(int(tree.split[old]))
        first_child.append(first)
        kept.extend(tree.children(old))
        head_of = {
            place: first + branch.places[0] for branch in family.branches for place in branch.places
        }
        heads.extend(head_of[place] for place in sorted(head_of))
    return JoinedTree(
        np.array(split, dtype=np.int32),
        np.array(first_child, dtype=np.int32),
        np.array(kept, dtype=np.intp),
        np.array(heads, dtype=np.intp),
        homes,
    )


def _leaves_below(tree: Tree, node: int) -> list[int]:
    """List the leaves of a subtree."""
    leaves, stack = [], [node]
    while stack:
        one = stack.pop()
        if tree.split[one] < 0:
            leaves.append(one)
        else:
            stack.extend(tree.children(one))
    return leaves


def simplify_tree(tree: Tree, max_rules: int | None, rule_cost: float) -> Tree:
    """Join the branches of one tree of counted beliefs; what it counted is pooled."""
    (joined,) = join_branches(
        [tree], [tree.belief], count_cost, max_rules=max_rules, rule_cost=rule_cost
    )
    return with_leaves(tree, joined, pooled_beliefs(tree, joined))


def pooled_beliefs(tree: Tree, joined: JoinedTree) -> Float:
    """Pool what the leaves counted that are one branch now: ``(n_nodes_left, n_goals)``."""
    counts = np.zeros((len(joined.kept), tree.belief.shape[1]))
    np.add.at(counts, joined.homes[tree.leaves], (tree.belief * tree.support[:, None])[tree.leaves])
    weight = counts.sum(axis=1, keepdims=True)
    belief = tree.belief[joined.kept].copy()
    np.divide(counts, weight, out=belief, where=weight > 0)
    return belief


def weighted_variance(scores: Float, weights: Float) -> float:
    """Return how the evidence of leaves varies, the mean over the classes; 0 without weights."""
    if not weights.sum() > 0:
        return 0.0
    away = scores - np.average(scores, axis=0, weights=weights)
    return float(np.average((away**2).mean(axis=1), weights=weights))


def with_leaves(tree: Tree, joined: JoinedTree, belief: Float, scores: Float | None = None) -> Tree:
    """Return what is left of a tree, its branches with the beliefs and scores of their heads.

    Nothing of it is pinned, since what was is joined to other rules.
    """
    is_leaf = joined.split < 0
    heads = np.where(is_leaf, joined.heads, np.arange(len(joined.kept)))
    return replace(
        tree,
        split=joined.split,
        first_child=joined.first_child,
        support=tree.support[joined.kept],
        belief=np.where(is_leaf[:, None], belief[heads], tree.belief[joined.kept]),
        scores=None if scores is None else np.where(is_leaf[:, None], scores[heads], 0.0),
        pinned=frozenset(),
    )
