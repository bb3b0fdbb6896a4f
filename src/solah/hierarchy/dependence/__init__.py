"""How columns depend on each other: tables in, distance correlations out.

columns.py     values               -> levels and codes, exact or in bins
sums.py        two coded columns    -> nine sums (native.py in C, reference.py in NumPy)
statistics.py  nine sums            -> a distance correlation
pairs.py       coded columns        -> the sums of many pairs, on threads
measures.py    arrays and tables    -> numbers and matrices for people and hierarchies
"""

from solah.hierarchy.dependence.measures import (
    Dependence,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
)

__all__ = [
    "Dependence",
    "dependence_of",
    "distance_correlation",
    "distance_correlation_matrix",
]
