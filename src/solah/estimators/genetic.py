"""The estimator whose hierarchy a genetic algorithm finds (OptLAH)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state

from solah.estimators.comparing import SCORINGS
from solah.estimators.fitting import fit_scan
from solah.estimators.goals import read_class_goal
from solah.estimators.hierarchy import settle_hierarchy
from solah.estimators.hierarchy_base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.estimators.inputs import read_features
from solah.exceptions import ParameterError, shorten
from solah.learn.genetic.genome import Genome
from solah.learn.genetic.search import Search, SearchSettings
from solah.learn.genetic.variation import Variation
from solah.learn.levels import NODE_KINDS
from solah.learn.organising import organise
from solah.model.structure import Hierarchy
from solah.scale import is_scan
from solah.sklearn_private import HasMethods, Interval, StrOptions, fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.estimators.comparing import Scoring
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.fitness import Fitness
    from solah.learn.genetic.search import Generation, Scores
    from solah.learn.growth import Criterion, Leaves, NullBranch
    from solah.learn.rows import Rows
    from solah.progress import Advance


class GeneticHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees found by a genetic algorithm (OptLAH).

    Which attributes share a tree, and which tree feeds which, evolves: the fitness of a hierarchy
    is its cross-validated score on the training rows. It takes far longer than
    :class:`~solah.SelfOrganisedHierarchyClassifier`, which is also what it starts from.

    Parameters
    ----------
    population_size : int, default=20
        How many hierarchies live at a time.
    n_generations : int, default=20
        How many generations follow the first.
    scoring : {"auc", "accuracy", "log_loss"}, default="auc"
        The fitness.
    n_folds : int, default=3
        The folds of the cross-validation that measures it.
    initial : "organised", "random" or list of hierarchies, default="organised"
        What the first population is made of: the self-organised hierarchy and random ones, random
        ones alone, or hierarchies of yours (see :class:`~solah.LinguisticHierarchyClassifier`)
        and random ones.
    cascade : bool, default=False
        Search among cascades only: each tree is fed by the one before it.
    max_inputs : int, default=8
        The most inputs that a tree may have; trees with many take long to grow. What the search
        starts from may have wider ones.
    crossover_rate : float, default=0.8
        The share of children that have two parents.
    mutation_rate : float, default=0.3
        The share of children that are mutated. One that would be nothing new always is.
    n_elite : int, default=2
        How many of the best go on to the next generation unchanged.
    tournament_size : int, default=3
        Of so many, drawn at random, the fittest becomes a parent.
    n_iter_no_change : int, default=None
        Stop after so many generations without a better one.
    time_budget : float, default=None
        Stop after so many seconds; the final training comes on top.
    verbose : bool, default=False
        Show a progress bar with the best score so far.
    random_state : int, RandomState instance or None, default=None
        What the search is drawn from; the folds are always the same.
    node, belief_labels, cross_fit, n_labels, placement, words, kinds, criterion, purity,
    min_support, min_gain, max_depth, null_branch, leaves, shrinkage, prior_weight, class_weight,
    thresholds, max_rules, rule_cost
        As in :class:`~solah.LinguisticHierarchyClassifier`; ``node`` is one kind for all.
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
    stop_reason_ : str
        "generations", "no change", "time budget", "interrupted" or "too few rows". An interrupt
        (Ctrl-C) ends the search, and the best so far is trained.
    nodes_, model_, n_levels_, classes_, n_branches_, n_rules_, feature_importances_,
    n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import GeneticHierarchyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GeneticHierarchyClassifier(6, n_generations=3, random_state=0).fit(X, y)
    >>> search.history_["best"][-1] >= search.history_["best"][0]
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "population_size": [Interval(Integral, 2, None, closed="left")],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "initial": [StrOptions({"organised", "random"}), list, tuple],
        "cascade": ["boolean"],
        "max_inputs": [Interval(Integral, 2, None, closed="left")],
        "crossover_rate": [Interval(Real, 0.0, 1.0, closed="both")],
        "mutation_rate": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_elite": [Interval(Integral, 1, None, closed="left")],
        "tournament_size": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "node": [StrOptions(set(NODE_KINDS)), HasMethods(["fit", "predict_proba"])],
    }

    def __init__(
        self,
        population_size: int = 20,
        *,
        n_generations: int = 20,
        scoring: Scoring = "auc",
        n_folds: int = 3,
        initial: Literal["organised", "random"] | Sequence[Any] = "organised",
        cascade: bool = False,
        max_inputs: int = 8,
        crossover_rate: float = 0.8,
        mutation_rate: float = 0.3,
        n_elite: int = 2,
        tournament_size: int = 3,
        n_iter_no_change: int | None = None,
        time_budget: float | None = None,
        verbose: bool = False,
        random_state: Any = None,
        node: Any = "tree",
        belief_labels: int | None = None,
        cross_fit: int | None = None,
        n_labels: int | Mapping[str, int] = 3,
        placement: Placement = "quantile",
        words: Mapping[str, WordsByHand] | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        criterion: Criterion = "information_gain",
        purity: float = 1.0,
        min_support: float = 0.01,
        min_gain: float | None = 0.0,
        max_depth: int | None = None,
        null_branch: NullBranch = "parent",
        leaves: Leaves = "counted",
        shrinkage: float = 0.0,
        prior_weight: float = 2.0,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        max_rules: int | None = None,
        rule_cost: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.population_size = population_size
        self.n_generations = n_generations
        self.scoring = scoring
        self.n_folds = n_folds
        self.initial = initial
        self.cascade = cascade
        self.max_inputs = max_inputs
        self.crossover_rate = crossover_rate
        self.mutation_rate = mutation_rate
        self.n_elite = n_elite
        self.tournament_size = tournament_size
        self.n_iter_no_change = n_iter_no_change
        self.time_budget = time_budget
        self.verbose = verbose
        self.random_state = random_state
        self.node = node
        self.belief_labels = belief_labels
        self.cross_fit = cross_fit
        self.n_labels = n_labels
        self.placement = placement
        self.words = words
        self.kinds = kinds
        self.criterion = criterion
        self.purity = purity
        self.min_support = min_support
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.null_branch = null_branch
        self.leaves = leaves
        self.shrinkage = shrinkage
        self.prior_weight = prior_weight
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.max_rules = max_rules
        self.rule_cost = rule_cost
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search for the best hierarchy, and learn its trees from all rows.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories.
        y : array of shape (n_rows,)
            The classes.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        if self.n_elite >= self.population_size:
            raise ParameterError(
                f"'n_elite' must be less than 'population_size'. Got {self.n_elite} of "
                f"{self.population_size}, so no generation would bring anything new."
            )
        if is_scan(X):
            fit_scan(self, X, y, sample_weight)
            return self
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, table.n_rows)
        self._learn_from(self._rows(table, goal))
        return self

    def _learn_from(self, data: Rows) -> None:
        fitness = self._fitness(data, self.scoring, self.n_folds)
        growth = self._tree_settings(data.facts.sums, data.facts.weight_unit)
        self._train(self._search(data, fitness), data, growth)

    def _search(self, data: Rows, fitness: Fitness | None) -> Hierarchy:
        """Return the best hierarchy, and keep how it was found."""
        names, goal = data.names, data.facts.goal.name
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        variation = Variation(len(names), self.max_inputs, self.cascade)
        start = [variation.chained(Genome.of(one, names)) for one in self._start(data)]
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
                self._settings(),
                rng,
                lambda generation: advance(1, _news(generation)),
            )
            self.stop_reason_ = search.run(start)
        self.best_score_, self.history_ = search.known[search.best], _columns(search.history)
        return search.best

    def _settings(self) -> SearchSettings:
        return SearchSettings(
            population_size=self.population_size,
            n_generations=self.n_generations,
            crossover_rate=self.crossover_rate,
            mutation_rate=self.mutation_rate,
            n_elite=self.n_elite,
            tournament_size=self.tournament_size,
            n_iter_no_change=self.n_iter_no_change,
            time_budget=self.time_budget,
        )

    def _start(self, data: Rows) -> list[Hierarchy]:
        """Return the hierarchies that the search starts from."""
        names, goal = data.names, data.facts.goal.name
        if self.initial == "organised":
            return [organise(data)]
        if self.initial == "random":
            return []
        for one in self.initial:
            if not isinstance(one, Hierarchy | str | Mapping):
                raise ParameterError(
                    "'initial' must be 'organised', 'random' or a list of hierarchies: texts such "
                    f"as 'z1 <- a, b; y <- z1, c', mappings or Hierarchy. Got {shorten(one)} in it."
                )
        return [settle_hierarchy(one, names, goal) for one in self.initial]

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
        from rich.console import Console

        from solah.progress import show_progress

        return show_progress(Console(stderr=True), self.n_generations + 1, "generations")


def _news(generation: Generation) -> str:
    return f"best {generation.best:.4f} of {generation.n_evaluated:,}"


def _columns(history: list[Generation]) -> dict[str, Any]:
    """Turn what was known after each generation into columns, ready to be plotted."""
    names = ("generation", "best", "mean", "n_evaluated", "seconds")
    return {name: np.array([getattr(one, name) for one in history]) for name in names}
