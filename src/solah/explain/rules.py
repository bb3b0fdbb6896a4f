"""A model document in, its rules out: one a branch, as objects and as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.data.spelling import spell
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import State
    from solah.model.document import Goal, Model, Tree


@dataclass(frozen=True)
class Condition:
    """An attribute and the words that all describe it: ``hue is medium-or-high``."""

    attribute: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.attribute} is {'-or-'.join(self.words)}"


@dataclass(frozen=True)
class Rule:
    """A branch of a tree, read as a sentence.

    Attributes
    ----------
    tree : the name of the tree
    conditions : what must hold, from the root on
    goal : the goal's name
    belief : the belief in each goal state (in each goal word's focal set, for a number)
    support : the training weight behind the rule
    decision : the state that is believed most, or the expected number
    """

    tree: str
    conditions: tuple[Condition, ...]
    goal: str
    belief: tuple[float, ...]
    support: float
    decision: State
    task: Task = Task.CLASSIFICATION

    @property
    def certainty(self) -> float:
        """The largest belief: for classes, that in the decision."""
        return max(self.belief)

    @property
    def premise(self) -> str:
        """The conditions as text; empty when there is none."""
        return " and ".join(map(str, self.conditions))

    @property
    def conclusion(self) -> str:
        """The decision as text."""
        if self.task is Task.REGRESSION:
            return f"{self.goal} about {self.decision:.4g}"
        return f"{self.goal} {spell(self.decision)} ({self.certainty:.2f})"

    def __str__(self) -> str:
        said = f"if {self.premise} then {self.conclusion}" if self.conditions else self.conclusion
        return f"{said}, support {self.support:.1f}"


def rules_of(model: Model) -> list[Rule]:
    """List the rules of a model that carry weight, tree by tree, the strongest first."""
    return [rule for tree in model.trees for rule in _tree_rules(tree, model.goal)]


def _tree_rules(tree: Tree, goal: Goal) -> list[Rule]:
    rules = [
        rule_of(tree, leaf, conditions, goal)
        for leaf, conditions in _branches(tree)
        if tree.support[leaf] > 0
    ]
    return sorted(rules, key=lambda rule: -rule.support)


def rule_of(tree: Tree, leaf: int, conditions: tuple[Condition, ...], goal: Goal) -> Rule:
    """Read a branch, given as its leaf and the conditions that lead there, as a rule."""
    belief: list[float] = tree.belief[leaf].tolist()
    return Rule(
        tree=tree.name,
        conditions=conditions,
        goal=goal.name,
        belief=tuple(belief),
        support=float(tree.support[leaf]),
        decision=_decision(belief, goal),
        task=goal.task,
    )


def _branches(tree: Tree) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Yield the leaves in depth-first order with the conditions that lead to them."""
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, conditions = stack.pop()
        if tree.split[node] < 0:
            yield node, conditions
            continue
        attribute = tree.inputs[tree.split[node]]
        below = [
            (child, (*conditions, Condition(attribute.name, words)))
            for child, words in zip(tree.children(node), attribute.focal_sets, strict=True)
        ]
        stack.extend(reversed(below))


def _decision(belief: list[float], goal: Goal) -> State:
    if goal.task is Task.REGRESSION:
        return sum(share * centre for share, centre in zip(belief, goal.centres, strict=True))
    return goal.states[belief.index(max(belief))]
