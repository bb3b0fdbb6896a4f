"""Finds the smallest change of two readings that changes the decision.

Two readings of different trees that are weighed add up, and between neighbouring knots each is
straight: the decision changes along a line, and the nearest point of it is known in closed form.
Where readings meet in one tree the line bends; there the point is near the nearest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.changing.crossing import Brackets, narrow
from solah.explain.changing.ways import by_way

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.explain.changing.question import Question
    from solah.explain.changing.ways import Way
    from solah.kernels.arrays import Float

    Places = NDArray[np.intp]

# Two readings are sought among the attributes that move the decision most by themselves, and
# those that do so within the shortest way: so many of each.
_MOST_OF_EACH = 6
_WORTH_NARROWING = 4
# Where to look on the way to where straight scores cross, and beyond it, for those that bend.
_ON_THE_WAY = np.array([0, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9, 1, 1 + 1e-9, 1.01, 1.1, 1.3])
_STILL = 1e-9
# Leads that rise less cross nowhere that a float could be.
_FLAT = 1e-100


@dataclass(frozen=True, eq=False)
class Pair:
    """Two readings that change the decision together.

    Attributes
    ----------
    places : the attributes
    point : all readings, those two changed
    size : how far they are, as the crow flies in shares of ranges
    """

    places: tuple[int, int]
    point: Float
    size: float

    @classmethod
    def of(cls, question: Question, places: Places, point: Float) -> Pair:
        """Measure how far two readings are."""
        first, second = places.tolist()
        size = math.hypot(*(question.size(place, float(point[place])) for place in (first, second)))
        return cls((first, second), point, size)

    @property
    def readings(self) -> tuple[float, float]:
        """The two readings."""
        return float(self.point[self.places[0]]), float(self.point[self.places[1]])


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of ways, from one knot to the next; a state is a piece with two equal ends.

    Attributes
    ----------
    places : (n,) the attribute
    readings : (n, 2) the readings at both ends
    sizes : (n, 2) how far they are, as shares of the range
    """

    places: Places
    readings: Float
    sizes: Float

    @classmethod
    def of(cls, ways: Sequence[Way]) -> _Pieces:
        """Cut ways at their knots."""
        places, readings, sizes = [], [], []
        for way in ways:
            firsts = slice(None) if way.is_stepwise else slice(None, -1)
            seconds = slice(None) if way.is_stepwise else slice(1, None)
            readings.append(np.column_stack([way.stops[firsts], way.stops[seconds]]))
            sizes.append(np.column_stack([way.stop_sizes[firsts], way.stop_sizes[seconds]]))
            places.append(np.full(len(readings[-1]), way.place, dtype=np.intp))
        return cls(np.concatenate(places), np.concatenate(readings), np.concatenate(sizes))

    @property
    def are_states(self) -> NDArray[np.bool_]:
        """Which pieces are states, between which nothing lies."""
        return np.asarray(self.readings[:, 0] == self.readings[:, 1])

    def points(self, question: Question, end: int) -> Float:
        """Put the reading at one end of each piece into the row."""
        return question.with_readings(self.places, self.readings[:, end])

    def at(self, pieces: Places, sizes: Float) -> Float:
        """Return the readings of pieces that are so far."""
        first, last = self.sizes[pieces].T
        start, end = self.readings[pieces].T
        share = np.divide(sizes - first, last - first, out=np.ones_like(sizes), where=last > first)
        # A sum may miss the end by a rounding, and so leave the range.
        return np.asarray(np.where(share >= 1.0, end, start + share * (end - start)))


def find_pair(question: Question) -> Pair | None:
    """Find the smallest change of two readings, in the plane of their shares of ranges."""
    if question.probe.beliefs.shape[1] < 2:
        return None
    ways = [way for way in _movers(question) if len(way.knots)]
    if len({way.place for way in ways}) < 2:
        return None
    pieces = _Pieces.of(ways)
    first, second = np.triu_indices(len(pieces.places), 1)
    apart = pieces.places[first] != pieces.places[second]
    first, second = first[apart], second[apart]
    sizes, distance = _nearest_crossings(question, pieces, first, second)
    nearest = np.argsort(distance, kind="stable")[:_WORTH_NARROWING]
    nearest = nearest[np.isfinite(distance[nearest])]
    both = np.column_stack([first[nearest], second[nearest]])
    targets = np.column_stack([pieces.at(both[:, k], sizes[nearest, k]) for k in (0, 1)])
    are_whole = question.are_whole[pieces.places[both]]
    targets = np.where(are_whole, np.rint(targets), targets)
    return _smallest_that_holds(question, pieces.places[both], targets, pieces.are_states[both])


