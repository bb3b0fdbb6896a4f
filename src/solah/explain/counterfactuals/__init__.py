"""Finds counterfactuals: the smallest changes that flip a prediction.

paths.py       ranges              -> the paths that values may take, cut at knots
boundaries.py  a row and its paths -> predictions along them, and where they change
pairs.py       a row and its paths -> the smallest change of two values
search.py      a row               -> moves, changes and safe ranges
"""

from solah.explain.counterfactuals.search import Change, ChangeFinder, Changes, Move, SafeRange

__all__ = ["Change", "ChangeFinder", "Changes", "Move", "SafeRange"]
