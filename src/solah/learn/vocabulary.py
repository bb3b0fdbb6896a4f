"""The words that a feature begins with: knots over its numbers, or its states.

A knot is a place where one word has all the membership; between two knots memberships go over
linearly. Many knots are placed at first; the budget joins words and drops others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import MISSING_BIN
from solah.kernels.choose import kernel
from solah.learn.objective import sum_of
from solah.model.limits import LEAST_GAP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Bytes, Float, Int32
    from solah.learn.recipe import BoostingSettings, WordSettings
    from solah.learn.sample import Sample
    from solah.model import Feature


# Knots that differ by less, as a share of the range of all, are the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The first words of a feature.

    Attributes
    ----------
    place : the feature's place among the sample's
    feature : the feature as it came
    knots : (n,) where each word has all the membership; empty for states without an order
    cuts : the knots before which ramps of learned cuts begin, with what the cuts gain
    is_fixed : whether the words are user-defined, and stay
    cores : of user-defined words that have cores, the knots of each
    """

    place: int
    feature: Feature
    knots: Float
    cuts: tuple[tuple[int, float], ...] = ()
    is_fixed: bool = False
    cores: tuple[tuple[int, ...], ...] = ()

    @property
    def first_words(self) -> tuple[tuple[int, ...], ...]:
        """The knots or states of the words to begin with."""
        return self.cores or tuple((word,) for word in range(self.size))

    @property
    def is_ordered(self) -> bool:
        """Whether the words have an order, from low to high."""
        return len(self.knots) > 0

    @property
    def size(self) -> int:
        """How many words there are."""
        return len(self.knots) or self.feature.n_focal_sets

    def memberships(self, readings: Float) -> Float:
        """Return how far each word describes readings ``(n_rows, size)``; NaN for unknown ones."""
        masses = np.zeros((len(readings), self.size))
        rows = np.arange(len(readings))
        known = ~np.isnan(readings)
        if not self.is_ordered:
            masses[rows[known], readings[known].astype(np.intp)] = 1.0
        else:
            first, last = self.knots[0], self.knots[-1]
            inside = np.clip(np.where(known, readings, first), first, last)
            lower = np.searchsorted(self.knots, inside, side="right") - 1
            lower = np.minimum(lower, len(self.knots) - 2)
            upper = (inside - self.knots[lower]) / (self.knots[lower + 1] - self.knots[lower])
            masses[rows, lower] = 1.0 - upper
            masses[rows, lower + 1] = upper
        masses[~known] = np.nan
        return masses


def place_words(
    sample: Sample, settings: WordSettings, gains: SplitGains | None, kept: NDArray[np.intp]
) -> list[Vocabulary]:
    """Place the first words of features; those that never change have none.

    Parameters
    ----------
    sample : Sample
    settings : WordSettings
    gains : what splits gain; None where all words are placed blindly
    kept : the places of the features that are described
    """
    found = (_place(sample, int(place), settings, gains) for place in kept)
    return [one for one in found if one is not None]


