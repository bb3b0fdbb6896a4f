"""Figures of models with matplotlib: ``pip install 'solah[plot]'``.

Each figure is a class in the style of scikit-learn's displays: ``from_estimator`` and its like draw
at once, ``plot`` draws again. matplotlib is imported when the first one is drawn. For ROC and
calibration curves there are scikit-learn's ``RocCurveDisplay`` and ``CalibrationDisplay``.
"""

from solah.plot.dependence import DependenceDisplay
from solah.plot.importance import ImportanceDisplay
from solah.plot.path import PathDisplay
from solah.plot.shapes import shapes
from solah.plot.words import WordsDisplay

__all__ = [
    "DependenceDisplay",
    "ImportanceDisplay",
    "PathDisplay",
    "WordsDisplay",
    "shapes",
]
