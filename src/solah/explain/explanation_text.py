"""Summarises an explanation, and writes it as lines of text, each with its role."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from solah.data.spelling import count, spell_number
from solah.explain.fired_rules import WORTH_SHOWING
from solah.explain.rule_text import signed, spell_class, spell_largest
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.explain.explanation import Explanation

TOP = 8
_BAR = 12
_LEAST_POINTS = 0.05


class Role(StrEnum):
    """The role of a line of an explanation."""

    RESULT = "result"
    HEADING = "heading"
    PLAIN = "plain"
    ASIDE = "aside"


class Line(NamedTuple):
    """A line and its role."""

    text: str
    role: Role = Role.PLAIN


class Amount(NamedTuple):
    """A contribution: as text, as a share of the largest one, and its feature and value."""

    text: str
    share: float
    label: str


@dataclass(frozen=True)
class Section:
    """A heading and the lines below it: contributions, or text."""

    heading: str
    lines: Sequence[Amount | str]


@dataclass(frozen=True)
class Summary:
    """All that an explanation shows, as text.

    Attributes
    ----------
    result : the prediction, its probability, and the probability before any value is known
    notes : reasons to abstain, and thresholds
    sections : contributions, rules that apply, group sums and changes
    missing : the missing features and their effect; empty if there are none
    """

    result: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    missing: str


def summarise_explanation(explanation: Explanation, top: int | None = TOP) -> Summary:
    """Summarise an explanation.

    Parameters
    ----------
    explanation : Explanation
    top : int or None, default=8
        The maximum number of features, rules and changes; None shows all.
    """
    target, is_number = explanation.target, explanation.target.task is Task.REGRESSION
    before = spell_number(explanation.before) if is_number else f"{explanation.before:.0%}"
    sections = [_contributions(explanation, top), _rules(explanation, top)]
    if len(explanation.groups) > 1:
        sums = [
            f"{spell_largest(adds, target)}: {name}" for name, adds in explanation.groups.items()
        ]
        sections.append(Section("Sums of the feature groups", sums))
    if explanation.changes is not None:
        both = [explanation.changes.two] if explanation.changes.two else []
        alone = explanation.changes.one
        texts = [str(change) for change in (*alone[:top], *both)]
        if top is not None and len(alone) > top:
            texts.insert(top, f"… and {count(len(alone) - top, 'other feature')}")
        texts = texts or ["No change to one or two values flips it."]
        sections.append(Section("Smallest changes that flip the prediction", texts))
    return Summary(
        result=f"{explanation.conclusion} ({before} before any value is known)",
        notes=tuple(filter(None, (explanation.abstention.sentence, _threshold(explanation)))),
        sections=tuple(sections),
        missing=_missing(explanation),
    )


def _contributions(explanation: Explanation, top: int | None) -> Section:
    is_number = explanation.target.task is Task.REGRESSION
    scale = 1.0 if is_number else 100.0

    def write(amount: float) -> str:
        return spell_number(amount, sign="+") if is_number else signed(100 * amount, 1)

    shown = [
        one
        for one in explanation.contributions[:top]
        if is_number or abs(scale * one.effect) >= _LEAST_POINTS
    ]
    largest = max((abs(one.effect) for one in shown), default=0.0) or 1.0
    lines = [Amount(write(one.effect), one.effect / largest, str(one)) for one in shown]
    if rest := explanation.contributions[len(shown) :]:
        total = sum(one.effect for one in rest)
        lines.append(Amount(write(total), 0.0, count(len(rest), "other")))
    return Section(f"Contributions{'' if is_number else ', in percentage points'}", lines)


def _rules(explanation: Explanation, top: int | None) -> Section:
    fired, n_fired = explanation.strongest_rules(top)
    lines = [str(one) for one in fired if top is None or one.membership >= WORTH_SHOWING]
    lines = lines or list(map(str, fired[:1]))
    if n_fired > len(lines):
        lines.append(f"… and {count(n_fired - len(lines), 'other')} with less effect")
    return Section("Rules that apply", lines)


def _threshold(explanation: Explanation) -> str:
    """Explain why the class with the largest probability is not predicted; nothing if it is."""
    target, probabilities = explanation.target, explanation.probabilities
    if not target.thresholds:
        return ""
    most = max(range(len(probabilities)), key=probabilities.__getitem__)
    place = target.classes.index(explanation.decision)
    if most == place:
        return ""
    likelier, predicted = (spell_class(target.classes[one], target.name) for one in (most, place))
    return (
        f"{likelier} has a larger probability ({probabilities[most]:.0%}), but the class with the "
        f"largest ratio to its threshold is predicted: {target.thresholds[place]:.2f} for "
        f"{predicted}, {target.thresholds[most]:.2f} for {likelier}."
    )


def _missing(explanation: Explanation) -> str:
    """Name the missing features and their effect."""
    missing, without_rule = explanation.missing, explanation.missing_without_rule
    if not missing:
        return ""
    named = ", ".join(
        name if name in without_rule or not explanation.damps else f"{name} (has a rule)"
        for name in missing[:TOP]
    )
    more = f" and {len(missing) - TOP} more" if len(missing) > TOP else ""
    cost = ""
    if explanation.damps and without_rule and not explanation.target.is_additive_number:
        cost = f" Other weights count {explanation.damping:.0%}."
    return f"Missing: {named}{more}.{cost} Completeness {explanation.completeness:.0%}."


def lines_of(explanation: Explanation, top: int | None = TOP) -> Iterator[Line]:
    """Write an explanation; parameters as in :func:`summarise_explanation`."""
    summary = summarise_explanation(explanation, top)
    yield Line(summary.result, Role.RESULT)
    for note in summary.notes:
        yield Line(note)
    for section in summary.sections:
        yield Line(section.heading, Role.HEADING)
        amounts = [one for one in section.lines if isinstance(one, Amount)]
        width = max((len(one.text) for one in amounts), default=0)
        for line in section.lines:
            if isinstance(line, Amount):
                length = round(_BAR * abs(line.share))
                bar = ("█" if line.share > 0 else "░") * length
                yield Line(f"  {line.text:>{width}}  {bar:<{_BAR}}  {line.label}")
            else:
                yield Line(f"  {line}", Role.ASIDE if line.startswith("…") else Role.PLAIN)
    if summary.missing:
        yield Line(summary.missing, Role.ASIDE)
