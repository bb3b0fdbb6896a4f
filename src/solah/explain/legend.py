"""Explains a list of rules: their number, their figures and their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import count, spell
from solah.explain.effects import explain_effect
from solah.explain.rules import told_rules
from solah.model.document import Fusion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.explain.rule_list import Rules
    from solah.model.document import Model

ABOUT_WORDS = (
    "Where a word describes an attribute fully, and where at least partly, "
    "in the units of the data."
)
_MOST_NAMED = 3


def count_rules(model: Model) -> int:
    """Count the rules that are listed, those for missing readings among them."""
    return sum(len(told_rules(tree, model.goal)) for tree in model.trees)


def explain_number(rules: Rules) -> str:
    """Write how many rules and trees the model has, and how many of the rules these are."""
    model, n_rules = rules.model, count_rules(rules.model)
    where = "" if rules.are_of_one_tree else f" in {count(len(model.trees), 'tree')}"
    shown = "" if len(rules) == n_rules else f", {len(rules)} shown"
    return f"{count(n_rules, 'rule')}{where}{shown}"


def explain_figures(rules: Rules) -> str:
    """Explain what the figures beside the rules mean."""
    believe = any(tree.scores is None for tree in rules.model.trees)
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
    if not isinstance(model.root, Fusion):
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
