"""Renders rules, models and explanations as HTML for notebooks and pages; all text is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.data.spelling import count, spell
from solah.explain.explanation_text import TOP, summarise_explanation
from solah.explain.importance import feature_importances, importance_intervals
from solah.explain.legend import (
    ABOUT_WORDS,
    count_parts,
    explain_number,
    explain_rules,
    words_used,
)
from solah.explain.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.explain.explanation import Explanation
    from solah.explain.rules import Rules
    from solah.model.document import Model

_MOST_RULES = 50
_MOST_CLASSES = 8
_MOST_FEATURES = 5
_STRONGEST_RULES = 5


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("solah.explain"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template_name: str, **values: object) -> str:
    """Fill in a template of ``solah/explain/templates``; text in the values is escaped.

    Templates extend ``base.html.j2``, whose style takes its colours from the page around it, so
    that they can be read on light and on dark ones.
    """
    return _environment().get_template(template_name).render(**values)


def rules_table(rules: Rules) -> str:
    """Show rules as a table, the first ones where there are many, and the words they use."""
    shown = rules[:_MOST_RULES]
    return render(
        "rules.html.j2",
        rules=shown,
        n_more=len(rules) - len(shown),
        caption=explain_number(rules),
        legend=" ".join(explain_rules(rules)),
        words=list(words_used(shown)),
        about_words=ABOUT_WORDS,
    )


def model_summary(model: Model) -> str:
    """Show the target of a model, its size, the feature importances and the strongest rules."""
    target, states = model.target, model.target.classes
    about = f"{target.name}, a number"
    if states:
        more = f" and {len(states) - _MOST_CLASSES} more" if len(states) > _MOST_CLASSES else ""
        named = ", ".join(map(spell, states[:_MOST_CLASSES]))
        about = f"{target.name}, {len(states)} classes: {named}{more}"
    size = [count(model.n_rules, "rule"), count_parts(model)]
    if len(model.parts) > 1:
        size.append(f"{model.hierarchy.n_levels} levels (features included)")
    names = [feature.name for feature in model.features]
    shares = zip(names, feature_importances(model).tolist(), strict=True)
    largest = sorted(shares, key=lambda one: -one[1])[:_MOST_FEATURES]
    intervals = importance_intervals(model)
    return render(
        "estimator.html.j2",
        target=about,
        size=", ".join(size),
        features=[(*one, intervals.get(one[0])) for one in largest if one[1] > 0],
        rules=strongest_rules(model, _STRONGEST_RULES),
        caption="The strongest rules (rows times effect)",
    )


def strongest_rules(model: Model, most: int) -> Rules:
    """List the rules with the largest effect, over all rows that they apply to."""
    return rules_of(model).sort(key=lambda rule: -rule.support * rule.effect)[:most]


def as_html(explanation: Explanation, top: int | None = TOP) -> str:
    """Render an explanation as a piece of HTML."""
    return render("explanation.html.j2", shown=[summarise_explanation(explanation, top)])


def as_page(explanations: Iterable[Explanation], title: str, top: int | None = TOP) -> str:
    """Render explanations as one page that needs nothing else."""
    shown = [summarise_explanation(one, top) for one in explanations]
    return render("explanation_page.html.j2", shown=shown, title=title)
