"""Explains a list of rules: their number, their figures and their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import count
from solah.explain.effects import explain_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.explain.rule_list import Rules

ABOUT_WORDS = (
    "Where a word describes an attribute fully, and where at least partly, "
    "in the units of the data."
)
_MOST_NAMED = 3


def explain_number(rules: Rules) -> str:
    """Write how many rules and trees the model has, and how many of the rules these are."""
    model = rules.model
    where = "" if rules.are_of_one_tree else f" in {count(len(model.trees), 'tree')}"
    shown = "" if len(rules) == model.n_rules else f", {len(rules)} shown"
    return f"{count(model.n_rules, 'rule')}{where}{shown}"


def explain_figures(rules: Rules) -> str:
    """Explain what the figures beside the rules mean."""
    sentences = [
        "In brackets stands the belief in the decision." if rules.model.goal.states else "",
        "Support is the weight of the rows behind a rule.",
        explain_effect(rules.model),
        explain_beliefs(rules),
    ]
    return " ".join(filter(None, sentences))


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
        if attribute.is_continuous:
            for one in attribute.word_ranges():
                yield attribute.name, one.word, str(one).removeprefix(f"{one.word}: ")
