"""Hierarchies as genetic algorithms see them: which attributes share a tree, who hears whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.model.structure import Hierarchy, HierarchyNode, node_names

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = -1
_AFTER_ALL = 2**62


@dataclass(frozen=True)
class Genome:
    """A partition of the attributes into clusters, and a wiring of the clusters' trees.

    Attributes
    ----------
    clusters : the attributes of each tree, bottom-up; a tree that only hears others has none
    parents : the tree that hears each tree, always a later one; ``ROOT`` for the last
    """

    clusters: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    @property
    def children(self) -> list[list[int]]:
        """The trees that each tree hears."""
        heard: list[list[int]] = [[] for _ in self.clusters]
        for node, parent in enumerate(self.parents[:-1]):
            heard[parent].append(node)
        return heard

    @classmethod
    def of(cls, hierarchy: Hierarchy, names: Sequence[str]) -> Genome:
        """Read a hierarchy; attributes that it does not use are not in the genome."""
        place = {name: j for j, name in enumerate(names)}
        number = {node.name: i for i, node in enumerate(hierarchy.nodes)}
        parents = [ROOT] * len(number)
        for node in hierarchy.nodes:
            for child in hierarchy.children(node.name):
                parents[number[child]] = number[node.name]
        clusters = tuple(
            tuple(sorted(place[name] for name in hierarchy.attributes_of(node.name)))
            for node in hierarchy.nodes
        )
        return cls(clusters, tuple(parents))

    def hierarchy(self, names: Sequence[str], goal: str) -> Hierarchy:
        """Spell it out; genomes that mean the same give equal hierarchies.

        Trees stand in the order of the first attribute below them, each after those it hears.
        """
        children = self.children
        first = self._first_attributes()
        order: list[int] = []
        stack = [len(self.clusters) - 1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(sorted(children[node], key=first.__getitem__))
        order.reverse()
        called = dict(zip(order, node_names(len(order), names, goal), strict=True))
        nodes = []
        for node in order:
            below = sorted(children[node], key=first.__getitem__)
            inputs = [called[child] for child in below]
            inputs += [names[j] for j in sorted(self.clusters[node])]
            nodes.append(HierarchyNode(called[node], tuple(inputs)))
        return Hierarchy(tuple(nodes))

    def _first_attributes(self) -> list[int]:
        """Return the lowest attribute at or below each tree."""
        first = [min(cluster, default=_AFTER_ALL) for cluster in self.clusters]
        for node, parent in enumerate(self.parents[:-1]):
            first[parent] = min(first[parent], first[node])
        return first


def mend(
    clusters: Sequence[Sequence[int]],
    parents: Sequence[int],
    *,
    max_inputs: int,
    cascade: bool = False,
) -> Genome:
    """Make a genome of any clusters and wiring in which a tree is heard by a later one.

    Trees without anything to hear go, trees that only pass one other on go, and a tree with too
    many inputs gives some of them to new trees below it. In a cascade each tree hears the one
    before it, whatever the wiring was.
    """
    draft = _Draft([list(cluster) for cluster in clusters], list(parents))
    if cascade:
        draft = _Draft.chain([cluster for cluster in draft.clusters if cluster], max_inputs)
    else:
        draft.drop_idle()
        draft.narrow(max_inputs)
    return draft.genome()


class _Draft:
    """A genome in the making."""

    def __init__(self, clusters: list[list[int]], parents: list[int]) -> None:
        self.clusters = clusters
        self.parents = parents

    @classmethod
    def chain(cls, clusters: list[list[int]], max_inputs: int) -> _Draft:
        """Put trees on top of each other, cutting clusters that are too wide."""
        narrow: list[list[int]] = []
        for cluster in clusters:
            rest = list(cluster)
            while rest:
                room = max_inputs - (1 if narrow else 0)
                narrow.append(rest[:room])
                rest = rest[room:]
        last = len(narrow) - 1
        return cls(narrow, [node + 1 if node < last else ROOT for node in range(len(narrow))])

    def drop_idle(self) -> None:
        """Remove trees that hear nothing, or one other tree alone."""
        # Bottom-up: what a tree hears is settled before the tree is looked at.
        heard: list[list[int]] = [[] for _ in self.clusters]
        alive = []
        for node, cluster in enumerate(self.clusters):
            passed_on = heard[node]
            if cluster or len(heard[node]) > 1:
                alive.append(node)
                passed_on = [node]
            if self.parents[node] != ROOT:
                heard[self.parents[node]] += passed_on
        parent_of = {child: node for node in alive for child in heard[node]}
        number = {node: i for i, node in enumerate(alive)}
        self.parents = [number.get(parent_of.get(node, ROOT), ROOT) for node in alive]
        self.clusters = [self.clusters[node] for node in alive]

    def narrow(self, max_inputs: int) -> None:
        """Give inputs of too wide trees to new trees below them."""
        # New trees are appended and looked at in turn; the order is restored in the end.
        node = 0
        while node < len(self.clusters):
            below = [child for child, parent in enumerate(self.parents) if parent == node]
            while len(self.clusters[node]) + len(below) > max_inputs:
                new = len(self.clusters)
                self.parents.append(node)
                surplus = len(self.clusters[node]) + len(below) - max_inputs + 1
                size = min(max(surplus, 2), max_inputs)
                if len(self.clusters[node]) >= size:
                    self.clusters.append(self.clusters[node][-size:])
                    del self.clusters[node][-size:]
                else:
                    self.clusters.append([])
                    for child in below[:size]:
                        self.parents[child] = new
                    del below[:size]
                below.append(new)
            node += 1

    def genome(self) -> Genome:
        """Return it with its trees in bottom-up order."""
        depth = [0] * len(self.parents)
        for node in range(len(self.parents)):
            above = self.parents[node]
            while above != ROOT:
                depth[node] += 1
                above = self.parents[above]
        order = sorted(range(len(depth)), key=lambda node: -depth[node])
        number = {node: i for i, node in enumerate(order)} | {ROOT: ROOT}
        return Genome(
            tuple(tuple(sorted(self.clusters[node])) for node in order),
            tuple(number[self.parents[node]] for node in order),
        )
