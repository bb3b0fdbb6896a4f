"""Rules as sentences: ``if smoke is high and room is kitchen: alarm +3``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from solah.edit.lexer import open_text, spell_name, spell_number, spell_signed
from solah.exceptions import RuleTextError, did_you_mean, shorten
from solah.model.lexer import NOWHERE, Cursor, Token, whole_or_real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.model.document import Target
    from solah.model.features import Feature

Form = Literal[
    "one of", "none of", "at least", "at most", "from to", "between", "missing", "anything"
]


class SetName(NamedTuple):
    """A word, or the words of a focal set, which all apply: ``low-or-medium``."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return "-or-".join(map(spell_name, self.words))


@dataclass(frozen=True)
class StatedCondition:
    """A condition as somebody wrote it.

    Attributes
    ----------
    feature : the feature's name
    form : how the words are meant: one of them, none of them, at least or at most the only one,
        from the first to the second; or those between crossovers; or that the value is missing, or
        may be anything
    names : the words
    ends : the crossovers; infinite where open
    """

    feature: str
    form: Form
    names: tuple[SetName, ...] = ()
    token: Token = field(default=NOWHERE, compare=False, repr=False)
    name_tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)
    ends: tuple[float, float] = (-math.inf, math.inf)

    def indices(
        self, known: Sequence[tuple[str, ...]], crossovers: Sequence[float] = ()
    ) -> tuple[int, ...]:
        """Return the indices of the words or focal sets that are meant, ascending.

        Parameters
        ----------
        known : the words of each focal set of the feature, or each of its words by itself
        crossovers : where neighbouring words fit equally, as rules print it

        Examples
        --------
        >>> condition = parse_rule("if age is at least middle: ill +1").conditions[0]
        >>> condition.indices([("young",), ("middle",), ("old",)])
        (1, 2)
        """
        if self.form == "anything":
            return tuple(range(len(known)))
        if self.form == "between":
            edges = [-math.inf, *crossovers, math.inf]
            for end in self.ends:
                if end not in edges or not crossovers:
                    raise self.token.fail(
                        f"{shorten(self.feature)} has no words that meet at {spell_number(end)}"
                    )
            return tuple(range(*map(edges.index, self.ends)))
        found = []
        for (words,), token in zip(self.names, self.name_tokens, strict=True):
            if words not in known:
                shown = "-or-".join(words)
                near = did_you_mean(shown, map("-or-".join, known))
                raise token.fail(f"{shorten(self.feature)} has no word {shorten(shown)}{near}")
            found.append(known.index(words))
        if self.form == "one of":
            return tuple(sorted(set(found)))
        if self.form == "none of":
            return tuple(place for place in range(len(known)) if place not in found)
        first = 0 if self.form == "at most" else found[0]
        stop = len(known) if self.form == "at least" else found[-1] + 1
        if first >= stop:
            raise self.name_tokens[-1].fail(
                f"{self.names[0]} comes after {self.names[-1]}; swap them"
            )
        return tuple(range(first, stop))

    def __str__(self) -> str:
        text: str = self.form  # missing, anything
        if self.form in ("at least", "at most"):
            text = f"{self.form} {self.names[0]}"
        elif self.form == "from to":
            text = f"from {self.names[0]} to {self.names[1]}"
        elif self.form in ("one of", "none of"):
            text = f"{'not ' * (self.form == 'none of')}{' or '.join(map(str, self.names))}"
        elif self.form == "between":
            low, high = map(spell_number, self.ends)
            text = f"above {low}" if math.isinf(self.ends[1]) else f"{low} to {high}"
            text = f"below {high}" if math.isinf(self.ends[0]) else text
        return f"{spell_name(self.feature)} is {text}"


