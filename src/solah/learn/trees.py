"""Trees: rows in, trees for the model document out, grown side by side, one pass for each level.

A tree is grown (LID3), its branches are joined, and its leaves are shrunk or refitted. A prediction
is linear in the leaves' distributions, P(c|x) = sum_B w_B(x) nu_B(c), so that counting them with
fractional weights blurs twice. Given the tree, their most likely values are found by an update that
keeps each a distribution::

    nu_B(c) <- [ nu_B(c) * sum_{i in c} w_B(x_i) / P(c|x_i) + a * prior_B(c) ], normalised
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.learn.growth import growing
from solah.learn.joining import simplify_tree
from solah.learn.tree import Tree
from solah.model.attributes import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.learn.growth import GrownTree, Growth, Question, TreeSettings
    from solah.learn.memory import MemoryRows
    from solah.model import Attribute


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A tree that is to be learnt: its name, its inputs, and how."""

    name: str
    inputs: tuple[Attribute, ...]
    settings: TreeSettings


@dataclass(frozen=True, eq=False)
class _Draft:
    """A tree with the first leaf of each node's branch: leaves with one head are one branch."""

    tree: Tree
    heads: NDArray[np.intp]
    settings: TreeSettings

    @classmethod
    def of(cls, task: TreeTask, grown: GrownTree, weight_unit: float) -> _Draft:
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


def learn_trees(tasks: Sequence[TreeTask], rows: MemoryRows) -> list[Tree]:
    """Grow trees side by side, join their branches, and improve their leaves."""
    drafts = [
        _Draft.of(task, grown, rows.facts.weight_unit)
        for task, grown in zip(tasks, grow_trees(tasks, rows), strict=True)
    ]
    refitted = [draft for draft in drafts if draft.settings.leaves.leaves == "refitted"]
    beliefs = iter(_refit(refitted, rows))
    return [
        replace(draft.tree, belief=next(beliefs)) if draft in refitted else draft.tree
        for draft in drafts
    ]


def grow_trees(tasks: Sequence[TreeTask], rows: MemoryRows) -> list[GrownTree]:
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


def _refit(drafts: Sequence[_Draft], rows: MemoryRows) -> list[Float]:
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


def _refitted(draft: _Draft, tree: Tree, shares: Int64, weight_unit: float) -> Tree:
    """Return a tree after one round of the update."""
    leaf = tree.split < 0
    prior_weight = draft.settings.leaves.prior_weight / weight_unit
    pulled = shares[leaf] + prior_weight * draft.tree.belief[leaf]
    belief = tree.belief.copy()
    belief[leaf] = pulled / pulled.sum(axis=1, keepdims=True)
    return replace(tree, belief=belief)
