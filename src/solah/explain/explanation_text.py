"""Writes an explanation as lines of text, each with its role."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data.spelling import count, spell, spell_number
from solah.explain.fired_rules import FusionStep
from solah.explain.weights import numbers_of, spell_reading
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.explain.counterfactuals import Changes
    from solah.explain.explanation import Explanation
    from solah.explain.fired_rules import FiredRule, Step, TreeEvidence, TreeStep
    from solah.explain.rules import Rule

TOP = 8
_RULES_OF_A_TREE = 3
_LEAST_WEIGHT = 0.1
_BAR = 12
_LEAST_POINTS = 0.05


class Role(StrEnum):
    """What a line of an explanation is."""

    RESULT = "result"
    HEADING = "heading"
    PLAIN = "plain"
    ASIDE = "aside"


class Line(NamedTuple):
    """A line and what it is."""

    text: str
    role: Role = Role.PLAIN


def lines_of(explanation: Explanation, top: int | None = TOP) -> Iterator[Line]:
    """Write an explanation.

    Parameters
    ----------
    explanation : Explanation
    top : int or None, default=8
        How many attributes, trees and changes to write at the most; None writes all.
    """
    yield Line(explanation.conclusion, Role.RESULT)
    if explanation.doubts.sentence:
        yield Line(explanation.doubts.sentence)
    if threshold := threshold_of(explanation):
        yield Line(threshold, Role.ASIDE)
    yield Line(start_of(explanation), Role.ASIDE)
    if missing := missing_of(explanation):
        yield Line(missing, Role.ASIDE)
    yield from _contributions(explanation, top)
    yield from _steps(explanation, top)
    if explanation.changes is not None:
        yield from _changes(explanation.changes, explanation.goal.name, top)


def start_of(explanation: Explanation) -> str:
    """Describe the decision if nothing were known."""
    if explanation.goal.task is Task.REGRESSION:
        return f"Knowing nothing, it would be about {spell_number(explanation.before)}."
    return (
        f"Knowing nothing, the belief in {spell(explanation.decision)} would be "
        f"{explanation.before:.2f}."
    )


def threshold_of(explanation: Explanation) -> str:
    """Explain why a class is decided for that is not believed most; nothing if it is."""
    goal, belief = explanation.goal, explanation.belief
    if not goal.thresholds:
        return ""
    most = max(range(len(belief)), key=belief.__getitem__)
    place = goal.states.index(explanation.decision)
    if most == place:
        return ""
    return (
        f"{spell(goal.states[most])} is believed more ({belief[most]:.2f}), but a class counts by "
        f"its belief over its threshold: {goal.thresholds[place]:.2f} for "
        f"{spell(goal.states[place])}, {goal.thresholds[most]:.2f} for {spell(goal.states[most])}."
    )


def missing_of(explanation: Explanation) -> str:
    """Name what is not known, and what that costs; nothing if all is."""
    if not explanation.missing:
        return ""
    if not explanation.damps:
        share = f"{100 * (1 - explanation.known):.0f} %"
        return f"Not known: {_named(explanation.missing)} ({share} of what the model goes by)."
    without_rule = explanation.missing_without_rule
    ruled = tuple(name for name in explanation.missing if name not in without_rule)
    lines = []
    if ruled:
        lines.append(f"{_named(ruled)} {_are(ruled)} missing, which has a rule of its own.")
    if without_rule:
        cost = f"the rest counts {explanation.damping:.2f} as much"
        if explanation.goal.is_additive_number:
            cost = "what they would add is left out" if len(without_rule) > 1 else "it adds nothing"
        known = f"{100 * explanation.known:.0f} % of what the model goes by is known"
        lines.append(f"{_named(without_rule)} {_are(without_rule)} unknown: {cost}; {known}.")
    return " ".join(lines)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - TOP} more" if len(names) > TOP else ""
    return f"{', '.join(names[:TOP])}{more}"


def _are(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"


def _contributions(explanation: Explanation, top: int | None) -> Iterator[Line]:
    is_number = explanation.goal.task is Task.REGRESSION
    scale, unit = (1.0, "") if is_number else (100.0, ", in points of belief")
    shown = [
        one
        for one in explanation.contributions[:top]
        if is_number or abs(scale * one.towards) >= _LEAST_POINTS
    ]
    yield Line("")
    yield Line(f"What each reading added{unit}", Role.HEADING)
    readings = {one.attribute: one for one in explanation.readings}
    largest = max((abs(one.towards) for one in shown), default=0.0)
    for one in shown:
        amount = _signed(scale * one.towards, is_number)
        yield Line(f"  {amount}  {_bar(one.towards, largest)}  {readings[one.attribute]}")
    rest = explanation.contributions[len(shown) :]
    if rest:
        amount = _signed(scale * sum(one.towards for one in rest), is_number)
        yield Line(f"  {amount}  {' ' * _BAR}  {count(len(rest), 'other')}", Role.ASIDE)
    first, last = (
        _amount(scale * one, is_number) for one in (explanation.before, explanation.after)
    )
    yield Line(f"  in all from {first.strip()} to {last.strip()}", Role.ASIDE)


def _signed(number: float, is_number: bool) -> str:
    return f"{spell_number(number, sign='+'):>9}" if is_number else f"{number:+6.1f}"


def _amount(number: float, is_number: bool) -> str:
    return spell_number(number) if is_number else f"{number:.1f}"


def _bar(number: float, largest: float) -> str:
    length = round(_BAR * (abs(number) / largest)) if largest > 0 else 0
    return ("█" if number > 0 else "░") * length + " " * (_BAR - length)


def _steps(explanation: Explanation, top: int | None) -> Iterator[Line]:
    yield Line("")
    yield Line("The rules that carried it, from bottom to top", Role.HEADING)
    steps = explanation.telling_steps(top)
    evidence = weighed_evidence(steps)
    for step in steps:
        yield from _step(step, explanation, evidence.get(step.tree))
    n_left = explanation.n_nodes - len(steps)
    if n_left:
        yield Line(f"  … and {count(n_left, 'other')} that add less", Role.ASIDE)


def _step(step: Step, explanation: Explanation, evidence: TreeEvidence | None) -> Iterator[Line]:
    is_listed = step.inputs and not isinstance(step, FusionStep)
    inputs = f" (inputs: {', '.join(step.inputs)})" if is_listed else ""
    unknown = () if evidence is None else _unknown_of(step, explanation)
    if unknown:
        yield Line(f"  {step.tree} adds nothing: {_named(unknown)} {_are(unknown)} unknown")
        return
    yield Line(f"  {step.tree}{inputs} {result_of(step, evidence, explanation)}")
    if not isinstance(step, FusionStep):
        yield from _fired(step, is_weighed=evidence is not None)


def _unknown_of(step: Step, explanation: Explanation) -> tuple[str, ...]:
    """Name the unknown attributes that the rules of a tree ask for."""
    if isinstance(step, FusionStep):
        return ()
    asked = {one.attribute for fired in step.fired for one in fired.rule.conditions}
    return tuple(name for name in explanation.missing_without_rule if name in asked)


def result_of(step: Step, evidence: TreeEvidence | None, explanation: Explanation) -> str:
    """Write the result of a node: its evidence, where a fusion adds it up, or its belief."""
    if isinstance(step, FusionStep):
        parts = count(len(step.inputs), "part")
        if evidence is not None:
            return f"adds {evidence.added}, the sum of {parts}"
        return f"adds up the evidence of {parts}: {_believed(step, explanation)}"
    if evidence is None:
        return f"gives {_believed(step, explanation)}"
    return f"adds {evidence.added}"


def _believed(step: Step, explanation: Explanation) -> str:
    """Write what a node believes: the decision of the one that decides, else the largest belief."""
    goal, belief = explanation.goal, step.belief
    if goal.task is Task.REGRESSION:
        return f"about {spell_number(float(numbers_of(goal, np.array(belief))))}"
    place = max(range(len(belief)), key=belief.__getitem__)
    if belief == explanation.belief:
        place = goal.states.index(explanation.decision)
    return f"{spell(goal.states[place])} {belief[place]:.2f}"


def _fired(step: TreeStep, *, is_weighed: bool) -> Iterator[Line]:
    heavy = heaviest(step)
    for one in heavy:
        yield Line(f"    {one.weight:.2f}  {rule_text(one.rule, is_weighed=is_weighed)}")
    n_left = len(step.fired) - len(heavy)
    if n_left:
        yield Line(f"          … and {n_left} lighter", Role.ASIDE)


def heaviest(step: TreeStep) -> list[FiredRule]:
    """Return the few rules that carried most of a row."""
    heavy = [one for one in step.fired if one.weight >= _LEAST_WEIGHT]
    return heavy[:_RULES_OF_A_TREE] or list(step.fired[:1])


def rule_text(rule: Rule, *, is_weighed: bool) -> str:
    """Write a rule with its evidence, or with its belief."""
    if not is_weighed:
        return rule.sentence
    # Of a number the sign matters; of classes, the one that gains most.
    effect = rule.addition if rule.task is Task.REGRESSION else rule.impact
    return f"if {rule.premise or 'anything'}: {effect}"


def weighed_evidence(steps: Iterable[Step]) -> dict[str, TreeEvidence]:
    """Return the evidence that fusions add up, by the trees' names."""
    fusions = (step for step in steps if isinstance(step, FusionStep))
    return {one.tree: one for fusion in fusions for one in fusion.trees}


def _changes(changes: Changes, goal: str, top: int | None) -> Iterator[Line]:
    yield Line("")
    yield Line("What would change it", Role.HEADING)
    if not changes.one and changes.two is None:
        kept = spell(changes.decision)
        yield Line(f"  No change of one reading or two makes it anything but {kept}.")
    elif not changes.one:
        yield Line("  No reading does so alone.", Role.ASIDE)
    for change in changes.one[:top]:
        move = change.moves[0]
        way = f"{spell_reading(move.before)} → {spell_reading(move.rounded)}"
        yield Line(f"  {move.attribute}  {way}: {goal} {spell(change.decision)}")
    if top is not None and len(changes.one) > top:
        yield Line(f"  … and {count(len(changes.one) - top, 'other reading')} alone", Role.ASIDE)
    if changes.two is not None:
        ways = " and ".join(
            f"{move.attribute} {spell_reading(move.before)} → {spell_reading(move.rounded)}"
            for move in changes.two.moves
        )
        yield Line(f"  two together: {ways}: {goal} {spell(changes.two.decision)}")