@dataclass(frozen=True)
class Conclusion:
    """What a rule adds, or the shares of a branch.

    Attributes
    ----------
    names : the classes, as text; of a number in words, its focal sets; none for what is added to a
        number
    numbers : weights, if they have signs, else shares
    is_signed : whether they have signs
    """

    names: tuple[tuple[str, ...], ...]
    numbers: tuple[float, ...]
    is_signed: bool = True
    tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)

    def require_signs(self) -> None:
        """Refuse shares where weights are needed."""
        if not self.is_signed:
            raise self.tokens[0].fail(f"a weight needs its sign: +{spell_number(self.numbers[0])}")

    def scores_for(self, states: Sequence[State]) -> tuple[float, ...]:
        """Return the weight for each class, as :meth:`StatedRule.scores_for` does."""
        self.require_signs()
        if not states:
            if len(self.names) > 1 or self.names[0]:
                raise self.tokens[0].fail("the target is a number, so no class is named here")
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
        for number, name in enumerate(known):
            if number not in found:
                raise self.tokens[-1].fail(f"there is no share for {SetName(name)} here")
        return tuple(found[number] for number in range(len(known)))

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
    conclusion : what the rule adds, or the shares of a branch; None if only conditions are given
    """

    conditions: tuple[StatedCondition, ...]
    conclusion: Conclusion | None = None

    @property
    def premise(self) -> str:
        """The conditions as text."""
        return f"if {' and '.join(map(str, self.conditions))}"

    def scores_for(self, states: Sequence[State]) -> tuple[float, ...]:
        """Return the weight for each class; of a number, which has none, what is added.

        A class that is not named gets no weight. Only differences count, so that weights for some
        classes are then moved to be 0 on average.

        Examples
        --------
        >>> parse_rule("if smoke is high: alarm +3").scores_for(["alarm", "none"])
        (1.5, -1.5)
        """
        assert self.conclusion is not None
        return self.conclusion.scores_for(states)

    def __str__(self) -> str:
        if self.conclusion is None:
            return self.premise
        return f"{self.premise}{':' if self.conclusion.is_signed else ' then'} {self.conclusion}"


def parse_rule(text: str) -> StatedRule:
    """Read a rule that adds weights.

    Parameters
    ----------
    text : str
        ``if FEATURE is WORD [and …]: CLASS +NUMBER[, CLASS -NUMBER …]``. Instead of the colon,
        there may be ``then``; instead of a word, ``one or other``, ``not WORD``, ``at least WORD``,
        ``at most WORD``, ``from WORD to WORD``, ``above NUMBER``, ``below NUMBER``, ``NUMBER to
        NUMBER`` (as rules print where words meet), or ``missing``. Names with spaces need
        double quotes. A number as target has no class.

    Returns
    -------
    rule : StatedRule

    Raises
    ------
    RuleTextError
        With the line and the column of what is wrong.

    Examples
    --------
    >>> rule = parse_rule('if smoke is high and "room type" is kitchen or hall: alarm +3')
    >>> [(condition.feature, condition.form) for condition in rule.conditions]
    [('smoke', 'one of'), ('room type', 'one of')]
    >>> parse_rule("if smoke is high than alarm +3")
    Traceback (most recent call last):
    solah.exceptions.RuleTextError: line 1, column 18: expected ':' or 'then', found 'than'; did \
