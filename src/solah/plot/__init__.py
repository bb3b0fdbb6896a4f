"""Draws models, rows and searches with matplotlib: ``pip install 'solah[plot]'``.

words.py        an attribute            -> its words over its values
hierarchy.py    a model or a wiring     -> which tree feeds which (outline.py: the layout)
dependence.py   dependences             -> their matrix, with clusters outlined
importance.py   a model                 -> what each attribute tells
roc.py          beliefs and the truth   -> how classes are told apart (square.py: the frame)
calibration.py  beliefs and the truth   -> whether beliefs come true
rules.py        an estimator and rows   -> what more rules are worth
path.py         a fitted estimator      -> how few rules suffice
search.py       a genetic search        -> how it went
subjects.py     what users hand over    -> what the pictures show of it
canvas.py       nothing, or axes        -> axes to draw on, and how all pictures look

Each picture is a class in the style of scikit-learn's displays: ``from_estimator`` and its like
draw at once, ``plot`` draws again. matplotlib is imported when the first one is drawn.
"""

from solah.evaluation.curves import RocCurve
from solah.plot.calibration import CalibrationCurve, CalibrationDisplay
from solah.plot.dependence import DependenceDisplay
from solah.plot.hierarchy import HierarchyDisplay
from solah.plot.importance import ImportanceDisplay
from solah.plot.path import PathDisplay
from solah.plot.roc import RocDisplay
from solah.plot.rules import RulesDisplay, RulesPoint
from solah.plot.search import SearchDisplay
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
    "RulesDisplay",
    "RulesPoint",
    "SearchDisplay",
    "WordsDisplay",
]
