"""Explains models and decisions: rules, importances, contributions, changes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah.explain.attribution import Attribution, attribute_rows
    from solah.explain.changing import (
        AttributeStress,
        Change,
        ChangeFinder,
        Changes,
        Leeway,
        Move,
        Stress,
        stress,
    )
    from solah.explain.explanation import Contribution, Explainer, Explanation, Reading
    from solah.explain.firing import semantics_of
    from solah.explain.importance import attribute_importances, importances
    from solah.explain.rule_list import Rules
    from solah.explain.rules import Condition, Rule, rules_of
    from solah.explain.semantics import (
        ComposedRule,
        FiredRule,
        FusionStep,
        Semantics,
        TreeEvidence,
        TreeStep,
    )

__all__ = [
    "AttributeStress",
    "Attribution",
    "Change",
    "ChangeFinder",
    "Changes",
    "ComposedRule",
    "Condition",
    "Contribution",
    "Explainer",
    "Explanation",
    "FiredRule",
    "FusionStep",
    "Leeway",
    "Move",
    "Reading",
    "Rule",
    "Rules",
    "Semantics",
    "Stress",
    "TreeEvidence",
    "TreeStep",
    "attribute_importances",
    "attribute_rows",
    "importances",
    "rules_of",
    "semantics_of",
    "stress",
]

# Names are imported when they are first used: a decision needs none of them.
_MODULE_OF = {
    "AttributeStress": "solah.explain.changing",
    "Attribution": "solah.explain.attribution",
    "Change": "solah.explain.changing",
    "ChangeFinder": "solah.explain.changing",
    "Changes": "solah.explain.changing",
    "ComposedRule": "solah.explain.semantics",
    "Condition": "solah.explain.rules",
    "Contribution": "solah.explain.explanation",
    "Explainer": "solah.explain.explanation",
    "Explanation": "solah.explain.explanation",
    "FiredRule": "solah.explain.semantics",
    "FusionStep": "solah.explain.semantics",
    "Leeway": "solah.explain.changing",
    "Move": "solah.explain.changing",
    "Reading": "solah.explain.explanation",
    "Rule": "solah.explain.rules",
    "Rules": "solah.explain.rule_list",
    "Semantics": "solah.explain.semantics",
    "Stress": "solah.explain.changing",
    "TreeEvidence": "solah.explain.semantics",
    "TreeStep": "solah.explain.semantics",
    "attribute_importances": "solah.explain.importance",
    "attribute_rows": "solah.explain.attribution",
    "importances": "solah.explain.importance",
    "rules_of": "solah.explain.rules",
    "semantics_of": "solah.explain.firing",
    "stress": "solah.explain.changing",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'solah.explain' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
