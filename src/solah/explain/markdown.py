"""Writes rules as a Markdown page: a table of them, then their words; names are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from solah.explain.legend import ABOUT_WORDS, explain_figures, explain_number, words_used
from solah.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.explain.rule_list import Rules

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~&$!]|(?<![^\W_])_|_(?![^\W_]))")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def escape(text: object) -> str:
    """Write text so that Markdown shows it as it is, on one line.

    An underscore within a word means nothing to Markdown, so it stays readable.
    """
    return _SPECIAL.sub(r"\\\1", harmless(_UNPRINTABLE.sub(" ", str(text))))


def rules_page(rules: Rules) -> str:
    """Write rules as a Markdown page."""
    return "\n".join(_lines(rules)) + "\n"


def _lines(rules: Rules) -> Iterator[str]:
    yield from (f"# How “{escape(rules.model.goal.name)}” is decided", "")
    yield f"{explain_number(rules)}. {escape(explain_figures(rules))}"
    yield ""
    if rules.start:
        yield from (*map(_sentence, rules.start.splitlines()), "")
    yield from _rule_table(rules)
    if words := list(words_used(rules)):
        yield from ("", "## The words", "", ABOUT_WORDS, "")
        yield from _table(("attribute", "word", "range"), words)


def _sentence(text: str) -> str:
    return f"{escape(text[0].upper() + text[1:])}."


def _rule_table(rules: Rules) -> Iterator[str]:
    rows = [(rule.tree, rule.sentence, rule.spelled_support, rule.impact) for rule in rules]
    names = ("tree", "rule", "support", "effect")
    first = 1 if rules.are_of_one_tree else 0
    return _table(names[first:], (row[first:] for row in rows))


def _table(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
