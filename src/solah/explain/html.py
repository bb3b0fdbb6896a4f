"""Renders rules, models and explanations as HTML for notebooks and pages; all text is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.data.spelling import count, spell, spell_number
from solah.explain.explanation_text import (
    TOP,
    heaviest,
    missing_of,
    result_of,
    rule_text,
    start_of,
    threshold_of,
    weighed_evidence,
)
from solah.explain.fired_rules import FusionStep
from solah.explain.importance import attribute_importances
from solah.explain.legend import (
    ABOUT_WORDS,
    count_parts,
    explain_adding,
    explain_figures,
    explain_number,
    words_used,
)
from solah.explain.rules import rules_of
from solah.explain.weights import spell_reading
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.explain.explanation import Explanation
    from solah.explain.fired_rules import Step, TreeEvidence
    from solah.explain.rule_list import Rules
    from solah.model.document import Goal, Model


def render(template_name: str, **values: object) -> str:
    """Fill in a template of ``solah/explain/templates``.

    Templates put what they show into ``<div class="solah">`` and include ``style.html.j2``, which
    takes its colours from the page around it, so that it can be read on light and on dark ones.

    Parameters
    ----------
    template_name : str
    **values
        What the template shows; text in them is escaped.

    Returns
    -------
    html : str
    """
    return _environment().get_template(template_name).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("solah.explain"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["reading"] = spell_reading
    return environment


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
    parts = [count(model.n_rules, "rule"), count_parts(model)]
    levels = f"{model.hierarchy.n_levels} levels (the attributes' among them)"
    return ", ".join(parts if len(model.parts) == 1 else [*parts, levels])


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


def as_html(explanation: Explanation, top: int | None = TOP) -> str:
    """Render an explanation as a piece of HTML."""
    return render("explanation.html.j2", shown=[_view(explanation, top)])


def as_page(explanations: Iterable[Explanation], title: str, top: int | None = TOP) -> str:
    """Render explanations as one page that needs nothing else."""
    views = [_view(explanation, top) for explanation in explanations]
    return render("explanation_page.html.j2", shown=views, title=title)


def _view(explanation: Explanation, top: int | None) -> dict[str, Any]:
    """Gather what the template shows."""
    is_number = explanation.goal.task is Task.REGRESSION
    return {
        "conclusion": explanation.conclusion,
        "doubts": explanation.doubts.sentence,
        "threshold": threshold_of(explanation),
        "start": start_of(explanation),
        "missing": missing_of(explanation),
        "unit": "" if is_number else "points of belief",
        "contributions": _contributions(explanation, top, 1.0 if is_number else 100.0),
        "steps": _steps(explanation, top),
        "changes": explanation.changes,
        "top": top,
    }


def _contributions(explanation: Explanation, top: int | None, scale: float) -> list[dict[str, Any]]:
    readings = {one.attribute: one for one in explanation.readings}
    shown = explanation.contributions[:top]
    rest = explanation.contributions[len(shown) :]
    largest = max((abs(one.towards) for one in shown), default=0.0) or 1.0
    rows = [
        {
            "amount": spell_number(scale * one.towards, 3, "+"),
            "share": abs(one.towards) / largest,
            "is_for": one.towards > 0,
            "reading": readings[one.attribute],
        }
        for one in shown
    ]
    if rest:
        amount = spell_number(scale * sum(one.towards for one in rest), 3, "+")
        rows.append(
            {"amount": amount, "share": 0.0, "is_for": True, "others": count(len(rest), "other")}
        )
    return rows


def _steps(explanation: Explanation, top: int | None) -> list[dict[str, Any]]:
    steps = explanation.telling_steps(top)
    evidence = weighed_evidence(steps)
    return [_step(step, evidence.get(step.tree), explanation) for step in steps]


def _step(step: Step, evidence: TreeEvidence | None, explanation: Explanation) -> dict[str, Any]:
    fired = [] if isinstance(step, FusionStep) else heaviest(step)
    return {
        "tree": step.tree,
        "inputs": ", ".join(step.inputs),
        "result": result_of(step, evidence, explanation),
        "rules": [
            (f"{one.weight:.2f}", rule_text(one.rule, is_weighed=evidence is not None))
            for one in fired
        ],
    }
