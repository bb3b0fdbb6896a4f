"""A genetic search for hierarchies (OptLAH): genomes, their variation, and the generations."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from solah.model.structure import Hierarchy, HierarchyNode, node_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Scores = Iterator[tuple[Hierarchy, float]]
    Parts = tuple[list[list[int]], list[int]]

StopReason = Literal["generations", "no change", "time budget", "interrupted"]
_TRIES = 5


@dataclass(frozen=True)
class SearchSettings:
    """How the search goes on from generation to generation."""

    population_size: int
    n_generations: int
    crossover_rate: float
    mutation_rate: float
    n_elite: int
    tournament_size: int
    n_iter_no_change: int | None
    time_budget: float | None


@dataclass(frozen=True)
class Generation:
    """What was known after a generation.

    Attributes
    ----------
    generation : its number, 0 for the first population
    best : the best score so far
    mean : the mean score of the population
    n_evaluated : how many different hierarchies were scored so far
    seconds : the time since the search began
    """

    generation: int
    best: float
    mean: float
    n_evaluated: int
    seconds: float


@dataclass
class Search:
    """A genetic algorithm over genomes.

    Parents are chosen by tournament, the best go on unchanged, and no hierarchy is scored twice.

    Attributes
    ----------
    variation : how genomes are crossed and mutated
    spell : genome to hierarchy
    score : hierarchies to their scores, one after another, as they are known
    settings : SearchSettings
    rng : the source of chance
    on_generation : called after each generation
    known : the scores so far
    history : what was known after each generation
    """

    variation: Variation
    spell: Callable[[Genome], Hierarchy]
    score: Callable[[list[Hierarchy]], Scores]
    settings: SearchSettings
    rng: np.random.Generator
    on_generation: Callable[[Generation], None]
    known: dict[Hierarchy, float] = field(default_factory=dict)
    history: list[Generation] = field(default_factory=list)

    def run(self, start: Iterable[Genome]) -> StopReason:
        """Search from the genomes given, filled up with random ones; return why it ended."""
        self._began = perf_counter()
        population = [*start]
        while len(population) < self.settings.population_size:
            population.append(self.variation.draw(self.rng))
        try:
            return self._evolve(population)
        except KeyboardInterrupt:
            if not self.known:
                raise
            self._record(population)
            return "interrupted"

    @property
    def best(self) -> Hierarchy:
        """The fittest hierarchy so far; of equally fit ones, the one with the fewest trees."""
        # Sorted, since processes may finish in any order.
        return max(sorted(self.known, key=str), key=self._merit)

    def _evolve(self, population: list[Genome]) -> StopReason:
        settings = self.settings
        for generation in range(settings.n_generations + 1):
            if generation:
                population[:] = self._next(population)
            finished = self._evaluate(population)
            self._record(population)
            if not finished:
                return "time budget"
            if self._stands_still():
                return "no change"
        return "generations"

    def _evaluate(self, population: list[Genome]) -> bool:
        """Score what is new; False if the time ran out before the end."""
        new = dict.fromkeys(self.spell(genome) for genome in population)
        budget = self.settings.time_budget
        scores = self.score([hierarchy for hierarchy in new if hierarchy not in self.known])
        for hierarchy, score in scores:
            self.known[hierarchy] = score
            if budget is not None and perf_counter() - self._began > budget:
                return False
        return budget is None or perf_counter() - self._began <= budget

    def _next(self, population: list[Genome]) -> list[Genome]:
        ranked = sorted(population, key=lambda one: self._merit(self.spell(one)), reverse=True)
        different = list({self.spell(genome): genome for genome in reversed(ranked)}.values())[::-1]
        young = different[: self.settings.n_elite]
        born = {self.spell(genome) for genome in young}
        while len(young) < self.settings.population_size:
            child = self._child(ranked, born)
            born.add(self.spell(child))
            young.append(child)
        return young

    def _child(self, ranked: list[Genome], born: set[Hierarchy]) -> Genome:
        """Cross and mutate; go on mutating, for a while, where nothing new comes of it."""
        settings, rng = self.settings, self.rng
        child = self._choose(ranked)
        if rng.random() < settings.crossover_rate:
            child = self.variation.cross(child, self._choose(ranked), rng)
        if rng.random() < settings.mutation_rate:
            child = self.variation.mutate(child, rng)
        for _ in range(_TRIES):
            if self.spell(child) not in born and self.spell(child) not in self.known:
                break
            child = self.variation.mutate(child, rng)
        return child

    def _choose(self, ranked: list[Genome]) -> Genome:
        """Hold a tournament: of a few drawn at random, the fittest wins."""
        return ranked[int(self.rng.integers(len(ranked), size=self.settings.tournament_size).min())]

    def _merit(self, hierarchy: Hierarchy) -> tuple[float, int]:
        return self.known[hierarchy], -len(hierarchy.nodes)

    def _record(self, population: list[Genome]) -> None:
        scores = [self.known[h] for h in map(self.spell, population) if h in self.known]
        generation = Generation(
            len(self.history),
            max(self.known.values()),
            float(np.mean(scores)) if scores else nan,
            len(self.known),
            perf_counter() - self._began,
        )
        self.history.append(generation)
        self.on_generation(generation)

    def _stands_still(self) -> bool:
        patience = self.settings.n_iter_no_change
        if patience is None or len(self.history) <= patience:
            return False
        return self.history[-1].best <= self.history[-1 - patience].best


ROOT = -1
_AFTER_ALL = 2**62


@dataclass(frozen=True)
class Genome:
    """A partition of the features into clusters, and a wiring of the clusters' trees.

    Attributes
    ----------
    clusters : the features of each tree, bottom-up; a tree with only other trees as inputs has none
    parents : the parent of each tree, always a later one; ``ROOT`` for the last
    """

    clusters: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    @property
    def children(self) -> list[list[int]]:
        """The children of each tree."""
        heard: list[list[int]] = [[] for _ in self.clusters]
        for node, parent in enumerate(self.parents[:-1]):
            heard[parent].append(node)
        return heard

    @classmethod
    def of(cls, hierarchy: Hierarchy, names: Sequence[str]) -> Genome:
        """Read a hierarchy; features that it does not use are not in the genome."""
        place = {name: j for j, name in enumerate(names)}
        number = {node.name: i for i, node in enumerate(hierarchy.nodes)}
        parents = [ROOT] * len(number)
        for node in hierarchy.nodes:
            for child in hierarchy.children(node.name):
                parents[number[child]] = number[node.name]
        clusters = tuple(
            tuple(sorted(place[name] for name in hierarchy.features_of(node.name)))
            for node in hierarchy.nodes
        )
        return cls(clusters, tuple(parents))

    def hierarchy(self, names: Sequence[str], target: str) -> Hierarchy:
        """Return the hierarchy; genomes with the same meaning give equal hierarchies.

        Trees are in the order of the first feature below them, each after its children.
        """
        children = self.children
        # The lowest feature at or below each tree.
        first = [min(cluster, default=_AFTER_ALL) for cluster in self.clusters]
        for node, parent in enumerate(self.parents[:-1]):
            first[parent] = min(first[parent], first[node])
        order: list[int] = []
        stack = [len(self.clusters) - 1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(sorted(children[node], key=first.__getitem__))
        order.reverse()
        called = dict(zip(order, node_names(len(order), names, target), strict=True))
        nodes = []
        for node in order:
            below = sorted(children[node], key=first.__getitem__)
            inputs = [called[child] for child in below]
            inputs += [names[j] for j in sorted(self.clusters[node])]
            nodes.append(HierarchyNode(called[node], tuple(inputs)))
        return Hierarchy(tuple(nodes))


def mend(
    clusters: Sequence[Sequence[int]],
    parents: Sequence[int],
    *,
    max_inputs: int,
    cascade: bool = False,
) -> Genome:
    """Make a genome of any clusters and wiring in which the parent of a tree is a later one.

    Trees without inputs are removed, and trees with one other tree as only input. A tree with too
    many inputs gives some of them to new trees below it. In a cascade each tree is the parent of
    the one before it, whatever the wiring was.
    """
    if cascade:
        narrow: list[tuple[int, ...]] = []
        for cluster in clusters:
            rest = tuple(cluster)
            while rest:
                room = max_inputs - (1 if narrow else 0)
                narrow.append(rest[:room])
                rest = rest[room:]
        return _in_order(narrow, [*range(1, len(narrow)), ROOT])
    kept, above = _without_idle(clusters, parents)
    # New trees are appended and looked at in turn; the order is restored in the end.
    node = 0
    while node < len(kept):
        below = [child for child, parent in enumerate(above) if parent == node]
        while len(kept[node]) + len(below) > max_inputs:
            new = len(kept)
            above.append(node)
            surplus = len(kept[node]) + len(below) - max_inputs + 1
            size = min(max(surplus, 2), max_inputs)
            if len(kept[node]) >= size:
                kept.append(kept[node][-size:])
                del kept[node][-size:]
            else:
                kept.append([])
                for child in below[:size]:
                    above[child] = new
                del below[:size]
            below.append(new)
        node += 1
    return _in_order(kept, above)


def _without_idle(
    clusters: Sequence[Sequence[int]], parents: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """Remove trees without inputs, or with one other tree as only input."""
    # Bottom-up: the children of a tree come before the tree.
    heard: list[list[int]] = [[] for _ in clusters]
    alive = []
    for node, cluster in enumerate(clusters):
        passed_on = heard[node]
        if cluster or len(heard[node]) > 1:
            alive.append(node)
            passed_on = [node]
        if parents[node] != ROOT:
            heard[parents[node]] += passed_on
    parent_of = {child: node for node in alive for child in heard[node]}
    number = {node: i for i, node in enumerate(alive)}
    above = [number.get(parent_of.get(node, ROOT), ROOT) for node in alive]
    return [list(clusters[node]) for node in alive], above


def _in_order(clusters: Sequence[Sequence[int]], parents: Sequence[int]) -> Genome:
    """Return a genome with its trees in bottom-up order."""
    depth = [0] * len(parents)
    for node in range(len(parents)):
        above = parents[node]
        while above != ROOT:
            depth[node] += 1
            above = parents[above]
    order = sorted(range(len(depth)), key=lambda node: -depth[node])
    number = {node: i for i, node in enumerate(order)} | {ROOT: ROOT}
    return Genome(
        tuple(tuple(sorted(clusters[node])) for node in order),
        tuple(number[parents[node]] for node in order),
    )


@dataclass(frozen=True)
class Variation:
    """How genomes come about.

    Attributes
    ----------
    n_features : how many features there are
    max_inputs : the most inputs of a tree
    cascade : whether each tree is the parent of the one before it
    """

    n_features: int
    max_inputs: int
    cascade: bool = False

    def draw(self, rng: np.random.Generator) -> Genome:
        """Draw a genome: any number of clusters up to one for every two features."""
        n_clusters = int(rng.integers(1, max(2, self.n_features // 2 + 1)))
        homes = rng.integers(n_clusters, size=self.n_features)
        clusters = [[j for j in range(self.n_features) if homes[j] == c] for c in range(n_clusters)]
        parents = [int(rng.integers(c + 1, n_clusters)) for c in range(n_clusters - 1)]
        return self._mend(clusters, [*parents, ROOT])

    def cross(self, mother: Genome, father: Genome, rng: np.random.Generator) -> Genome:
        """Take some clusters from the mother, and the rest as the father has it.

        A tree keeps its relative height, and feeds the tree that now holds the features of the
        tree that it fed, or of the next one above. If the father's top has only other trees as
        inputs, so has the child's.
        """
        from_mother = [cluster if rng.random() < 0.5 else () for cluster in mother.clusters]
        taken = {j for cluster in from_mother for j in cluster}
        from_father = [tuple(j for j in c if j not in taken) for c in father.clusters]
        parts = [
            _Part((node + 1) / len(genome.clusters), source, node, cluster)
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
        parents = []
        for place, part in enumerate(parts):
            genome = (mother, father)[part.source]
            # Its parent is the first tree above it whose features went further up.
            above, hearing = genome.parents[part.node], list[int]()
            while above != ROOT and not hearing:
                hearing = [home[j] for j in genome.clusters[above] if home[j] > place]
                above = genome.parents[above]
            parents.append(hearing[0] if hearing else last)
        return self._mend(clusters, [*parents[:last], ROOT])

    def mutate(self, genome: Genome, rng: np.random.Generator) -> Genome:
        """Change one thing: a feature's cluster, a pair of clusters, or the wiring."""
        changes = (_move_feature, _merge_clusters, _split_cluster, _swap_clusters, _rewire)
        parts = [list(cluster) for cluster in genome.clusters], list(genome.parents)
        changes[int(rng.integers(len(changes)))](parts, rng)
        return self._mend(*parts)

    def chained(self, genome: Genome) -> Genome:
        """Return the genome, its trees on top of each other where only cascades are wanted."""
        return self._mend(genome.clusters, genome.parents) if self.cascade else genome

    def _mend(self, clusters: Sequence[Sequence[int]], parents: Sequence[int]) -> Genome:
        return mend(clusters, parents, max_inputs=self.max_inputs, cascade=self.cascade)


