"""Reads the branches of trees as rules: objects that print as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.explain.effects import effects_of, tree_weights
from solah.explain.rule_list import Rules
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
    phrase : how several focal sets are called together: ``hue is at least medium-or-high``; empty
        for a single one
    sets : the focal sets, where several are joined
    """

    attribute: str
    words: tuple[str, ...]
    phrase: str = ""
    sets: tuple[tuple[str, ...], ...] = ()

    @property
    def focal_sets(self) -> tuple[tuple[str, ...], ...]:
        """The focal sets, one of which describes the attribute."""
        return self.sets or (self.words,)

    def to_dict(self) -> dict[str, Any]:
        """Return the condition's parts and its text as plain values, ready for JSON."""
        return {
            "attribute": self.attribute,
            "words": list(self.words),
            "sets": [list(words) for words in self.focal_sets],
            "text": str(self),
        }

    def __str__(self) -> str:
        return f"{self.attribute} is {self.phrase or spell_set(self.words)}"


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
    task : whether a class or a number is decided
    effect : how far the rule moves what is decided. In a tree that is weighed, its evidence times
        the tree's weight; in another, the change of belief from the tree's root; each for the
        state that gains most. For a number, the size of the expected number's change
    effect_class : the state that gains most; None if none does, and for a number
    """

    tree: str
    conditions: tuple[Condition, ...]
    goal: str
    belief: tuple[float, ...]
    support: float
    decision: State
    task: Task = Task.CLASSIFICATION
    # Both come from the tree around the rule, and rules are compared by what they state.
    effect: float = field(default=0.0, compare=False)
    effect_class: State | None = field(default=None, compare=False)

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

    @property
    def impact(self) -> str:
        """The effect as text, with the state that gains most."""
        if self.task is Task.REGRESSION or self.effect_class is None:
            return f"{self.effect:.4g}"
        return f"{self.effect:+.2f} for {spell(self.effect_class)}"

    @cached_property
    def sentence(self) -> str:
        """The conditions and the decision as text."""
        return f"if {self.premise} then {self.conclusion}" if self.conditions else self.conclusion

    def to_dict(self) -> dict[str, Any]:
        """Return the rule's parts and its text as plain values, ready for JSON."""
        return {
            "tree": self.tree,
            "conditions": [condition.to_dict() for condition in self.conditions],
            "decision": self.decision,
            "certainty": self.certainty,
            "belief": list(self.belief),
            "support": self.support,
            "effect": self.effect,
            "effect_class": self.effect_class,
            "text": str(self),
        }

    def __str__(self) -> str:
        return f"{self.sentence}, support {self.support:.1f}"

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        return render("rules_one.html.j2", rule=self)


def rules_of(model: Model) -> Rules:
    """List the rules of a model that carry weight, tree by tree, the strongest first."""
    weights = tree_weights(model)
    by_tree = (tree_rules(tree, model.goal, weights.get(tree.name)) for tree in model.trees)
    return Rules(
        (
            rule
            for rules in by_tree
            for rule in sorted(rules.values(), key=lambda rule: -rule.support)
            if rule.support > 0
        ),
        model,
    )


def tree_rules(tree: Tree, goal: Goal, weight: float | None = None) -> dict[int, Rule]:
    """Read the branches of a tree as rules, by the first leaf of each, depth first.

    Parameters
    ----------
    tree : Tree
    goal : Goal
    weight : float, default=None
        The weight of the tree's evidence, as :func:`~solah.explain.effects.tree_weights` returns
        it; None where no fusion adds it up.

    Returns
    -------
    rules : dict of the leaf's number to Rule
    """
    support = np.bincount(tree.heads, tree.support, len(tree.support)).tolist()
    beliefs = tree.belief.tolist()
    effects = effects_of(tree, goal, weight)
    return {
        head: Rule(
            tree=tree.name,
            conditions=conditions,
            goal=goal.name,
            belief=tuple(beliefs[head]),
            support=support[head],
            decision=decide(beliefs[head], goal),
            task=goal.task,
            effect=effects[head].size,
            effect_class=effects[head].state,
        )
        for head, conditions in _branches(tree)
    }


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
    """Require that one of these focal sets describes an attribute; nothing if any may."""
    sets = [attribute.focal_sets[place] for place in places]
    if len(sets) == 1:
        return (Condition(attribute.name, sets[0]),)
    if len(sets) == attribute.n_focal_sets:
        return ()
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    return (Condition(attribute.name, words, _called_together(attribute, places), tuple(sets)),)


def _called_together(attribute: Attribute, places: list[int]) -> str:
    names = [spell_set(attribute.focal_sets[place]) for place in places]
    if not attribute.is_ordered:
        return " or ".join(names)
    if places[0] == 0:
        return f"at most {names[-1]}"
    if places[-1] == attribute.n_focal_sets - 1:
        return f"at least {names[0]}"
    return f"from {names[0]} to {names[-1]}"


def spell_set(words: tuple[str, ...]) -> str:
    """Write the words of a focal set, which all apply."""
    return "-or-".join(words)


def decide(belief: list[float], goal: Goal) -> State:
    """Return the state that is believed most, or the expected number."""
    if goal.task is Task.REGRESSION:
        return sum(share * centre for share, centre in zip(belief, goal.centres, strict=True))
    return goal.states[belief.index(max(belief))]
