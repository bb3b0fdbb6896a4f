"""Finds what would change a decision.

values.py      what is found: moves, changes, leeways
ways.py        what is allowed    -> the ways that readings may go, cut at knots
probing.py     rows, other values -> what would be believed; only affected nodes are evaluated
question.py    a row and its ways -> what would be decided along them
crossing.py    lines              -> the point at which the decision changes
boundaries.py  a question         -> where the decision changes along each way
pairing.py     a question         -> the smallest change of two readings
finding.py     a row              -> all of it, put together
stressing.py   many rows          -> how decisions stand what may happen to readings
"""

from solah.explain.changing.finding import ChangeFinder
from solah.explain.changing.stressing import AttributeStress, Stress, stress
from solah.explain.changing.values import Change, Changes, Leeway, Move

__all__ = [
    "AttributeStress",
    "Change",
    "ChangeFinder",
    "Changes",
    "Leeway",
    "Move",
    "Stress",
    "stress",
]
