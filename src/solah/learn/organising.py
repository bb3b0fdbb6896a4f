"""Organises hierarchies of trees from the dependence of attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from solah.exceptions import ColumnError, ParameterError
from solah.learn.grouping import group_attributes
from solah.learn.wiring import wire_hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.dependence import Dependence
    from solah.learn.memory import MemoryRows
    from solah.model.structure import Hierarchy

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
    dependence : how attributes depend on each other and on the goal
    names : the columns' names
    goal : the goal's name
    top : what to do with several trees on the last level
    by_hand : clusters that somebody gave, as column names
    """

    dependence: Dependence
    names: tuple[str, ...]
    goal: str
    top: Literal["fuse", "merge"] = "fuse"
    by_hand: Sequence[Sequence[str]] | None = None

    def clusters(self, n_clusters: int | Literal["auto", "each"]) -> ClusterPlaces:
        """Cluster the columns, as their places."""
        if self.by_hand is not None:
            return clusters_by_hand(self.by_hand, self.names)
        if n_clusters == "each":
            return tuple((j,) for j in range(len(self.names)))
        return group_attributes(self.dependence.matrix, n_clusters)

    def candidates(
        self,
        numbers: Sequence[int | Literal["auto", "each"]],
        level_gaps: Sequence[float | Literal["auto"]],
        max_inputs: int | None,
    ) -> tuple[Candidate, ...]:
        """Wire clusters by their levels (Algorithm 2), each different hierarchy once.

        Those with a tree of more inputs than ``max_inputs`` are left out, unless all have one.
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
                    goal=self.goal,
                )
                found.setdefault(hierarchy, Candidate(n_clusters, level_gap, clusters, hierarchy))
        narrow = [one for one in found.values() if max_inputs is None or one.width <= max_inputs]
        return tuple(narrow or found.values())


def organise(data: MemoryRows) -> Hierarchy:
    """Wire a hierarchy from the data, with k and theta chosen by their rules of thumb."""
    dependence = data.dependence()
    return wire_hierarchy(
        dependence.relevance.tolist(),
        group_attributes(dependence.matrix),
        data.names,
        goal=data.facts.goal.name,
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