class _Part(NamedTuple):
    """A tree on its way into a child: its height first, which parts are sorted by."""

    height: float
    source: int
    node: int
    cluster: tuple[int, ...]


def _pick(items: list[int], rng: np.random.Generator) -> int:
    return items[int(rng.integers(len(items)))]


def _holders(parts: Parts, least: int = 1) -> list[int]:
    """Return the trees with this many features."""
    return [node for node, cluster in enumerate(parts[0]) if len(cluster) >= least]


def _new_child(parts: Parts, parent: int, cluster: list[int]) -> None:
    """Put a new tree directly below another one."""
    clusters, parents = parts
    clusters.insert(parent, cluster)
    parents[:] = [above + (above >= parent) for above in parents]
    parents.insert(parent, parent + 1)


def _move_feature(parts: Parts, rng: np.random.Generator) -> None:
    """Move a feature to another tree, or to a new one."""
    clusters, _ = parts
    home = _pick(_holders(parts), rng)
    feature = clusters[home].pop(int(rng.integers(len(clusters[home]))))
    targets = [node for node in range(len(clusters)) if node != home]
    if not targets or rng.random() < 0.1:
        _new_child(parts, int(rng.integers(len(clusters))), [feature])
    else:
        clusters[_pick(targets, rng)].append(feature)


