"""Hierarchies organised from the dependence of features: the paper's Algorithms 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import ceil, fsum, isfinite, sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from solah.exceptions import ColumnError, ParameterError, shorten
from solah.model.structure import Hierarchy, HierarchyNode, node_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from solah.dependence import Dependence
    from solah.learn.memory import MemoryRows

    Cluster = Sequence[int]
    Level = list[Cluster]


ClusterPlaces = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Candidate:
    """A hierarchy of trees that is considered.

    Attributes
    ----------
    n_clusters, level_gap : the k and theta that led to it
    clusters : the clusters, as places of columns
    hierarchy : the wiring
    score : how well it decides on rows that it did not learn from; larger is better
    """

    n_clusters: int | str
    level_gap: float | str
    clusters: ClusterPlaces
    hierarchy: Hierarchy
    score: float = math.nan

    @property
    def width(self) -> int:
        """The most inputs that a tree has."""
        return max(len(node.inputs) for node in self.hierarchy.nodes)


@dataclass(frozen=True)
class Organiser:
    """What hierarchies are organised from.

    Attributes
    ----------
    dependence : how features depend on each other and on the target
    names : the columns' names
    target : the target's name
    top : what to do with several trees on the last level
    by_hand : clusters that somebody gave, as column names
    """

    dependence: Dependence
    names: tuple[str, ...]
    target: str
    top: Literal["fuse", "merge"] = "fuse"
    by_hand: Sequence[Sequence[str]] | None = None

    def clusters(self, n_clusters: int | Literal["auto", "each"]) -> ClusterPlaces:
        """Cluster the columns, as their places."""
        if self.by_hand is not None:
            return clusters_by_hand(self.by_hand, self.names)
        if n_clusters == "each":
            return tuple((j,) for j in range(len(self.names)))
        return group_features(self.dependence.matrix, n_clusters)

    def candidates(
        self,
        numbers: Sequence[int | Literal["auto", "each"]],
        level_gaps: Sequence[float | Literal["auto"]],
        max_inputs: int | None,
    ) -> tuple[Candidate, ...]:
        """Wire clusters by their levels (Algorithm 2), each different hierarchy once.

        Those with a tree of more inputs than ``max_inputs`` are dropped, unless all have one.
        """
        found: dict[Hierarchy, Candidate] = {}
        for n_clusters in numbers:
            clusters = self.clusters(n_clusters)
            for level_gap in level_gaps:
                hierarchy = wire_hierarchy(
                    self.dependence.relevance.tolist(),
                    clusters,
                    self.names,
                    level_gap=level_gap,
                    top=self.top,
                    target=self.target,
                )
                found.setdefault(hierarchy, Candidate(n_clusters, level_gap, clusters, hierarchy))
        narrow = [one for one in found.values() if max_inputs is None or one.width <= max_inputs]
        return tuple(narrow or found.values())


def organise(data: MemoryRows) -> Hierarchy:
    """Wire a hierarchy from the data, with k and theta chosen by their rules of thumb."""
    dependence = data.dependence()
    return wire_hierarchy(
        dependence.relevance.tolist(),
        group_features(dependence.matrix),
        data.names,
        target=data.facts.target.name,
    )


def clusters_by_hand(clusters: Sequence[Sequence[str]], names: tuple[str, ...]) -> ClusterPlaces:
    """Find the columns of clusters that were given by name; each column once at the most."""
    places = {name: j for j, name in enumerate(names)}
    settled: list[tuple[int, ...]] = []
    used: set[str] = set()
    for cluster in clusters:
        if isinstance(cluster, str | Mapping | Set) or not isinstance(cluster, Iterable):
            raise ParameterError(f"a cluster must be a list of column names. Got {cluster!r}.")
        members = list(cluster)
        for name in members:
            if not isinstance(name, str) or name not in places:
                raise ColumnError.unknown(name, names)
            if name in used:
                raise ParameterError(f"column {name!r} is in the clusters twice")
            used.add(name)
        if not members:
            raise ParameterError("a cluster must be a list of column names. Got an empty one.")
        settled.append(tuple(places[name] for name in members))
    return tuple(settled)


# Dependences are at most 1, and those that differ by less are equal: rounding must neither choose
# a seed nor keep a feature out.
_SAME_DEPENDENCE = 1e-9


def group_features(
    dcorr: ArrayLike, n_clusters: int | Literal["auto"] = "auto"
) -> tuple[tuple[int, ...], ...]:
    """Cluster features that depend on each other (the paper's Algorithm 1).

    In each round the two most dependent features that remain open a cluster. One of them is
    its seed: the one with the lower index. Those join whose dependence on the seed is at most
    alpha below the pair's, alpha being the span of the remaining dependences divided by k.

    Parameters
    ----------
    dcorr : (n, n) symmetric distance correlations of the features. The diagonal does not count,
        the upper triangle is what is read, and what is not finite counts as 0
    n_clusters : the paper's k, at least 1: the larger it is, the narrower the clusters are. With
        "auto" it is the smallest from 2 on that keeps clusters to max(6, sqrt(n)) features

    Returns
    -------
    tuple of tuple of int
        The clusters in the order in which they were found, every feature in exactly one: the
        seed first, then the others by falling dependence on it (ties: the lower index). Their
        number, the paper's K, is often not k.

    Notes
    -----
    The order of the columns matters only for ties: among equally dependent pairs the first, row
    by row, opens the cluster, and the seed is its feature with the lower index.

    Examples
    --------
    Two pairs that belong together, and a feature on its own; three clusters where k is 2:

    >>> dcorr = [
    ...     [1.0, 0.9, 0.1, 0.2, 0.0],
    ...     [0.9, 1.0, 0.2, 0.1, 0.1],
    ...     [0.1, 0.2, 1.0, 0.7, 0.0],
    ...     [0.2, 0.1, 0.7, 1.0, 0.1],
    ...     [0.0, 0.1, 0.0, 0.1, 1.0],
    ... ]
    >>> group_features(dcorr, 2)
    ((0, 1), (2, 3), (4,))
    """
    given = np.asarray(dcorr, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise ParameterError(
            "dcorr must be a square matrix of at least one feature. "
            f"Got the shape {given.shape} instead."
        )
    upper = np.triu(np.where(np.isfinite(given), given, 0.0), k=1)
    matrix = upper + upper.T
    if n_clusters == "auto":
        return tuple(_clusters(matrix, _smallest_k(matrix)))
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ParameterError(
            "n_clusters must be an integer of at least 1, 'each' or 'auto'. "
            f"Got {shorten(n_clusters)} instead."
        )
    return tuple(_clusters(matrix, int(n_clusters)))


def _smallest_k(matrix: NDArray[np.float64]) -> int:
    """Choose the paper's k: the smallest that keeps every cluster small enough to read.

    That is at most max(6, sqrt(n)) features. Features that depend on no other, such as
    constants, do not count: no k can part them, and no tree asks for them.
    """
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
    features = np.arange(len(matrix))
    remaining = matrix.copy()
    # Line 3. While a pair remains there is a largest one, whatever the numbers are: the paper's
    # test for zeros would lose features that depend on no other.
    while len(features) > 1:
        # Line 5. The diagonal is neither the least nor, below, the largest dependence.
        np.fill_diagonal(remaining, np.inf)
        least = remaining.min()
        # Line 6. The first of equal entries is in the row of the lower index.
        np.fill_diagonal(remaining, -np.inf)
        largest = remaining.max()
        seed, _ = np.unravel_index(
            (remaining >= largest - _SAME_DEPENDENCE).argmax(), remaining.shape
        )
        alpha = (largest - least) / k
        # Lines 7 and 8. The paper's strict "d_max >" would drop the partner.
        on_seed = remaining[seed]
        order = np.argsort(-np.rint(on_seed / _SAME_DEPENDENCE), kind="stable")
        joins = on_seed[order] >= largest - alpha - _SAME_DEPENDENCE
        members = np.concatenate([[seed], order[joins]])
        # Line 9
        yield tuple(features[members].tolist())
        # Lines 10 and 11. Cut out rather than set to zero, since zero is a dependence as well.
        features = np.delete(features, members)
        remaining = np.delete(np.delete(remaining, members, axis=0), members, axis=1)
    # A last feature has no pair; the paper would lose it.
    if len(features):
        yield (int(features[0]),)


# Relevances are at most 1: this is rounding, so that 0.3 - 0.1 reaches a gap of 0.2.
_SAME_RELEVANCE = 1e-12


def wire_hierarchy(
    relevance: Sequence[float],
    clusters: Sequence[Cluster],
    names: Sequence[str],
    *,
    level_gap: float | Literal["auto"] = "auto",
    top: Literal["fuse", "merge"] = "fuse",
    target: str = "y",
) -> Hierarchy:
    """Wire a tree a cluster into a hierarchy, the relevant ones on top (the paper's Algorithm 2).

    Clusters are taken by rising mean relevance (ties: the one with the smallest index first). A
    new level starts with a cluster whose mean is ``level_gap`` above that of its level's first.
    The first tree of a level takes all outputs of the level below and its cluster, the others
    only their cluster.

    Parameters
    ----------
    relevance : each feature's distance correlation with the target; NaN counts as 0
    clusters : indices of features, each in one cluster at most
    names : the features' names
    level_gap : the paper's theta, above 0. With "auto" it is the span of the mean relevances
        over 1 + ceil(sqrt(K)), at least 0.02: about as many levels as in the paper's hierarchies
    top : what to do with several trees on the last level: "fuse" adds a tree over their outputs
        (the paper's algorithm), "merge" makes one tree of them (the paper's SMS-20 text)
    target : the root's name; the other trees are z1, z2, … as they are made. A name that an
        feature has gets underscores

    Returns
    -------
    Hierarchy
        The trees, each with the outputs it takes before its features. Its ``levels`` are the
        heights of trees above the features; a tree without children is at the bottom there,
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
    # Line 1. Sums are exact, so that a mean does not depend on the order in its cluster.
    known = [float(value) if isfinite(value) else 0.0 for value in relevance]
    means = [fsum(known[i] for i in cluster) / len(cluster) for cluster in clusters]
    if level_gap == "auto":
        level_gap = max((max(means) - min(means)) / (1 + ceil(sqrt(len(means)))), 0.02)
    elif not (isinstance(level_gap, Real) and float(level_gap) > 0):  # nor is NaN
        raise ParameterError(
            f"level_gap must be a number above 0 or 'auto'. Got {shorten(level_gap)} instead."
        )
    levels = _levels(clusters, means, float(level_gap))
    # Lines 18 to 20. Several clusters of the last level lead to one tree.
    if len(levels[-1]) > 1 and top == "fuse":
        levels.append([()])
    elif len(levels[-1]) > 1:
        levels[-1] = [[i for cluster in levels[-1] for i in cluster]]
    return _wired(levels, names, target)


def _levels(clusters: Sequence[Cluster], means: Sequence[float], gap: float) -> list[Level]:
    """Split the clusters into levels, the least relevant first."""
    # Line 3
    order = sorted(range(len(clusters)), key=lambda c: (means[c], min(clusters[c])))
    # Line 5. The paper's a = 0 names no cluster; the first one opens the first level.
    first = order[0]
    levels: list[Level] = [[]]
    for c in order:
        # Lines 9 and 13
        if means[c] - means[first] >= gap - _SAME_RELEVANCE:
            first = c
            levels.append([])
        levels[-1].append(clusters[c])
    return levels


def _wired(levels: Sequence[Level], names: Sequence[str], target: str) -> Hierarchy:
    """Make the trees, each level's first on top of the level below."""
    called = iter(node_names(sum(map(len, levels)), names, target))
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


def _check_clusters(clusters: Sequence[Cluster], n_features: int) -> None:
    if not len(clusters) or not all(len(cluster) for cluster in clusters):
        raise ParameterError("clusters must have at least one cluster, and no empty ones")
    seen: set[int] = set()
    for index in (i for cluster in clusters for i in cluster):
        if not 0 <= index < n_features:
            raise ParameterError(
                f"clusters has the feature {index}; there are {n_features}, counted from 0"
            )
        if index in seen:
            raise ParameterError(f"clusters has the feature {index} twice")
        seen.add(index)
