"""Reads the branches of trees as rules: objects that print as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_mean, spell_number
from solah.explain.effects import effects_of
from solah.explain.rule_list import Rules
from solah.explain.weights import gain_of, numbers_of, spell_scores
from solah.model.attributes import phrase
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
        focal sets, all words in them; none where the reading must be missing
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
    decision : the state that is believed most, or the expected number. Of two states that a rule
        adds evidence for, the one that it adds to
    task : whether a class or a number is decided
    effect : how far the rule moves what is decided. In a tree below a fusion, its evidence; in
        another, the change of belief from the tree's root; each for the state that gains most. For
        a number, the size of the expected number's change
    effect_class : the state that gains most; None if none does, and for a number
    adds : in a tree below a fusion, what the rule adds: for each goal state, as pairs; for a
        number, beside the goal's name. Empty in other trees
    is_outdated : whether a person moved words of the conditions after rows were counted
    is_pinned : whether learning again is to keep the rule
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
    adds: tuple[tuple[State, float], ...] = ()
    is_outdated: bool = field(default=False, compare=False)
    is_pinned: bool = field(default=False, compare=False)

    @property
    def certainty(self) -> float:
        """The belief in the decision; for words of a number, the largest; for a sum, 1."""
        if not self.adds:
            return max(self.belief)
        if self.task is Task.REGRESSION:
            return 1.0
        return self.belief[[state for state, _ in self.adds].index(self.decision)]

    @property
    def share(self) -> float | None:
        """The share of the decision among the rule's rows; None for a number, and without rows."""
        is_counted = self.support > 0 or not self.adds
        return self.certainty if is_counted and self.task is Task.CLASSIFICATION else None

    @property
    def premise(self) -> str:
        """The conditions as text; empty when there is none."""
        return " and ".join(map(str, self.conditions))

    @property
    def conclusion(self) -> str:
        """The decision as text; of a rule that adds, the share among its rows, and what it adds."""
        if self.adds and not self.support:
            return f"adds {self.addition} ({self.fact})"
        if self.adds:
            return f"{self.fact}; adds {self.addition}"
        if self.task is Task.REGRESSION:
            return f"{self.goal} about {self.spelled_decision}"
        return f"{self.goal} {self.spelled_decision} ({self.certainty:.2f})"

    @property
    def fact(self) -> str:
        """What is true of the rule's rows, and how many they are."""
        if not self.support:
            return "no rows counted"
        stated = f"{self.goal} {self.spelled_decision}"
        if self.task is Task.REGRESSION:
            return f"{stated} on average of {self.counted_rows}"
        return f"{stated} {self.share:.2f} of {self.counted_rows}"

    @property
    def spelled_decision(self) -> str:
        """The decision as text."""
        is_number = self.task is Task.REGRESSION
        return spell_number(float(self.decision)) if is_number else spell(self.decision)

    @property
    def counted_rows(self) -> str:
        """How many rows there are behind the rule, as text."""
        return f"{spell_mean(self.support)} row{'' if self.support == 1 else 's'}{self._before}"

    @property
    def addition(self) -> str:
        """What a rule of a tree below a fusion adds, as text."""
        is_number = self.task is Task.REGRESSION
        states = () if is_number else tuple(state for state, _ in self.adds)
        return spell_scores([score for _, score in self.adds], states)

    @property
    def remark(self) -> str:
        """What stands behind the sentence: the support, where the sentence does not have it."""
        return "" if self.adds else f", support {self.spelled_support}"

    @property
    def spelled_support(self) -> str:
        """The support as text; it says so where words have moved since rows were counted."""
        comma = "," if self.support >= 10_000 else ""
        return f"{self.support:{comma}.1f}{self._before}"

    @property
    def _before(self) -> str:
        return " (by the words before an edit)" if self.is_outdated else ""

    @property
    def impact(self) -> str:
        """The effect as text, with the state that gains most."""
        if self.task is Task.REGRESSION or self.effect_class is None:
            return spell_number(self.effect)
        return f"{self.effect:+.2f} for {spell(self.effect_class)}"

    @cached_property
    def sentence(self) -> str:
        """The conditions and the decision as text."""
        return f"if {self.premise} then {self.conclusion}" if self.conditions else self.conclusion

    def to_dict(self) -> dict[str, Any]:
        """Return the rule's parts and its text as plain values, ready for JSON."""
        edited = {"is_outdated": self.is_outdated, "is_pinned": self.is_pinned}
        return {
            "tree": self.tree,
            "conditions": [condition.to_dict() for condition in self.conditions],
            "decision": self.decision,
            "certainty": self.certainty,
            "belief": list(self.belief),
            "share": self.share,
            "support": self.support,
            "adds": {spell(state): score for state, score in self.adds} or None,
            "effect": self.effect,
            "effect_class": self.effect_class,
            "text": str(self),
            **{key: mark for key, mark in edited.items() if mark},
        }

    def __str__(self) -> str:
        return f"{self.sentence}{self.remark}"

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        return render("rules_one.html.j2", rule=self)


