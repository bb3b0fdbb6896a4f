"""The dependence between attributes in, clusters of attributes out: the paper's Algorithm 1."""

from __future__ import annotations

from math import sqrt
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np

from solah.exceptions import ParameterError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

# Dependences are at most 1, and those that differ by less are equal: rounding must neither choose
# a seed nor keep an attribute out.
_ROUNDING = 1e-9


def group_attributes(
    dcorr: ArrayLike, n_clusters: int | Literal["auto"] = "auto"
) -> tuple[tuple[int, ...], ...]:
    """Cluster attributes that depend on each other (the paper's Algorithm 1).

    In each round the two most dependent attributes that remain open a cluster. One of them is
    its seed: the one with the lower index. Those join whose dependence on the seed is at most
    alpha below the pair's, alpha being the span of the remaining dependences divided by k.

    Parameters
    ----------
    dcorr : (n, n) symmetric distance correlations of the attributes. The diagonal does not count,
        the upper triangle is what is read, and what is not finite counts as 0
    n_clusters : the paper's k, at least 1: the larger it is, the narrower the clusters are. With
        "auto" it is what ``choose_n_clusters`` returns

    Returns
    -------
    tuple of tuple of int
        The clusters in the order in which they were found, every attribute in exactly one: the
        seed first, then the others by falling dependence on it (ties: the lower index). Their
        number, the paper's K, is often not k.

    Notes
    -----
    The order of the columns matters only for ties: among equally dependent pairs the first, row
    by row, opens the cluster, and the seed is its attribute with the lower index.

    Examples
    --------
    Two pairs that belong together, and an attribute on its own; three clusters where k is 2:

    >>> dcorr = [
    ...     [1.0, 0.9, 0.1, 0.2, 0.0],
    ...     [0.9, 1.0, 0.2, 0.1, 0.1],
    ...     [0.1, 0.2, 1.0, 0.7, 0.0],
    ...     [0.2, 0.1, 0.7, 1.0, 0.1],
    ...     [0.0, 0.1, 0.0, 0.1, 1.0],
    ... ]
    >>> group_attributes(dcorr, 2)
    ((0, 1), (2, 3), (4,))
    """
    matrix = _checked_matrix(dcorr)
    k = _choose(matrix) if n_clusters == "auto" else _checked_count(n_clusters)
    return tuple(_clusters(matrix, k))


def choose_n_clusters(dcorr: ArrayLike) -> int:
    """Choose the paper's k: the smallest that keeps every cluster small enough to read.

    Parameters
    ----------
    dcorr : (n, n) as in ``group_attributes``

    Returns
    -------
    int
        The smallest k from 2 to n for which no cluster has more than max(6, sqrt(n)) attributes,
        or the largest of them if there is none. Attributes that depend on no other, such as
        constants, do not count: no k can part them, and no tree asks for them.

    Examples
    --------
    >>> import numpy as np
    >>> choose_n_clusters(np.eye(4))
    2
    """
    return _choose(_checked_matrix(dcorr))


def _choose(matrix: NDArray[np.float64]) -> int:
    n = len(matrix)
    limit = max(6.0, sqrt(n))
    depends = (matrix != 0).any(axis=0)
    for k in range(2, n):
        # The first cluster that is too large ends a try.
        if all(np.count_nonzero(depends[list(c)]) <= limit for c in _clusters(matrix, k)):
            return k
    return max(n, 2)


def _clusters(matrix: NDArray[np.float64], k: int) -> Iterator[tuple[int, ...]]:
    """Find the clusters one after another; ``matrix`` is symmetric and finite."""
    attributes = np.arange(len(matrix))
    remaining = matrix.copy()
    # Line 3. While a pair remains there is a largest one, whatever the numbers are: the paper's
    # test for zeros would lose attributes that depend on no other.
    while len(attributes) > 1:
        # Line 5. The diagonal is neither the least nor, below, the largest dependence.
        np.fill_diagonal(remaining, np.inf)
        least = remaining.min()
        # Line 6. The first of equal entries stands in the row of the lower index.
        np.fill_diagonal(remaining, -np.inf)
        largest = remaining.max()
        seed, _ = np.unravel_index((remaining >= largest - _ROUNDING).argmax(), remaining.shape)
        alpha = (largest - least) / k
        # Lines 7 and 8. The paper's strict "d_max >" would leave out the partner.
        on_seed = remaining[seed]
        order = np.argsort(-np.rint(on_seed / _ROUNDING), kind="stable")
        joins = on_seed[order] >= largest - alpha - _ROUNDING
        members = np.concatenate([[seed], order[joins]])
        # Line 9
        yield tuple(attributes[members].tolist())
        # Lines 10 and 11. Cut out rather than set to zero, since zero is a dependence as well.
        attributes = np.delete(attributes, members)
        remaining = np.delete(np.delete(remaining, members, axis=0), members, axis=1)
    # A last attribute has no pair; the paper would lose it.
    if len(attributes):
        yield (int(attributes[0]),)


def _checked_matrix(dcorr: ArrayLike) -> NDArray[np.float64]:
    """Make a finite and exactly symmetric matrix with an empty diagonal."""
    matrix = np.asarray(dcorr, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ParameterError(
            "dcorr must be a square matrix of at least one attribute. "
            f"Got the shape {matrix.shape} instead."
        )
    upper = np.triu(np.where(np.isfinite(matrix), matrix, 0.0), k=1)
    return upper + upper.T


def _checked_count(n_clusters: object) -> int:
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ParameterError(
            "n_clusters must be an integer of at least 1, 'each' or 'auto'. "
            f"Got {shorten(n_clusters)} instead."
        )
    return int(n_clusters)
