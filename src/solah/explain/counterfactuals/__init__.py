"""Finds what would change a decision.

values.py    what is found: moves, changes, leeways
rounding.py  readings           -> whole numbers, and numbers of few digits
ways.py      what is allowed    -> the ways that readings may go, cut at knots
question.py  a row and its ways -> what would be decided along them, and where it changes
pairs.py     a question         -> the smallest change of two readings
search.py    a row              -> all of it, put together
"""

from solah.explain.counterfactuals.search import ChangeFinder
from solah.explain.counterfactuals.values import Change, Changes, Leeway, Move

__all__ = ["Change", "ChangeFinder", "Changes", "Leeway", "Move"]
