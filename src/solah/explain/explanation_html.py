"""Writes explanations as HTML for a notebook or for a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.data.spelling import count, spell_number
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
from solah.explain.html import render
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.explain.explanation import Explanation
    from solah.explain.fired_rules import Step, TreeEvidence


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
