"""Find where the goal changes: the splits of a small boosted ensemble, by attribute.

The gains of all splits are added up by attribute and place. A cut stands where, in a window of
ranks, they are largest. Gradients are integers, so that the order of the rows leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import MISSING_BIN
from solah.kernels.choose import kernel
from solah.learn.objective import sum_of

if TYPE_CHECKING:
    from solah.kernels.arrays import Bytes, Float, Int32
    from solah.learn.recipe import BoostingSettings, WordSettings
    from solah.learn.sample import Sample

_UNIT = 1 << 20


@dataclass(frozen=True)
class Cut:
    """A place where the goal changes.

    Attributes
    ----------
    low, high : the ends of the ramp between the words on both sides
    gain : what splits there gain
    """

    low: float
    high: float
    gain: float


@dataclass(frozen=True, eq=False)
class SplitGains:
    """What splits of attributes gain, by place.

    Attributes
    ----------
    edges : for each attribute the numbers between its bins; empty for states
    gains : (n_attributes, 256) what splits behind each bin gain
    """

    edges: tuple[Float, ...]
    gains: Float

    @property
    def of_attributes(self) -> Float:
        """What all splits of each attribute gain."""
        return np.asarray(self.gains.sum(axis=1))

    def cuts(self, place: int, numbers: Float, settings: WordSettings, ramp: float) -> list[Cut]:
        """Place cuts over the known numbers of an attribute, which are sorted."""
        edges = self.edges[place]
        ranks = np.searchsorted(numbers, edges, side="right") / len(numbers)
        found = _modes(self.gains[place, : len(edges)], ranks, settings)
        return _with_ramps(numbers, [(float(edges[at]), gain) for at, gain in found], ramp)


def split_gains(sample: Sample, settings: BoostingSettings) -> SplitGains:
    """Boost small trees on a sample, and add up what their splits gain."""
    coded = [attribute.is_coded for attribute in sample.attributes]
    binned = [
        _bins_of_states(column, attribute.n_focal_sets)
        if is_coded
        else _bins_of_numbers(column, settings.n_bins)
        for column, attribute, is_coded in zip(
            sample.readings.T, sample.attributes, coded, strict=True
        )
    ]
    bins = np.ascontiguousarray([of_rows for of_rows, _, _ in binned], dtype=np.uint8)
    sizes = np.array([size for _, size, _ in binned], dtype=np.int32)
    gains = np.zeros((len(binned), 256))
    _boost(sample, settings, bins, sizes, np.array(coded, dtype=np.uint8), gains)
    return SplitGains(tuple(edges for _, _, edges in binned), gains)


def _boost(
    sample: Sample,
    settings: BoostingSettings,
    bins: Bytes,
    sizes: Int32,
    nominal: Bytes,
    gains: Float,
) -> None:
    objective, grow = sample.objective, kernel().grow
    weights = sample.weights / sample.weights.max()
    whole = np.rint(weights * _UNIT).astype(np.int32)
    # In units of the heaviest row, so that gradients fit into 32 bits.
    row = _UNIT / float(sample.weights.max())
    totals = np.tile(objective.begin(weights), (sample.n_rows, 1))
    leaf = np.empty(sample.n_rows, dtype=np.int32)
    outputs = [1] if objective.n_outputs == 2 else range(objective.n_outputs)
    for _ in range(settings.n_rounds):
        slope, bend = objective.gradient(totals)
        steps = np.zeros_like(totals)
        for output in outputs:
            gradient = np.rint(weights * slope[:, output] * _UNIT).astype(np.int32)
            curvature = np.rint(weights * bend[:, output] * _UNIT).astype(np.int32)
            n_leaves = grow(
                bins,
                sizes,
                nominal,
                gradient,
                curvature,
                whole,
                settings.n_leaves,
                settings.ridge * row,
                int(settings.least_rows * row),
                leaf,
                gains,
            )
            np.maximum(leaf, 0, out=leaf)  # rows that weigh next to nothing are in none
            step = -settings.rate * np.bincount(leaf, gradient, n_leaves)
            step /= np.bincount(leaf, curvature, n_leaves) + settings.ridge * row
            steps[:, output] = step[leaf]
        if objective.n_outputs > 1:
            steps -= sum_of(steps)[:, None] / objective.n_outputs
        totals += steps


def _bins_of_states(column: Float, n_states: int) -> tuple[Bytes, int, Float]:
    known = ~np.isnan(column) & (column < MISSING_BIN)
    bins = np.where(known, np.nan_to_num(column), MISSING_BIN).astype(np.uint8)
    return bins, min(n_states, MISSING_BIN), np.empty(0)


def _bins_of_numbers(column: Float, n_bins: int) -> tuple[Bytes, int, Float]:
    known = ~np.isnan(column)
    numbers = np.unique(column[known])
    if len(numbers) > n_bins:
        ordered = np.sort(column[known])
        ends = np.unique(ordered[np.arange(1, n_bins) * len(ordered) // n_bins - 1])
        above = numbers[np.minimum(np.searchsorted(numbers, ends, side="right"), len(numbers) - 1)]
        edges = np.unique(ends / 2 + above / 2)
        edges = edges[edges < numbers[-1]]
    else:
        edges = numbers[1:] / 2 + numbers[:-1] / 2
    bins = np.searchsorted(edges, column, side="left").astype(np.uint8)
    bins[~known] = MISSING_BIN
    return bins, len(edges) + 1, edges


def _modes(gains: Float, ranks: Float, settings: WordSettings) -> list[tuple[int, float]]:
    """Find the places in whose windows of ranks splits gain most, one after the other."""
    gains, found = gains.copy(), []
    least = settings.least_share * gains.sum()
    begin = np.searchsorted(ranks, ranks - settings.window, side="left")
    end = np.searchsorted(ranks, ranks + settings.window, side="right")
    for _ in range(settings.max_cuts if len(gains) else 0):
        sums = np.concatenate([[0.0], np.cumsum(gains)])
        inside = sums[end] - sums[begin]
        best = int(np.argmax(inside))
        if inside[best] <= max(least, 0.0):
            break
        window = slice(int(begin[best]), int(end[best]))
        at = window.start + int(np.argmax(gains[window]))
        found.append((at, float(inside[best])))
        gains[np.abs(ranks - ranks[best]) < 2 * settings.window] = 0.0
    return sorted(found)


def _with_ramps(numbers: Float, places: list[tuple[float, float]], ramp: float) -> list[Cut]:
    """Make each cut as wide as a share of the rows, but not beyond the middle to the next one."""
    reach = max(1, int(ramp * len(numbers)))
    cuts = []
    for j, (middle, gain) in enumerate(places):
        at = int(np.searchsorted(numbers, middle))
        low = float(numbers[max(0, at - reach)])
        high = float(numbers[min(len(numbers) - 1, at + reach)])
        if j:
            low = max(low, (places[j - 1][0] + middle) / 2)
        if j + 1 < len(places):
            high = min(high, (places[j + 1][0] + middle) / 2)
        half = min(middle - low, high - middle)
        if half > 0:
            cuts.append(Cut(middle - half, middle + half, gain))
    return cuts
