"""The lines of a policy in a rules file, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.edit.lexer import spell_number
from solah.edit.sentence import read_class, spell_state
from solah.model.policy import policy_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.edit.draft import Draft
    from solah.edit.lexer import Token
    from solah.model.document import Goal
    from solah.model.policy import Policy

# The words around the numbers of a policy, by the names of these.
_LINES = {
    ("min_known",): "needs # of the evidence",
    ("smoothing",): "smooths over #",
    ("margin",): "leads by #",
    ("votes", "window"): "settles # of #",
    ("dwell",): "stays for #",
}


def spell_policy(policy: Policy, goal: Goal) -> Iterator[tuple[str, str]]:
    """Yield the lines of a policy, each with the anchor of its comments."""
    yield "policy", "policy"
    for state, belief in zip(goal.states, policy.min_belief, strict=False):
        name = spell_state(state)
        yield f"needs belief {spell_number(belief)} in {name}", f"policy needs belief in {name}"
    record = policy_record(policy)
    for keys, line in _LINES.items():
        if not record.keys().isdisjoint(keys):
            text = line
            for key in keys:
                text = text.replace("#", spell_number(getattr(policy, key)), 1)
            yield text, f"policy {line}"


def read_policy(draft: Draft, goal: Goal, token: Token) -> dict[str, Any]:
    """Read the lines behind ``policy``, as the model file has them; the token is that word."""
    cursor = draft.cursor
    draft.begin(token, "policy", ".policy")
    cursor.end_line()
    by_word = {line.split()[0]: (keys, line) for keys, line in _LINES.items()}
    record: dict[str, Any] = {}
    beliefs: dict[int, float] = {}
    while (first := cursor.next_line()) and cursor.is_at(*by_word):
        keys, line = by_word[cursor.word(*by_word)]
        if line.startswith("needs") and cursor.took_word("belief"):
            number_token, belief = cursor.token, cursor.number("the belief")
            cursor.word("in")
            class_token, number = cursor.token, read_class(cursor, goal)
            if number in beliefs:
                raise class_token.fail(f"the belief in {class_token.text} is said twice")
            anchor = f"policy needs belief in {spell_state(goal.states[number])}"
            draft.begin(first, anchor)
            draft.locate(f".policy.min_belief[{number}]", number_token)
            beliefs[number] = belief
        else:
            if keys[0] in record:
                raise first.fail("this is said twice")
            draft.begin(first, f"policy {line}")
            left = iter(keys)
            for word in line.split()[1:]:
                if word != "#":
                    cursor.word(word)
                    continue
                key = next(left)
                draft.locate(f".policy.{key}", cursor.token)
                value = cursor.number("a number")
                record[key] = int(value) if value.is_integer() else value
        cursor.end_line()
    for number, state in enumerate(goal.states):
        if beliefs and number not in beliefs:
            name = spell_state(state)
            raise token.fail(f"other classes need a belief, and {name} has no line for it")
    return record | ({"min_belief": [beliefs[one] for one in sorted(beliefs)]} if beliefs else {})
