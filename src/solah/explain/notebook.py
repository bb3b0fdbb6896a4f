"""Renders rules and models for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import count, spell
from solah.explain.html import render
from solah.explain.importance import attribute_importances
from solah.explain.legend import (
    ABOUT_WORDS,
    explain_adding,
    explain_figures,
    explain_number,
    words_used,
)
from solah.explain.rules import rules_of

if TYPE_CHECKING:
    from solah.explain.rule_list import Rules
    from solah.model.document import Goal, Model

_MOST_RULES = 50
_MOST_CLASSES = 8
_MOST_ATTRIBUTES = 5
_STRONGEST_RULES = 5


def rules_table(rules: Rules) -> str:
    """Show rules as a table, the first ones where there are many, and the words they use."""
    shown = rules[:_MOST_RULES]
    add_up = all(rule.adds for rule in rules)
    return render(
        "rules.html.j2",
        rules=shown,
        n_more=len(rules) - len(shown),
        caption=explain_number(rules),
        figures=explain_adding(rules.model) if add_up else explain_figures(rules),
        words=list(words_used(shown)),
        about_words=ABOUT_WORDS,
    )


def model_summary(model: Model) -> str:
    """Show what a model decides, its size, what matters most and its strongest rules."""
    return render(
        "estimator.html.j2",
        goal=_describe_goal(model.goal),
        size=_describe_size(model),
        attributes=_top_attributes(model),
        rules=_strongest_rules(model),
    )


def _describe_goal(goal: Goal) -> str:
    if not goal.states:
        return f"{goal.name}, a number"
    more = len(goal.states) - _MOST_CLASSES
    shown = ", ".join(map(spell, goal.states[:_MOST_CLASSES]))
    named = shown if more <= 0 else f"{shown} and {more} more"
    return f"{goal.name}, {len(goal.states)} classes: {named}"


def _describe_size(model: Model) -> str:
    parts = [count(model.n_rules, "rule"), count(len(model.trees), "tree")]
    levels = f"{model.hierarchy.n_levels} levels (the attributes' among them)"
    return ", ".join(parts if len(model.nodes) == 1 else [*parts, levels])


def _top_attributes(model: Model) -> list[tuple[str, float]]:
    """List the names and shares of the attributes that matter most."""
    names = [attribute.name for attribute in model.attributes]
    shares = zip(names, attribute_importances(model).tolist(), strict=True)
    largest = sorted(shares, key=lambda one: -one[1])[:_MOST_ATTRIBUTES]
    return [one for one in largest if one[1] > 0]


def _strongest_rules(model: Model) -> Rules:
    """List the rules that move most, over all rows that they apply to."""
    rules = rules_of(model)
    return rules.sort(key=lambda rule: -rule.support * rule.effect)[:_STRONGEST_RULES]
