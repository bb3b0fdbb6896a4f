"""The estimator with a hierarchy found by a genetic algorithm (OptLAH)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import cache, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from solah.estimators.base import LinguisticClassifier
from solah.estimators.hierarchy import (
    HIERARCHY_CONSTRAINTS,
    SCORINGS,
    HierarchyEstimator,
    read_hierarchy,
)
from solah.estimators.trees import LinguisticTreeClassifier
from solah.exceptions import ParameterError, shorten
from solah.learn.evolution import Genome, Search, SearchSettings, Variation
from solah.learn.levels import NODE_KINDS
from solah.learn.organisation import organise
from solah.model.structure import Hierarchy
from solah.progress import report_progress
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.estimators.hierarchy import Scoring
    from solah.learn.evolution import Scores
    from solah.learn.fitness import Fitness
    from solah.learn.memory import MemoryRows


@dataclass(eq=False, repr=False)
class GeneticSearch(BaseEstimator):  # type: ignore[misc]
    """The settings of a genetic search for a hierarchy.

    Given as ``search`` to :class:`~solah.GeneticHierarchyClassifier`.

    Parameters
    ----------
    population_size : int, default=20
        The number of hierarchies in a generation.
    n_generations : int, default=20
        The number of generations after the first.
    n_iter_no_change : int, default=None
        Stop after this many generations without a better one.
    time_budget : float, default=None
        Stop after this many seconds; the final training takes additional time.
    scoring : {"auc", "accuracy", "log_loss"}, default="auc"
        The fitness.
    n_folds : int, default=3
        The number of cross-validation folds to measure it.
    initial : "organised", "random" or list of hierarchies, default="organised"
        The first generation: the self-organised hierarchy and random ones, random ones alone, or
        your hierarchies (see :class:`~solah.LinguisticHierarchyClassifier`) and random ones.
    cascade : bool, default=False
        Search among cascades only: each tree is fed by the one before it.
    max_inputs : int, default=8
        The maximum number of inputs of a tree; trees with many inputs take long to grow. Initial
        hierarchies may have wider ones.
    crossover_rate : float, default=0.8
        The share of children that have two parents.
    mutation_rate : float, default=0.3
        The share of children that are mutated. A child equal to an earlier hierarchy is always
        mutated.
    n_elite : int, default=2
        The number of best hierarchies that join the next generation unchanged.
    tournament_size : int, default=3
        The number of hierarchies drawn at random, the fittest of which becomes a parent.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "population_size": [Interval(Integral, 2, None, closed="left")],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "initial": [StrOptions({"organised", "random"}), list, tuple],
        "cascade": ["boolean"],
        "max_inputs": [Interval(Integral, 2, None, closed="left")],
        "crossover_rate": [Interval(Real, 0.0, 1.0, closed="both")],
        "mutation_rate": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_elite": [Interval(Integral, 1, None, closed="left")],
        "tournament_size": [Interval(Integral, 1, None, closed="left")],
    }

    population_size: int = 20
    _: KW_ONLY
    n_generations: int = 20
    n_iter_no_change: int | None = None
    time_budget: float | None = None
    scoring: Scoring = "auc"
    n_folds: int = 3
    initial: Literal["organised", "random"] | Sequence[Any] = "organised"
    cascade: bool = False
    max_inputs: int = 8
    crossover_rate: float = 0.8
    mutation_rate: float = 0.3
    n_elite: int = 2
    tournament_size: int = 3

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_elite >= self.population_size:
            raise ParameterError(
                f"'n_elite' must be less than 'population_size'. Got {self.n_elite} of "
                f"{self.population_size}, so no generation would have new hierarchies."
            )


