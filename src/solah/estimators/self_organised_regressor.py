"""The estimator of numbers whose rules add up (SOLAH)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from solah.estimators.additive import (
    ADDITIVE_CONSTRAINTS,
    label_settings,
    named_columns,
    progress,
    recipe_of,
    with_attributes_as,
    without_identifiers,
)
from solah.estimators.base import LinguisticEstimator
from solah.estimators.regressing import NumberMixin
from solah.estimators.rule_path import RulePath
from solah.estimators.rules_by_hand import RefitMixin, in_unit
from solah.kernels.arrays import WEIGHT_ONE
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.labels.goals import ClassGoal
from solah.learn.additive import settle
from solah.learn.assembly import with_weight
from solah.learn.learning import find_groups, with_promises
from solah.learn.memory import MemoryRows
from solah.learn.numbers import assemble_numbers
from solah.learn.objective import NumberObjective
from solah.learn.sample import Sample
from solah.model import Goal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.data import Table
    from solah.estimators.constraints import InteractionConstraints, MonotonicConstraints
    from solah.estimators.regressing import NumberColumn
    from solah.labels.words import WordsByHand
    from solah.learn.recipe import WordKind


class SelfOrganisedHierarchyRegressor(RefitMixin, NumberMixin, LinguisticEstimator):
    """Estimates a number by few rules in words, whose amounts add up.

    The same additive model as :class:`~solah.SelfOrganisedHierarchyClassifier` with the squared
    loss: every rule adds an amount in the goal's unit to the mean of all rows.

    Parameters
    ----------
    words, interactions, max_rules, max_attributes, attribute_costs, required, interaction_cst,
    n_clusters, groups, kinds, verbose, n_jobs
        As in :class:`~solah.SelfOrganisedHierarchyClassifier`.
    monotonic_cst : array or mapping of column to {-1, 0, 1}, default=None
        1 where the number must not fall as the column rises, -1 where it must not rise.

    Attributes
    ----------
    model_ : Model
        The model document.
    path_ : RulePath
        The numbers of rules that were compared: the cross-validated ``rmse``, in the target's
        unit, and ``r2`` of each.
    selection_reason_ : str
        Why it was this one, in a sentence.
    word_kind_, hierarchy_, clusters_, n_rules_, feature_importances_, n_features_in_,
    feature_names_in_
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
        required: Sequence[str] | None = None,
        monotonic_cst: MonotonicConstraints | None = None,
        interaction_cst: InteractionConstraints | None = None,
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
        self.required = required
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_clusters = n_clusters
        self.groups = groups
        self.kinds = kinds
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _learn_numbers(self, table: Table, numbers: NumberColumn) -> None:
        names = list(table.names)
        if hasattr(self, "feature_names_in_"):
            table = without_identifiers(table, named_columns(self))
        table = table.select(sorted(table.names))
        settings = label_settings(self).only(table.names)
        weights = numbers.weights
        described = describe_table(table, settings, weights, count_threads(self.n_jobs))
        # Rows are drawn by their content; the goal is part of it.
        levels, codes = np.unique(numbers.values, return_inverse=True)
        stand_in = Goal(numbers.name, states=tuple(levels.tolist()))
        goal = ClassGoal(stand_in, levels, codes, weights, numbers.weight_unit)
        rows = MemoryRows(described, goal, groups=numbers.groups, limits=self._limits)
        self._learn_from(rows, Goal(numbers.name), names)

    def _learn_from(self, rows: MemoryRows, goal: Goal, names: Sequence[str]) -> None:
        recipe = recipe_of(self, names, rows.attributes)
        every = rows.draw(rows.table.n_rows)
        weights = every.goal.weights / WEIGHT_ONE
        numbers = np.asarray(every.goal.classes, dtype=np.float64)[every.goal.codes]
        mean = float(weights @ numbers / weights.sum())
        spread = float(np.sqrt(weights @ (numbers - mean) ** 2 / weights.sum()))
        unit = spread if spread > 0 else 1.0
        recipe = replace(recipe, rules=in_unit(recipe.rules, unit))
        whole = Sample.of(every, NumberObjective((numbers - mean) / unit, unit))
        sample = whole.first(recipe.most_rows(len(rows.names)))
        with progress(self.verbose) as tell:
            structure = settle(sample, recipe, tell)
            groups, self.clusters_ = find_groups(structure, rows, recipe.groups)
            counted = replace(whole, weights=weights)
            model = assemble_numbers(structure, goal, numbers, unit, groups, counted)
            model = with_weight(model, every.goal.weight_unit * WEIGHT_ONE)
        model = with_promises(model, recipe.monotonic)
        self.model_ = with_attributes_as(model, names)
        self.hierarchy_ = self.model_.hierarchy
        self.path_ = RulePath(structure.choice.path)
        self.selection_reason_ = structure.choice.reason
        self.word_kind_ = structure.choice.word_kind
