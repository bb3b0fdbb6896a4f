"""Joins branches of a tree whose counts of classes are nearly the same.

Leaves below one node are joined into one branch: neighbours where focal sets have an order
(``at least medium-or-high``), any two where they have none. A node whose leaves are all joined is
a leaf from then on, and may be joined in turn. The pair that loses least goes first, so this is
cost-complexity pruning in smaller steps.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from itertools import combinations, count, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.learn.tree import Tree


def simplify_tree(tree: Tree, max_rules: int | None = None, rule_cost: float = 0.0) -> Tree:
    """Join branches while that costs little, or while there are too many.

    Parameters
    ----------
    tree : Tree
    max_rules : int, default=None
        Go on until at most so many branches have weight.
    rule_cost : float, default=0.0
        The log-likelihood (nats) that a branch must be worth to stay.

    Returns
    -------
    tree : Tree
        Branches that are one now have the shares of all their rows.
    """
    return _Joiner(tree).join(math.inf if max_rules is None else max_rules, rule_cost)


@dataclass(eq=False)
class _Branch:
    """Leaves that are one branch, or an inner node, which cannot be joined.

    Attributes
    ----------
    places : the places of the children among their siblings
    counts : the weight of each class; None for an inner node
    """

    places: list[int]
    counts: tuple[float, ...] | None = None
    has_weight: bool = False
    is_gone: bool = False


@dataclass(eq=False)
class _Family:
    """The branches below one node, in the order of their places."""

    is_ordered: bool
    branches: list[_Branch]
    parent: tuple[_Family, _Branch] | None = None
    is_leaf: bool = False

    def pairs(self, of: _Branch | None = None) -> list[tuple[_Branch, _Branch]]:
        """Return the pairs that can be joined: all, or those of one branch."""
        candidates = pairwise(self.branches) if self.is_ordered else combinations(self.branches, 2)
        return [
            pair
            for pair in candidates
            if all(one.counts is not None for one in pair) and (of is None or of in pair)
        ]


class _Joiner:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._n_rules = int(np.count_nonzero(tree.support[tree.leaves] > 0))
        self._families: dict[int, _Family] = {}
        self._ticket = count()
        self._queue: list[tuple[float, int, _Family, _Branch, _Branch]] = []
        counts = (tree.belief * tree.support[:, None]).tolist()
        owners: dict[int, tuple[_Family, _Branch]] = {}
        for node in np.flatnonzero(tree.split >= 0).tolist():
            is_ordered = tree.inputs[tree.split[node]].is_ordered
            family = self._families[node] = _Family(is_ordered, [], owners.get(node))
            for place, child in enumerate(tree.children(node)):
                branch = _Branch([place])
                if tree.split[child] < 0:
                    branch.counts = tuple(counts[child])
                    branch.has_weight = bool(tree.support[child] > 0)
                else:
                    owners[child] = family, branch
                family.branches.append(branch)
        for family in self._families.values():
            self._offer(family, family.pairs())

    def join(self, max_rules: float, rule_cost: float) -> Tree:
        while self._queue:
            cost, _, family, first, second = heapq.heappop(self._queue)
            if first.is_gone or second.is_gone:
                continue
            if cost > rule_cost and self._n_rules <= max_rules:
                break
            first.is_gone = second.is_gone = True
            self._n_rules -= first.has_weight and second.has_weight
            both = _Branch(
                sorted(first.places + second.places),
                _pooled(first, second),
                first.has_weight or second.has_weight,
            )
            family.branches[family.branches.index(first)] = both
            family.branches.remove(second)
            self._settle(family, both)
        return self._rebuilt()

    def _settle(self, family: _Family, branch: _Branch) -> None:
        """Offer a new branch to its neighbours; alone, it turns its node into a leaf."""
        if len(family.branches) > 1:
            self._offer(family, family.pairs(branch))
            return
        family.is_leaf = True
        if family.parent is not None:
            above, place = family.parent
            place.counts, place.has_weight = branch.counts, branch.has_weight
            self._settle(above, place)

    def _offer(self, family: _Family, pairs: Iterable[tuple[_Branch, _Branch]]) -> None:
        for first, second in pairs:
            lost = sum(_log_likelihood(one.counts or ()) for one in (first, second))
            cost = lost - _log_likelihood(_pooled(first, second))
            heapq.heappush(self._queue, (cost, next(self._ticket), family, first, second))

    def _rebuilt(self) -> Tree:
        """Return what is left: nodes numbered level by level, and branches with pooled rows."""
        tree = self._tree
        split, first_child, kept, heads = [], [], [0], [0]
        homes = np.zeros(len(tree.split), dtype=np.intp)  # of each leaf: its branch's first leaf
        for new, old in enumerate(kept):  # which grows on the way
            family = self._families.get(old)
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
                place: first + branch.places[0]
                for branch in family.branches
                for place in branch.places
            }
            heads.extend(head_of[place] for place in sorted(head_of))
        belief = tree.belief[kept]
        counts = np.zeros_like(belief)
        np.add.at(counts, homes[tree.leaves], (tree.belief * tree.support[:, None])[tree.leaves])
        weight = counts.sum(axis=1, keepdims=True)
        pooled = np.divide(counts, weight, out=belief.copy(), where=weight > 0)
        splits = np.array(split, dtype=np.int32)
        return replace(
            tree,
            split=splits,
            first_child=np.array(first_child, dtype=np.int32),
            support=tree.support[kept],
            belief=np.where(splits[:, None] < 0, pooled[heads], belief),
        )


def _pooled(first: _Branch, second: _Branch) -> tuple[float, ...]:
    assert first.counts is not None
    assert second.counts is not None
    return tuple(a + b for a, b in zip(first.counts, second.counts, strict=True))


def _log_likelihood(counts: Iterable[float]) -> float:
    """Return the log-likelihood of rows with these classes, given their shares."""
    known = [one for one in counts if one > 0]
    whole = sum(known)
    return sum(one * math.log(one) for one in known) - (whole * math.log(whole) if whole else 0.0)


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
