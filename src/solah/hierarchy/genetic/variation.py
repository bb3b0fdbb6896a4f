"""Genomes in, new genomes out: drawn at random, crossed, mutated. Clusters are kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.hierarchy.genetic.genome import ROOT, Genome, mend

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

        A tree keeps its relative height, and is heard by the nearest tree above it that came
        along from the same parent.
        """
        from_mother = {
            node for node, cluster in enumerate(mother.clusters) if cluster and rng.random() < 0.5
        }
        taken = {j for node in from_mother for j in mother.clusters[node]}
        from_father = {
            node
            for node, cluster in enumerate(father.clusters)
            if any(j not in taken for j in cluster)
        }
        parts = [(_height(mother, node), 0, node) for node in from_mother]
        parts += [(_height(father, node), 1, node) for node in from_father]
        parts.sort()
        number = {(source, node): i for i, (_, source, node) in enumerate(parts)}
        clusters, parents = [], []
        for _, source, node in parts:
            genome = (mother, father)[source]
            clusters.append([j for j in genome.clusters[node] if source == 0 or j not in taken])
            above = genome.parents[node]
            while above != ROOT and (source, above) not in number:
                above = genome.parents[above]
            parents.append(number.get((source, above), len(parts) - 1))
        return self._mend(clusters, [*parents[:-1], ROOT])

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
