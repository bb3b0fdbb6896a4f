"""Distance correlation: how columns depend on each other.

columns.py     values               -> levels and codes, exact or in bins
sums.py        two coded columns    -> nine sums (native.py in C, reference.py in NumPy)
statistics.py  nine sums            -> a distance correlation
pairs.py       coded columns        -> the sums of some pairs, on threads
tiles.py       a number of columns  -> squares of the matrix of their pairs
checkpoint.py  finished tiles       -> files, and back
matrix.py      coded columns        -> the correlations of all pairs, tile by tile
settings.py    what is asked for    -> checked settings
measures.py    arrays and tables    -> numbers and matrices for people and hierarchies
screening.py   dependence on a goal -> the attributes to go on with
"""

from solah.dependence.measures import (
    Dependence,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
    relevance_of,
)
from solah.dependence.screening import Screening, screen_attributes

__all__ = [
    "Dependence",
    "Screening",
    "dependence_of",
    "distance_correlation",
    "distance_correlation_matrix",
    "relevance_of",
    "screen_attributes",
]
