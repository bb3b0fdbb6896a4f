"""Explains models and decisions: rules, importances, contributions, changes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah.explain.attribution import Attribution, attribute_rows
    from solah.explain.counterfactuals import Change, ChangeFinder, Changes, Leeway, Move
    from solah.explain.explanation import Contribution, Explainer, Explanation, Reading
    from solah.explain.fired_rules import (
        ComposedRule,
        FiredRule,
        FusionStep,
        Semantics,
        TreeEvidence,
        TreeStep,
        semantics_of,
    )
    from solah.explain.importance import attribute_importances
    from solah.explain.robustness import AttributeStress, Stress, stress
    from solah.explain.rule_list import Rules
    from solah.explain.rules import Condition, Rule, rules_of

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
    "rules_of",
    "semantics_of",
    "stress",
]

# Names are imported when they are first used: a decision needs none of them.
_MODULES = {
    "attribution": ("Attribution", "attribute_rows"),
    "counterfactuals": ("Change", "ChangeFinder", "Changes", "Leeway", "Move"),
    "explanation": ("Contribution", "Explainer", "Explanation", "Reading"),
    "fired_rules": (
        *("ComposedRule", "FiredRule", "FusionStep", "Semantics", "TreeEvidence", "TreeStep"),
        "semantics_of",
    ),
    "importance": ("attribute_importances",),
    "robustness": ("AttributeStress", "Stress", "stress"),
    "rule_list": ("Rules",),
    "rules": ("Condition", "Rule", "rules_of"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'solah.explain' has no attribute {name!r}")
    return getattr(import_module(f"solah.explain.{_MODULE_OF[name]}"), name)
