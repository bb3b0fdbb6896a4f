"""Edits of a model by people: single steps, and the whole model as text (a rules file)."""

from solah.edit.editor import Editor
from solah.edit.rules_reader import load_rules, read_rules
from solah.edit.rules_writer import write_rules
from solah.edit.sentence import parse_rule

__all__ = ["Editor", "load_rules", "parse_rule", "read_rules", "write_rules"]
