"""Explains models and predictions: rules, importances, contributions, counterfactuals."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah.explain.contributions import feature_rows
    from solah.explain.counterfactuals import ChangeFinder, Changes
    from solah.explain.explanation import Contribution, Explainer, Explanation, Explanations
    from solah.explain.fired_rules import Semantics, semantics_of
    from solah.explain.importance import feature_importances
    from solah.explain.robustness import Stress, stress
    from solah.explain.rule_text import Rule
    from solah.explain.rules import Rules, rules_of

__all__ = [
    "ChangeFinder",
    "Changes",
    "Contribution",
    "Explainer",
    "Explanation",
    "Explanations",
    "Rule",
    "Rules",
    "Semantics",
    "Stress",
    "feature_importances",
    "feature_rows",
    "rules_of",
    "semantics_of",
    "stress",
]

# Names are imported when they are first used: a prediction needs none of them.
_MODULES = {
    "contributions": ("feature_rows",),
    "counterfactuals": ("ChangeFinder", "Changes"),
    "explanation": ("Contribution", "Explainer", "Explanation", "Explanations"),
    "fired_rules": ("Semantics", "semantics_of"),
    "importance": ("feature_importances",),
    "robustness": ("Stress", "stress"),
    "rule_text": ("Rule",),
    "rules": ("Rules", "rules_of"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'solah.explain' has no attribute {name!r}")
    return getattr(import_module(f"solah.explain.{_MODULE_OF[name]}"), name)
