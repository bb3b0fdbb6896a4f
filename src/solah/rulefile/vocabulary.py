"""Reads the goal and the attributes of a rules file: words, their ranges, and states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from solah.data import Kind
from solah.exceptions import shorten
from solah.model.document import Task
from solah.rulefile.lexer import STATEMENTS, spell_name
from solah.rulefile.sentence import SetName, read_state, read_state_text, read_words, spell_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.rulefile.draft import Draft
    from solah.rulefile.lexer import Cursor, Token


@dataclass
class WordLine:
    """A line of an attribute: a word or a focal set, and where it applies.

    Attributes
    ----------
    token : where it stands
    words : the words of the focal set
    core : where the word applies fully; None for no end. None for a focal set with a peak
    peak : where the focal set peaks; None for a word with a core
    unknown : the masses of an unknown reading
    centre : of a goal, the mean of its values
    """

    token: Token
    words: tuple[str, ...]
    core: tuple[float | None, float | None] | None = None
    peak: float | None = None
    unknown: tuple[float, ...] = ()
    centre: float | None = None

    @property
    def n_sets(self) -> int:
        """How many focal sets the line stands for."""
        if self.core is None or None in self.core:
            return 1
        return 1 if self.core[0] == self.core[1] else 2


def _is_in_block(cursor: Cursor) -> bool:
    """Tell whether the next line belongs to the block; blank lines are skipped."""
    cursor.skip_blank_lines()
    return cursor.token.kind != "end" and not cursor.is_at(*STATEMENTS)


def read_goal_record(draft: Draft) -> tuple[Task, dict[str, Any]]:
    """Read the goal behind its first word, as the document has it."""
    cursor = draft.cursor
    name = cursor.name("the name of the goal")
    kind = cursor.word("classes", "number")
    cursor.end_line()
    if kind == "classes":
        return Task.CLASSIFICATION, {"name": name} | _read_classes(draft)
    lines: list[WordLine] = []
    while _is_in_block(cursor):
        line = _read_word_line(draft, "goal", has_centre=True)
        lines.append(line)
    if not lines:
        return Task.REGRESSION, {"name": name}
    words = _overlapping(lines)
    peaks, centres = [line.peak for line in lines], [line.centre for line in lines]
    return Task.REGRESSION, {"name": name, "words": words, "peaks": peaks, "centres": centres}


def _read_classes(draft: Draft) -> dict[str, Any]:
    cursor = draft.cursor
    columns: dict[str, list[Any]] = {"states": [], "prior": [], "threshold": []}
    keys = {"prior": "prior", "threshold": "thresholds"}
    tokens: list[Token] = []
    while _is_in_block(cursor):
        token = cursor.token
        state = read_state(cursor, "a class")
        _refuse_twice(state, columns["states"], token)
        draft.stand_at(f".goal.states[{len(tokens)}]", token)
        draft.keep_comments(token, f"goal {spell_state(state)}")
        columns["states"].append(state)
        for key in keys:
            if cursor.took_word(key):
                draft.stand_at(f".goal.{keys[key]}[{len(tokens)}]", cursor.token)
                columns[key].append(cursor.number(f"the {key} of the class"))
        tokens.append(token)
        cursor.end_line()
        for key in keys:
            if columns[key] and len(columns[key]) < len(tokens):
                raise token.fail(f"other classes have a {key}, and this one has none")
            if len(columns[key]) == 1 and len(tokens) > 1:
                raise tokens[0].fail(f"other classes have a {key}, and this one has none")
    if not tokens:
        raise cursor.expected("the first class")
    record = {"states": columns["states"]}
    return record | {name: columns[key] for key, name in keys.items() if columns[key]}


def _refuse_twice(item: object, others: Sequence[object], token: Token) -> None:
    if any(type(item) is type(other) and item == other for other in others):
        raise token.fail(f"{shorten(item)} is named twice")


def read_attribute_record(draft: Draft, token: Token, place: str) -> dict[str, Any]:
    """Read an attribute behind its first word, as the document has it."""
    cursor = draft.cursor
    name = cursor.name("the name of an attribute")
    anchor = f"attribute {spell_name(name)}"
    draft.keep_comments(token, anchor)
    kind = cursor.word(*(kind.value for kind in Kind))
    record: dict[str, Any] = {"name": name, "kind": kind}
    if kind != Kind.CONTINUOUS:
        return record | _read_states(draft, anchor)
    cursor.word("from")
    draft.stand_at(f"{place}.low", cursor.token)
    record["low"] = cursor.number("the lowest reading")
    cursor.word("to")
    draft.stand_at(f"{place}.high", cursor.token)
    record["high"] = cursor.number("the highest reading")
    moved = {"moved": True} if cursor.took_word("moved") else {}
    cursor.end_line()
    return record | _read_words(draft, anchor, place) | moved


class StatedBelief(NamedTuple):
    """Words over what a node believes of a class, as the file has them.

    Attributes
    ----------
    node, state : the node and the class, and where they stand
    record : name, words, peaks and ignorance, as the document has them
    """

    node: tuple[str, Token]
    state: tuple[str, Token]
    record: dict[str, Any]


def read_belief(draft: Draft, token: Token, place: str) -> StatedBelief:
    """Read words over a belief behind their first word."""
    cursor = draft.cursor
    name = cursor.name("a name for the belief")
    anchor = f"belief {spell_name(name)}"
    draft.keep_comments(token, anchor)
    cursor.word("of")
    node = cursor.token, cursor.name("the name of rules or of a group")
    cursor.word("in")
    state = cursor.token, read_state_text(cursor, "a class")
    cursor.end_line()
    words = _read_words(draft, anchor, place)
    if "cores" in words:
        raise token.fail("words over a belief have peaks")
    return StatedBelief(node[::-1], state[::-1], {"name": name} | words)


def _read_states(draft: Draft, anchor: str) -> dict[str, Any]:
    cursor = draft.cursor
    states: list[Any] = []
    unknown: list[tuple[Token, tuple[float, ...], int]] = []
    first = cursor.token
    without_states = _read_unknown(cursor)
    cursor.end_line()
    while _is_in_block(cursor):
        token = cursor.token
        state = read_state(cursor, "a state")
        _refuse_twice(state, states, token)
        draft.keep_comments(token, f"{anchor} {spell_state(state)}")
        states.append(state)
        unknown.append((token, _read_unknown(cursor), 1))
        cursor.end_line()
    if without_states and states:
        raise first.fail("the masses of an unknown reading stand behind the states")
    if not states:
        unknown = [(first, without_states, 1)]
    return {"states": states, "ignorance": _ignorance(unknown)}


def _read_words(draft: Draft, anchor: str, place: str) -> dict[str, Any]:
    cursor = draft.cursor
    lines: list[WordLine] = []
    while _is_in_block(cursor):
        draft.stand_at(f"{place}.ignorance[{len(lines)}]", cursor.token)
        lines.append(_read_word_line(draft, anchor))
    if not lines:
        raise cursor.expected("the first word of the attribute")
    ignorance = _ignorance([(line.token, line.unknown, line.n_sets) for line in lines])
    if lines[0].core is None:
        peaks = [line.peak for line in lines]
        return {"words": _overlapping(lines), "peaks": peaks, "ignorance": ignorance}
    _check_cores(lines)
    return {
        "words": [line.words[0] for line in lines],
        "cores": [list(line.core or ()) for line in lines],
        "ignorance": ignorance,
    }


def _read_word_line(draft: Draft, anchor: str, *, has_centre: bool = False) -> WordLine:
    cursor, token = draft.cursor, draft.cursor.token
    line = WordLine(token, read_words(cursor))
    draft.keep_comments(token, f"{anchor} {SetName(line.words)}")
    if has_centre or cursor.is_at("peaks"):
        cursor.word("peaks")
        cursor.word("at")
        line.peak = cursor.number("where it peaks")
    else:
        line.core = _read_core(cursor)
    if has_centre:
        cursor.word("centre")
        line.centre = cursor.number("the mean of the goal")
    else:
        line.unknown = _read_unknown(cursor)
    cursor.end_line()
    return line


def _read_core(cursor: Cursor) -> tuple[float | None, float | None]:
    word = cursor.word("up", "from", "at", "everywhere", "peaks")
    if word == "everywhere":
        return None, None
    if word == "up":
        cursor.word("to")
        return None, cursor.number("where the word ends")
    low = cursor.number("where the word begins")
    if word == "at":
        return low, low
    return low, cursor.number("where the word ends") if cursor.took_word("to") else None


def _check_cores(lines: Sequence[WordLine]) -> None:
    """Require words in the order of their ranges, the first and the last without an outer end."""
    end: float | None = None
    for number, line in enumerate(lines):
        named = SetName(line.words)
        if line.core is None or len(line.words) > 1:
            raise line.token.fail(f"{named} needs a range, as the words above have one")
        low, high = line.core
        if (low is None) != (number == 0):
            wanted = "'up to'" if number == 0 else "'from'"
            raise line.token.fail(f"the range of {named} must begin with {wanted}")
        if (high is None) != (number == len(lines) - 1):
            wanted = "no end, as no word follows" if high is not None else "an end ('to')"
            raise line.token.fail(f"the range of {named} must have {wanted}")
        if low is not None and end is not None and low <= end:
            raise line.token.fail(
                f"{named} begins at {low!r}, and the word before it ends at {end!r}: words stand "
                "in order, with a gap between their ranges"
            )
        if low is not None and high is not None and high < low:
            raise line.token.fail(f"{named} ends at {high!r}, before it begins")
        end = high


def _overlapping(lines: Sequence[WordLine]) -> list[str]:
    """Return the words of focal sets that peak: a word, it and the next, the next, and so on."""
    words: list[str] = []
    for number, line in enumerate(lines):
        named = SetName(line.words)
        if line.peak is None:
            raise line.token.fail(f"{named} needs a peak, as the words above have one")
        if number % 2 == 0:
            is_right = len(line.words) == 1 and line.words[0] not in words
            words.append(line.words[0])
            if number and line.words[0] != lines[number - 1].words[-1]:
                is_right = False
        else:
            is_right = len(line.words) == 2 and line.words[0] == words[-1]
        if not is_right:
            raise line.token.fail(
                f"{named} is out of order: each word is followed by 'word-or-next', then the next"
            )
        before = lines[number - 1].peak
        if number and before is not None and line.peak <= before:
            raise line.token.fail(f"{named} peaks at {line.peak!r}, not above the one before it")
    if len(lines) % 2 == 0:
        raise lines[-1].token.fail(f"behind {SetName(lines[-1].words)} its last word is missing")
    return words


def _read_unknown(cursor: Cursor) -> tuple[float, ...]:
    if not cursor.took("bar"):
        return ()
    cursor.word("unknown")
    masses = [cursor.number("the mass of an unknown reading")]
    while cursor.took("comma"):
        masses.append(cursor.number("the mass of an unknown reading"))
    return tuple(masses)


def _ignorance(lines: Sequence[tuple[Token, tuple[float, ...], int]]) -> list[float]:
    """Return the masses of an unknown reading; the same for all focal sets, if none is given."""
    if not any(masses for _, masses, _ in lines):
        n_sets = sum(n_sets for *_, n_sets in lines)
        return [1.0 / n_sets] * n_sets
    for token, masses, n_sets in lines:
        if len(masses) != n_sets:
            raise token.fail(
                f"expected {n_sets} mass{'es' * (n_sets > 1)} behind 'unknown' here. "
                f"Got {len(masses)} instead."
            )
    return [mass for _, masses, _ in lines for mass in masses]
