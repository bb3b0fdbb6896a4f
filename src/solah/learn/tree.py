"""A linguistic decision tree as learning grows it: a table of nodes, with the root first."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count, pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings, TreeShape
from solah.kernels.choose import kernel, map_slices
from solah.model.document import Branch, TreeNode
from solah.model.encode import code
from solah.model.features import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float, FocalSets
    from solah.model.encode import Coded
    from solah.model.features import Feature


_BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Tree:
    """A linguistic decision tree over some features.

    Attributes
    ----------
    name : the name of the node that it is for
    inputs : the features, in the order of ``split``'s numbers
    split : (n_nodes,) the input that a node splits on; -1 for a leaf
    first_child : (n_nodes,) the child of the input's first focal set; the others follow it
    support : (n_nodes,) the training weight that reached the node
    belief : (n_nodes, n_classes) the distribution of the target
    """

    name: str
    inputs: tuple[Feature, ...]
    split: NDArray[np.int32]
    first_child: NDArray[np.int32]
    support: Float
    belief: Float

    @cached_property
    def sets(self) -> FocalSets:
        """The inputs' focal sets, for the kernels."""
        return flatten(self.inputs)

    @cached_property
    def shape(self) -> TreeShape:
        """The node table, for the kernels."""
        return TreeShape.of(self.split, self.first_child, self.sets)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that end a branch."""
        return np.flatnonzero(self.split < 0)

    @cached_property
    def heads(self) -> NDArray[np.intp]:
        """(n_nodes,) the first leaf of the branch that a leaf is joined to; else the node itself.

        Leaves below one node are joined where their beliefs are the same: neighbours, if the focal
        sets have an order, and any others, if they have none.
        """
        heads = np.arange(len(self.split))
        for node in np.flatnonzero(self.split >= 0).tolist():
            is_ordered = self.inputs[self.split[node]].is_ordered
            first_with: dict[bytes, int] = {}
            for child in self.children(node):
                belief = self.belief[child].tobytes()
                if self.split[child] >= 0:
                    first_with = {} if is_ordered else first_with
                    continue
                if is_ordered and belief not in first_with:
                    first_with = {}
                heads[child] = first_with.setdefault(belief, child)
        return heads

    def children(self, node: int) -> range:
        """Return the children of an inner node, in the order of their focal sets."""
        first = int(self.first_child[node])
        return range(first, first + self.inputs[self.split[node]].n_focal_sets)

    def node(self) -> TreeNode:
        """Return the tree as a model has it: by its branches."""
        start = tuple(self.belief[0].tolist())
        return TreeNode(self.name, self.inputs, tuple(self._branches()), start)

    def _branches(self) -> Iterator[Branch]:
        support = np.bincount(self.heads, self.support, len(self.support)).tolist()
        stack: list[tuple[int, tuple[tuple[int, tuple[int, ...]], ...]]] = [(0, ())]
        while stack:
            node, conditions = stack.pop()
            split = int(self.split[node])
            if split < 0:
                yield Branch(conditions, tuple(self.belief[node].tolist()), support[node])
                continue
            sets: dict[int, list[int]] = {}
            for index, child in enumerate(self.children(node)):
                sets.setdefault(int(self.heads[child]), []).append(index)
            below = [(head, (*conditions, (split, tuple(of)))) for head, of in sets.items()]
            stack.extend(reversed(below))

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int = 1) -> Float:
        """Return the belief in each class, by Jeffrey's rule, given those of the nodes below."""
        measured = [one for one in self.inputs if one.origin not in outputs]
        rows, averages = code(table, measured), np.empty((table.n_rows, self.belief.shape[1]))

        def evaluate(part: slice) -> None:
            for start in range(part.start, part.stop, _BLOCK_ROWS):
                block = slice(start, min(start + _BLOCK_ROWS, part.stop))
                inputs = self._read(rows, outputs, block)
                kernel().predict(inputs, self.sets, self.shape, self.belief, averages[block])

        map_slices(evaluate, table.n_rows, n_threads)
        # A sum of shares may round to a bit more than one.
        return np.minimum(averages, 1.0, out=averages)

    def _read(self, rows: Coded, outputs: Mapping[str, Float], block: slice) -> Readings:
        """Gather the inputs of some rows: values, and beliefs below."""
        n_rows = block.stop - block.start
        values = np.zeros((n_rows, len(self.inputs)))
        offsets = np.full(len(self.inputs), -1, dtype=np.int32)
        given: list[Float] = []
        for j, feature in enumerate(self.inputs):
            if feature.tree is not None:
                values[:, j] = outputs[feature.tree][block, feature.place]
            elif feature.name in outputs:
                offsets[j] = sum(part.shape[1] for part in given)
                given.append(outputs[feature.name][block])
            else:
                values[:, j] = rows.columns[feature.name][block]
        beside = np.ascontiguousarray(np.hstack(given)) if given else np.empty((n_rows, 0))
        return Readings(values, beside, offsets)


