"""The losses of numbers: of each the value, slope and curvature, the best constant and the link.

A loss compares a number with a score. With the identity link the score predicts the number, with
the log link its exponential does. Numbers are scaled before: in standard deviations from the mean,
or as shares of the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from solah.exceptions import DataError

if TYPE_CHECKING:
    from solah.kernels.arrays import Float

LossName = Literal["squared_error", "absolute_error", "quantile", "poisson", "gamma"]
LOSS_NAMES: tuple[LossName, ...] = (
    "squared_error",
    "absolute_error",
    "quantile",
    "poisson",
    "gamma",
)

# Near a quantile, losses are rounded off over about this many standard deviations of the numbers.
_ROUNDED = 0.02
# Scores of the log link count as at most this, as in the program of a model.
_MOST_SCORE = 80.0


class Scale(NamedTuple):
    """How numbers are scaled: ``number = origin + unit * scaled``.

    ``unit`` is also the unit of scores, but under the log link.
    """

    origin: float
    unit: float


class Spread(NamedTuple):
    """What the errors of weights follow from, see :mod:`solah.explain.uncertainty`.

    Attributes
    ----------
    dispersion : the variance of a weight is this times the inverse of the curvature below
    bends : (n_rows,) the curvature of each row
    noise : what the penalty is multiplied by beside these
    """

    dispersion: float
    bends: Float
    noise: float


@dataclass(frozen=True)
class SquaredLoss:
    """Half the squared error; predicts the mean."""

    metrics: ClassVar[tuple[str, str]] = ("R²", "RMSE")
    link: ClassVar[Literal["identity", "log"]] = "identity"
    power: ClassVar[int] = 0
    is_quadratic: ClassVar[bool] = True

    def scale(self, numbers: Float, weights: Float) -> Scale:
        """Return the mean and the standard deviation."""
        mean = float(np.average(numbers, weights=weights))
        spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
        return Scale(mean, spread if spread > 0 else 1.0)

    def noise(self, scaled: Float, weights: Float) -> float:
        """Return the loss that scores are not to explain, which weighs the penalty."""
        return 0.25

    def start(self, scaled: Float, weights: Float, offset: Float) -> float:
        """Return the best score that is the same for all rows, beside an offset."""
        return float(weights @ (scaled - offset) / weights.sum())

    def values(self, scaled: Float, scores: Float) -> Float:
        """Return the loss of each row."""
        return np.asarray((scores - scaled) ** 2 / 2)

    fitted_values = values
    """The loss that a fit minimises, where that is smoother."""

    def slopes(self, scaled: Float, scores: Float) -> tuple[Float, Float]:
        """Return the slope of each row's loss along its score, and the curvature."""
        return scores - scaled, np.ones_like(scores)

    def metric(self, loss: float, error: float, unit: float) -> tuple[float, float]:
        """Return what users know for a mean loss, and its standard error: here the RMSE."""
        root = math.sqrt(2 * loss)
        return root * unit, (error / root if root > 0 else 0.0) * unit

    def spread(self, scaled: Float, scores: Float, weights: Float) -> Spread:
        """Return what the errors of weights follow from."""
        left = float(np.average((scaled - scores) ** 2, weights=weights))
        return Spread(left, np.ones_like(scores), self.noise(scaled, weights))


@dataclass(frozen=True)
class QuantileLoss(SquaredLoss):
    """The pinball loss; predicts a quantile. Of the median it is half the absolute error."""

    quantile: float = 0.5
    is_absolute: bool = True
    is_quadratic: ClassVar[bool] = False

    def scale(self, numbers: Float, weights: Float) -> Scale:
        """Return the mean and the standard deviation without the lowest and the highest 1%.

        A few numbers that are far off would otherwise round off all that is between the others.
        """
        order = np.argsort(numbers, kind="stable")
        shares = np.cumsum(weights[order]) / weights.sum()
        low, high = numbers[order[np.searchsorted(shares, (0.01, 0.99))]]
        return super().scale(np.clip(numbers, low, high) if high > low else numbers, weights)

    @property
    def metrics(self) -> tuple[str, str]:  # type: ignore[override]
        """The names of the quality and of the loss."""
        return "D²", "MAE" if self.is_absolute else "pinball loss"

    def noise(self, scaled: Float, weights: Float) -> float:
        """Return the loss that scores are not to explain: that of the same normal noise."""
        return 0.2

    def start(self, scaled: Float, weights: Float, offset: Float) -> float:
        """Return the quantile."""
        left = scaled - offset
        order = np.argsort(left, kind="stable")
        sums = np.cumsum(weights[order])
        place = int(np.searchsorted(sums, self.quantile * sums[-1] * (1 - 1e-12)))
        return float(left[order[min(place, len(order) - 1)]])

    def values(self, scaled: Float, scores: Float) -> Float:
        """Return the pinball loss of each row."""
        left = scaled - scores
        return np.asarray(np.maximum(self.quantile * left, (self.quantile - 1) * left))

    def fitted_values(self, scaled: Float, scores: Float) -> Float:
        """Return the loss, rounded off where it has a kink."""
        left = scaled - scores
        return np.asarray(self.quantile * left + _ROUNDED * np.logaddexp(0.0, -left / _ROUNDED))

    def slopes(self, scaled: Float, scores: Float) -> tuple[Float, Float]:
        """Return the slopes, and curvatures of paraboloids that are nowhere below the loss."""
        way = np.abs(scores - scaled) / _ROUNDED
        slope = np.tanh((scores - scaled) / (2 * _ROUNDED)) / 2 + (0.5 - self.quantile)
        bend = np.where(way > 1e-6, np.tanh(way / 2) / np.maximum(2 * way, 1e-6), 0.25)
        return slope, np.asarray(bend / _ROUNDED)

    def metric(self, loss: float, error: float, unit: float) -> tuple[float, float]:
        """Return the mean absolute error, or the pinball loss."""
        factor = (2 if self.is_absolute else 1) * unit
        return factor * loss, factor * error

    def spread(self, scaled: Float, scores: Float, weights: Float) -> Spread:
        """Return what errors follow from: the density of residuals at 0."""
        left = np.abs(scaled - scores)
        width = max(float(np.average(left, weights=weights)) / 2, 1e-9)
        density = float(np.average(left < width, weights=weights)) / (2 * width)
        density = max(density, 1e-9)
        dispersion = self.quantile * (1 - self.quantile) / density**2
        return Spread(dispersion, np.ones_like(scores), self.noise(scaled, weights) / density)


