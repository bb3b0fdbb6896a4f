"""Places the peaks of the focal sets of a continuous attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from solah.exceptions import DataError
from solah.model.limits import LEAST_GAP, MOST_NUMBER, are_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64

Placement = Literal["uniform", "quantile"]


class Numbers(Protocol):
    """What must be known of numbers to place words on them."""

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None where there is none."""

    def quantiles(self, n_parts: int) -> Float:
        """Return the numbers that cut the weight into equal parts, the outermost included."""


@dataclass(frozen=True, eq=False)
class NumbersAtHand:
    """Known numbers, and their weights where these differ.

    What is told of them has no negative zero: which of two equal numbers stands first is chance.
    """

    values: NDArray[np.floating]
    weights: Int64 | None = None

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None where there is none."""
        if not len(self.values):
            return None
        return float(self.values.min()) + 0.0, float(self.values.max()) + 0.0

    def quantiles(self, n_parts: int) -> Float:
        """Return the numbers that cut the weight into equal parts, the outermost included."""
        return weighted_quantiles(self.values, self.weights, n_parts) + 0.0


def place_peaks(numbers: Numbers, n_words: int, placement: Placement) -> tuple[float, ...]:
    """Place ``2 * n_words - 1`` peaks over numbers, or fewer where they coincide."""
    span = numbers.span
    if span is None:
        return (0.0,)
    if placement == "uniform":
        return uniform_peaks(*span, n_words)
    return merge_peaks(numbers.quantiles(2 * n_words - 2))


def check_span(what: str, numbers: Numbers) -> tuple[float, float]:
    """Return the range of numbers; refuse one that is too wide or too narrow for a document."""
    low, high = numbers.span or (0.0, 0.0)
    if max(-low, high) > MOST_NUMBER:
        raise DataError(
            f"{what} has {high if high > -low else low:g}, and numbers may go from "
            f"{-MOST_NUMBER:g} to {MOST_NUMBER:g}; scale it down"
        )
    if 0 < high - low < LEAST_GAP:
        raise DataError(
            f"{what} spans {high - low:g} only, and words need {LEAST_GAP:g} at least; scale it up"
        )
    return low, high


def uniform_peaks(low: float, high: float, n_words: int) -> tuple[float, ...]:
    """Place peaks at equal distances over a range."""
    return merge_peaks(np.linspace(low, high, 2 * n_words - 1))


def weighted_quantiles(values: NDArray[np.floating], weights: Int64 | None, n_parts: int) -> Float:
    """Return the values that cut the weight into equal parts, the smallest and largest included.

    Each is one of the values, found by integer arithmetic, so that a row of weight two counts
    exactly as two rows, and neither the order of the rows nor their partition matters.
    """
    ranks = quantile_ranks(len(values) if weights is None else int(weights.sum()), n_parts)
    if weights is None:
        return np.asarray(np.partition(values, ranks - 1)[ranks - 1], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    places = np.searchsorted(np.cumsum(weights[order]), ranks, side="left")
    return np.asarray(values[order[places]], dtype=np.float64)


def quantile_ranks(total: int, n_parts: int) -> Int64:
    """Return how much weight stands at or before each quantile; 1 at the least."""
    return np.array([max(1, -(-part * total // n_parts)) for part in range(n_parts + 1)])


def merge_peaks(peaks: Float) -> tuple[float, ...]:
    """Make peaks increase: words whose peaks coincide become one.

    A pair's peak that falls on one of its words' moves midway between the two, so that a word
    is lost only where there is no room for it.
    """
    merged = [float(peaks[0])]
    for pair, word in zip(peaks[1::2], peaks[2::2], strict=True):
        low, high = merged[-1], float(word)
        middle = float(pair) if are_apart((low, pair, high)) else low + (high - low) / 2
        if are_apart((low, middle, high)):
            merged += [middle, high]
    return tuple(merged)
