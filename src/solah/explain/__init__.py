"""A model document in, what a person wants to know of it out."""

from solah.explain.importance import importances
from solah.explain.rules import Condition, Rule, rules_of

__all__ = ["Condition", "Rule", "importances", "rules_of"]
