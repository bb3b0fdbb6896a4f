"""A first population in, the fittest hierarchy and the way to it out: a genetic algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from solah.learn.genetic.genome import Genome
    from solah.learn.genetic.variation import Variation
    from solah.model.structure import Hierarchy

    Spell = Callable[[Genome], Hierarchy]
    Scores = Iterator[tuple[Hierarchy, float]]

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
    spell: Spell
    score: Callable[[list[Hierarchy]], Scores]
    settings: SearchSettings
    rng: np.random.Generator
    on_generation: Callable[[Generation], None]
    known: dict[Hierarchy, float] = field(default_factory=dict)
    history: list[Generation] = field(default_factory=list)

    def run(self, start: Iterable[Genome]) -> StopReason:
        """Search from the genomes given, filled up with random ones; say why it ended."""
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
