"""The words that an attribute begins with: knots over its numbers, or its states.

A knot is a place where one word has all the membership; between two knots memberships go over
linearly. Many knots are placed at first; the budget joins and leaves out what is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.model.limits import LEAST_GAP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.cuts import Cut, SplitGains
    from solah.learn.recipe import WordSettings
    from solah.learn.sample import Sample
    from solah.model import Attribute

# Knots that differ by less, as a share of the range of all, are the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The first words of an attribute.

    Attributes
    ----------
    place : the attribute's place among the sample's
    attribute : the attribute as it came
    knots : (n,) where each word has all the membership; empty for states without an order
    cuts : the knots before which ramps of learnt cuts begin, with what the cuts gain
    is_fixed : whether the words were given by hand, and stay
    cores : of words by hand that have cores, the knots of each
    """

    place: int
    attribute: Attribute
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
        return len(self.knots) or self.attribute.n_focal_sets

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
    """Place the first words of attributes; those that never change have none.

    Parameters
    ----------
    sample : Sample
    settings : WordSettings
    gains : what splits gain; None where all words are placed blindly
    kept : the places of the attributes that are described
    """
    found = (_place(sample, int(place), settings, gains) for place in kept)
    return [one for one in found if one is not None]


def _place(
    sample: Sample, place: int, settings: WordSettings, gains: SplitGains | None
) -> Vocabulary | None:
    attribute, column = sample.attributes[place], sample.readings[:, place]
    known = ~np.isnan(column)
    if attribute.is_coded:
        if len(np.unique(column[known])) < 2:
            return None
        n_states = attribute.n_focal_sets if attribute.is_ordered else 0
        return Vocabulary(place, attribute, np.arange(n_states, dtype=np.float64))
    order = np.argsort(column[known], kind="stable")
    numbers, weights = column[known][order], sample.weights[known][order]
    if not len(numbers) or numbers[-1] - numbers[0] < LEAST_GAP:
        return None
    if (kept := settings.kept.get(attribute.name)) is not None:
        words = range(len(kept.words))
        cores = tuple(tuple(np.flatnonzero(np.equal(kept.set_words, k)).tolist()) for k in words)
        return Vocabulary(place, kept, np.array(kept.peaks), is_fixed=True, cores=cores)
    if attribute.name in settings.by_hand:
        peaks = np.array(attribute.peaks if not attribute.is_continuous else attribute.peaks[::2])
        return Vocabulary(place, attribute, peaks, is_fixed=True) if len(peaks) > 1 else None
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
    return Vocabulary(place, attribute, placed, inner)


def _blind(numbers: Float, weights: Float, settings: WordSettings) -> Float:
    if settings.kind == "uniform":
        return np.linspace(numbers[0], numbers[-1], settings.n_knots)
    sums = np.cumsum(weights)
    ranks = np.linspace(settings.outermost, 1 - settings.outermost, settings.n_knots) * sums[-1]
    return np.unique(numbers[np.minimum(np.searchsorted(sums, ranks), len(sums) - 1)])


def _far_from(
    knots: list[float], cuts: list[Cut], blind: Float, numbers: Float, apart: float
) -> list[float]:
    """Leave out blind knots that stand on a ramp, or too near to one."""

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
