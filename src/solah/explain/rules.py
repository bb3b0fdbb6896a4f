"""A model document in, its rules out: one a branch, as objects and as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import spell
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import State
    from solah.model import Attribute
    from solah.model.document import Goal, Model, Tree


@dataclass(frozen=True)
class Condition:
    """An attribute and the words that describe it.

    Attributes
    ----------
    attribute : the attribute's name
    words : the words of the focal set, which all apply: ``hue is medium-or-high``; of several
        focal sets, all words in them
    said : how several focal sets are called together: ``hue is at least medium-or-high``; empty
        for a single one
    sets : the focal sets, where several are joined
    """

    attribute: str
    words: tuple[str, ...]
    said: str = ""
    sets: tuple[tuple[str, ...], ...] = ()

    @property
    def focal_sets(self) -> tuple[tuple[str, ...], ...]:
        """The focal sets, one of which describes the attribute."""
        return self.sets or (self.words,)

    def __str__(self) -> str:
        return f"{self.attribute} is {self.said or _spelt(self.words)}"


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
    return [
        rule
        for tree in model.trees
        for rule in sorted(tree_rules(tree, model.goal).values(), key=lambda rule: -rule.support)
        if rule.support > 0
    ]


def tree_rules(tree: Tree, goal: Goal) -> dict[int, Rule]:
    """Read the branches of a tree as rules, by the first leaf of each, depth first."""
    support = np.bincount(tree.heads, tree.support, len(tree.support))
    return {
        head: _rule(tree, head, float(support[head]), conditions, goal)
        for head, conditions in _branches(tree)
    }


def _rule(
    tree: Tree, head: int, support: float, conditions: tuple[Condition, ...], goal: Goal
) -> Rule:
    belief: list[float] = tree.belief[head].tolist()
    return Rule(
        tree=tree.name,
        conditions=conditions,
        goal=goal.name,
        belief=tuple(belief),
        support=support,
        decision=decide(belief, goal),
        task=goal.task,
    )


def _branches(tree: Tree) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Yield the first leaf of each branch, depth first, with the conditions that lead there."""
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, conditions = stack.pop()
        if tree.split[node] < 0:
            yield node, conditions
            continue
        attribute, children = tree.inputs[tree.split[node]], tree.children(node)
        places: dict[int, list[int]] = {}
        for place, child in enumerate(children):
            places.setdefault(int(tree.heads[child]), []).append(place)
        below = [
            (head, conditions + _conditions(attribute, joined)) for head, joined in places.items()
        ]
        stack.extend(reversed(below))


def _conditions(attribute: Attribute, places: list[int]) -> tuple[Condition, ...]:
    """Say that an attribute is described by one of these focal sets; nothing if by any."""
    sets = [attribute.focal_sets[place] for place in places]
    if len(sets) == 1:
        return (Condition(attribute.name, sets[0]),)
    if len(sets) == attribute.n_focal_sets:
        return ()
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    return (Condition(attribute.name, words, _called_together(attribute, places), tuple(sets)),)


def _called_together(attribute: Attribute, places: list[int]) -> str:
    names = [_spelt(attribute.focal_sets[place]) for place in places]
    if not attribute.is_ordered:
        return " or ".join(names)
    if places[0] == 0:
        return f"at most {names[-1]}"
    if places[-1] == attribute.n_focal_sets - 1:
        return f"at least {names[0]}"
    return f"from {names[0]} to {names[-1]}"


def _spelt(words: tuple[str, ...]) -> str:
    return "-or-".join(words)


def decide(belief: list[float], goal: Goal) -> State:
    """Return the state that is believed most, or the expected number."""
    if goal.task is Task.REGRESSION:
        return sum(share * centre for share, centre in zip(belief, goal.centres, strict=True))
    return goal.states[belief.index(max(belief))]
