"""Dependence in, clusters and hierarchies out, as settings ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from solah.exceptions import ColumnError, ParameterError
from solah.learn.fusion import with_fusions
from solah.learn.grouping import group_attributes
from solah.learn.wiring import wire_hierarchy
from solah.model.structure import Hierarchy, HierarchyNode, node_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.dependence import Dependence
    from solah.learn.rows import Rows
    from solah.learn.selection import Setting

ClusterPlaces = tuple[tuple[int, ...], ...]


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
    # A search asks for the same again with every fold and every setting that changes neither.
    _clusters: dict[int | str, ClusterPlaces] = field(default_factory=dict, init=False)
    _wired: dict[tuple[object, ...], Hierarchy] = field(default_factory=dict, init=False)

    def clusters(self, setting: Setting) -> ClusterPlaces:
        """Cluster the columns, as their places."""
        if setting.n_clusters not in self._clusters:
            self._clusters[setting.n_clusters] = self._found_clusters(setting)
        return self._clusters[setting.n_clusters]

    def _found_clusters(self, setting: Setting) -> ClusterPlaces:
        if self.by_hand is not None:
            return _clusters_by_hand(self.by_hand, self.names)
        if setting.n_clusters == "each":
            return tuple((j,) for j in range(len(self.names)))
        return group_attributes(self.dependence.matrix, setting.n_clusters)

    def named_clusters(self, setting: Setting) -> tuple[tuple[str, ...], ...]:
        """Cluster the columns, as their names."""
        return tuple(tuple(self.names[j] for j in one) for one in self.clusters(setting))

    def hierarchy(self, setting: Setting) -> Hierarchy:
        """Wire the clusters: all below one fusion, or by their levels (Algorithm 2)."""
        clusters = self.clusters(setting)
        if setting.fusion == "weigh" and setting.level_gap == "auto":
            return self._flat(clusters)
        return wire_hierarchy(
            self.dependence.relevance.tolist(),
            clusters,
            self.names,
            level_gap=setting.level_gap,
            top=self.top,
            goal=self.goal,
        )

    def wired(self, setting: Setting) -> Hierarchy:
        """Wire the clusters as they are trained: what is weighed is fed by nodes only."""
        key = setting.fusion, setting.n_clusters, setting.level_gap
        if key not in self._wired:
            hierarchy = self.hierarchy(setting)
            is_weighed = setting.fusion == "weigh"
            self._wired[key] = with_fusions(hierarchy, self.names) if is_weighed else hierarchy
        return self._wired[key]

    def admits(self, setting: Setting, max_inputs: int | None) -> bool:
        """Whether no tree of a setting's hierarchy has too many inputs."""
        return max_inputs is None or _width(self.wired(setting), setting) <= max_inputs

    def distinct(self, settings: Sequence[Setting], max_inputs: int | None) -> tuple[Setting, ...]:
        """Leave out settings whose hierarchy comes out like an earlier one's, or too wide."""
        by_hierarchy: dict[Hierarchy, Setting] = {}
        for setting in settings:
            by_hierarchy.setdefault(self.hierarchy(setting), setting)
        narrow = [one for one in by_hierarchy.values() if self.admits(one, max_inputs)]
        return tuple(narrow or by_hierarchy.values())

    def _flat(self, clusters: ClusterPlaces) -> Hierarchy:
        *names, root = node_names(len(clusters) + 1, self.names, self.goal)
        trees = [
            HierarchyNode(name, tuple(self.names[j] for j in cluster))
            for name, cluster in zip(names, clusters, strict=True)
        ]
        return Hierarchy((*trees, HierarchyNode(root, tuple(names))))


def organise(data: Rows) -> Hierarchy:
    """Wire a hierarchy from the data, with k and theta chosen by their rules of thumb."""
    dependence = data.dependence()
    return wire_hierarchy(
        dependence.relevance.tolist(),
        group_attributes(dependence.matrix),
        data.names,
        goal=data.facts.goal.name,
    )


def _width(hierarchy: Hierarchy, setting: Setting) -> int:
    """Return the most inputs that a tree has; a fusion is none."""
    if setting.fusion == "weigh":
        return max(len(hierarchy.attributes_of(node.name)) for node in hierarchy.nodes)
    return max(len(node.inputs) for node in hierarchy.nodes)


def _clusters_by_hand(clusters: Sequence[Sequence[str]], names: tuple[str, ...]) -> ClusterPlaces:
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
