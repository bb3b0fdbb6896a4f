"""Finds what would change a decision.

ways.py      what is allowed    -> the ways that readings may go, cut at knots
question.py  a row and its ways -> what would be decided along them, and where it changes
pairs.py     a question         -> the smallest change of two readings
search.py    a row              -> moves, changes and leeways
"""

from solah.explain.counterfactuals.search import Change, ChangeFinder, Changes, Leeway, Move

__all__ = ["Change", "ChangeFinder", "Changes", "Leeway", "Move"]