def _merge_clusters(parts: Parts, rng: np.random.Generator) -> None:
    """Give all the features of a tree to another."""
    clusters, _ = parts
    holders = _holders(parts)
    if len(holders) > 1:
        giver = _pick(holders, rng)
        taker = _pick([node for node in holders if node != giver], rng)
        clusters[taker] += clusters[giver]
        clusters[giver] = []


def _split_cluster(parts: Parts, rng: np.random.Generator) -> None:
    """Give some features of a tree to a new one below it."""
    clusters, _ = parts
    wide = _holders(parts, least=2)
    if wide:
        node = _pick(wide, rng)
        shuffled = [clusters[node][i] for i in rng.permutation(len(clusters[node]))]
        n_leaving = int(rng.integers(1, len(shuffled)))
        clusters[node] = shuffled[n_leaving:]
        _new_child(parts, node, shuffled[:n_leaving])


def _swap_clusters(parts: Parts, rng: np.random.Generator) -> None:
    """Let two trees exchange their features."""
    clusters, _ = parts
    if len(clusters) > 1:
        one, other = rng.permutation(len(clusters))[:2].tolist()
        clusters[one], clusters[other] = clusters[other], clusters[one]


def _rewire(parts: Parts, rng: np.random.Generator) -> None:
    """Make another tree the parent of a tree."""
    clusters, parents = parts
    if len(clusters) > 1:
        node = int(rng.integers(len(clusters) - 1))
        parents[node] = int(rng.integers(node + 1, len(clusters)))