you mean 'then'?
    """
    rule = parse_change(text)
    if rule.conclusion is None:
        raise RuleTextError("expected ':' and weights behind the conditions", 1, len(text) + 1)
    rule.conclusion.require_signs()
    return rule


def parse_change(text: str) -> StatedRule:
    """Read a rule that adds weights or has shares, or only its conditions."""
    if not isinstance(text, str):
        raise RuleTextError(f"a rule must be text. Got a value of type {type(text).__name__}.")
    cursor = open_text(text)
    cursor.next_line()
    cursor.word("if")
    conditions = read_conditions(cursor)
    if cursor.next_line().kind == "end":
        return StatedRule(conditions)
    conclusion = read_conclusion(cursor)
    if cursor.next_line().kind != "end":
        raise cursor.expected("a comma or the end of the rule")
    return StatedRule(conditions, conclusion)


def read_conditions(cursor: Cursor) -> tuple[StatedCondition, ...]:
    """Read conditions on different features, joined by ``and``."""
    conditions = [_read_condition(cursor)]
    while cursor.took_word("and"):
        condition = _read_condition(cursor)
        if any(condition.feature == one.feature for one in conditions):
            raise condition.token.fail(f"{shorten(condition.feature)} occurs in the rule twice")
        conditions.append(condition)
    return tuple(conditions)


def _read_condition(cursor: Cursor) -> StatedCondition:
    """Read ``FEATURE is WORD``."""
    token = cursor.token
    feature = cursor.name("the name of a feature")
    cursor.word("is")
    if cursor.took_word("missing"):
        return StatedCondition(feature, "missing", (), token)
    if cursor.took_word("anything", "known"):
        return StatedCondition(feature, "anything", (), token)
    if (ends := _read_ends(cursor)) is not None:
        return StatedCondition(feature, "between", (), token, (), ends)
    form: Form = "one of"
    next_word = cursor.following
    is_joint = next_word.kind == "name" and next_word.text in ("and", "or", "then")
    if next_word.kind in ("name", "quoted", "number") and not is_joint and cursor.took_word("not"):
        form = "none of"
    if form == "one of" and cursor.took_word("at"):
        form = "at least" if cursor.word("least", "most") == "least" else "at most"
    elif form == "one of" and cursor.took_word("from"):
        form = "from to"
    tokens = [cursor.token]
    names = [SetName(read_words(cursor))]
    between = {"one of": "or", "none of": "or", "from to": "to"}.get(form)
    while between is not None and cursor.took_word(between):
        tokens.append(cursor.token)
        names.append(SetName(read_words(cursor)))
    if form == "from to" and len(names) != 2:
        raise cursor.expected("'to' and one more word", ["to"])
    return StatedCondition(feature, form, tuple(names), token, tuple(tokens))


def _read_ends(cursor: Cursor) -> tuple[float, float] | None:
    """Read ``above NUMBER``, ``below NUMBER`` or ``NUMBER to NUMBER``; None if there is a word."""
    if cursor.following.kind == "number":
        if cursor.took_word("above"):
            return cursor.number("where the words begin"), math.inf
        if cursor.took_word("below"):
            return -math.inf, cursor.number("where the words end")
    is_to = cursor.following.kind == "name" and cursor.following.text == "to"
    if cursor.token.kind == "number" and is_to:
        low = cursor.number("where the words begin")
        cursor.word("to")
        return low, cursor.number("where the words end")
    return None


def read_words(cursor: Cursor) -> tuple[str, ...]:
    """Read a word, or several that all apply: ``low-or-medium``."""
    words = [read_state_text(cursor, "a word")]
    while cursor.took("joint"):
        words.append(read_state_text(cursor, "a word"))
    return tuple(words)


def read_state_text(cursor: Cursor, what: str) -> str:
    """Read a word, a class or a state as text; numbers and booleans need no quotes."""
    return str(read_state(cursor, what))


def read_state(cursor: Cursor, what: str) -> State:
    """Read a state: a name, a number, or true or false."""
    token = cursor.token
    if cursor.took("number"):
        return whole_or_real(token)
    if cursor.took_word("true", "false"):
        return token.text == "true"
    return cursor.name(what)


def read_class(cursor: Cursor, target: Target) -> int:
    """Read a class of the target, as its index."""
    token, name = cursor.token, read_state_text(cursor, "a class")
    known = [str(one) for one in target.classes]
    if name not in known:
        raise token.fail(f"there is no class {shorten(name)}{did_you_mean(name, known)}")
    return known.index(name)


def spell_state(state: State) -> str:
    """Write a state so that it is read back as what it is."""
    if isinstance(state, bool):
        return "true" if state else "false"
    return spell_name(state) if isinstance(state, str) else repr(state)


def read_conclusion(cursor: Cursor) -> Conclusion:
    """Read a colon or ``then``, and classes with weights or shares, or what is added."""
    if not cursor.took("colon") and not cursor.took_word("then"):
        raise cursor.expected("':' or 'then'", ["then"])
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
            raise number.fail("a rule has either weights, with signs, or shares, without; got both")
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


def focal_sets(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the focal sets of words that overlap: each word, and each two neighbours between."""
    sets: list[tuple[str, ...]] = [(words[0],)]
    for both in pairwise(words):
        sets += [both, both[1:]]
    return sets


def target_names(target: Target) -> list[tuple[str, ...]]:
    """Name the classes, or the focal sets of a number that is described with words."""
    return [(str(state),) for state in target.classes] or focal_sets(target.words)


def spell_condition(
    feature: Feature, indices: Sequence[int], *, sets: bool, everything: str = "anything"
) -> str:
    """Write a condition on words of a feature, or on its focal sets, by their indices."""
    n_known = feature.n_focal_sets if sets else len(feature.words)
    if feature.categories:
        chosen = [spell_state(feature.categories[index]) for index in indices]
    elif sets:
        chosen = [str(SetName(feature.focal_sets[index])) for index in indices]
    else:
        chosen = [spell_name(feature.words[index]) for index in indices]
    is_run = indices[-1] - indices[0] + 1 == len(indices) > 2
    if len(chosen) == n_known > 1:
        text = everything
    elif not is_run or not feature.is_ordered:
        text = " or ".join(chosen)
    elif indices[0] == 0:
        text = f"at most {chosen[-1]}"
    elif indices[-1] == n_known - 1:
        text = f"at least {chosen[0]}"
    else:
        text = f"from {chosen[0]} to {chosen[-1]}"
    return f"{spell_name(feature.name)} is {text}"
