"""Compares the goals, attributes, words and groups of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import count, spell, spell_number
from solah.difference.spelling import instead, measure_instead, named
from solah.difference.values import Difference
from solah.exceptions import ParameterError
from solah.model.document import Fusion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from solah.model import Attribute, Goal, Model, WordRange

_MOST_WORDS = 3
_LIKE = 0.5


def refuse_strangers(a: Model, b: Model) -> None:
    """Refuse models that have nothing to do with each other.

    Raises
    ------
    ParameterError
        If one decides between classes and the other estimates a number, if they have no class in
        common, or neither a name of the goal nor an attribute.
    """
    first, second = a.goal, b.goal
    who = f"{first.name!r} and {second.name!r}"
    if first.task is not second.task:
        raise ParameterError(
            f"these models decide different things: {first.name!r} is for {first.task.value}, "
            f"{second.name!r} for {second.task.value}"
        )
    if first.states and not set(map(spell, first.states)) & set(map(spell, second.states)):
        raise ParameterError(
            f"these models decide different things: {who} have no class in common "
            f"({named([*map(spell, first.states)])}; {named([*map(spell, second.states)])})"
        )
    names = ({one.name for one in model.attributes} for model in (a, b))
    if first.name != second.name and not set.intersection(*names):
        raise ParameterError(f"these models decide different things: {who} share no attribute")


# --- the goal --------------------------------------------------------------------------------


def goal_differences(a: Goal, b: Goal) -> Iterator[Difference]:
    """Compare what is decided: its name, classes, class shares and thresholds."""

    def differs(text: str, **details: object) -> Difference:
        return Difference("goal", b.name, text, details=details)

    if a.name != b.name:
        yield differs(f"the goal is called {b.name} instead of {a.name}", before=a.name)
    before, after = [[*map(spell, goal.states)] for goal in (a, b)]
    for name in after:
        if name not in before:
            yield differs(f"class {name} is new", new=name)
    for name in before:
        if name not in after:
            yield differs(f"class {name} is gone", gone=name)
    if sorted(before) == sorted(after) and before != after:
        yield differs(f"the classes stand in another order: {named(after)}", order=after)
    for what, old, new in (
        ("the class shares are", a.prior, b.prior),
        ("the thresholds of decisions are", _thresholds(a), _thresholds(b)),
    ):
        first, second = dict(zip(before, old, strict=False)), dict(zip(after, new, strict=False))
        moved = [name for name in second if name in first and first[name] != second[name]]
        if moved:
            spelt = ", ".join(f"{name} {instead(second[name], first[name])}" for name in moved)
            yield differs(f"{what} {spelt}", before=first, after=second)
    if bool(a.thresholds) != bool(b.thresholds) and _thresholds(a) == _thresholds(b):
        yield differs("thresholds are written out that change nothing")
    if (a.words, a.peaks, a.centres) != (b.words, b.peaks, b.centres):
        yield differs(
            f"{b.name} is thought of in other words: {named(b.words)} instead of {named(a.words)}"
            if a.words != b.words
            else f"the words for {b.name} stand elsewhere",
            before=list(a.centres),
            after=list(b.centres),
        )


def _thresholds(goal: Goal) -> tuple[float, ...]:
    """Return the threshold of each class; equal ones where there are none."""
    return goal.thresholds or (1 / len(goal.states),) * len(goal.states) if goal.states else ()


# --- attributes and words --------------------------------------------------------------------


def attribute_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare which attributes there are, and how they are described."""
    before = {one.name: one for one in a.attributes}
    after = {one.name: one for one in b.attributes}
    for name in after:
        if name not in before:
            yield Difference("attribute", name, f"{name} is new", 1.0, {"new": True})
    for name in before:
        if name not in after:
            yield Difference("attribute", name, f"{name} is gone", 1.0, {"new": False})
    for name, attribute in after.items():
        if name in before:
            yield from _description_differences(before[name], attribute)


def _description_differences(a: Attribute, b: Attribute) -> Iterator[Difference]:
    if a.kind is not b.kind:
        text = f"{b.name} is {b.kind.value} instead of {a.kind.value}"
        yield Difference("attribute", b.name, text)
    elif not b.is_continuous:
        yield from _state_differences(a, b)
    else:
        yield from _range_differences(a, b)
        yield from _word_differences(a, b)


def _state_differences(a: Attribute, b: Attribute) -> Iterator[Difference]:
    before, after = [*map(spell, a.states)], [*map(spell, b.states)]
    new = [state for state in after if state not in before]
    gone = [state for state in before if state not in after]
    parts = [
        f"{what} {named(states)}" for what, states in (("gains", new), ("loses", gone)) if states
    ]
    if not parts and before != after:
        parts = [f"has its states in another order: {named(after)}"]
    if parts:
        text = f"{b.name} {' and '.join(parts)}"
        yield Difference("attribute", b.name, text, details={"new": new, "gone": gone})


def _range_differences(a: Attribute, b: Attribute) -> Iterator[Difference]:
    if (a.low, a.high) == (b.low, b.high):
        return
    ends = [
        f"{where} {measure_instead(new, old)}"
        for where, new, old in (("from", b.low, a.low), ("to", b.high, a.high))
        if new is not None and old is not None and new != old
    ]
    details = {"before": [a.low, a.high], "after": [b.low, b.high]}
    text = f"{b.name} was learnt {' and '.join(ends)}"
    yield Difference("attribute", b.name, text, details=details)


