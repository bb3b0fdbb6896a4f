"""Clusters of attributes and their relevance in, a hierarchy out: the paper's Algorithm 2."""

from __future__ import annotations

from math import ceil, fsum, isfinite, sqrt
from numbers import Real
from typing import TYPE_CHECKING, Literal

from solah.exceptions import ParameterError, shorten
from solah.model.structure import Hierarchy, HierarchyNode, node_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Cluster = Sequence[int]
    Level = list[Cluster]

# Relevances are at most 1: this is rounding, so that 0.3 - 0.1 reaches a gap of 0.2.
_ROUNDING = 1e-12


def wire_hierarchy(
    relevance: Sequence[float],
    clusters: Sequence[Cluster],
    names: Sequence[str],
    *,
    level_gap: float | Literal["auto"] = "auto",
    top: Literal["fuse", "merge"] = "fuse",
    goal: str = "y",
) -> Hierarchy:
    """Wire a tree a cluster into a hierarchy, the relevant ones on top (the paper's Algorithm 2).

    Clusters are taken by rising mean relevance (ties: the one with the smallest index first). A
    new level starts with a cluster whose mean is ``level_gap`` above that of its level's first.
    The first tree of a level takes all outputs of the level below and its cluster, the others
    only their cluster.

    Parameters
    ----------
    relevance : each attribute's distance correlation with the goal; NaN counts as 0
    clusters : indices of attributes, each in one cluster at most
    names : the attributes' names
    level_gap : the paper's theta, above 0. With "auto" it is what ``choose_level_gap`` returns
    top : what to do with several trees on the last level: "fuse" adds a tree over their outputs
        (the paper's algorithm), "merge" makes one tree of them (the paper's SMS-20 text)
    goal : the root's name; the other trees are z1, z2, … as they are made. A name that an
        attribute has gets underscores

    Returns
    -------
    Hierarchy
        The trees, each with the outputs it takes before its attributes. Its ``levels`` say how
        high a tree stands above the attributes; a tree without children is at the bottom there,
        whatever level it was made for.

    Examples
    --------
    >>> clusters = [(0, 1), (2, 3), (4,)]
    >>> names = ["hue", "ash", "proline", "alcohol", "colour"]
    >>> relevance = [0.2, 0.3, 0.6, 0.8, 0.3]
    >>> print(wire_hierarchy(relevance, clusters, names, level_gap=0.2))
    z1 <- hue, ash; z2 <- colour; y <- z1, z2, proline, alcohol
    """
    if len(relevance) != len(names):
        raise ParameterError(
            f"relevance must have a value for each of the {len(names)} names. "
            f"Got {len(relevance)} instead."
        )
    if top not in ("fuse", "merge"):
        raise ParameterError(f"top must be 'fuse' or 'merge'. Got {shorten(top)} instead.")
    _check_clusters(clusters, len(names))
    means = _mean_relevances(relevance, clusters)
    gap = _choose(means) if level_gap == "auto" else _checked_gap(level_gap)
    levels = _levels(clusters, means, gap)
    if len(levels[-1]) > 1:
        _join_last(levels, top)
    return _wired(levels, names, goal)


def choose_level_gap(relevance: Sequence[float], clusters: Sequence[Cluster]) -> float:
    """Choose the paper's theta: the span of the clusters' relevances over 1 + ceil(sqrt(K)).

    It is at least 0.02. So there are about as many levels as in the paper's own hierarchies, and
    one where clusters are alike.

    Examples
    --------
    >>> choose_level_gap([0.125, 0.375, 1.0, 1.0], [(0, 1), (2, 3)])
    0.25
    """
    _check_clusters(clusters, len(relevance))
    return _choose(_mean_relevances(relevance, clusters))


def _choose(means: Sequence[float]) -> float:
    n_levels = 1 + ceil(sqrt(len(means)))
    return max((max(means) - min(means)) / n_levels, 0.02)


def _mean_relevances(relevance: Sequence[float], clusters: Iterable[Cluster]) -> list[float]:
    """Line 1. Sums are exact, so that a mean does not depend on the order in its cluster."""
    known = [float(value) if isfinite(value) else 0.0 for value in relevance]
    return [fsum(known[i] for i in cluster) / len(cluster) for cluster in clusters]


def _levels(clusters: Sequence[Cluster], means: Sequence[float], gap: float) -> list[Level]:
    """Split the clusters into levels, the least relevant first."""
    # Line 3
    order = sorted(range(len(clusters)), key=lambda c: (means[c], min(clusters[c])))
    # Line 5. The paper's a = 0 names no cluster; the first one opens the first level.
    first = order[0]
    levels: list[Level] = [[]]
    for c in order:
        # Lines 9 and 13
        if means[c] - means[first] >= gap - _ROUNDING:
            first = c
            levels.append([])
        levels[-1].append(clusters[c])
    return levels


def _join_last(levels: list[Level], top: str) -> None:
    """Lines 18 to 20. Let the several clusters of the last level lead to one tree."""
    if top == "fuse":
        levels.append([()])
    else:
        levels[-1] = [[i for cluster in levels[-1] for i in cluster]]


def _wired(levels: Sequence[Level], names: Sequence[str], goal: str) -> Hierarchy:
    """Make the trees, each level's first on top of the level below."""
    called = iter(node_names(sum(map(len, levels)), names, goal))
    nodes: list[HierarchyNode] = []
    outputs: list[str] = []
    for level in levels:
        below, outputs = outputs, []
        for cluster in level:
            # Line 14 for the first tree of a level, line 11 for the others
            node = HierarchyNode(next(called), (*below, *(names[i] for i in cluster)))
            nodes.append(node)
            # Lines 10 and 15
            outputs.append(node.name)
            below = []
    # Lines 20 and 22. The last tree is the root.
    return Hierarchy(tuple(nodes))


def _check_clusters(clusters: Sequence[Cluster], n_attributes: int) -> None:
    if not len(clusters) or not all(len(cluster) for cluster in clusters):
        raise ParameterError("clusters must have one at least, and none of them empty")
    seen: set[int] = set()
    for index in (i for cluster in clusters for i in cluster):
        if not 0 <= index < n_attributes:
            raise ParameterError(
                f"clusters has the attribute {index}; there are {n_attributes}, counted from 0"
            )
        if index in seen:
            raise ParameterError(f"clusters has the attribute {index} twice")
        seen.add(index)


def _checked_gap(level_gap: object) -> float:
    # NaN is not above 0 either.
    if not (isinstance(level_gap, Real) and float(level_gap) > 0):
        raise ParameterError(
            f"level_gap must be a number above 0 or 'auto'. Got {shorten(level_gap)} instead."
        )
    return float(level_gap)
