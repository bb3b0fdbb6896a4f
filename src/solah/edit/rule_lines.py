"""The lines of a rules file: the target, features, rules, branches and the policy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any

from solah.data import Kind
from solah.edit.lexer import spell_number
from solah.edit.sentence import (
    SetName,
    focal_sets,
    read_class,
    read_conclusion,
    read_conditions,
    read_state,
    read_words,
    spell_condition,
    spell_state,
    target_names,
)
from solah.exceptions import did_you_mean, shorten
from solah.model.document import Task
from solah.model.node_format import set_words
from solah.model.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.data import State
    from solah.edit.rules_reader import Draft
    from solah.edit.sentence import StatedCondition
    from solah.model.document import Target
    from solah.model.features import Feature
    from solah.model.lexer import Cursor, Token


Words = tuple[int, ...]
_NO_POLICY = Policy()
_KEYS = ("min_completeness", "smoothing", "hysteresis", "min_hold")
_Record = dict[str, Any]


# --- target and features -------------------------------------------------------------------------


def read_target_line(draft: Draft) -> tuple[Task, dict[str, Any]]:
    """Read the target behind its first word, as the model file has it."""
    record: dict[str, Any] = {"name": draft.name("the name of the target")}
    kind = draft.word("classes", "number")
    if kind == "number" and draft.took_word("log"):
        record["link"] = "log"
    draft.end_line()
    if kind == "classes":
        return Task.CLASSIFICATION, record | _read_classes(draft)
    lines, centres = [], []
    for token in draft.block():
        line = _read_word(draft, token)
        draft.word("centre")
        centres.append(draft.number("the mean of the target"))
        lines.append(line)
    if not lines:
        return Task.REGRESSION, record
    return Task.REGRESSION, record | _overlapping(lines) | {"centres": centres}


def _read_classes(draft: Draft) -> dict[str, Any]:
    states: list[State] = []
    columns: dict[str, list[float]] = {"share": [], "threshold": []}
    for token in draft.block():
        state = read_state(draft, "a class")
        _refuse_twice(state, states, token)
        draft.locate(f".target.classes[{len(states)}]", token)
        for key, column in columns.items():
            if draft.took_word(key):
                draft.locate(f".target.{key}s[{len(states)}]", draft.token)
                column.append(draft.number(f"the {key} of the class"))
            if len(column) not in (0, len(states) + 1):
                raise token.fail(f"give all classes a {key}, or none of them")
        states.append(state)
    if not states:
        raise draft.expected("the first class")
    return {"classes": states} | {f"{key}s": column for key, column in columns.items() if column}


def _refuse_twice(item: State, others: Sequence[State], token: Token) -> None:
    if any(type(item) is type(other) and item == other for other in others):
        raise token.fail(f"{shorten(item)} is named twice")


def read_feature_line(draft: Draft, token: Token, place: str) -> dict[str, Any]:
    """Read a feature behind its first word, as the model file has it."""
    name = draft.name("the name of a feature")
    draft.locate(place, token)
    kind = draft.word(*(kind.value for kind in Kind))
    record: dict[str, Any] = {"name": name, "type": kind}
    if kind != Kind.CONTINUOUS:
        return record | _read_categories(draft)
    for word, key in (("from", "low"), ("to", "high")):
        draft.word(word)
        draft.locate(f"{place}.{key}", draft.token)
        record[key] = draft.number(f"the {key}est value")
    moved = {"moved": True} if draft.took_word("moved") else {}
    draft.end_line()
    return record | read_scale(draft) | moved


def _read_categories(draft: Draft) -> dict[str, Any]:
    states: list[State] = []
    head, without = draft.token, _read_missing(draft)
    masses: list[tuple[Token, list[float], int]] = []
    draft.end_line()
    for token in draft.block():
        state = read_state(draft, "a category")
        _refuse_twice(state, states, token)
        states.append(state)
        masses.append((token, _read_missing(draft), 1))
    if without and states:
        raise head.fail("the masses of a missing value belong behind the categories")
    return {"categories": states, "missing": _joined(masses or [(head, without, 1)])}


@dataclass
class _Word:
    """A line of a continuous feature: a word with a range, or a focal set with a peak."""

    token: Token
    words: tuple[str, ...]
    peak: float | None = None
    ends: tuple[float | None, float | None] = (None, None)


def read_scale(draft: Draft) -> dict[str, Any]:
    """Read the words of a continuous feature."""
    lines: list[_Word] = []
    masses: list[tuple[Token, list[float], int]] = []
    for token in draft.block():
        line = _read_word(draft, token)
        lines.append(line)
        has_two_ends = None not in line.ends and line.ends[0] != line.ends[1]
        masses.append((token, _read_missing(draft), 1 + has_two_ends))
    if not lines:
        raise draft.expected("the first word of the feature")
    record = _ranged(lines) if lines[0].peak is None else _overlapping(lines)
    return record | {"missing": _joined(masses)}


def _read_word(cursor: Cursor, token: Token) -> _Word:
    words = read_words(cursor)
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


# --- rules ---------------------------------------------------------------------------------------


class TermLines:
    """The rules of one term: the lines of a grid, in any order.

    Parameters
    ----------
    draft : the file
    target : the target
    inputs : the term's features
    """

    def __init__(self, draft: Draft, target: Target, inputs: Sequence[Feature]) -> None:
        self._draft, self._target, self._inputs = draft, target, inputs
        self._words = [[(word,) for word in one.words] for one in inputs]
        self._cells: dict[tuple[Words, ...] | None, tuple[Token, _Record]] = {}
        self._parts: list[dict[int, tuple[Words, Token]]] = [{} for _ in inputs]  # by word
        self._rest: tuple[Token, _Record] | None = None

    def read(self, place: str) -> list[_Record]:
        """Return the rules as the model file has them, in the grid's order.

        Parameters
        ----------
        place : the term's path
        """
        cursor = self._draft
        while (token := cursor.next_line()) and cursor.is_at("if", "pin", "otherwise"):
            pin = {"pinned": True} if cursor.took_word("pin") else {}
            if cursor.took_word("otherwise"):
                if self._rest is not None:
                    raise token.fail(
                        f"there is an 'otherwise' already, in line {self._rest[0].line}"
                    )
                self._rest = token, self._read_facts() | pin
            else:
                cell = self._read_cell(token)
                self._cells[cell] = token, self._read_facts() | pin
            cursor.end_line()
        return self._rules(place, token)

    def _read_cell(self, token: Token) -> tuple[Words, ...] | None:
        """Read the conditions of a line; None for a missing value."""
        self._draft.word("if")
        conditions = {one.feature: one for one in read_conditions(self._draft)}
        for condition in conditions.values():
            _asked(condition, self._inputs)
        cell: tuple[Words, ...] | None = None
        if any(one.form == "missing" for one in conditions.values()):
            if len(self._inputs) > 1:
                raise token.fail("a missing value has a rule only where rules are on one feature")
        else:
            words = []
            for side, one in enumerate(self._inputs):
                if one.name not in conditions:
                    raise token.fail(f"the rule has no condition on {shorten(one.name)}")
                words.append(self._read_part(side, conditions[one.name]))
            cell = tuple(words)
        if cell in self._cells:
            line = self._cells[cell][0].line
            raise token.fail(f"there is a rule for this already, in line {line}")
        return cell

    def _read_part(self, side: int, condition: StatedCondition) -> Words:
        """Return the words of a condition, which no other line has together with others."""
        one, parts = self._inputs[side], self._parts[side]
        part = condition.indices(self._words[side], one.crossovers)
        for word in part:
            known, token = parts.setdefault(word, (part, condition.token))
            if known != part:
                told = [spell_condition(one, words, sets=False) for words in ((word,), known)]
                raise condition.token.fail(
                    f"{told[0]} is joined with other words in line {token.line}: {told[1]}; "
                    "join the same words in all lines"
                )
        return part

    def _read_facts(self) -> _Record:
        """Read what a rule adds, and its counts; nobody counted them if there is no bar."""
        cursor, target = self._draft, self._target
        record: _Record = {"weights": list(read_conclusion(cursor).scores_for(target.classes))}
        shares = [0.0] if target.is_additive_number else list(target.shares)
        token, record["rows"] = cursor.token, read_rows(cursor)
        if cursor.took("colon"):
            shares = cursor.numbers("a share")
            if len(shares) != target.size:
                raise token.fail(
                    f"expected {target.size} numbers behind 'rows:'. Got {len(shares)} instead."
                )
        return record | ({"mean": shares[0]} if target.is_additive_number else {"shares": shares})

    def _rules(self, place: str, end: Token) -> list[_Record]:
        """Put the lines in the order of the grid; that of ``otherwise`` is for all others."""
        sides: list[list[Words]] = []
        for one, parts in zip(self._inputs, self._parts, strict=True):
            for word in range(len(one.words)):
                if word not in parts and self._rest is None:
                    told = spell_condition(one, (word,), sets=False)
                    raise end.fail(f"expected a rule for {told}")
            sides.append(sorted({parts.get(word, ((word,),))[0] for word in range(len(one.words))}))
        rules: list[_Record] = []
        cells: list[tuple[Words, ...] | None] = [*product(*sides)]
        for cell in (*cells, *([None] if None in self._cells else [])):
            line = self._cells.get(cell, self._rest)
            if line is None:
                assert cell is not None
                named = zip(self._inputs, cell, strict=True)
                first = [spell_condition(one, words[:1], sets=False) for one, words in named]
                raise end.fail(f"expected a rule for {' and '.join(first)}")
            self._draft.locate(f"{place}.rules[{len(rules)}]", line[0])
            rules.append({"if": self._conditions(cell), **line[1]})
        return rules

    def _conditions(self, cell: tuple[Words, ...] | None) -> list[list[Any]]:
        if cell is None:
            return [[self._inputs[0].name, None]]
        conditions = []
        for one, part in zip(self._inputs, cell, strict=True):
            names = [(one.categories or one.words)[word] for word in part]
            conditions.append([one.name, names[0] if len(names) == 1 else names])
        return conditions


def read_branches(
    draft: Draft, target: Target, inputs: Sequence[Feature], place: str
) -> list[_Record]:
    """Read the branches of a tree, and return them as the model file has them."""
    rules = list[_Record]()
    while (token := draft.next_line()) and draft.is_at("if", "pin", "always"):
        pin = {"pinned": True} if draft.took_word("pin") else {}
        stated: tuple[StatedCondition, ...] = ()
        if not draft.took_word("always"):
            draft.word("if")
            stated = read_conditions(draft)
        conditions = []
        for one in stated:
            feature = _asked(one, inputs)
            if one.form == "missing":
                raise one.token.fail("a branch has no condition for a missing value")
            sets = one.indices(feature.focal_sets)
            if len(sets) > 1 and one is not stated[-1]:
                raise one.token.fail("only the last condition of a branch may have several words")
            words = set_words(feature)
            conditions.append([one.feature, [list(words[index]) for index in sets]])
        draft.locate(f"{place}.rules[{len(rules)}]", token)
        belief = list(read_conclusion(draft).shares_for(target_names(target)))
        rules.append({"if": conditions, "belief": belief, "rows": read_rows(draft), **pin})
        draft.end_line()
    if not rules:
        raise draft.expected("a rule, which begins with 'if'", ["if", "pin", "always"])
    return rules


def read_rows(cursor: Cursor) -> float:
    """Read ``| 12 rows``; 0 if there is no bar."""
    if not cursor.took("bar"):
        return 0.0
    rows = cursor.number("the number of rows")
    cursor.word("rows")
    return rows


def _asked(condition: StatedCondition, inputs: Sequence[Feature]) -> Feature:
    """Return the input that a condition is on."""
    known = {one.name: one for one in inputs}
    if condition.feature not in known:
        near = did_you_mean(condition.feature, known)
        raise condition.token.fail(f"the rules are not on {shorten(condition.feature)}{near}")
    return known[condition.feature]


# --- the policy ----------------------------------------------------------------------------------


def spell_policy(policy: Policy, target: Target) -> Iterator[str]:
    """Yield the lines of a policy: a key and its number, which may be of a class or of a window."""
    for state, limit in zip(target.classes, policy.min_probability, strict=False):
        yield f"min_probability {spell_state(state)} {spell_number(limit)}"
    for key in _KEYS:
        if (value := getattr(policy, key)) != getattr(_NO_POLICY, key):
            yield f"{key} {spell_number(value)}"
    if policy.window > 1:
        yield f"votes {policy.votes} of {policy.window}"


def read_policy(draft: Draft, target: Target) -> dict[str, Any]:
    """Read the lines below ``policy``, as the model file has them."""
    record = dict[str, Any]()
    limits: dict[int, float] = {}

    def read(key: str, what: str = "a number") -> float:
        draft.locate(f".policy.{key}", draft.token)
        number = draft.number(what)
        return int(number) if number.is_integer() else number

    for token in draft.block():
        key = draft.word("min_probability", "votes", *_KEYS)
        if key == "min_probability":
            place = read_class(draft, target)
            if place in limits:
                raise token.fail(f"{spell_state(target.classes[place])} has a limit already")
            limits[place] = read(f"min_probability[{place}]", "the probability")
            continue
        if key in record:
            raise token.fail(f"{key} is set twice")
        record[key] = read(key)
        if key == "votes":
            draft.word("of")
            record["window"] = read("window", "the window")
    for place, state in enumerate(target.classes if limits else ()):
        if place not in limits:
            raise draft.expected(f"'min_probability {spell_state(state)}', as of other classes")
    if limits:
        record["min_probability"] = [limits[place] for place in sorted(limits)]
    return record
