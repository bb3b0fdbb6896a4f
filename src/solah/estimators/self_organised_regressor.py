"""The estimator of numbers whose rules add up (SOLAH)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from solah.estimators.additive import (
    ADDITIVE_CONSTRAINTS,
    label_settings,
    progress,
    recipe_of,
    with_attributes_as,
    without_identifiers,
)
from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import read_features, read_numbers, read_problem, read_weights
from solah.estimators.regressing import NumberMixin
from solah.exceptions import DataError
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.labels.goals import ClassGoal
from solah.labels.placement import NumbersAtHand, check_span
from solah.labels.weights import integer_weights
from solah.learn.additive import settle
from solah.learn.learning import find_groups
from solah.learn.memory import MemoryRows
from solah.learn.numbers import assemble_numbers
from solah.learn.objective import NumberObjective
from solah.learn.sample import Sample
from solah.model import Goal
from solah.runtime.reading import is_path
from solah.scale import is_scan
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from solah.labels.words import WordsByHand
    from solah.learn.additive import PathStep
    from solah.learn.recipe import WordKind


class SelfOrganisedHierarchyRegressor(NumberMixin, LinguisticEstimator):
    """Estimates a number by few rules in words, whose amounts add up.

    The same additive model as :class:`~solah.SelfOrganisedHierarchyClassifier` with the squared
    loss: every rule adds an amount in the goal's unit to the mean of all rows.

    Parameters
    ----------
    words, interactions, max_rules, max_attributes, attribute_costs, n_clusters, groups, kinds,
    verbose, n_jobs
        As in :class:`~solah.SelfOrganisedHierarchyClassifier`.

    Attributes
    ----------
    model_ : Model
        The model document.
    path_ : tuple of PathStep
        The numbers of rules that were compared; ``accuracy`` is the share of the variance that
        they explain out of fold.
    selection_reason_ : str
        Why it was this one, in a sentence.
    hierarchy_, clusters_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.SelfOrganisedHierarchyClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah import SelfOrganisedHierarchyRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> model = SelfOrganisedHierarchyRegressor().fit(x, 3 * x[:, 0])
    >>> model.predict([[0.5]]).round(1)
    array([1.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: constraints for name, constraints in ADDITIVE_CONSTRAINTS.items() if name != "screen"
    }

    def __init__(
        self,
        words: WordKind | Mapping[str, WordsByHand] = "auto",
        *,
        interactions: int | Literal["auto"] | Sequence[tuple[str, str]] = "auto",
        max_rules: int | Literal["auto"] | None = "auto",
        max_attributes: int | None = None,
        attribute_costs: Mapping[str, float] | None = None,
        n_clusters: int | Literal["auto", "each"] = "auto",
        groups: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.words = words
        self.interactions = interactions
        self.max_rules = max_rules
        self.max_attributes = max_attributes
        self.attribute_costs = attribute_costs
        self.n_clusters = n_clusters
        self.groups = groups
        self.kinds = kinds
        self.verbose = verbose
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn words, rules and groups.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories. Or the path of a file (CSV,
            Parquet, ARFF), which is read.
        y : array of shape (n_rows,)
            The numbers; the name of their column where X is a file.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        if is_path(X):
            X, y, sample_weight = read_problem(X, y, sample_weight)
        elif is_scan(X):
            raise DataError("numbers are learnt from rows in memory; read the rows first")
        table = read_features(self, X, reset=True)
        name, numbers = read_numbers(self, y, table.n_rows)
        weights, unit = integer_weights(read_weights(sample_weight, table.n_rows))
        check_span(f"the goal {name!r}", NumbersAtHand(numbers[weights > 0]))
        names = list(table.names)
        if hasattr(self, "feature_names_in_"):
            table = without_identifiers(table, self.kinds)
        table = table.select(sorted(table.names))
        settings = label_settings(self).only(table.names)
        described = describe_table(table, settings, weights, count_threads(self.n_jobs))
        # Rows are drawn by their content; the goal is part of it.
        levels, codes = np.unique(numbers, return_inverse=True)
        stand_in = Goal(name, states=tuple(levels.tolist()))
        goal = ClassGoal(stand_in, levels, codes, weights, unit, np.ones(len(levels)))
        rows = MemoryRows(described, goal, limits=self._limits)
        self._learn_from(rows, Goal(name), names)
        return self

    def _learn_from(self, rows: MemoryRows, goal: Goal, names: Sequence[str]) -> None:
        recipe = recipe_of(self, names)
        every = rows.draw(rows.table.n_rows)
        weights = every.goal.weights.astype(np.float64) * every.goal.weight_unit
        numbers = np.asarray(every.goal.classes, dtype=np.float64)[every.goal.codes]
        mean = float(weights @ numbers / weights.sum())
        spread = float(np.sqrt(weights @ (numbers - mean) ** 2 / weights.sum()))
        unit = spread if spread > 0 else 1.0
        whole = Sample.of(every, weights, NumberObjective((numbers - mean) / unit))
        sample = whole.first(recipe.most_rows(len(rows.names)))
        with progress(self.verbose) as tell:
            structure = settle(sample, recipe, tell)
            groups, self.clusters_ = find_groups(structure, rows, recipe.groups)
            model = assemble_numbers(structure, goal, numbers, unit, groups, whole)
        self.model_ = with_attributes_as(model, names)
        self.hierarchy_ = self.model_.hierarchy
        self.path_: tuple[PathStep, ...] = structure.choice.path
        self.selection_reason_ = structure.choice.reason
