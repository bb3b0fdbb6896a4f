"""Sketches numbers: small summaries that can be merged, by which words and bins are placed.

A sketch keeps the distinct values whose digests are the smallest. It is the same for any order and
any partition of the rows; where there are no more distinct values than it holds, it holds them all,
and where there are more, those it holds are an even sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.data.digests import LARGEST, UInt64, digest_numbers
from solah.kernels.arrays import MASS_ONE
from solah.kernels.choose import kernel
from solah.labels.drawing import LIMITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.labels.drawing import Limits

PLACE_BITS = 16


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is known of the numbers of a column.

    Attributes
    ----------
    values : some of the distinct values, increasing
    low, high : the smallest and the largest of all; infinite where there is none
    is_complete : whether ``values`` are all that there are
    grid : how many even distances part the range
    """

    values: Float
    low: float
    high: float
    is_complete: bool
    grid: int = LIMITS.sketch_grid

    @classmethod
    def of(cls, numbers: NDArray[np.floating], limits: Limits = LIMITS) -> Sketch:
        """Sketch numbers; NaN does not count."""
        state = SketchState.empty(limits)
        state.add(np.asarray(numbers, dtype=np.float64))
        return state.sketch()

    @cached_property
    def edges(self) -> Float:
        """Where fine bins begin: at kept values and, between them, at even distances.

        Ranks alone would leave no bins to the far values of a heavy tail.
        """
        if self.is_complete:
            return self.values
        shares = np.arange(self.grid) / self.grid
        grid = self.low * (1 - shares) + self.high * shares  # of any span
        return np.unique(np.concatenate([self.values, grid]))

    @cached_property
    def widths(self) -> Float:
        """How wide fine bins are: up to where the next begins, or to the largest value."""
        if not len(self.edges):
            return self.edges
        with np.errstate(over="ignore"):
            return np.diff(self.edges, append=max(self.high, self.edges[-1]))

    @cached_property
    def scales(self) -> Float:
        """What turns a distance from an edge into a place; 0 where a bin has one value only."""
        scales = np.zeros(len(self.edges))
        if not self.is_complete:
            with np.errstate(over="ignore"):
                np.divide(2.0**PLACE_BITS, self.widths, out=scales, where=self.widths > 0)
        return np.where(np.isfinite(scales), scales, 0.0)

    def centres(self, counts: FineCounts) -> Float:
        """Return the mean of each fine bin's numbers; its middle where there are none."""
        if self.is_complete:
            return self.edges
        return self.edges + self.widths * counts.mean_places()


class SketchState:
    """A sketch in the making."""

    def __init__(
        self,
        values: Float,
        digests: UInt64,
        low: float,
        high: float,
        *,
        is_complete: bool,
        limits: Limits = LIMITS,
    ) -> None:
        self.values, self.digests, self.limits = values, digests, limits
        self.low, self.high, self.is_complete = low, high, is_complete

    @classmethod
    def empty(cls, limits: Limits = LIMITS) -> SketchState:
        """Begin with no values."""
        none = np.empty(0, dtype=np.uint64)
        return cls(np.empty(0), none, np.inf, -np.inf, is_complete=True, limits=limits)

    def add(self, numbers: Float, digests: UInt64 | None = None) -> None:
        """Take numbers in, with their digests where these are known; NaN does not count."""
        if digests is None:
            digests = digest_numbers(numbers)
        if len(numbers):
            # Which of the two zeros is the smallest is chance, so there is one.
            self.low = min(self.low, float(np.fmin.reduce(numbers, initial=np.inf)) + 0.0)
            self.high = max(self.high, float(np.fmax.reduce(numbers, initial=-np.inf)) + 0.0)
        small = digests <= (LARGEST if self.is_complete else self.digests[-1])
        small &= ~np.isnan(numbers)
        chosen = np.flatnonzero(small)
        self._keep(numbers[chosen], digests[chosen])

    def merge(self, other: SketchState) -> None:
        """Take another sketch in."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.is_complete &= other.is_complete
        self._keep(other.values, other.digests)

    def sketch(self) -> Sketch:
        """Return what was found."""
        values = np.sort(self.values)
        return Sketch(values, self.low, self.high, self.is_complete, self.limits.sketch_grid)

    def _keep(self, values: Float, digests: UInt64) -> None:
        """Keep the distinct values with the smallest digests, in the digests' order."""
        both = np.concatenate([self.digests, digests])
        distinct, first = np.unique(both, return_index=True)
        capacity = self.limits.sketch_values
        if len(distinct) > capacity:
            self.is_complete = False
            distinct, first = distinct[:capacity], first[:capacity]
        self.values = np.concatenate([self.values, values + 0.0])[first]
        self.digests = distinct


@dataclass(frozen=True, eq=False)
class FineCounts:
    """How much weight falls into each fine bin, and where in it, in integers that add up.

    Attributes
    ----------
    weights : (n_bins,) sums of weights
    places : (2, n_bins) sums of weights times places, from 0 to ``2**PLACE_BITS`` within a bin,
        parted at ``MASS_ONE``
    """

    weights: Int64
    places: Int64

    @classmethod
    def none(cls, sketch: Sketch) -> FineCounts:
        """Begin with no numbers."""
        n_bins = len(sketch.edges)
        return cls(np.zeros(n_bins, dtype=np.int64), np.zeros((2, n_bins), dtype=np.int64))

    @classmethod
    def of(cls, numbers: Float, weights: Int64 | None, sketch: Sketch) -> FineCounts:
        """Count numbers by fine bin; NaN does not count."""
        counts = cls.none(sketch)
        counts.add(numbers, weights, sketch)
        return counts

    def add(self, numbers: Float, weights: Int64 | None, sketch: Sketch) -> None:
        """Count more numbers."""
        edges = sketch.edges
        if len(edges):
            kernel().fine_count(numbers, weights, edges, sketch.scales, self.weights, self.places)

    def mean_places(self) -> Float:
        """Return the mean place in each bin, from 0 to 1; the middle where it is empty."""
        high, low = self.places.astype(np.float64)
        means = np.full(len(self.weights), 0.5)
        sums = (high * MASS_ONE + low) * 2.0**-PLACE_BITS
        np.divide(sums, self.weights, out=means, where=self.weights > 0)
        return means