def rules_of(model: Model) -> Rules:
    """List the rules of a model that tell something, tree by tree, the strongest first."""
    by_tree = (told_rules(tree, model.goal).values() for tree in model.trees)
    return Rules((rule for rules in by_tree for rule in rules), model)


MISSING = -1
"""The place of the rule for a missing reading, which is no leaf of its tree."""


def told_rules(tree: Tree, goal: Goal) -> dict[int, Rule]:
    """Return the rules of a tree that carry weight or add something, the strongest first.

    Parameters
    ----------
    tree : Tree
    goal : Goal

    Returns
    -------
    rules : dict of the first leaf's number to Rule
        What a missing reading tells stands at ``MISSING``.
    """
    rules = tree_rules(tree, goal)
    if (missing := missing_rule(tree, goal)) is not None:
        rules[MISSING] = missing
    strongest = sorted(rules.items(), key=lambda item: by_strength(item[1]))
    return {
        place: rule
        for place, rule in strongest
        if rule.support > 0 or any(score for _, score in rule.adds)
    }


def by_strength(rule: Rule) -> tuple[float, float]:
    """Return a key that sorts rules by effect, the largest first; then by their rows."""
    return -rule.effect, -rule.support


def tree_rules(tree: Tree, goal: Goal) -> dict[int, Rule]:
    """Read the branches of a tree as rules, by the first leaf of each, depth first.

    Parameters
    ----------
    tree : Tree
    goal : Goal

    Returns
    -------
    rules : dict of the leaf's number to Rule
    """
    support = np.bincount(tree.heads, tree.support, len(tree.support)).tolist()
    beliefs = tree.belief.tolist()
    moved = {attribute.name for attribute in tree.inputs if attribute.is_moved}
    if tree.scores is not None:
        scores = tree.scores.tolist()
        always = () if tree.missing is None else (_known(tree.inputs[0]),)
        return {
            head: replace(
                _adding_rule(
                    tree, conditions or always, goal, beliefs[head], support[head], scores[head]
                ),
                is_outdated=bool(moved),
                is_pinned=head in tree.pinned,
            )
            for head, conditions in _branches(tree)
        }
    effects = effects_of(tree, goal)
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
            is_outdated=any(condition.attribute in moved for condition in conditions),
            is_pinned=head in tree.pinned,
        )
        for head, conditions in _branches(tree)
    }


def missing_rule(tree: Tree, goal: Goal) -> Rule | None:
    """Read what a missing reading tells as a rule; None if it tells nothing."""
    if tree.missing is None:
        return None
    told = tree.missing
    condition = Condition(tree.inputs[0].name, (), "missing")
    belief, scores = list(told.belief), list(told.scores)
    rule = _adding_rule(tree, (condition,), goal, belief, told.support, scores)
    return replace(rule, is_pinned=told.is_pinned)


def _adding_rule(
    tree: Tree,
    conditions: tuple[Condition, ...],
    goal: Goal,
    belief: list[float],
    support: float,
    scores: list[float],
) -> Rule:
    """Make a rule of a tree below a fusion."""
    gain = gain_of(scores, goal.states)
    adds_to = gain.state if len(goal.states) == 2 else None
    return Rule(
        tree=tree.name,
        conditions=conditions,
        goal=goal.name,
        belief=tuple(belief),
        support=support,
        decision=decide(belief, goal) if adds_to is None else adds_to,
        task=goal.task,
        effect=abs(gain.size),
        effect_class=gain.state,
        adds=tuple(zip(goal.states or (goal.name,), scores, strict=True)),
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
    """Require that one of these focal sets describes an attribute; nothing if any may."""
    if len(places) == attribute.n_focal_sets > 1:
        return ()
    if attribute.cores:
        return (_word_condition(attribute, places),)
    sets = [attribute.focal_sets[place] for place in places]
    if len(sets) == 1:
        return (Condition(attribute.name, sets[0]),)
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    return (Condition(attribute.name, words, _called_together(attribute, places), tuple(sets)),)


def _known(attribute: Attribute) -> Condition:
    """Require that an attribute has a reading, whatever it is."""
    return Condition(attribute.name, attribute.words, "known", attribute.focal_sets)


def _word_condition(attribute: Attribute, places: list[int]) -> Condition:
    """Require that one of these words with cores describes an attribute."""
    numbers = sorted({attribute.set_words[place] for place in places})
    words = tuple(attribute.words[number] for number in numbers)
    if len(words) == 1:
        return Condition(attribute.name, words)
    sets = tuple((word,) for word in words)
    return Condition(attribute.name, words, phrase(attribute.words, numbers), sets)


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
        return float(numbers_of(goal, np.array(belief)))
    return goal.states[belief.index(max(belief))]
