"""Reads the branches of trees as rules: objects that print as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_mean, spell_number
from solah.explain.rule_list import Rules
from solah.explain.weights import gain_of, numbers_of, spell_scores
from solah.model.document import Task, TreeNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.data import State
    from solah.model import Attribute
    from solah.model.document import Goal, MissingRule, Model, Term, TermInput


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


MISSING = -1
"""The number of the rule for a missing value."""


@dataclass(frozen=True)
class PartRules:
    """The rules of a term or a tree.

    Attributes
    ----------
    name : the name of the part in the program
    rules : the rules by their numbers in the program; the one for a missing value at ``MISSING``
    """

    name: str
    rules: dict[int, Rule]

    def active(self) -> dict[int, Rule]:
        """Return the rules that carry weight or add something, the strongest first."""
        strongest = sorted(self.rules.items(), key=lambda item: by_strength(item[1]))
        return {
            number: rule
            for number, rule in strongest
            if rule.support > 0 or any(score for _, score in rule.adds)
        }


def rules_of(model: Model) -> Rules:
    """List the active rules of a model, part by part, the strongest first."""
    return Rules((rule for part in part_rules(model) for rule in part.active().values()), model)


def part_rules(model: Model) -> list[PartRules]:
    """Return the rules of each term and tree, from bottom to top."""
    parts = []
    for node, stage in zip(model.nodes, model.program.stages, strict=True):
        if isinstance(node, TreeNode):
            parts.append(PartRules(node.name, dict(enumerate(_tree_rules(node, model.goal)))))
            continue
        for term, compiled in zip(node.terms, stage.terms, strict=True):
            rules = dict(enumerate(_term_rules(term, compiled.name, model.goal)))
            if term.missing is not None:
                rules[MISSING] = _missing_rule(term.missing, term, compiled.name, model.goal)
            parts.append(PartRules(compiled.name, rules))
    return parts


def by_strength(rule: Rule) -> tuple[float, float]:
    """Return a key that sorts rules by effect, the largest first; then by their rows."""
    return -rule.effect, -rule.support


def _tree_rules(tree: TreeNode, goal: Goal) -> Iterator[Rule]:
    """Read the branches of a tree as rules."""
    moved = {attribute.name for attribute in tree.inputs if attribute.is_moved}
    for branch in tree.branches:
        conditions = tuple(
            one
            for place, sets in branch.conditions
            for one in _conditions(tree.inputs[place], sets)
        )
        size, gains = _change_of_belief(branch.belief, tree.start, goal)
        yield Rule(
            tree=tree.name,
            conditions=conditions,
            goal=goal.name,
            belief=branch.belief,
            support=branch.support,
            decision=decide(list(branch.belief), goal),
            task=goal.task,
            effect=size,
            effect_class=gains,
            is_outdated=any(condition.attribute in moved for condition in conditions),
            is_pinned=branch.is_pinned,
        )


def _change_of_belief(
    belief: Sequence[float], start: Sequence[float], goal: Goal
) -> tuple[float, State | None]:
    """Return how far a branch moves what its tree predicts, and the class that gains most."""
    moved = np.array(belief) - np.array(start)
    if goal.task is Task.REGRESSION:
        return abs(float(numbers_of(goal, moved))), None
    size, winner = float(moved.max()), int(moved.argmax())
    # Gains and losses cancel out, so that a largest gain below 0 is a matter of rounding.
    return (size, goal.states[winner]) if size > 0 else (0.0, None)


def _term_rules(term: Term, name: str, goal: Goal) -> Iterator[Rule]:
    """Read the cells of a term as rules."""
    is_outdated = any(one.attribute.is_moved for one in term.inputs)
    for cell in term.cells():
        conditions = [
            one
            for line, side in zip(cell, term.inputs, strict=True)
            for one in _line_conditions(side, line)
        ]
        if not conditions and term.missing is not None:
            conditions = [_known(term.inputs[0].attribute)]
        shares, weights = term.shares[cell].tolist(), term.weights[cell].tolist()
        rule = _adding_rule(name, conditions, goal, shares, float(term.counts[cell]), weights)
        yield replace(rule, is_outdated=is_outdated, is_pinned=cell in term.pinned)


def _missing_rule(told: MissingRule, term: Term, name: str, goal: Goal) -> Rule:
    """Return the rule for a missing value."""
    condition = Condition(term.features[0], (), "missing")
    belief, scores = list(told.belief), list(told.scores)
    rule = _adding_rule(name, [condition], goal, belief, told.support, scores)
    return replace(rule, is_pinned=told.is_pinned)


def _adding_rule(
    name: str,
    conditions: Sequence[Condition],
    goal: Goal,
    belief: list[float],
    support: float,
    scores: list[float],
) -> Rule:
    """Make a rule of a term."""
    gain = gain_of(scores, goal.states)
    adds_to = gain.state if len(goal.states) == 2 else None
    return Rule(
        tree=name,
        conditions=tuple(conditions),
        goal=goal.name,
        belief=tuple(belief),
        support=support,
        decision=decide(belief, goal) if adds_to is None else adds_to,
        task=goal.task,
        effect=abs(gain.size),
        effect_class=gain.state,
        adds=tuple(zip(goal.states or (goal.name,), scores, strict=True)),
    )


def _line_conditions(side: TermInput, line: int) -> tuple[Condition, ...]:
    """Require one of the words of a line; nothing if the line has all words."""
    attribute, part = side.attribute, side.parts[line]
    if len(part) == len(attribute.words) > 1:
        return ()
    words = tuple(attribute.words[word] for word in part)
    if len(words) == 1:
        return (Condition(attribute.name, words),)
    return (Condition(attribute.name, words, side.phrase(line), tuple((one,) for one in words)),)


def _conditions(attribute: Attribute, places: Sequence[int]) -> tuple[Condition, ...]:
    """Require that one of these focal sets describes an attribute; nothing if any may."""
    if len(places) == attribute.n_focal_sets > 1:
        return ()
    sets = [attribute.focal_sets[place] for place in places]
    if len(sets) == 1:
        return (Condition(attribute.name, sets[0]),)
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    return (Condition(attribute.name, words, _called_together(attribute, places), tuple(sets)),)


def _known(attribute: Attribute) -> Condition:
    """Require that an attribute has a reading, whatever it is."""
    return Condition(attribute.name, attribute.words, "known", attribute.focal_sets)


def _called_together(attribute: Attribute, places: Sequence[int]) -> str:
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
