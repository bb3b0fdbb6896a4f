"""Tasks and whoever counts in, trees out: they grow side by side, so that a pass serves all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from solah.model.attributes import flatten
from solah.tree.growth import growing
from solah.tree.learn import joined_tree, named_tree
from solah.tree.leaves import shrink_beliefs
from solah.tree.refit import refitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from solah.kernels.arrays import FocalSets, Int64
    from solah.model import Attribute, Tree
    from solah.tree.goals import ClassFacts
    from solah.tree.growth import Growth, Question, TreeSettings


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A tree that is to be learnt: its name, its inputs, and how."""

    name: str
    inputs: tuple[Attribute, ...]
    settings: TreeSettings

    @property
    def sets(self) -> FocalSets:
        """The focal sets of its inputs."""
        return flatten(self.inputs)


class Counting(Protocol):
    """Whoever counts rows at the leaves of growing trees."""

    def __call__(self, tasks: Sequence[TreeTask], questions: Sequence[Question]) -> list[Int64]:
        """Return the counts that each task asks for."""


class Crediting(Protocol):
    """Whoever shares rows' weights among the leaves of trees."""

    def __call__(
        self, tasks: Sequence[TreeTask], trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> list[Int64]:
        """Return the shares ``(n_nodes, n_classes)`` of each task's tree."""


def learn_trees(
    tasks: Sequence[TreeTask], goal: ClassFacts, count: Counting, credit: Crediting
) -> list[Tree]:
    """Grow trees side by side, a pass a level; join their branches and improve their leaves.

    Parameters
    ----------
    tasks : sequence of TreeTask
    goal : ClassFacts
    count : Counting
    credit : Crediting
    """
    growths = [growing(task.sets, goal.sums, task.settings) for task in tasks]
    grown: list[Any] = [None] * len(tasks)
    answers: dict[int, Int64 | None] = dict.fromkeys(range(len(tasks)))
    while answers:
        questions = dict(_asked(growths, answers, grown))
        asking = [tasks[number] for number in questions]
        counts = count(asking, list(questions.values())) if questions else []
        answers = dict(zip(questions, counts, strict=True))
    named = [
        joined_tree(named_tree(task.name, task.inputs, one, goal.weight_unit), task.settings)
        for task, one in zip(tasks, grown, strict=True)
    ]
    return _improved(tasks, named, goal, credit)


def _asked(
    growths: Sequence[Growth], answers: Mapping[int, Int64 | None], grown: list[Any]
) -> Iterator[tuple[int, Question]]:
    """Answer growing trees; yield what they ask next, and note those that are done."""
    for number, answer in answers.items():
        try:
            growth = growths[number]
            yield number, next(growth) if answer is None else growth.send(answer)
        except StopIteration as end:
            grown[number] = end.value


def _improved(
    tasks: Sequence[TreeTask],
    named: Sequence[tuple[Tree, NDArray[np.intp]]],
    goal: ClassFacts,
    credit: Crediting,
) -> list[Tree]:
    """Shrink and refit leaves, as the settings say."""
    trees = []
    for task, (tree, heads) in zip(tasks, named, strict=True):
        shrinkage = task.settings.leaves.shrinkage
        trees.append(
            replace(tree, belief=shrink_beliefs(tree, shrinkage, heads)) if shrinkage > 0 else tree
        )
    chosen = [j for j, task in enumerate(tasks) if task.settings.leaves.leaves == "refitted"]
    if not chosen:
        return trees
    of_chosen = [named[j][1] for j in chosen]
    beliefs = refitted(
        [trees[j] for j in chosen],
        of_chosen,
        [tasks[j].settings.leaves.prior_weight / goal.weight_unit for j in chosen],
        lambda current: credit([tasks[j] for j in chosen], current, of_chosen),
    )
    for j, belief in zip(chosen, beliefs, strict=True):
        trees[j] = replace(trees[j], belief=belief)
    return trees
