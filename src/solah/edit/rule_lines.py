"""Reads the rules of a rules file, a line each: those of a term, and the branches of a tree."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from solah.edit.sentence import (
    read_conclusion,
    read_conditions,
    spell_condition,
    target_names,
)
from solah.exceptions import did_you_mean, shorten
from solah.model.node_format import set_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solah.edit.draft import Draft
    from solah.edit.lexer import Cursor, Token
    from solah.edit.sentence import StatedCondition
    from solah.model.attributes import Attribute
    from solah.model.document import Goal

Words = tuple[int, ...]
_Record = dict[str, Any]


class TermLines:
    """The rules of one term: the lines of a grid, in any order.

    Parameters
    ----------
    draft : the file
    goal : the target
    inputs : the term's features
    """

    def __init__(self, draft: Draft, goal: Goal, inputs: Sequence[Attribute]) -> None:
        self._draft, self._goal, self._inputs = draft, goal, inputs
        self._words = [[(word,) for word in one.words] for one in inputs]
        self._cells: dict[tuple[Words, ...] | None, tuple[Token, _Record]] = {}
        self._parts: list[dict[int, tuple[Words, Token]]] = [{} for _ in inputs]  # by word
        self._rest: tuple[Token, _Record] | None = None

    def read(self, place: str, anchor: str) -> list[_Record]:
        """Read the lines, and return the rules as the model file has them, in the grid's order.

        Parameters
        ----------
        place : the term's path
        anchor : what its comments are kept under
        """
        cursor = self._draft.cursor
        while (token := cursor.next_line()) and cursor.is_at("if", "pin", "otherwise"):
            pin = {"pinned": True} if cursor.took_word("pin") else {}
            if cursor.took_word("otherwise"):
                if self._rest is not None:
                    raise token.fail(
                        f"there is an 'otherwise' already, in line {self._rest[0].line}"
                    )
                self._draft.begin(token, f"{anchor} / otherwise")
                self._rest = token, self._read_facts() | pin
            else:
                cell = self._read_cell(token)
                named = zip(self._inputs, cell or (), strict=False)
                self._draft.begin(token, f"{anchor} / {rule_anchor(named, sets=False)}")
                self._cells[cell] = token, self._read_facts() | pin
            cursor.end_line()
        return self._rules(place, token)

    def _read_cell(self, token: Token) -> tuple[Words, ...] | None:
        """Read the conditions of a line; None for a missing value."""
        self._draft.cursor.word("if")
        conditions = {one.attribute: one for one in read_conditions(self._draft.cursor)}
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
        part = condition.indices(self._words[side])
        for word in part:
            known, token = parts.setdefault(word, (part, condition.token))
            if known != part:
                told = [spell_condition(one, words, sets=False) for words in ((word,), known)]
                raise condition.token.fail(
                    f"{told[0]} stands together with other words in line {token.line}: {told[1]}; "
                    "put the same words together in all lines"
                )
        return part

    def _read_facts(self) -> _Record:
        """Read what a rule adds, and its counts; nobody counted them if there is no bar."""
        cursor, goal = self._draft.cursor, self._goal
        record: _Record = {"weights": list(read_conclusion(cursor).scores_for(goal.states))}
        shares = [0.0] if goal.is_additive_number else list(goal.prior)
        token, record["rows"] = cursor.token, read_rows(cursor)
        if cursor.took("colon"):
            shares = cursor.numbers("a share")
            if len(shares) != goal.size:
                raise token.fail(
                    f"expected {goal.size} numbers behind 'rows:'. Got {len(shares)} instead."
                )
        return record | ({"mean": shares[0]} if goal.is_additive_number else {"shares": shares})

    def _rules(self, place: str, end: Token) -> list[_Record]:
        """Put the lines in the order of the grid; those of ``otherwise`` stand for all others."""
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
                raise end.fail(f"expected a rule for {rule_anchor(named, sets=False)}")
            self._draft.locate(f"{place}.rules[{len(rules)}]", line[0])
            rules.append({"if": self._conditions(cell), **line[1]})
        return rules

    def _conditions(self, cell: tuple[Words, ...] | None) -> list[list[Any]]:
        if cell is None:
            return [[self._inputs[0].name, None]]
        conditions = []
        for one, part in zip(self._inputs, cell, strict=True):
            names = [(one.states or one.words)[word] for word in part]
            conditions.append([one.name, names[0] if len(names) == 1 else names])
        return conditions


def read_branches(
    draft: Draft, goal: Goal, inputs: Sequence[Attribute], place: str, anchor: str
) -> list[_Record]:
    """Read the branches of a tree, and return them as the model file has them."""
    cursor, rules = draft.cursor, list[_Record]()
    while (token := cursor.next_line()) and cursor.is_at("if", "pin", "always"):
        pin = {"pinned": True} if cursor.took_word("pin") else {}
        stated: tuple[StatedCondition, ...] = ()
        if not cursor.took_word("always"):
            cursor.word("if")
            stated = read_conditions(cursor)
        conditions = []
        branch: list[tuple[Attribute, Words]] = []
        for one in stated:
            attribute = _asked(one, inputs)
            if one.form == "missing":
                raise one.token.fail("a branch has no condition for a missing value")
            sets = one.indices(attribute.focal_sets)
            if len(sets) > 1 and one is not stated[-1]:
                raise one.token.fail("only the last condition of a branch may have several words")
            branch.append((attribute, sets))
            words = set_words(attribute)
            conditions.append([one.attribute, [list(words[index]) for index in sets]])
        path = f"{place}.rules[{len(rules)}]"
        draft.begin(token, f"{anchor} / {rule_anchor(branch, sets=True)}", path)
        belief = list(read_conclusion(cursor).shares_for(target_names(goal)))
        rules.append({"if": conditions, "belief": belief, "rows": read_rows(cursor), **pin})
        cursor.end_line()
    if not rules:
        raise cursor.expected("a rule, which begins with 'if'", ["if", "pin", "always"])
    return rules


def read_rows(cursor: Cursor) -> float:
    """Read ``| 12 rows``; 0 if there is no bar."""
    if not cursor.took("bar"):
        return 0.0
    rows = cursor.number("the number of rows")
    cursor.word("rows")
    return rows


def _asked(condition: StatedCondition, inputs: Sequence[Attribute]) -> Attribute:
    """Return the input that a condition is on."""
    known = {one.name: one for one in inputs}
    if condition.attribute not in known:
        near = did_you_mean(condition.attribute, known)
        raise condition.token.fail(f"the rules are not on {shorten(condition.attribute)}{near}")
    return known[condition.attribute]


def rule_anchor(conditions: Iterable[tuple[Attribute, Words]], *, sets: bool) -> str:
    """Name a rule by the first words of its conditions, for comments."""
    return " and ".join(spell_condition(one, words[:1], sets=sets) for one, words in conditions)
