"""Explains a list of rules (their number, figures and words), also as a page of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from solah.data.spelling import count, spell
from solah.explain.rules import part_rules
from solah.model.document import Task
from solah.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.explain.rule_list import Rules
    from solah.model.document import Model


ABOUT_WORDS = (
    "Where a word describes an attribute fully, and where at least partly, "
    "in the units of the data."
)
_MOST_NAMED = 3


def count_rules(model: Model) -> int:
    """Count the rules that are listed, those for missing readings among them."""
    return sum(len(part.active()) for part in part_rules(model))


def count_parts(model: Model) -> str:
    """Write how many terms and trees a model has."""
    sizes = {"term": len(model.terms), "tree": len(model.trees)}
    return " and ".join(count(n, kind) for kind, n in sizes.items() if n) or "no terms"


def explain_number(rules: Rules) -> str:
    """Write how many rules, terms and trees the model has, and how many of the rules these are."""
    n_rules = count_rules(rules.model)
    where = "" if rules.are_of_one_tree else f" in {count_parts(rules.model)}"
    shown = "" if len(rules) == n_rules else f", {len(rules):,} shown"
    return f"{count(n_rules, 'rule')}{where}{shown}"


def explain_figures(rules: Rules) -> str:
    """Explain what the figures beside the rules mean."""
    believe = bool(rules.model.trees)
    in_brackets = "In brackets stands the belief in the decision."
    sentences = [
        in_brackets if rules.model.goal.states and believe else "",
        explain_adding(rules.model),
        "Support is the weight of the rows behind a rule.",
        explain_effect(rules.model),
        explain_beliefs(rules),
    ]
    return " ".join(filter(None, sentences))


def explain_adding(model: Model) -> str:
    """Explain how rules that add make a decision; nothing if they do not make it."""
    if not model.is_additive:
        return ""
    how = "A rule adds as much as its words describe a reading"
    if not model.goal.states:
        return f"{how}; the sum is the estimate."
    if not model.goal.thresholds:
        return f"{how}; the class with the largest sum (log-odds) is decided for."
    thresholds = zip(model.goal.states, model.goal.thresholds, strict=True)
    spelt = ", ".join(f"{spell(state)} {threshold:.3g}" for state, threshold in thresholds)
    return (
        f"{how}; the sums (log-odds) make the beliefs, and the class with the largest belief over "
        f"its threshold is decided for: {spelt}."
    )


def explain_beliefs(rules: Rules) -> str:
    """Explain conditions on a tree; nothing if there are none."""
    trees = rules.trees_used
    if not trees:
        return ""
    shown = ", ".join(trees[:_MOST_NAMED]) + (", …" if len(trees) > _MOST_NAMED else "")
    return f"A condition on {shown} is on what the tree of that name believes."


def words_used(rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield attribute, word and range of the words that the rules use; states have no range."""
    for attribute in rules.attributes:
        for one in attribute.word_ranges():
            yield attribute.name, one.word, one.text


def explain_effect(model: Model) -> str:
    """Explain in one sentence what the effect of a rule of this model is."""
    if model.goal.task is Task.REGRESSION:
        return f"Effect is how far a rule moves the estimate of {model.goal.name}."
    of_belief = "the belief of its tree"
    of_evidence = "the evidence that is added up"
    if not model.sums:
        moved = of_belief
    elif not model.trees:
        moved = of_evidence
    else:
        moved = f"{of_evidence} or, where nothing is added up, {of_belief}"
    return f"Effect is how far a rule moves {moved} towards the class that gains most."


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
