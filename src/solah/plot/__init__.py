"""Draws models, rows and searches with matplotlib: ``pip install 'solah[plot]'``.

words.py        an attribute            -> its words over its values
hierarchy.py    a model or a wiring     -> which part feeds which
dependence.py   dependences             -> their matrix, with clusters outlined
importance.py   a model                 -> what each attribute tells
curves.py       beliefs and the truth   -> how classes are told apart, whether beliefs come true
path.py         a fitted estimator      -> how few rules suffice; how a genetic search went
subjects.py     what users hand over    -> what the pictures show of it
canvas.py       nothing, or axes        -> axes to draw on, and how all pictures look

Each picture is a class in the style of scikit-learn's displays: ``from_estimator`` and its like
draw at once, ``plot`` draws again. matplotlib is imported when the first one is drawn.
"""

from solah.evaluation.curves import RocCurve
from solah.plot.curves import CalibrationCurve, CalibrationDisplay, RocDisplay
from solah.plot.dependence import DependenceDisplay
from solah.plot.hierarchy import HierarchyDisplay
from solah.plot.importance import ImportanceDisplay
from solah.plot.path import PathDisplay, SearchDisplay
from solah.plot.words import WordsDisplay

__all__ = [
    "CalibrationCurve",
    "CalibrationDisplay",
    "DependenceDisplay",
    "HierarchyDisplay",
    "ImportanceDisplay",
    "PathDisplay",
    "RocCurve",
    "RocDisplay",
    "SearchDisplay",
    "WordsDisplay",
]
