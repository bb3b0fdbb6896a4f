"""The estimator whose hierarchy a genetic algorithm finds (OptLAH)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from rich.console import Console
from sklearn.base import clone
from sklearn.utils import check_random_state

from solah.estimators.genetic_search import GeneticSearch
from solah.estimators.hierarchy import settle_hierarchy
from solah.estimators.hierarchy_base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.exceptions import ParameterError, shorten
from solah.learn.genetic.genome import Genome
from solah.learn.genetic.search import Search
from solah.learn.genetic.variation import Variation
from solah.learn.levels import NODE_KINDS
from solah.learn.organising import organise
from solah.model.structure import Hierarchy
from solah.progress import show_progress
from solah.sklearn_private import HasMethods, StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

    from solah.learn.fitness import Fitness
    from solah.learn.genetic.search import Generation, Scores
    from solah.learn.rows import Rows
    from solah.progress import Advance


class GeneticHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees found by a genetic algorithm (OptLAH).

    Which attributes share a tree, and which tree feeds which, evolves: the fitness of a hierarchy
    is its cross-validated score on the training rows. It takes far longer than
    :class:`~solah.SelfOrganisedHierarchyClassifier`, which is also what it starts from.

    Parameters
    ----------
    search : GeneticSearch, default=None
        How long and how it is searched: the size of the population, generations, fitness.
    tree : LinguisticTreeClassifier, default=None
        How trees are grown, as in :class:`~solah.LinguisticHierarchyClassifier`.
    node : {"tree", "cmac"} or classifier, default="tree"
        What stands at the nodes; one kind for all.
    belief_labels, cross_fit, kinds, class_weight, thresholds
        As in :class:`~solah.LinguisticHierarchyClassifier`.
    verbose : bool, default=False
        Show how far the search is, and the best score so far: a bar in a terminal; lines on
        stderr in a notebook or a log.
    random_state : int, RandomState instance or None, default=None
        What the search is drawn from; the folds are always the same.
    n_jobs : int, default=None
        How many processes score hierarchies, through joblib: its ``parallel_config`` decides
        where. The result does not depend on it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The best hierarchy that was found.
    best_score_ : float
        Its fitness; NaN where the rows were too few to compare hierarchies.
    history_ : dict of str to ndarray
        What was known after each generation: ``generation``, ``best``, ``mean``, ``n_evaluated``
        and ``seconds``. ``plt.plot(history_["generation"], history_["best"])`` draws it.
    search_ : GeneticSearch
        How it was searched.
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
        "node": [StrOptions(set(NODE_KINDS)), HasMethods(["fit", "predict_proba"])],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {
        "search": GeneticSearch,
        "tree": LinguisticTreeClassifier,
    }

    def __init__(
        self,
        search: GeneticSearch | None = None,
        *,
        tree: LinguisticTreeClassifier | None = None,
        node: Any = "tree",
        belief_labels: int | None = None,
        cross_fit: int | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        verbose: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.search = search
        self.tree = tree
        self.node = node
        self.belief_labels = belief_labels
        self.cross_fit = cross_fit
        self.kinds = kinds
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn_from(self, rows: Rows) -> None:
        self.search_ = GeneticSearch() if self.search is None else clone(self.search)
        fitness = self._fitness(rows, self.search_.scoring, self.search_.n_folds)
        self._train(self._find(rows, fitness), rows)

    def _find(self, rows: Rows, fitness: Fitness | None) -> Hierarchy:
        """Return the best hierarchy, and keep how it was found."""
        names, goal = rows.names, rows.facts.goal.name
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        variation = Variation(len(names), self.search_.max_inputs, self.search_.cascade)
        start = [variation.chained(Genome.of(one, names)) for one in self._start(rows)]
        start = start or [variation.draw(rng)]

        @cache
        def spell(genome: Genome) -> Hierarchy:
            return genome.hierarchy(names, goal)

        if fitness is None:
            self.best_score_, self.history_ = float("nan"), _columns([])
            self.stop_reason_: str = "too few rows"
            return spell(start[0])
        with self._progress() as advance:
            search = Search(
                variation,
                spell,
                lambda hierarchies: self._scores(fitness, hierarchies),
                self.search_.settings(),
                rng,
                lambda generation: advance(1, _news(generation)),
            )
            self.stop_reason_ = search.run(start)
        self.best_score_, self.history_ = search.known[search.best], _columns(search.history)
        return search.best

    def _start(self, rows: Rows) -> list[Hierarchy]:
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
        return [settle_hierarchy(one, rows.names, rows.facts.goal.name) for one in initial]

    def _scores(self, fitness: Fitness, hierarchies: list[Hierarchy]) -> Scores:
        """Score hierarchies one after another, or several at a time in other processes."""
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

    def _progress(self) -> AbstractContextManager[Advance]:
        if not self.verbose:
            return nullcontext(lambda steps, news="": None)
        n_steps = self.search_.n_generations + 1
        return show_progress(Console(stderr=True), n_steps, "generations")


def _news(generation: Generation) -> str:
    return f"best {generation.best:.4f} of {generation.n_evaluated:,}"


def _columns(history: list[Generation]) -> dict[str, Any]:
    """Turn what was known after each generation into columns, ready to be plotted."""
    names = ("generation", "best", "mean", "n_evaluated", "seconds")
    return {name: np.array([getattr(one, name) for one in history]) for name in names}
