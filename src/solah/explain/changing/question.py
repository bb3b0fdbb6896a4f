"""Evaluates what would be decided along the ways of a row's readings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.changing.probing import Probe
from solah.explain.changing.ways import by_way

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.explain.changing.ways import Way, Ways
    from solah.kernels.arrays import Float
    from solah.model.document import Model

# Where trees feed trees that feed trees, what bends one belief bends the next.
_BENDING_ROUNDS = 2


class Question:
    """Asks what would be decided if some readings of a row were others.

    Parameters
    ----------
    model : what decides
    ways : what is allowed
    row : (n_attributes,) the readings

    Attributes
    ----------
    decision : the place of the class that is decided for
    are_whole : (n_attributes,) which readings can only become other whole numbers
    ways : the ways that the readings may go
    coarse_ways : the same, with no more knots than the words have
    """

    def __init__(self, model: Model, ways: Ways, row: Float) -> None:
        self.row = row
        self._limits = ways
        self.are_whole = np.array([ways.is_whole(*one) for one in enumerate(row.tolist())], bool)
        self.probe = Probe(model, row[None, :])
        self.ways = ways.of_row(row)
        self.coarse_ways = self.ways
        if ways.is_fine:
            self.ways = self._bent(self.ways) if self.ways else []
            self.coarse_ways = ways.of_row(row, finer=False)
        self.decision = int(self.probe.decide(self.probe.beliefs)[0])

    def ask(self, points: Float) -> Float:
        """Return what would be believed of other readings ``(n_points, n_attributes)``."""
        return self.probe.ask(np.zeros(len(points), dtype=np.intp), points)

    def decide(self, points: Float) -> NDArray[np.intp]:
        """Return the places of the classes that would be decided for."""
        return self.probe.decide(self.ask(points))

    def with_readings(self, places: NDArray[np.intp], readings: Float) -> Float:
        """Make points of the row: in each one reading is another."""
        points = np.repeat(self.row[None, :], len(places), axis=0)
        points[np.arange(len(points)), places] = readings
        return points

    def outward(self, places: NDArray[np.intp], readings: Float) -> Float:
        """Round readings away from those of the row where only whole numbers can be read."""
        rounded = np.where(readings > self.row[places], np.ceil(readings), np.floor(readings))
        return np.where(self.are_whole[places], rounded, readings)

    def unit(self, place: int) -> float:
        """Return the size of a step between whole numbers; 0 if any number can be read."""
        return 1.0 / self._limits.span(place) if self.are_whole[place] else 0.0

    def goes(self, way: int, step: int) -> bool:
        """Tell whether all readings before a knot of a way are allowed, down to the one before it.

        States have nothing between them, and neither have a reading that is not allowed and the
        end of the range that it must come into.
        """
        chosen = self.ways[way]
        begins_elsewhere = step == 0 and chosen.knots[0] == chosen.start
        return not (chosen.is_stepwise or begins_elsewhere)

    def size(self, place: int, reading: float) -> float:
        """Return how far another reading is, as a share of the range."""
        here = float(self.row[place])
        return float(self._limits.sizes(place, here, np.array([reading]))[0])

    def meet(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which pairs of attributes meet in a tree before anything is weighed."""
        if self._limits.is_fine:  # trees feed trees, so all may meet
            return np.ones(len(first), dtype=bool)
        return np.asarray(self._limits.homes[first] == self._limits.homes[second])

    def allows(self, point: Float) -> bool:
        """Tell whether all readings that moved are where they may be."""
        moved = np.flatnonzero((point != self.row) & ~np.isnan(self.row)).tolist()
        ends = [self._limits.allowed(place, self.row[place]) for place in moved]
        return all(
            low <= point[place] <= high for place, (low, high) in zip(moved, ends, strict=True)
        )

    @cached_property
    def decisions_at_knots(self) -> list[NDArray[np.intp]]:
        """What would be decided at the knots of each way: the classes' places."""
        if not self.ways:
            return []
        return by_way(self.probe.decide(self._beliefs_at_knots), self.ways)

    @cached_property
    def beliefs_at_coarse_knots(self) -> Float:
        """What would be believed at the knots of all coarse ways, one after the other."""
        is_same = self.coarse_ways is self.ways
        return self._beliefs_at_knots if is_same else self._along(self.coarse_ways)

    @cached_property
    def _beliefs_at_knots(self) -> Float:
        return self._along(self.ways)

    def _bent(self, ways: list[Way]) -> list[Way]:
        """Add the readings at which a belief that words describe passes from one to the next."""
        trees = self.probe.model.trees
        words = [word for tree in trees for word in tree.inputs if word.tree is not None]
        for _ in range(_BENDING_ROUNDS):
            stops = [way.stops for way in ways]
            places = np.repeat([way.place for way in ways], [len(one) for one in stops])
            points = self.with_readings(places, np.concatenate(stops))
            signals = self.probe.signals(np.zeros(len(points), dtype=np.intp), points)
            ends = np.cumsum([len(one) for one in stops])[:-1]
            values = [np.split(signals[word.origin][:, word.place], ends) for word in words]
            ways = [
                self._with_crossings(
                    way,
                    [
                        (of_ways[i], np.array(word.peaks))
                        for word, of_ways in zip(words, values, strict=True)
                    ],
                )
                for i, way in enumerate(ways)
            ]
        return ways

    def _with_crossings(self, way: Way, beliefs: list[tuple[Float, Float]]) -> Way:
        """Add to a way where beliefs along its stops cross peaks."""
        if way.is_stepwise or not beliefs:
            return way
        found = [_crossings(way.stops, values, peaks) for values, peaks in beliefs]
        new = np.setdiff1d(np.concatenate(found), way.stops)
        return self._limits.with_knots(way, new, float(self.row[way.place]))

    def _along(self, ways: list[Way]) -> Float:
        places = np.repeat([way.place for way in ways], [len(way.knots) for way in ways])
        return self.ask(self.with_readings(places, np.concatenate([way.knots for way in ways])))


def _crossings(readings: Float, values: Float, peaks: Float) -> Float:
    """Return the readings at which values, straight between readings, cross peaks."""
    before, after = values[:-1, None] - peaks, values[1:, None] - peaks
    crossed = np.nonzero(before * after < 0)
    share = before[crossed] / (before - after)[crossed]
    piece = crossed[0]
    return np.asarray(readings[piece] + share * (readings[piece + 1] - readings[piece]))
