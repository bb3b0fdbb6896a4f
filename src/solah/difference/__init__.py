"""Compares two model documents, and what they decide on rows.

diffing.py    two models, rows  -> a ModelDiff
  structure.py   goal, attributes, words and groups that differ
  evidence.py    what rules add, compared as functions of the readings
  trees.py       trees, branch by branch where they have the same ones
  decisions.py   rows            -> decisions that flip, and scores before and after
values.py     what a ModelDiff holds
spelling.py   numbers, as far as they must be written out to be told apart
as_text.py    a ModelDiff       -> lines of text
"""

from solah.difference.diffing import diff
from solah.difference.values import (
    ClassChange,
    ClassScoresOf,
    Decisions,
    Difference,
    Estimates,
    Flip,
    ModelDiff,
)

__all__ = [
    "ClassChange",
    "ClassScoresOf",
    "Decisions",
    "Difference",
    "Estimates",
    "Flip",
    "ModelDiff",
    "diff",
]
