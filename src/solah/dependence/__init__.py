"""Distance correlation: how columns depend on each other.

coding.py      values               -> levels and codes, exact or in bins
sums.py        two coded columns    -> nine sums (C or NumPy, in kernels/)
statistics.py  nine sums            -> a distance correlation
table.py       a table in memory    -> the correlations of some pairs, or of all
measures.py    arrays and columns   -> numbers and matrices for people and hierarchies
screening.py   dependence on a target -> the features to go on with
"""

from solah.dependence.measures import (
    Dependence,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
    relevance_of,
)
from solah.dependence.screening import Screening, screen_features
from solah.dependence.table import TableColumns

__all__ = [
    "Dependence",
    "Screening",
    "TableColumns",
    "dependence_of",
    "distance_correlation",
    "distance_correlation_matrix",
    "relevance_of",
    "screen_features",
]
