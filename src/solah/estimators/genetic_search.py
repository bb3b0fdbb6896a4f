"""How a genetic algorithm searches for a hierarchy."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sklearn.base import BaseEstimator

from solah.estimators.comparing import SCORINGS
from solah.exceptions import ParameterError
from solah.learn.genetic.search import SearchSettings
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.estimators.comparing import Scoring


class GeneticSearch(BaseEstimator):  # type: ignore[misc]
    """How long hierarchies evolve, and how.

    Given as ``search`` to :class:`~solah.GeneticHierarchyClassifier`.

    Parameters
    ----------
    population_size : int, default=20
        How many hierarchies live at a time.
    n_generations : int, default=20
        How many generations follow the first.
    n_iter_no_change : int, default=None
        Stop after so many generations without a better one.
    time_budget : float, default=None
        Stop after so many seconds; the final training comes on top.
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

    def __init__(
        self,
        population_size: int = 20,
        *,
        n_generations: int = 20,
        n_iter_no_change: int | None = None,
        time_budget: float | None = None,
        scoring: Scoring = "auc",
        n_folds: int = 3,
        initial: Literal["organised", "random"] | Sequence[Any] = "organised",
        cascade: bool = False,
        max_inputs: int = 8,
        crossover_rate: float = 0.8,
        mutation_rate: float = 0.3,
        n_elite: int = 2,
        tournament_size: int = 3,
    ) -> None:
        self.population_size = population_size
        self.n_generations = n_generations
        self.n_iter_no_change = n_iter_no_change
        self.time_budget = time_budget
        self.scoring = scoring
        self.n_folds = n_folds
        self.initial = initial
        self.cascade = cascade
        self.max_inputs = max_inputs
        self.crossover_rate = crossover_rate
        self.mutation_rate = mutation_rate
        self.n_elite = n_elite
        self.tournament_size = tournament_size

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_elite >= self.population_size:
            raise ParameterError(
                f"'n_elite' must be less than 'population_size'. Got {self.n_elite} of "
                f"{self.population_size}, so no generation would bring anything new."
            )

    def settings(self) -> SearchSettings:
        """Return how the search goes on from generation to generation."""
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