@dataclass(eq=False)
class _Branch:
    """Leaves that are one branch, or an inner node, which cannot be joined.

    Attributes
    ----------
    node : the node above
    places : the places of the children among their siblings
    counts : the weight of each class; None for an inner node
    """

    node: int
    places: list[int]
    counts: tuple[float, ...] | None = None
    has_weight: bool = False
    is_gone: bool = False


def simplify_tree(tree: Tree, max_rules: int | None = None, rule_cost: float = 0.0) -> Tree:
    """Join branches while that costs little, or while there are too many.

    Leaves below one node are joined into one branch: neighbours where focal sets have an order
    (``at least medium-or-high``), any two where they have none. A node whose leaves are all joined
    is a leaf from then on, and may be joined in turn. The pair that loses least goes first, so this
    is cost-complexity pruning in smaller steps.

    Parameters
    ----------
    tree : Tree
    max_rules : int, default=None
        Continue until at most this many branches have weight.
    rule_cost : float, default=0.0
        The log-likelihood (nats) that a branch must be worth to stay.

    Returns
    -------
    tree : Tree
        Branches that are one now have the shares of all their rows.
    """
    counts = (tree.belief * tree.support[:, None]).tolist()
    families: dict[int, list[_Branch]] = {}
    above: dict[int, _Branch] = {}
    for node in np.flatnonzero(tree.split >= 0).tolist():
        families[node] = [_Branch(node, [place]) for place in range(len(tree.children(node)))]
        for child, branch in zip(tree.children(node), families[node], strict=True):
            if tree.split[child] >= 0:
                above[child] = branch
            else:
                branch.counts = tuple(counts[child])
                branch.has_weight = bool(tree.support[child] > 0)
    tickets = count()
    queue: list[tuple[float, int, _Branch, _Branch]] = []

    def offer(node: int, of: _Branch | None = None) -> None:
        """Put the pairs that can be joined into the queue: all, or those of one branch."""
        is_ordered = tree.inputs[tree.split[node]].is_ordered
        pairs = pairwise(families[node]) if is_ordered else combinations(families[node], 2)
        for first, second in pairs:
            if first.counts is None or second.counts is None or of not in (None, first, second):
                continue
            lost = _log_likelihood(first.counts) + _log_likelihood(second.counts)
            cost = lost - _log_likelihood(_pooled(first, second))
            heapq.heappush(queue, (cost, next(tickets), first, second))

    for node in families:
        offer(node)
    n_rules = int(np.count_nonzero(tree.support[tree.leaves] > 0))
    while queue:
        cost, _, first, second = heapq.heappop(queue)
        if first.is_gone or second.is_gone:
            continue
        if cost > rule_cost and n_rules <= (math.inf if max_rules is None else max_rules):
            break
        first.is_gone = second.is_gone = True
        n_rules -= first.has_weight and second.has_weight
        both = _Branch(
            first.node,
            sorted(first.places + second.places),
            _pooled(first, second),
            first.has_weight or second.has_weight,
        )
        family = families[first.node]
        family[family.index(first)] = both
        family.remove(second)
        while len(families[both.node]) == 1:  # alone, it turns its node into a leaf
            del families[both.node]
            if both.node not in above:
                break
            branch = above[both.node]
            branch.counts, branch.has_weight = both.counts, both.has_weight
            both = branch
        else:
            offer(both.node, both)
    return _rebuilt(tree, families)


def _rebuilt(tree: Tree, families: Mapping[int, Sequence[_Branch]]) -> Tree:
    """Return what is left: nodes numbered level by level, and branches with pooled rows."""
    split, first_child, kept, heads = [], [], [0], [0]
    homes = np.zeros(len(tree.split), dtype=np.intp)  # of each leaf: its branch's first leaf
    for new, old in enumerate(kept):  # which grows on the way
        if old not in families:
            split.append(-1)
            first_child.append(0)
            below = [old]
            for node in below:  # which grows, too
                if tree.split[node] < 0:
                    homes[node] = heads[new]
                else:
                    below.extend(tree.children(node))
            continue
        first = len(kept)
        split.append(int(tree.split[old]))
        first_child.append(first)
        kept.extend(tree.children(old))
        head_of = {
            place: first + branch.places[0] for branch in families[old] for place in branch.places
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


def _log_likelihood(counts: tuple[float, ...]) -> float:
    """Return the log-likelihood of rows with these classes, given their shares."""
    known = [one for one in counts if one > 0]
    whole = sum(known)
    return sum(one * math.log(one) for one in known) - (whole * math.log(whole) if whole else 0.0)