@dataclass(frozen=True)
class DevianceLoss(SquaredLoss):
    """Half the deviance of counts (Poisson) or amounts (Gamma); predicts the mean, above 0.

    ``of`` is the kind: the variance of a number grows with its mean to the power of 1 or 2.
    """

    of: Literal["poisson", "gamma"] = "poisson"
    metrics: ClassVar[tuple[str, str]] = ("D²", "deviance")
    link: ClassVar[Literal["identity", "log"]] = "log"
    is_quadratic: ClassVar[bool] = False

    @property
    def power(self) -> int:  # type: ignore[override]
        """The power of the mean that the variance grows with."""
        return 1 if self.of == "poisson" else 2

    def scale(self, numbers: Float, weights: Float) -> Scale:
        """Return 0 and the mean, which has to be above 0.

        Raises
        ------
        DataError
            If a number is negative, all are 0, or for Gamma any is 0.
        """
        wrong = numbers < 0 if self.power == 1 else numbers <= 0
        mean = float(np.average(numbers, weights=weights))
        if wrong.any() or not mean > 0:
            needed = "at least 0, and not all 0" if self.power == 1 else "above 0"
            found = numbers[wrong.argmax()] if wrong.any() else 0.0
            raise DataError(
                f"with loss={self.of!r}, the target must be {needed}; got {found:g}. Drop such "
                "rows, or pass loss='squared_error'"
            )
        return Scale(0.0, mean)

    def noise(self, scaled: Float, weights: Float) -> float:
        """Return a quarter of the variance, the same share as for the squared error."""
        mean = np.average(scaled, weights=weights)
        return max(0.25 * float(np.average((scaled - mean) ** 2, weights=weights)), 1e-6)

    def start(self, scaled: Float, weights: Float, offset: Float) -> float:
        """Return the logarithm of the mean, or of the share of what the offset predicts."""
        power = self.power
        return math.log(
            float(weights @ (scaled * _exp((1 - power) * offset)))
            / float(weights @ _exp((2 - power) * offset))
        )

    def values(self, scaled: Float, scores: Float) -> Float:
        """Return half the deviance of each row."""
        mean = _exp(scores)
        if self.power == 1:
            ratio = np.where(scaled > 0, scaled / mean, 1.0)
            return np.asarray(scaled * np.log(ratio) - scaled + mean)
        return np.asarray(scaled / mean - np.log(scaled / mean) - 1.0)

    fitted_values = values

    def slopes(self, scaled: Float, scores: Float) -> tuple[Float, Float]:
        """Return the slopes and the curvatures."""
        mean = _exp(scores)
        if self.power == 1:
            return mean - scaled, mean
        return 1.0 - scaled / mean, scaled / mean

    def metric(self, loss: float, error: float, unit: float) -> tuple[float, float]:
        """Return the mean deviance."""
        factor = 2 * unit ** (2 - self.power)
        return factor * loss, factor * error

    def spread(self, scaled: Float, scores: Float, weights: Float) -> Spread:
        """Return what errors follow from: Pearson's estimate of the dispersion."""
        mean = _exp(scores)
        pearson = (scaled - mean) ** 2 / mean**self.power
        dispersion = float(np.average(pearson, weights=weights))
        return Spread(dispersion, mean ** (2 - self.power), self.noise(scaled, weights))


Loss = SquaredLoss


def loss_of(name: LossName, quantile: float | None = None) -> Loss:
    """Return a loss by its name; ``quantile`` is that of the quantile loss."""
    if name == "squared_error":
        return SquaredLoss()
    if name in ("absolute_error", "quantile"):
        is_absolute = name == "absolute_error"
        return QuantileLoss(0.5 if quantile is None or is_absolute else quantile, is_absolute)
    return DevianceLoss(name)  # type: ignore[arg-type]


def _exp(scores: Float) -> Float:
    return np.exp(np.clip(scores, -_MOST_SCORE, _MOST_SCORE))
