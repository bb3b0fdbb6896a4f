"""A table in, words and labels out: what a value is called, and how much."""

from solah.labels.labeller import LinguisticLabeller

__all__ = ["LinguisticLabeller"]
