"""Genomes in, new genomes out: drawn at random, crossed, mutated. Clusters are kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from solah.learn.genetic.genome import ROOT, Genome, mend

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Parts = tuple[list[list[int]], list[int]]


@dataclass(frozen=True)
class Variation:
    """How genomes come about.

    Attributes
    ----------
    n_attributes : how many attributes there are
    max_inputs : the most inputs of a tree
    cascade : whether each tree hears the one before it
    """

    n_attributes: int
    max_inputs: int
    cascade: bool = False

    def draw(self, rng: np.random.Generator) -> Genome:
        """Draw a genome: any number of clusters up to one for every two attributes."""
        n_clusters = int(rng.integers(1, max(2, self.n_attributes // 2 + 1)))
        homes = rng.integers(n_clusters, size=self.n_attributes)
        clusters = [
            [j for j in range(self.n_attributes) if homes[j] == c] for c in range(n_clusters)
        ]
        parents = [int(rng.integers(c + 1, n_clusters)) for c in range(n_clusters - 1)]
        return self._mend(clusters, [*parents, ROOT])

    def cross(self, mother: Genome, father: Genome, rng: np.random.Generator) -> Genome:
        """Take some clusters from the mother, and the rest as the father has it.

        A tree keeps its relative height, and feeds the tree that now holds the attributes of the
        tree that it fed, or of the next one above. If the father's top has only other trees as
        inputs, so has the child's.
        """
        from_mother = [cluster if rng.random() < 0.5 else () for cluster in mother.clusters]
        taken = {j for cluster in from_mother for j in cluster}
        from_father = [tuple(j for j in c if j not in taken) for c in father.clusters]
        parts = [
            _Part(_height(genome, node), source, node, cluster)
            for source, genome, clusters in ((0, mother, from_mother), (1, father, from_father))
            for node, cluster in enumerate(clusters)
            if cluster
        ]
        parts.sort()
        home = {j: place for place, part in enumerate(parts) for j in part.cluster}
        clusters = [list(part.cluster) for part in parts]
        if not father.clusters[-1]:
            clusters.append([])
        last = len(clusters) - 1
        parents = [
            _heard_by((mother, father)[part.source], part.node, home, place, last)
            for place, part in enumerate(parts)
        ]
        return self._mend(clusters, [*parents[:last], ROOT])

    def mutate(self, genome: Genome, rng: np.random.Generator) -> Genome:
        """Change one thing: an attribute's cluster, a pair of clusters, or the wiring."""
        changes: list[Callable[[Parts, np.random.Generator], None]] = [
            _move_attribute,
            _merge_clusters,
            _split_cluster,
            _swap_clusters,
            _rewire,
        ]
        parts = [list(cluster) for cluster in genome.clusters], list(genome.parents)
        changes[int(rng.integers(len(changes)))](parts, rng)
        return self._mend(*parts)

    def chained(self, genome: Genome) -> Genome:
        """Return the genome, its trees on top of each other where only cascades are wanted."""
        return self._mend(genome.clusters, genome.parents) if self.cascade else genome

    def _mend(
        self,
        clusters: list[list[int]] | tuple[tuple[int, ...], ...],
        parents: list[int] | tuple[int, ...],
    ) -> Genome:
        return mend(clusters, parents, max_inputs=self.max_inputs, cascade=self.cascade)


class _Part(NamedTuple):
    """A tree on its way into a child: its height first, which parts are sorted by."""

    height: float
    source: int
    node: int
    cluster: tuple[int, ...]


def _heard_by(genome: Genome, node: int, home: dict[int, int], place: int, last: int) -> int:
    """Find who hears a tree at a place: the first above it whose attributes went further up."""
    above = genome.parents[node]
    while above != ROOT:
        places = [home[j] for j in genome.clusters[above] if home[j] > place]
        if places:
            return places[0]
        above = genome.parents[above]
    return last


def _height(genome: Genome, node: int) -> float:
    return (node + 1) / len(genome.clusters)


def _pick(items: list[int], rng: np.random.Generator) -> int:
    return items[int(rng.integers(len(items)))]


def _holders(parts: Parts, least: int = 1) -> list[int]:
    """Return the trees with so many attributes."""
    return [node for node, cluster in enumerate(parts[0]) if len(cluster) >= least]


def _new_child(parts: Parts, parent: int, cluster: list[int]) -> None:
    """Put a new tree directly below another one."""
    clusters, parents = parts
    clusters.insert(parent, cluster)
    parents[:] = [above + (above >= parent) for above in parents]
    parents.insert(parent, parent + 1)


def _move_attribute(parts: Parts, rng: np.random.Generator) -> None:
    """Move an attribute to another tree, or to a new one."""
    clusters, _ = parts
    home = _pick(_holders(parts), rng)
    attribute = clusters[home].pop(int(rng.integers(len(clusters[home]))))
    goals = [node for node in range(len(clusters)) if node != home]
    if not goals or rng.random() < 0.1:
        _new_child(parts, int(rng.integers(len(clusters))), [attribute])
    else:
        clusters[_pick(goals, rng)].append(attribute)


def _merge_clusters(parts: Parts, rng: np.random.Generator) -> None:
    """Give all the attributes of a tree to another."""
    clusters, _ = parts
    holders = _holders(parts)
    if len(holders) > 1:
        giver = _pick(holders, rng)
        taker = _pick([node for node in holders if node != giver], rng)
        clusters[taker] += clusters[giver]
        clusters[giver] = []


def _split_cluster(parts: Parts, rng: np.random.Generator) -> None:
    """Give some attributes of a tree to a new one below it."""
    clusters, _ = parts
    wide = _holders(parts, least=2)
    if wide:
        node = _pick(wide, rng)
        shuffled = [clusters[node][i] for i in rng.permutation(len(clusters[node]))]
        n_leaving = int(rng.integers(1, len(shuffled)))
        clusters[node] = shuffled[n_leaving:]
        _new_child(parts, node, shuffled[:n_leaving])


def _swap_clusters(parts: Parts, rng: np.random.Generator) -> None:
    """Let two trees exchange their attributes."""
    clusters, _ = parts
    if len(clusters) > 1:
        one, other = rng.permutation(len(clusters))[:2].tolist()
        clusters[one], clusters[other] = clusters[other], clusters[one]


def _rewire(parts: Parts, rng: np.random.Generator) -> None:
    """Let a tree be heard by another one."""
    clusters, parents = parts
    if len(clusters) > 1:
        node = int(rng.integers(len(clusters) - 1))
        parents[node] = int(rng.integers(node + 1, len(clusters)))