def _word_differences(a: Attribute, b: Attribute) -> Iterator[Difference]:
    if (a.words, a.peaks, a.cores) == (b.words, b.peaks, b.cores):
        return
    details = {"before": _texts(a), "after": _texts(b)}
    if (a.peaks, a.cores) == (b.peaks, b.cores):
        pairs = zip(a.words, b.words, strict=True)
        calls = ", ".join(f"{old} is called {new}" for old, new in pairs if old != new)
        yield Difference("words", b.name, f"{b.name}: {calls}", 0.0, details)
    elif a.words != b.words or len(_edges(a)) != len(_edges(b)):
        how_many = f"{count(len(b.words), 'word')} instead of {len(a.words)}"
        if len(a.words) == len(b.words):
            how_many = "other words"
        ranges = "; ".join(f"{one.word} {one.text}" for one in b.word_ranges())
        yield Difference("words", b.name, f"{b.name}: {how_many}: {ranges}", 1.0, details)
    else:
        yield _moved_words(a, b, details)


def _moved_words(a: Attribute, b: Attribute, details: Mapping[str, object]) -> Difference:
    """Say how far the edges of words move, and where those stand that move most."""
    most = max(abs(new - old) for old, new in zip(_edges(a), _edges(b), strict=True))
    span = (b.high or 0.0) - (b.low or 0.0)
    share = most / span if span > 0 else 1.0
    before, after = _texts(a), _texts(b)
    moves = {
        new.word: _move(old, new) for old, new in zip(a.word_ranges(), b.word_ranges(), strict=True)
    }
    farthest = sorted((word for word in moves if moves[word] > 0), key=lambda word: -moves[word])[
        :_MOST_WORDS
    ]
    ranges = "; ".join(
        f"{word} is {after[word]}"
        + (f" instead of {before[word]}" if before[word] != after[word] else " (nearly as before)")
        for word in farthest
    )
    far = f"{spell_number(most, 3)} ({100 * share:.2g} % of its range)"
    text = f"{b.name}: edges of words move by up to {far}"
    return Difference("words", b.name, f"{text}: {ranges}", share, details)


def _edges(attribute: Attribute) -> list[float]:
    """Return where words begin or end to describe a reading fully, or where focal sets peak."""
    if not attribute.cores:
        return [*attribute.peaks]
    return [end for core in attribute.cores for end in core][1:-1]


def _texts(attribute: Attribute) -> dict[str, str]:
    """Return where each word applies, by word."""
    return {one.word: one.text for one in attribute.word_ranges()}


def _move(old: WordRange, new: WordRange) -> float:
    """Return how far the farthest edge of a word moves."""
    edges = zip((*old.fully, *old.partly), (*new.fully, *new.partly), strict=True)
    return max((abs(y - x) for x, y in edges if x != y), default=0.0)


# --- groups ----------------------------------------------------------------------------------


def group_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare which attributes stand together, where evidence is added up in groups."""
    before, after = _groups(a), _groups(b)
    left = {name: members for name, members in before.items() if after.get(name) != members}
    for name, members in after.items():
        if before.get(name) == members:
            continue
        like = _most_like(name, members, left)
        if like is None:
            text = f"the group {name} is new: {named(sorted(members))}"
            yield Difference("group", name, text, details={"new": sorted(members)})
            continue
        old = left.pop(like)
        changes = [
            f"{what} {named(sorted(which))}"
            for what, which in (("gains", members - old), ("loses", old - members))
            if which
        ]
        if like != name:
            changes.insert(0, f"is called {name}")
        details = {"new": sorted(members - old), "gone": sorted(old - members)}
        yield Difference("group", name, f"the group {like} {', '.join(changes)}", details=details)
    for name, members in left.items():
        text = f"the group {name} is gone: {named(sorted(members))}"
        yield Difference("group", name, text, details={"gone": sorted(members)})


def _groups(model: Model) -> dict[str, frozenset[str]]:
    """Return the attributes below each fusion but the one that decides."""
    below: dict[str, frozenset[str]] = {}
    for node in model.nodes:
        parts = [below.get(origin, frozenset([origin])) for origin in node.origins]
        below[node.name] = frozenset().union(*parts)
    fusions = [node.name for node in model.nodes[:-1] if isinstance(node, Fusion)]
    return {name: below[name] for name in fusions}


def _most_like(
    name: str, members: frozenset[str], others: Mapping[str, frozenset[str]]
) -> str | None:
    """Find the group of this name or, without one, that with the most of the same attributes."""
    if name in others:
        return name
    likeness = {other: len(members & them) / len(members | them) for other, them in others.items()}
    best = max(likeness, key=lambda other: likeness[other], default=None)
    return best if best is not None and likeness[best] >= _LIKE else None


def order_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare in which order attributes and nodes stand, and what nodes are called."""
    what = (
        ("attributes", [one.name for one in a.attributes], [one.name for one in b.attributes]),
        ("nodes", [one.name for one in a.nodes], [one.name for one in b.nodes]),
    )
    for name, before, after in what:
        if sorted(before) == sorted(after) and before != after:
            yield Difference("figures", name, f"the {name} stand in another order")
