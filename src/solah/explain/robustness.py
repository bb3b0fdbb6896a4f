"""Measures robustness to missing, noisy and adversarial values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError, ParameterError
from solah.explain.flips import compared_scores
from solah.explain.importance import feature_importances
from solah.explain.paths import Paths
from solah.model.document import Task
from solah.model.evaluate import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Model

    Places = NDArray[np.intp]
    Right = NDArray[np.bool_]

# An adversary goes over all features this often.
_SWEEPS = 2
_BLOCK_ROWS = 2_048


@dataclass(frozen=True)
class FeatureStress:
    """The effect of one feature alone on predictions.

    Attributes
    ----------
    feature : the feature's name
    flips : the share of rows whose prediction changes somewhere in the feature's range
    missing : the accuracy when it is always missing
    noisy : the accuracy when its values are noisy
    adversarial : the accuracy when an adversary moves them within the budget
    """

    feature: str
    flips: float
    missing: float
    noisy: float
    adversarial: float


@dataclass(frozen=True)
class Stress:
    """The robustness of predictions.

    Attributes
    ----------
    n_rows : how many rows were decided on
    noise : the deviation of the noise, as a share of a feature's range; for states the share
        of rows that have another one
    budget : how far an adversary may move a reading, as a share of its range
    seed : what the noise was drawn with
    accuracy : with the readings as they are
    noisy, adversarial : the accuracy when all readings are noisy, or moved by an adversary
    features : each feature alone, in the model's order
    """

    n_rows: int
    noise: float
    budget: float
    seed: int
    accuracy: float
    noisy: float
    adversarial: float
    features: tuple[FeatureStress, ...]


def stress(
    model: Model,
    rows: Float,
    truth: Places,
    *,
    noise: float = 0.1,
    budget: float = 0.1,
    seed: int = 0,
    advance: Callable[[int], None] = lambda steps: None,
) -> Stress:
    """Measure robustness to missing, noisy and adversarial values.

    Parameters
    ----------
    model : Model
        A classifier.
    rows : ndarray of shape (n_rows, n_features)
        As :func:`solah.model.encode.encode` returns them.
    truth : ndarray of shape (n_rows,)
        The index of each row's class; -1 for one that the model does not have.
    noise, budget : float, default=0.1
        As shares of a feature's range.
    seed : int, default=0
        Random seed of the noise.
    advance : callable
        Called with the number of steps done; there are ``n_steps(model, n_rows)``.

    Returns
    -------
    stress : Stress
    """
    if model.target.task is not Task.CLASSIFICATION:
        raise DataError(
            f"{model.target.name!r} is a number; only decisions between classes can be stressed"
        )
    if not len(rows):
        raise DataError("there is no row whose true class is known")
    for name, value in (("noise", noise), ("budget", budget)):
        if not 0 <= value <= 1:
            raise ParameterError(f"{name!r} must be between 0 and 1. Got {value!r} instead.")
    parts = []
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        rng = np.random.default_rng([seed, start])
        stressed = _StressedRows(model, rows[block], truth[block])
        parts.append(stressed.outcome(noise, budget, rng, advance))
    figures = np.concatenate(parts, axis=1).mean(axis=1).tolist()
    alone = [figures[i : i + 4] for i in range(3, len(figures), 4)]
    return Stress(
        n_rows=len(rows),
        noise=noise,
        budget=budget,
        seed=seed,
        accuracy=figures[0],
        noisy=figures[1],
        adversarial=figures[2],
        features=tuple(
            FeatureStress(feature.name, *shares)
            for feature, shares in zip(model.features, alone, strict=True)
        ),
    )


def n_steps(model: Model, n_rows: int) -> int:
    """Return how many steps of work there are."""
    n_blocks = -(-n_rows // _BLOCK_ROWS)
    return n_blocks * len(model.features) * (1 + _SWEEPS)


class _StressedRows:
    """Some rows, and their predictions with other values."""

    def __init__(self, model: Model, rows: Float, truth: Places) -> None:
        self._model, self._rows, self._truth = model, rows, truth
        self._paths = Paths(model)
        self._decisions = self._decide(rows)
        self._right: Right = np.asarray(self._decisions == truth)

    def outcome(
        self,
        noise: float,
        budget: float,
        rng: np.random.Generator,
        advance: Callable[[int], None],
    ) -> Right:
        """Return which rows are predicted correctly: ``(3 + 4 * n_features, n_rows)``.

        With the values as they are, with all noisy, and with all moved; then, for each feature
        alone, the rows that :class:`FeatureStress` counts.
        """
        places = range(self._rows.shape[1])
        alone: list[Right] = []
        for place in places:
            readings, adversarial = self._rows[:, place], self._right
            flips, is_known = np.zeros(len(readings), dtype=bool), ~np.isnan(readings)
            noisy = self._noisy(place, noise, rng)
            for value in self._everywhere(place):
                elsewhere = np.where(is_known, value, readings)
                flips |= self._decide(self._with(place, elsewhere)) != self._decisions
            for moved in self._within_reach(place, readings, budget):
                adversarial = adversarial & self._stays_right(place, moved)
            missing = self._stays_right(place, np.full(len(readings), np.nan))
            alone += [flips, missing, self._stays_right(place, noisy), adversarial]
            advance(1)
        noisy = np.column_stack([self._noisy(place, noise, rng) for place in places])
        is_noisy_right = self._decide(noisy) == self._truth
        return np.stack([self._right, is_noisy_right, self._all_pushed(budget, advance), *alone])

    def _all_pushed(self, budget: float, advance: Callable[[int], None]) -> Right:
        """Let an adversary move one reading after the other to where it hurts most."""
        rows = self._rows.copy()
        by_importance = np.argsort(-feature_importances(self._model), kind="stable")
        for place in np.tile(by_importance, _SWEEPS).tolist():
            worst, least = rows[:, place].copy(), self._leads(rows)
            for moved in self._within_reach(place, self._rows[:, place], budget):
                rows[:, place] = moved
                lead = self._leads(rows)
                worst, least = np.where(lead < least, moved, worst), np.minimum(lead, least)
            rows[:, place] = worst
            advance(1)
        return np.asarray(self._right & (self._decide(rows) == self._truth))

    def _leads(self, rows: Float) -> Float:
        """Return how far the true class of each row is ahead of all others."""
        program, target = self._model.program, self._model.target
        scores, each = compared_scores(program, target, run(program, rows)), np.arange(len(rows))
        own = scores[each, self._truth]
        scores[each, self._truth] = -np.inf
        return np.asarray(own - scores.max(axis=1))

    def _stays_right(self, place: int, readings: Float) -> Right:
        return np.asarray(self._decide(self._with(place, readings)) == self._truth)

    def _with(self, place: int, readings: Float) -> Float:
        rows = self._rows.copy()
        rows[:, place] = readings
        return rows

    def _decide(self, rows: Float) -> Places:
        return self._model.target.decide(run(self._model.program, rows))

    def _everywhere(self, place: int) -> list[float]:
        feature = self._model.features[place]
        if not feature.is_continuous:
            return list(feature.peaks)
        knots: list[float] = self._paths.between(place, *self._paths.range_of(place)).tolist()
        return knots

    def _within_reach(self, place: int, readings: Float, budget: float) -> Iterator[Float]:
        """Yield readings that a budget reaches: the ends, and the knots on the path."""
        feature = self._model.features[place]
        reach = budget * self._paths.span(place)
        if feature.is_continuous:
            yield readings - reach
            yield readings + reach
        for knot in self._everywhere(place):
            sizes = self._paths.sizes(place, knot, readings)
            yield np.where(sizes <= budget, knot, readings)

    def _noisy(self, place: int, noise: float, rng: np.random.Generator) -> Float:
        feature, readings = self._model.features[place], self._rows[:, place]
        if feature.is_continuous:
            deviation = noise * self._paths.span(place)
            return np.asarray(readings + rng.normal(0.0, 1.0, len(readings)) * deviation)
        others = rng.choice(np.array(feature.peaks), len(readings))
        hit = (rng.random(len(readings)) < noise) & ~np.isnan(readings)
        return np.where(hit, others, readings)