def _movers(question: Question) -> list[Way]:
    """Choose the ways of the attributes that move the decision most, or soonest."""
    if not question.coarse_ways:
        return []
    farthest: dict[int, float] = {}
    soonest: dict[int, float] = {}
    for way, gain in zip(question.coarse_ways, _gains(question), strict=True):
        rate = gain / np.maximum(way.sizes, _STILL)
        farthest[way.place] = max(farthest.get(way.place, 0.0), float(gain.max(initial=0.0)))
        soonest[way.place] = max(soonest.get(way.place, 0.0), float(rate.max(initial=0.0)))
    chosen = {
        place
        for ranking in (farthest, soonest)
        for place in sorted(ranking, key=lambda place: -ranking[place])[:_MOST_OF_EACH]
        if ranking[place] > 0
    }
    decisions = by_way(
        question.probe.decide(question.beliefs_at_coarse_knots), question.coarse_ways
    )
    return [
        _without_flips(way, decided == question.decision)
        for way, decided in zip(question.coarse_ways, decisions, strict=True)
        if way.place in chosen
    ]


def _without_flips(way: Way, keeps: NDArray[np.bool_]) -> Way:
    """Leave out the states that change the decision alone."""
    return replace(way, knots=way.knots[keeps], sizes=way.sizes[keeps]) if way.is_stepwise else way


def _gains(question: Question) -> list[Float]:
    """Return by how much each knot of each way weakens the decision's least lead."""
    lead = _leads(question, question.probe.beliefs).min()
    gains = lead - _leads(question, question.beliefs_at_coarse_knots).min(axis=1)
    return by_way(gains, question.coarse_ways)


def _leads(question: Question, beliefs: Float) -> Float:
    """Return how far the decision is ahead of each other class: ``(n, n_classes - 1)``."""
    scores = question.probe.scores(beliefs)
    others = np.delete(scores, question.decision, axis=1)
    return np.asarray(scores[:, [question.decision]] - others)


def _nearest_crossings(
    question: Question, pieces: _Pieces, first: Places, second: Places
) -> tuple[Float, Float]:
    """Find the nearest point of each pair of pieces at which straight scores cross.

    Returns
    -------
    sizes : ndarray of shape (n_pairs, 2)
        How far both readings move.
    distance : ndarray of shape (n_pairs,)
        Infinite where nothing crosses.
    """
    alone = [_leads(question, question.ask(pieces.points(question, end))) for end in (0, 1)]
    corner, along_first, along_second = (
        _leads_at(question, pieces, alone, (first, second), ends)
        for ends in ((0, 0), (1, 0), (0, 1))
    )
    box = np.stack([pieces.sizes[first], pieces.sizes[second]], axis=1)
    unit = np.array([question.unit(place) for place in pieces.places.tolist()])
    units = np.column_stack([unit[first], unit[second]])
    sizes, distance = np.zeros((len(first), 2)), np.full(len(first), np.inf)
    for rival in range(corner.shape[1]):
        rises = np.column_stack([along_first[:, rival], along_second[:, rival]])
        point = _nearest_in_box(box, corner[:, rival], rises - corner[:, [rival]], units)
        away = np.hypot(*point.T)
        better = np.nan_to_num(away, nan=np.inf) < distance
        sizes[better], distance[better] = point[better], away[better]
    distance[sizes.min(axis=1) <= _STILL] = np.inf
    return sizes, distance


def _leads_at(
    question: Question,
    pieces: _Pieces,
    alone: Sequence[Float],
    pairs: tuple[Places, Places],
    ends: tuple[int, int],
) -> Float:
    """Return the leads of pairs of readings at ends of their pieces.

    Where readings do not meet before they are weighed, what they do to the leads adds up.
    """
    first, second = pairs
    base = _leads(question, question.probe.beliefs)
    leads = alone[ends[0]][first] + alone[ends[1]][second] - base
    meet = np.flatnonzero(question.meet(pieces.places[first], pieces.places[second]))
    if len(meet):
        points = pieces.points(question, ends[0])[first[meet]]
        moved = pieces.readings[second[meet], ends[1]]
        points[np.arange(len(meet)), pieces.places[second[meet]]] = moved
        leads[meet] = _leads(question, question.ask(points))
    return leads


def _nearest_in_box(box: Float, lead: Float, rises: Float, units: Float) -> Float:
    """Find the point of each box that is nearest to the origin and where the lead is gone.

    Parameters
    ----------
    box : (n, 2, 2) from where to where it goes, on each axis
    lead : (n,) the lead at the lower corner
    rises : (n, 2) how it grows towards the other end of each axis
    units : (n, 2) the step of each axis, in which points are counted; 0 where there is none

    Returns
    -------
    points : (n, 2), NaN where the lead is not gone anywhere
    """
    low, high = box[:, :, 0], box[:, :, 1]
    width = high - low
    slope = np.divide(rises, width, out=np.zeros_like(rises), where=width > 0)
    # The lead is gone where slope . point <= bound.
    bound = (slope * low).sum(axis=1) - lead
    steep = (slope**2).sum(axis=1)
    along = np.divide(bound, steep, out=np.zeros_like(bound), where=steep > _FLAT**2)
    candidates = [low, slope * along[:, None]]
    for axis in (0, 1):
        for end in (low, high):
            candidates.append(_on_edge(slope, bound, end[:, axis], axis))
    nearest = _nearest_of(candidates, box, slope, bound)
    stepped = np.flatnonzero(units.any(axis=1))
    if len(stepped):
        nearest[stepped] = _nearest_on_steps(
            nearest[stepped], units[stepped], box[stepped], slope[stepped], bound[stepped]
        )
    return nearest


