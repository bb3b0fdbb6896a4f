"""Reads the target and the features of a rules file: classes, words, ranges, categories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from solah.data import Kind
from solah.edit.lexer import spell_name
from solah.edit.sentence import SetName, focal_sets, read_state, read_words, spell_state
from solah.exceptions import shorten
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.edit.draft import Draft
    from solah.edit.lexer import Cursor, Token


def read_target(draft: Draft) -> tuple[Task, dict[str, Any]]:
    """Read the target behind its first word, as the model file has it."""
    cursor = draft.cursor
    record: dict[str, Any] = {"name": cursor.name("the name of the target")}
    kind = cursor.word("classes", "number")
    cursor.end_line()
    if kind == "classes":
        return Task.CLASSIFICATION, record | _read_classes(draft)
    lines, centres = [], []
    for token in draft.block():
        line = _read_word(draft, token, "target")
        cursor.word("centre")
        centres.append(cursor.number("the mean of the target"))
        lines.append(line)
    if not lines:
        return Task.REGRESSION, record
    return Task.REGRESSION, record | _overlapping(lines) | {"centres": centres}


def _read_classes(draft: Draft) -> dict[str, Any]:
    cursor = draft.cursor
    states: list[State] = []
    columns: dict[str, list[float]] = {"share": [], "threshold": []}
    for token in draft.block():
        state = read_state(cursor, "a class")
        _refuse_twice(state, states, token)
        draft.begin(token, f"target {spell_state(state)}", f".target.classes[{len(states)}]")
        for key, column in columns.items():
            if cursor.took_word(key):
                draft.locate(f".target.{key}s[{len(states)}]", cursor.token)
                column.append(cursor.number(f"the {key} of the class"))
            if len(column) not in (0, len(states) + 1):
                raise token.fail(f"all classes have a {key}, or none")
        states.append(state)
    if not states:
        raise cursor.expected("the first class")
    return {"classes": states} | {f"{key}s": column for key, column in columns.items() if column}


def _refuse_twice(item: State, others: Sequence[State], token: Token) -> None:
    if any(type(item) is type(other) and item == other for other in others):
        raise token.fail(f"{shorten(item)} is named twice")


def read_feature(draft: Draft, token: Token, place: str) -> dict[str, Any]:
    """Read a feature behind its first word, as the model file has it."""
    cursor = draft.cursor
    name = cursor.name("the name of a feature")
    anchor = f"feature {spell_name(name)}"
    draft.begin(token, anchor, place)
    kind = cursor.word(*(kind.value for kind in Kind))
    record: dict[str, Any] = {"name": name, "type": kind}
    if kind != Kind.CONTINUOUS:
        return record | _read_categories(draft, anchor)
    for word, key in (("from", "low"), ("to", "high")):
        cursor.word(word)
        draft.locate(f"{place}.{key}", cursor.token)
        record[key] = cursor.number(f"the {key}est value")
    moved = {"moved": True} if cursor.took_word("moved") else {}
    cursor.end_line()
    return record | read_scale(draft, anchor) | moved


def _read_categories(draft: Draft, anchor: str) -> dict[str, Any]:
    cursor = draft.cursor
    states: list[State] = []
    head, without = cursor.token, _read_missing(cursor)
    masses: list[tuple[Token, list[float], int]] = []
    cursor.end_line()
    for token in draft.block():
        state = read_state(cursor, "a category")
        _refuse_twice(state, states, token)
        draft.begin(token, f"{anchor} {spell_state(state)}")
        states.append(state)
        masses.append((token, _read_missing(cursor), 1))
    if without and states:
        raise head.fail("the masses of a missing value stand behind the categories")
    return {"categories": states, "missing": _joined(masses or [(head, without, 1)])}


@dataclass
class _Word:
    """A line of a continuous feature: a word with a range, or a focal set with a peak."""

    token: Token
    words: tuple[str, ...]
    peak: float | None = None
    ends: tuple[float | None, float | None] = (None, None)


def read_scale(draft: Draft, anchor: str) -> dict[str, Any]:
    """Read the words of a continuous feature."""
    lines: list[_Word] = []
    masses: list[tuple[Token, list[float], int]] = []
    for token in draft.block():
        line = _read_word(draft, token, anchor)
        lines.append(line)
        has_two_ends = None not in line.ends and line.ends[0] != line.ends[1]
        masses.append((token, _read_missing(draft.cursor), 1 + has_two_ends))
    if not lines:
        raise draft.cursor.expected("the first word of the feature")
    record = _ranged(lines) if lines[0].peak is None else _overlapping(lines)
    return record | {"missing": _joined(masses)}


def _read_word(draft: Draft, token: Token, anchor: str) -> _Word:
    cursor, words = draft.cursor, read_words(draft.cursor)
    draft.begin(token, f"{anchor} {SetName(words)}")
    how = cursor.word("up", "from", "at", "everywhere", "peaks")
    if how == "everywhere":
        return _Word(token, words)
    if how in ("up", "peaks"):
        cursor.word("to" if how == "up" else "at")
    number = cursor.number("where it peaks" if how == "peaks" else "where the word applies")
    if how == "peaks":
        return _Word(token, words, number)
    if how == "up":
        return _Word(token, words, ends=(None, number))
    end = cursor.number("where the word ends") if cursor.took_word("to") else None
    return _Word(token, words, ends=(number, number if how == "at" else end))


def _ranged(lines: Sequence[_Word]) -> dict[str, Any]:
    """Require words in the order of their ranges, the first and the last without an outer end."""
    before: float | None = None
    for number, line in enumerate(lines):
        (low, high), is_first, is_last = line.ends, number == 0, number == len(lines) - 1
        is_right = line.peak is None and len(line.words) == 1
        is_right &= (low is None) == is_first and (high is None) == is_last
        if low is not None:
            is_right &= (before is None or before < low) and (high is None or low <= high)
        if not is_right:
            raise line.token.fail(
                f"{SetName(line.words)} does not follow the word before it: ranges rise with gaps "
                "between them, the first is 'up to', and the last 'from' without an end"
            )
        before = high
    ranges = [list(line.ends) for line in lines]
    return {"words": [line.words[0] for line in lines], "ranges": ranges}


def _overlapping(lines: Sequence[_Word]) -> dict[str, Any]:
    """Require the focal sets of words that overlap, in their order, each with a peak."""
    words = [line.words[0] for line in lines[::2]]
    for line, expected in zip_longest(lines, focal_sets(words)):
        named = SetName(line.words)
        if line.peak is None:
            raise line.token.fail(f"{named} needs a peak, as the words above have one")
        if line.words != expected:
            raise line.token.fail(
                f"{named} is out of order: each word is followed by 'word-or-next', then the next"
            )
    return {"words": words, "peaks": [line.peak for line in lines]}


def _read_missing(cursor: Cursor) -> list[float]:
    if not cursor.took("bar"):
        return []
    cursor.word("missing")
    return cursor.numbers("the mass of a missing value")


def _joined(lines: Sequence[tuple[Token, list[float], int]]) -> list[float]:
    """Return the masses of a missing value; the same for all focal sets, if none is given."""
    if not any(masses for _, masses, _ in lines):
        n_sets = sum(n_sets for *_, n_sets in lines)
        return [1.0 / n_sets] * n_sets
    for token, masses, n_sets in lines:
        if len(masses) != n_sets:
            raise token.fail(
                f"expected {n_sets} mass{'es' * (n_sets > 1)} behind 'missing' here. "
                f"Got {len(masses)} instead."
            )
    return [mass for _, masses, _ in lines for mass in masses]
