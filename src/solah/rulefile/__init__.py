"""Models as text that people read, edit and keep under version control."""

from solah.rulefile.reader import load_rules, read_rules
from solah.rulefile.sentence import (
    Conclusion,
    SetName,
    StatedCondition,
    StatedRule,
    StatedScore,
    parse_rule,
)
from solah.rulefile.writer import write_rules

__all__ = [
    "Conclusion",
    "SetName",
    "StatedCondition",
    "StatedRule",
    "StatedScore",
    "load_rules",
    "parse_rule",
    "read_rules",
    "write_rules",
]