def _nearest_of(candidates: Sequence[Float], box: Float, slope: Float, bound: Float) -> Float:
    """Choose the nearest of several points ``(n, 2)`` in each box where the lead is gone."""
    low, high = box[:, :, 0], box[:, :, 1]
    points = np.stack(candidates, axis=1)
    slack = 1e-12 * (1.0 + np.abs(bound))
    gone = (slope[:, None, :] * points).sum(axis=2) <= (bound + slack)[:, None]
    edge = 1e-12 * np.maximum(high, 1.0)
    within = ((points >= (low - edge)[:, None]) & (points <= (high + edge)[:, None])).all(axis=2)
    away = np.where(gone & within, np.hypot(points[..., 0], points[..., 1]), np.inf)
    best = np.argmin(away, axis=1)
    rows = np.arange(len(best))
    return np.where(np.isfinite(away[rows, best])[:, None], points[rows, best], np.nan)


def _nearest_on_steps(
    nearest: Float, units: Float, box: Float, slope: Float, bound: Float
) -> Float:
    """Move the nearest points to steps of their axes, one axis to a step beside, then the other.

    The distance grows to both sides of the nearest point, so on one axis with steps the nearest
    step is one of the two beside it.
    """
    candidates = []
    for axis in (0, 1):
        other = 1 - axis
        outward = np.where(slope[:, other] < 0, 1, -1)  # where the lead is gone
        for direction in (-1, 1):
            end = _on_step(nearest[:, axis], units[:, axis], direction)
            point = _on_edge(slope, bound, end, axis)
            point[:, other] = _on_step(point[:, other], units[:, other], outward)
            candidates.append(point)
    return _nearest_of(candidates, box, slope, bound)


def _on_step(sizes: Float, units: Float, direction: int | NDArray[np.intp]) -> Float:
    """Round sizes down (-1) or up (1) to multiples of their unit, where they have one."""
    steps = np.divide(sizes, units, out=np.zeros_like(sizes), where=units > 0)
    whole = np.where(np.asarray(direction) > 0, np.ceil(steps - _STILL), np.floor(steps + _STILL))
    return np.where(units > 0, whole * units, sizes)


def _on_edge(slope: Float, bound: Float, end: Float, axis: int) -> Float:
    """Return where the lead is just gone on the edge of a box."""
    other = 1 - axis
    rest = bound - slope[:, axis] * end
    steep = np.abs(slope[:, other]) > _FLAT
    point = np.empty((len(end), 2))
    point[:, axis] = end
    point[:, other] = np.divide(rest, slope[:, other], out=np.full_like(rest, np.nan), where=steep)
    return point


def _smallest_that_holds(
    question: Question, places: Places, targets: Float, are_states: NDArray[np.bool_]
) -> Pair | None:
    """Put one reading of each pair at its target and go with the other until the decision changes.

    A state is taken at once: the way begins with it.
    """
    pairs = [
        pair
        for moving in (0, 1)
        for pair in _go_with(question, places, targets, are_states, moving)
        if question.allows(pair.point)
    ]
    return min(pairs, key=lambda pair: pair.size, default=None)


def _go_with(
    question: Question,
    places: Places,
    targets: Float,
    are_states: NDArray[np.bool_],
    moving: int,
) -> Iterator[Pair]:
    rows = np.arange(len(places))
    origins = np.repeat(question.row[None, :], len(places), axis=0)
    origins[rows[:, None], places] = targets
    directions = np.zeros_like(origins)
    goes = ~are_states[:, moving]
    own = places[goes, moving]
    origins[rows[goes], own] = question.row[own]
    directions[rows[goes], own] = targets[goes, moving] - question.row[own]
    lines = Brackets(origins, directions, np.zeros(len(places)), np.ones(len(places)))
    t = np.broadcast_to(_ON_THE_WAY, (len(places), len(_ON_THE_WAY)))
    changed = question.decide(lines.points(t)).reshape(t.shape) != question.decision
    # Where the way begins, only two states may have changed the decision, and no reading alone.
    holds = changed.any(axis=1) & (~changed[:, 0] | are_states.all(axis=1))
    steps = np.argmax(changed, axis=1)
    inside, outside = _ON_THE_WAY[np.maximum(steps - 1, 0)], _ON_THE_WAY[steps]
    chosen = np.flatnonzero(holds)
    pieces = Brackets(origins, directions, inside, outside).take(chosen)
    narrowed = narrow(question.probe, question.decision, pieces)
    points = narrowed.points(narrowed.outside[:, None])
    rows, own = np.arange(len(points)), places[chosen, moving]
    points[rows, own] = question.outward(own, points[rows, own])
    changed_there = question.decide(points) != question.decision
    for line, point in zip(chosen[changed_there].tolist(), points[changed_there], strict=True):
        yield Pair.of(question, places[line], point)
