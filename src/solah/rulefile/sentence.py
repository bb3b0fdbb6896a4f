"""Reads a rule as a sentence: ``if smoke is high and room is kitchen then alarm +3``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from solah.exceptions import RuleTextError, did_you_mean, shorten
from solah.rulefile.lexer import (
    NOWHERE,
    Cursor,
    Token,
    lex,
    spell_name,
    spell_number,
    spell_signed,
    whole_or_real,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.data import State

Form = Literal["one of", "at least", "at most", "from to", "missing", "anything"]


class SetName(NamedTuple):
    """What a condition calls a focal set: its words, which all apply.

    Attributes
    ----------
    words : the words; most often a single one
    end : ``lower`` or ``upper`` for one end of the core of a word; else empty
    """

    words: tuple[str, ...]
    end: str = ""

    def __str__(self) -> str:
        words = "-or-".join(map(spell_name, self.words))
        return f"{self.end} {words}" if self.end else words


@dataclass(frozen=True)
class StatedCondition:
    """A condition as somebody wrote it.

    Attributes
    ----------
    attribute : the attribute's name
    form : how the words are meant: one of them, at least or at most the only one, from the first to
        the second; or that the reading is missing, or may be anything
    names : the words
    """

    attribute: str
    form: Form
    names: tuple[SetName, ...] = ()
    token: Token = field(default=NOWHERE, compare=False, repr=False)
    name_tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)

    def places(self, known: Mapping[SetName, range], n_places: int) -> list[int]:
        """Return the focal sets that are meant, by number.

        Parameters
        ----------
        known : where each name stands among the focal sets
        n_places : how many focal sets there are
        """
        if self.form == "anything":
            return list(range(n_places))
        found = [self._place(i, known) for i in range(len(self.names))]
        if self.form == "one of":
            return sorted({place for one in found for place in one})
        first = 0 if self.form == "at most" else found[0].start
        stop = n_places if self.form == "at least" else found[-1].stop
        if first >= stop:
            raise self.name_tokens[-1].fail(
                f"{self.names[0]} comes behind {self.names[-1]}; turn them round"
            )
        return list(range(first, stop))

    def word_places(self, words: Sequence[str]) -> list[int]:
        """Return which of an attribute's words are meant, by number.

        Examples
        --------
        >>> condition = parse_rule("if age is at least middle then ill +1").conditions[0]
        >>> condition.word_places(["young", "middle", "old"])
        [1, 2]
        """
        known = {SetName((word,)): range(i, i + 1) for i, word in enumerate(words)}
        return self.places(known, len(words))

    def _place(self, number: int, known: Mapping[SetName, range]) -> range:
        name = self.names[number]
        if name not in known:
            words = ["-or-".join(one.words) for one in known if not one.end]
            shown = "-or-".join(name.words)
            raise self.name_tokens[number].fail(
                f"{shorten(self.attribute)} has no word {shorten(shown)}"
                f"{did_you_mean(shown, words)}"
            )
        return known[name]

    def __str__(self) -> str:
        names = list(map(str, self.names))
        texts = {
            "one of": " or ".join(names),
            "at least": f"at least {names[0]}" if names else "",
            "at most": f"at most {names[0]}" if names else "",
            "from to": f"from {names[0]} to {names[-1]}" if names else "",
        }
        return f"{spell_name(self.attribute)} is {texts.get(self.form, self.form)}"


class StatedScore(NamedTuple):
    """A class and its evidence, as somebody wrote them; no class for a number."""

    state: str | None
    score: float


@dataclass(frozen=True)
class Conclusion:
    """What stands behind ``then``.

    Attributes
    ----------
    names : the classes, as text; of a number in words, its focal sets; none for what is added to a
        number
    numbers : evidence, if they have signs, else shares
    is_signed : whether they have signs
    """

    names: tuple[tuple[str, ...], ...]
    numbers: tuple[float, ...]
    is_signed: bool = True
    tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)

    def scores_for(self, states: Sequence[State]) -> tuple[float, ...]:
        """Return the evidence for each class; of a number, which has none, what is added.

        A class that is not named gets no evidence. Only differences count, so that evidence for
        some classes is then moved to be 0 on average.
        """
        if not self.is_signed:
            raise self.tokens[0].fail(f"evidence needs its sign: +{spell_number(self.numbers[0])}")
        if not states:
            if len(self.names) > 1 or self.names[0]:
                raise self.tokens[0].fail("the goal is a number, so no class is named here")
            return self.numbers
        found = self._placed([(str(state),) for state in states])
        scores = tuple(found.get(place, 0.0) for place in range(len(states)))
        mean = 0.0 if len(found) == len(states) else sum(scores) / len(scores)
        return tuple(score - mean for score in scores) if mean else scores

    def shares_for(self, known: Sequence[tuple[str, ...]]) -> tuple[float, ...]:
        """Return the share of each class, or of each focal set of a number in words."""
        if self.is_signed:
            raise self.tokens[0].fail("these rules have shares, which have no signs")
        found = self._placed(known)
        for place, name in enumerate(known):
            if place not in found:
                raise self.tokens[-1].fail(f"there is no share for {SetName(name)} here")
        return tuple(found[place] for place in range(len(known)))

    def _placed(self, known: Sequence[tuple[str, ...]]) -> dict[int, float]:
        """Return the numbers by the places of their classes."""
        shown = ["-or-".join(name) for name in known]
        found: dict[int, float] = {}
        for name, number, token in zip(self.names, self.numbers, self.tokens, strict=True):
            if not name:
                raise token.fail(f"expected the name of a class{did_you_mean('', shown)}")
            if name not in known:
                text = "-or-".join(name)
                raise token.fail(f"there is no class {shorten(text)}{did_you_mean(text, shown)}")
            place = known.index(name)
            if place in found:
                raise token.fail(f"the class {shorten('-or-'.join(name))} is named twice")
            found[place] = number
        return found

    def __str__(self) -> str:
        spell = spell_signed if self.is_signed else spell_number
        parts = zip(self.names, self.numbers, strict=True)
        return ", ".join(f"{SetName(name)} {spell(number)}".lstrip() for name, number in parts)


@dataclass(frozen=True)
class StatedRule:
    """A rule as somebody wrote it.

    Attributes
    ----------
    conditions : what must hold
    conclusion : the evidence for classes, or what is added to a number
    """

    conditions: tuple[StatedCondition, ...]
    conclusion: Conclusion

    @property
    def scores(self) -> tuple[StatedScore, ...]:
        """The evidence for classes as it is written."""
        parts = zip(self.conclusion.names, self.conclusion.numbers, strict=True)
        return tuple(StatedScore("-or-".join(name) or None, score) for name, score in parts)

    def scores_for(self, states: Sequence[State]) -> tuple[float, ...]:
        """Return the evidence for each class; of a number, which has none, what is added.

        A class that is not named gets no evidence. Only differences count, so that evidence for
        some classes is then moved to be 0 on average.

        Examples
        --------
        >>> parse_rule("if smoke is high then alarm +3").scores_for(["alarm", "none"])
        (1.5, -1.5)
        """
        return self.conclusion.scores_for(states)

    def __str__(self) -> str:
        return f"if {' and '.join(map(str, self.conditions))} then {self.conclusion}"


def parse_rule(text: str) -> StatedRule:
    """Read a rule that adds evidence.

    Parameters
    ----------
    text : str
        ``if ATTRIBUTE is WORD [and …] then CLASS +NUMBER[, CLASS -NUMBER …]``. Instead of a word,
        there may be ``one or other``, ``at least WORD``, ``at most WORD``, ``from WORD to WORD``,
        or ``missing``. Names with spaces stand in double quotes. A number as goal has no class.

    Returns
    -------
    rule : StatedRule

    Raises
    ------
    RuleTextError
        With the line and the column of what is wrong.

    Examples
    --------
    >>> rule = parse_rule('if smoke is high and "room type" is kitchen or hall then alarm +3')
    >>> [(condition.attribute, condition.form) for condition in rule.conditions]
    [('smoke', 'one of'), ('room type', 'one of')]
    >>> rule.scores
    (StatedScore(state='alarm', score=3.0),)
    >>> parse_rule("if smoke is high than alarm +3")
    Traceback (most recent call last):
    solah.exceptions.RuleTextError: line 1, column 18: expected 'then', found 'than'; did you mean \