def _place(
    sample: Sample, place: int, settings: WordSettings, gains: SplitGains | None
) -> Vocabulary | None:
    feature, column = sample.features[place], sample.readings[:, place]
    known = ~np.isnan(column)
    if feature.is_coded:
        if len(np.unique(column[known])) < 2:
            return None
        n_states = feature.n_focal_sets if feature.is_ordered else 0
        return Vocabulary(place, feature, np.arange(n_states, dtype=np.float64))
    order = np.argsort(column[known], kind="stable")
    numbers, weights = column[known][order], sample.weights[known][order]
    if not len(numbers) or numbers[-1] - numbers[0] < LEAST_GAP:
        return None
    if (kept := settings.kept.get(feature.name)) is not None:
        words = range(len(kept.words))
        cores = tuple(tuple(np.flatnonzero(np.equal(kept.set_words, k)).tolist()) for k in words)
        return Vocabulary(place, kept, np.array(kept.peaks), is_fixed=True, cores=cores)
    if feature.name in settings.by_hand:
        peaks = np.array(feature.peaks if not feature.is_continuous else feature.peaks[::2])
        return Vocabulary(place, feature, peaks, is_fixed=True) if len(peaks) > 1 else None
    cuts: list[Cut] = []
    if gains is not None:
        ramp = settings.ramp if sample.n_rows >= settings.few_rows else settings.ramp_of_few
        cuts = gains.cuts(place, numbers, settings, ramp)
    knots = [end for cut in cuts for end in (cut.low, cut.high)]
    if settings.kind != "supervised" or not cuts:
        blind = _blind(numbers, weights, settings)
        knots += _far_from(knots, cuts, blind, numbers, settings.apart)
    placed = _apart(np.unique(knots))
    if len(placed) < 2:  # nearly all readings are alike: one word for them, one for the others
        placed = numbers[[0, -1]]
    at = ((int(np.abs(placed - cut.low).argmin()), cut.gain) for cut in cuts)
    inner = tuple(one for one in at if one[0] + 1 < len(placed))
    return Vocabulary(place, feature, placed, inner)


def _blind(numbers: Float, weights: Float, settings: WordSettings) -> Float:
    if settings.kind == "uniform":
        return np.linspace(numbers[0], numbers[-1], settings.n_knots)
    sums = np.cumsum(weights)
    ranks = np.linspace(settings.outermost, 1 - settings.outermost, settings.n_knots) * sums[-1]
    return np.unique(numbers[np.minimum(np.searchsorted(sums, ranks), len(sums) - 1)])


def _far_from(
    knots: list[float], cuts: list[Cut], blind: Float, numbers: Float, apart: float
) -> list[float]:
    """Drop blind knots on a ramp, or too near to one."""

    def rank(value: float) -> float:
        return float(np.searchsorted(numbers, value)) / len(numbers)

    taken = [rank(knot) for knot in knots]
    return [
        float(knot)
        for knot in blind
        if not any(cut.low <= knot <= cut.high for cut in cuts)
        and all(abs(rank(knot) - other) > apart for other in taken)
    ]


def _apart(knots: Float) -> Float:
    """Keep knots that are far enough from the one before; the same one may round differently."""
    kept = [knots[0]] if len(knots) else []
    gap = max(LEAST_GAP, _SAME * (knots[-1] - knots[0])) if len(knots) else LEAST_GAP
    for knot in knots[1:]:
        if knot - kept[-1] >= gap:
            kept.append(knot)
    return np.array(kept)


_UNIT = 1 << 20


@dataclass(frozen=True)
class Cut:
    """A place where the target changes.

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
    """What splits of features gain, by place.

    Attributes
    ----------
    edges : for each feature the numbers between its bins; empty for states
    gains : (n_features, 256) what splits behind each bin gain
    """

    edges: tuple[Float, ...]
    gains: Float

    @property
    def of_features(self) -> Float:
        """What all splits of each feature gain."""
        return np.asarray(self.gains.sum(axis=1))

    def cuts(self, place: int, numbers: Float, settings: WordSettings, ramp: float) -> list[Cut]:
        """Place cuts over the known numbers of a feature, which are sorted."""
        edges = self.edges[place]
        ranks = np.searchsorted(numbers, edges, side="right") / len(numbers)
        found = _modes(self.gains[place, : len(edges)], ranks, settings)
        return _with_ramps(numbers, [(float(edges[at]), gain) for at, gain in found], ramp)


def split_gains(sample: Sample, settings: BoostingSettings) -> SplitGains:
    """Boost small trees on a sample, and add up what their splits gain."""
    coded = [feature.is_coded for feature in sample.features]
    binned = [
        _bins_of_states(column, feature.n_focal_sets)
        if is_coded
        else _bins_of_numbers(column, settings.n_bins)
        for column, feature, is_coded in zip(sample.readings.T, sample.features, coded, strict=True)
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
