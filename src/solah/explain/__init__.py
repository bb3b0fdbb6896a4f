"""A model document in, what a person wants to know of it out."""

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
    TreeStep,
    Voice,
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
    "TreeStep",
    "Voice",
    "attribute_importances",
    "attribute_rows",
    "importances",
    "rules_of",
    "semantics_of",
    "stress",
]