'then'?
    """
    rule = parse_change(text)
    if rule.conclusion is None:
        raise RuleTextError("expected 'then' and evidence behind the conditions", 1, len(text) + 1)
    if not rule.conclusion.is_signed:
        number = spell_number(rule.conclusion.numbers[0])
        raise rule.conclusion.tokens[0].fail(f"evidence needs its sign: +{number}")
    return StatedRule(rule.conditions, rule.conclusion)


class StatedChange(NamedTuple):
    """The conditions of a rule, and its conclusion, if it has one."""

    conditions: tuple[StatedCondition, ...]
    conclusion: Conclusion | None


def parse_change(text: str) -> StatedChange:
    """Read a rule that adds evidence or has shares, or only its conditions."""
    if not isinstance(text, str):
        raise RuleTextError(f"a rule must be text. Got a value of type {type(text).__name__}.")
    cursor = Cursor(lex(text).tokens)
    cursor.skip_blank_lines()
    cursor.word("if")
    conditions = [read_condition(cursor)]
    while cursor.took_word("and"):
        conditions.append(read_condition(cursor))
    _check_once(conditions)
    cursor.skip_blank_lines()
    if cursor.token.kind == "end":
        return StatedChange(tuple(conditions), None)
    cursor.word("then")
    conclusion = read_conclusion(cursor)
    cursor.skip_blank_lines()
    if cursor.token.kind != "end":
        raise cursor.expected("a comma or the end of the rule")
    return StatedChange(tuple(conditions), conclusion)


def _check_once(conditions: Sequence[StatedCondition]) -> None:
    seen: set[str] = set()
    for condition in conditions:
        if condition.attribute in seen:
            raise condition.token.fail(f"{shorten(condition.attribute)} stands in the rule twice")
        seen.add(condition.attribute)


def read_condition(cursor: Cursor) -> StatedCondition:
    """Read ``ATTRIBUTE is WORD``."""
    token = cursor.token
    attribute = cursor.name("the name of an attribute")
    cursor.word("is")
    if cursor.took_word("missing"):
        return StatedCondition(attribute, "missing", (), token)
    if cursor.took_word("anything", "known"):
        return StatedCondition(attribute, "anything", (), token)
    names: list[SetName] = []
    tokens: list[Token] = []

    def read_name() -> None:
        tokens.append(cursor.token)
        names.append(_read_set_name(cursor))

    form: Form = "one of"
    if cursor.took_word("at"):
        form = "at least" if cursor.word("least", "most") == "least" else "at most"
        read_name()
    elif cursor.took_word("from"):
        form = "from to"
        read_name()
        cursor.word("to")
        read_name()
    else:
        read_name()
        while cursor.took_word("or"):
            read_name()
    return StatedCondition(attribute, form, tuple(names), token, tuple(tokens))


def _read_set_name(cursor: Cursor) -> SetName:
    end = cursor.word("lower", "upper") if cursor.is_at("lower", "upper") else ""
    return SetName(read_words(cursor), end)


def read_words(cursor: Cursor) -> tuple[str, ...]:
    """Read a word, or several that all apply: ``low-or-medium``."""
    words = [read_state_text(cursor, "a word")]
    while cursor.took("joint"):
        words.append(read_state_text(cursor, "a word"))
    return tuple(words)


def read_state_text(cursor: Cursor, what: str) -> str:
    """Read a word, a class or a state as text; numbers and truth values need no quotes."""
    return str(read_state(cursor, what))


def read_state(cursor: Cursor, what: str) -> State:
    """Read a state: a name, a number, or true or false."""
    token = cursor.token
    if cursor.took("number"):
        return whole_or_real(token)
    if cursor.took_word("true", "false"):
        return token.text == "true"
    return cursor.name(what)


def spell_state(state: State) -> str:
    """Write a state so that it is read back as what it is."""
    if isinstance(state, bool):
        return "true" if state else "false"
    return spell_name(state) if isinstance(state, str) else repr(state)


def read_conclusion(cursor: Cursor) -> Conclusion:
    """Read what stands behind ``then``: classes with evidence or shares, or what is added."""
    names: list[tuple[str, ...]] = []
    numbers: list[Token] = []
    tokens: list[Token] = []
    while True:
        tokens.append(cursor.token)
        name, number = _read_amount(cursor)
        names.append(name)
        numbers.append(number)
        if not cursor.took("comma"):
            break
    is_signed = numbers[0].text[0] in "+-"
    for number in numbers:
        if (number.text[0] in "+-") != is_signed:
            raise number.fail("evidence has signs, and shares have none: not one beside others")
        if not math.isfinite(float(number.text)):
            raise number.fail(f"{shorten(number.text)} is too large a number")
    values = tuple(float(number.text) for number in numbers)
    return Conclusion(tuple(names), values, is_signed, tuple(tokens))


def _read_amount(cursor: Cursor) -> tuple[tuple[str, ...], Token]:
    """Read a class, or none, and its number."""
    token = cursor.token
    if cursor.took("number"):
        if cursor.token.kind != "number":
            return (), token
        words: tuple[str, ...] = (str(whole_or_real(token)),)
    else:
        words = read_words(cursor)
    number = cursor.token
    cursor.number(f"a number for {shorten('-or-'.join(words))}")
    return words, number