@dataclass(eq=False, repr=False)
class GeneticHierarchyClassifier(HierarchyEstimator, LinguisticClassifier):
    """A hierarchy of linguistic trees found by a genetic algorithm (OptLAH).

    The search selects the features of each tree, and the tree that each one feeds. The fitness of a
    hierarchy is its cross-validated metric on the training rows. The search starts from the
    hierarchy of :class:`~solah.SelfOrganisedHierarchyClassifier`, and takes far longer.

    Parameters
    ----------
    search : GeneticSearch, default=None
        The settings of the search: population, generations, fitness.
    tree, belief_words, cross_fit, feature_types, class_weight, thresholds
        As in :class:`~solah.LinguisticHierarchyClassifier`.
    node : {"tree", "rules", "cmac"}, default="tree"
        The model at all nodes.
    verbose : bool, default=False
        Show progress and the best fitness so far: a bar in a terminal, lines on stderr in a
        notebook or a log.
    random_state : int, RandomState instance or None, default=None
        The seed of the search; the folds are always the same.
    n_jobs : int, default=None
        The number of processes, through joblib, which ``parallel_config`` configures. The result
        does not depend on it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The best hierarchy that was found.
    best_score_ : float
        Its fitness; NaN if there were too few rows to compare hierarchies.
    history_ : dict of str to ndarray
        Each ``generation``, its ``best`` and ``mean`` fitness, and the ``n_evaluated`` hierarchies
        and ``seconds`` so far.
    search_ : GeneticSearch
        The settings of the search.
    stop_reason_ : str
        "generations", "no change", "time budget", "interrupted" or "too few rows". An interrupt
        (Ctrl-C) ends the search, and the best so far is trained.
    nodes_, model_, n_levels_, classes_, n_branches_, n_rules_, feature_importances_,
    n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import GeneticHierarchyClassifier, GeneticSearch
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GeneticSearch(population_size=6, n_generations=3)
    >>> model = GeneticHierarchyClassifier(search, random_state=0).fit(X, y)
    >>> model.history_["best"][-1] >= model.history_["best"][0]
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "search": [GeneticSearch, None],
        "node": [StrOptions(set(NODE_KINDS))],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {
        "search": GeneticSearch,
        "tree": LinguisticTreeClassifier,
    }

    search: GeneticSearch | None = None
    _: KW_ONLY
    verbose: bool = False
    random_state: Any = None

    def _learn(self, rows: MemoryRows) -> None:
        self.search_ = GeneticSearch() if self.search is None else clone(self.search)
        settings = self.search_
        names, target = rows.names, rows.facts.target.name
        fitness = self._fitness(rows, settings.scoring, settings.n_folds)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        variation = Variation(len(names), settings.max_inputs, settings.cascade)
        start = [variation.chained(Genome.of(one, names)) for one in self._start(rows)]
        start = start or [variation.draw(rng)]

        @cache
        def spell(genome: Genome) -> Hierarchy:
            return genome.hierarchy(names, target)

        if fitness is None:
            best, self.best_score_, history = spell(start[0]), float("nan"), []
            self.stop_reason_: str = "too few rows"
        else:
            n_steps = settings.n_generations + 1
            with report_progress(n_steps, "generations", is_shown=self.verbose) as advance:
                search = Search(
                    variation,
                    spell,
                    partial(self._scores, fitness),
                    SearchSettings(
                        **{one.name: getattr(settings, one.name) for one in fields(SearchSettings)}
                    ),
                    rng,
                    lambda one: advance(1, f"best {one.best:.4f} of {one.n_evaluated:,}"),
                )
                self.stop_reason_ = search.run(start)
            best, history = search.best, search.history
            self.best_score_ = search.known[best]
        columns = ("generation", "best", "mean", "n_evaluated", "seconds")
        self.history_ = {
            name: np.array([getattr(one, name) for one in history]) for name in columns
        }
        self._train(best, rows)

    def _start(self, rows: MemoryRows) -> list[Hierarchy]:
        """Return the hierarchies that the search starts from."""
        initial = self.search_.initial
        if initial == "organised":
            return [organise(rows)]
        if initial == "random":
            return []
        for one in initial:
            if not isinstance(one, Hierarchy | str | Mapping):
                raise ParameterError(
                    "'initial' must be 'organised', 'random' or a list of hierarchies: texts such "
                    f"as 'z1 <- a, b; y <- z1, c', mappings or Hierarchy. Got {shorten(one)} in it."
                )
        return [read_hierarchy(one, rows.names, rows.facts.target.name) for one in initial]

    def _scores(self, fitness: Fitness, hierarchies: list[Hierarchy]) -> Scores:
        """Return the fitness of hierarchies, computed in turn or in several processes."""
        if effective_n_jobs(self.n_jobs) == 1 or len(hierarchies) < 2:
            yield from ((one, fitness.score(one)) for one in hierarchies)
            return
        backend, _ = get_active_backend()
        kind = "generator" if backend.supports_return_generator else "list"
        run = Parallel(n_jobs=self.n_jobs, return_as=kind)
        scores = run(delayed(fitness.score)(one) for one in hierarchies)
        try:
            yield from zip(hierarchies, scores, strict=True)
        finally:
            if kind == "generator":
                with warnings.catch_warnings():
                    # What is still on its way when the search ends early is not missed.
                    warnings.simplefilter("ignore", UserWarning)
                    scores.close()
