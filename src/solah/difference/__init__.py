"""Compares two models, and their decisions on rows.

diffing.py     two models, rows -> a ModelDiff: targets, features, words, groups, policies
  rules.py        terms and linguistic trees
  decisions.py    decisions on rows, and metrics
values.py      the parts of a ModelDiff, and its text
spelling.py    two numbers, in as many digits as distinguish them
"""

from solah.difference.diffing import diff
from solah.difference.values import ClassChange, Decisions, Difference, Flip, ModelDiff

__all__ = ["ClassChange", "Decisions", "Difference", "Flip", "ModelDiff", "diff"]
