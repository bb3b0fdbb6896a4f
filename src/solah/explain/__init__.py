"""A model document in, what a person wants to know of it out."""

from solah.explain.importance import attribute_importances, importances
from solah.explain.rules import Condition, Rule, rules_of
from solah.explain.semantics import (
    ComposedRule,
    FiredRule,
    FusionStep,
    Semantics,
    TreeStep,
    Voice,
    semantics_of,
)

__all__ = [
    "ComposedRule",
    "Condition",
    "FiredRule",
    "FusionStep",
    "Rule",
    "Semantics",
    "TreeStep",
    "Voice",
    "attribute_importances",
    "importances",
    "rules_of",
    "semantics_of",
]
