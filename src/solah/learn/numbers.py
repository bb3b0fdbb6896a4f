"""Learn an additive model of a number from rows, and the residuals of rows that are held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.kernels.arrays import WEIGHT_ONE
from solah.learn.assembly import assemble_numbers, with_weight
from solah.learn.learning import find_groups, settle, with_promises
from solah.learn.objective import NumberObjective
from solah.learn.sample import Sample
from solah.model import Target
from solah.model.provenance import Intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.kernels.arrays import Float
    from solah.learn.learning import Clusters
    from solah.learn.losses import Loss
    from solah.learn.memory import MemoryRows
    from solah.learn.recipe import AdditiveRecipe
    from solah.learn.selection import Choice
    from solah.model import Model

# From this many rows on, residuals are those of one part of the rows, not of all in turn.
_MANY_ROWS, _N_FOLDS, _N_PARTS = 4_000, 5, 4
# Of a squared error 4% are 2% of the RMSE.
_TOLERANCE = 0.04


@dataclass(frozen=True, eq=False)
class LearnedNumber:
    """A model of a number, the settings that were chosen, and the features used, in groups."""

    model: Model
    choice: Choice
    clusters: Clusters


def learn_numbers(
    rows: MemoryRows,
    recipe: AdditiveRecipe,
    loss: Loss,
    tell: Callable[[str], None] = lambda _: None,
    choice: Choice | None = None,
) -> LearnedNumber:
    """Learn an additive model of a number.

    Parameters
    ----------
    rows : MemoryRows
        Their classes are the numbers.
    recipe : AdditiveRecipe
    loss : Loss
    tell : callable
        Called with every step.
    choice : Choice, default=None
        Earlier choices, to be taken as they are; None chooses by cross-validation.
    """
    every = rows.draw(rows.table.n_rows)
    weights = every.target.weights / WEIGHT_ONE
    numbers = np.asarray(every.target.classes, dtype=np.float64)[every.target.codes]
    objective = NumberObjective.of(numbers, weights, loss)
    unit = objective.of_scores.unit
    rules = (replace(one, scores=tuple(np.array(one.scores) / unit)) for one in recipe.rules)
    budget = replace(recipe.budget, tolerance_of_loss=_TOLERANCE)
    recipe = replace(recipe, rules=tuple(rules), budget=budget)
    whole = Sample.of(every, objective)
    sample = whole.first(recipe.most_rows(len(rows.names)))
    structure = settle(sample, recipe, tell, choice)
    groups, clusters = find_groups(structure, rows, recipe.groups)
    target = Target(rows.target.target.name, link=loss.link)
    counted = replace(whole, weights=weights)
    model = assemble_numbers(structure, target, numbers, groups, counted)
    model = with_weight(model, every.target.weight_unit * WEIGHT_ONE)
    tell("predicting held-out rows")
    intervals = _intervals(sample, recipe, structure.choice)
    model = replace(with_promises(model, recipe.monotonic), intervals=intervals)
    return LearnedNumber(model, structure.choice, clusters)


def _intervals(sample: Sample, recipe: AdditiveRecipe, choice: Choice) -> Intervals | None:
    """Take the residuals of rows that were held out, with settings as chosen; None for too few."""
    is_many = sample.n_rows >= _MANY_ROWS
    folds = sample.folds(_N_PARTS if is_many else _N_FOLDS)
    found: list[tuple[Float, Float, Float]] = []
    for fold in folds[: 1 if is_many else None]:
        try:
            structure = settle(fold.learned, recipe, choice=choice)
        except DataError:  # a required feature never changes without the fold
            continue
        objective = fold.tested.objective
        assert isinstance(objective, NumberObjective)
        totals = structure.reduced.of(structure.design.columns_of(fold.tested) @ structure.shares)
        scale = objective.scale
        numbers = scale.origin + scale.unit * objective.values
        found.append((numbers, objective.predict(totals), fold.tested.weights))
    if not found:
        return None
    numbers, predictions, weights = map(np.concatenate, zip(*found, strict=True))
    assert isinstance(sample.objective, NumberObjective)
    return Intervals.of(numbers, predictions, weights, sample.objective.loss.power)
