"""Reads and writes the lines of a policy: when a decision is held back, and when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.exceptions import did_you_mean, shorten
from solah.model.policy_format import policy_record
from solah.rulefile.lexer import spell_number
from solah.rulefile.sentence import read_state_text, spell_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.model.document import Goal
    from solah.model.policy import Policy
    from solah.rulefile.draft import Draft
    from solah.rulefile.lexer import Token


def spell_policy(policy: Policy, goal: Goal) -> Iterator[tuple[str, str]]:
    """Yield the lines of a policy, each with what its comments are kept under."""
    yield "policy", "policy"
    for state, belief in zip(goal.states, policy.min_belief, strict=False):
        name = spell_state(state)
        yield f"needs belief {spell_number(belief)} in {name}", f"policy needs belief in {name}"
    record = policy_record(policy)
    if "min_known" in record:
        yield f"needs {spell_number(policy.min_known)} of the evidence", "policy needs evidence"
    if "smoothing" in record:
        yield f"smooths over {policy.smoothing}", "policy smooths"
    if "margin" in record:
        yield f"leads by {spell_number(policy.margin)}", "policy leads"
    if policy.window > 1:
        yield f"settles {policy.votes} of {policy.window}", "policy settles"
    if "dwell" in record:
        yield f"stays for {policy.dwell}", "policy stays"


class PolicyReader:
    """Reads the lines below ``policy``.

    Parameters
    ----------
    draft : what is read
    goal : has the classes that limits of belief are for
    """

    def __init__(self, draft: Draft, goal: Goal) -> None:
        self._draft, self._cursor = draft, draft.cursor
        self._classes = [str(state) for state in goal.states]
        self._names = [spell_state(state) for state in goal.states]
        self._beliefs: dict[int, float] = {}
        self._record: dict[str, Any] = {}

    def read(self, token: Token) -> dict[str, Any]:
        """Read the lines, as the document has them; the token is the first word."""
        cursor = self._cursor
        self._draft.stand_at(".policy", token)
        self._draft.keep_comments(token, "policy")
        cursor.end_line()
        cursor.skip_blank_lines()
        lines: dict[str, Callable[[Token], None]] = {
            "needs": self._read_need,
            "smooths": self._read_smoothing,
            "leads": self._read_margin,
            "settles": self._read_votes,
            "stays": self._read_dwell,
        }
        while cursor.is_at(*lines):
            first = cursor.token
            lines[cursor.word(*lines)](first)
            cursor.end_line()
            cursor.skip_blank_lines()
        return self._record | self._limits(token)

    def _limits(self, token: Token) -> dict[str, Any]:
        """Return the limit of each class, if there are any."""
        for place, name in enumerate(self._names):
            if self._beliefs and place not in self._beliefs:
                raise token.fail(f"other classes need a belief, and {name} has no line for it")
        places = range(len(self._beliefs))
        return {"min_belief": [self._beliefs[place] for place in places]} if places else {}

    def _read_need(self, first: Token) -> None:
        cursor = self._cursor
        if not cursor.took_word("belief"):
            self._keep("min_known", first, "needs evidence", "the share of the evidence")
            for word in ("of", "the", "evidence"):
                cursor.word(word)
            return
        belief_token, belief = cursor.token, cursor.number("the belief")
        cursor.word("in")
        state_token = cursor.token
        state = read_state_text(cursor, "a class")
        if state not in self._classes:
            near = did_you_mean(state, self._classes)
            raise state_token.fail(f"there is no class {shorten(state)}{near}")
        place = self._classes.index(state)
        if place in self._beliefs:
            raise state_token.fail(f"the belief in {shorten(state)} is said twice")
        self._draft.keep_comments(first, f"policy needs belief in {self._names[place]}")
        self._draft.stand_at(f".policy.min_belief[{place}]", belief_token)
        self._beliefs[place] = belief

    def _read_smoothing(self, first: Token) -> None:
        self._cursor.word("over")
        self._keep("smoothing", first, "smooths", "over how many decisions")

    def _read_margin(self, first: Token) -> None:
        self._cursor.word("by")
        self._keep("margin", first, "leads", "by how much")

    def _read_votes(self, first: Token) -> None:
        self._keep("votes", first, "settles", "how many must agree")
        self._cursor.word("of")
        self._keep("window", first, "settles", "of how many")

    def _read_dwell(self, first: Token) -> None:
        self._cursor.word("for")
        self._keep("dwell", first, "stays", "how many decisions")

    def _keep(self, key: str, first: Token, anchor: str, what: str) -> None:
        """Read a number of the policy, which may be said once."""
        if key in self._record:
            raise first.fail("this is said twice")
        self._draft.keep_comments(first, f"policy {anchor}")
        self._draft.stand_at(f".policy.{key}", self._cursor.token)
        number = self._cursor.number(what)
        self._record[key] = int(number) if number.is_integer() else number
