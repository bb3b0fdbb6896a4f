"""Finds the smallest change of two readings that changes the decision.

Two readings of different terms of a sum add up, and between neighbouring knots each is straight:
the decision changes along a line, and the nearest point of it is known in closed form. If readings
meet in one term the line bends; there the point is near the nearest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.explain.counterfactuals.boundaries import Brackets, narrow, parted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.explain.counterfactuals.boundaries import Places, Question
    from solah.explain.counterfactuals.paths import Path
    from solah.kernels.arrays import Float

# Two readings are sought among the features that move the decision most by themselves, and
# those that do so within the shortest path: this many of each.
_MOST_OF_EACH = 6
_WORTH_NARROWING = 4
# Where to look on the path to where straight scores cross, and beyond it, for those that bend.
_ON_THE_PATH = np.array([0, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9, 1, 1 + 1e-9, 1.01, 1.1, 1.3])
_STILL = 1e-9
# Leads that rise less cross nowhere that a float could be.
_FLAT = 1e-100


class Pair(NamedTuple):
    """Two readings that change the decision together.

    Attributes
    ----------
    places : the features
    readings : what is read of them
    size : how far they are, as the crow flies in shares of ranges
    """

    places: tuple[int, int]
    readings: tuple[float, float]
    size: float


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of paths, from one knot to the next; a state is a piece with two equal ends.

    Attributes
    ----------
    places : (n,) the feature
    readings : (n, 2) the readings at both ends
    sizes : (n, 2) how far they are, as shares of the range
    """

    places: Places
    readings: Float
    sizes: Float

    @classmethod
    def of(cls, paths: Sequence[Path]) -> _Pieces:
        """Cut paths at their knots."""
        places, readings, sizes = [], [], []
        for path in paths:
            firsts = slice(None) if path.is_stepwise else slice(None, -1)
            seconds = slice(None) if path.is_stepwise else slice(1, None)
            readings.append(np.column_stack([path.stops[firsts], path.stops[seconds]]))
            sizes.append(np.column_stack([path.stop_sizes[firsts], path.stop_sizes[seconds]]))
            places.append(np.full(len(readings[-1]), path.place, dtype=np.intp))
        return cls(np.concatenate(places), np.concatenate(readings), np.concatenate(sizes))

    @property
    def are_states(self) -> NDArray[np.bool_]:
        """Which pieces are states, between which nothing lies."""
        return np.asarray(self.readings[:, 0] == self.readings[:, 1])

    def at(self, pieces: Places, sizes: Float) -> Float:
        """Return the readings of pieces that are so far."""
        first, last = self.sizes[pieces].T
        start, end = self.readings[pieces].T
        share = np.divide(sizes - first, last - first, out=np.ones_like(sizes), where=last > first)
        # A sum may miss the end by a rounding, and so leave the range.
        return np.asarray(np.where(share >= 1.0, end, start + share * (end - start)))


def find_pair(question: Question) -> Pair | None:
    """Find the smallest change of two readings, in the plane of their shares of ranges."""
    paths = _movers(question)
    if len({path.place for path in paths}) < 2:
        return None
    pieces = _Pieces.of(paths)
    first, second = np.triu_indices(len(pieces.places), 1)
    apart = pieces.places[first] != pieces.places[second]
    first, second = first[apart], second[apart]
    sizes, distance = _nearest_crossings(question, pieces, first, second)
    nearest = np.argsort(distance, kind="stable")[:_WORTH_NARROWING]
    nearest = nearest[np.isfinite(distance[nearest])]
    both = np.column_stack([first[nearest], second[nearest]])
    targets = np.column_stack([pieces.at(both[:, k], sizes[nearest, k]) for k in (0, 1)])
    places, are_states = pieces.places[both], pieces.are_states[both]
    targets = np.where(question.are_whole[places], np.rint(targets), targets)
    pairs = [
        pair
        for moving in (0, 1)
        for pair in _go_with(question, places, targets, are_states, moving)
    ]
    return min(pairs, key=lambda pair: pair.size, default=None)


def _movers(question: Question) -> list[Path]:
    """Choose the paths of the features that move the decision most, or soonest."""
    paths = question.coarse_paths
    lead = question.leads(question.row[None, :])
    if not paths or not lead.size:
        return []
    knots = [path.knots for path in paths]
    points = question.along(paths, knots)
    gains = parted(lead.min() - question.leads(points).min(axis=1), knots)
    farthest: dict[int, float] = {}
    soonest: dict[int, float] = {}
    for path, gain in zip(paths, gains, strict=True):
        rate = gain / np.maximum(path.sizes, _STILL)
        farthest[path.place] = max(farthest.get(path.place, 0.0), float(gain.max(initial=0.0)))
        soonest[path.place] = max(soonest.get(path.place, 0.0), float(rate.max(initial=0.0)))
    chosen = {
        place
        for ranking in (farthest, soonest)
        for place in sorted(ranking, key=lambda place: -ranking[place])[:_MOST_OF_EACH]
        if ranking[place] > 0
    }
    movers = []
    for path, decided in zip(paths, parted(question.decide(points), knots), strict=True):
        if path.is_stepwise:  # without the states that change the decision alone
            keeps = decided == question.decision
            path = replace(path, knots=path.knots[keeps], sizes=path.sizes[keeps])
        if path.place in chosen and len(path.knots):
            movers.append(path)
    return movers


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
    ends = [question.with_readings(pieces.places, pieces.readings[:, end]) for end in (0, 1)]
    alone = [question.leads(points) for points in ends]
    base = question.leads(question.row[None, :])
    meet = np.flatnonzero(question.limits.meet(pieces.places[first], pieces.places[second]))

    def leads_at(i: int, j: int) -> Float:
        """Return the leads at ends of pieces; those of readings that do not meet add up."""
        leads = alone[i][first] + alone[j][second] - base
        if len(meet):
            points, others = ends[i][first[meet]], second[meet]
            points[np.arange(len(meet)), pieces.places[others]] = pieces.readings[others, j]
            leads[meet] = question.leads(points)
        return leads

    corner, along_first, along_second = leads_at(0, 0), leads_at(1, 0), leads_at(0, 1)
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


def _go_with(
    question: Question,
    places: Places,
    targets: Float,
    are_states: NDArray[np.bool_],
    moving: int,
) -> Iterator[Pair]:
    """Put one reading of each pair at its target and go with the other until the decision changes.

    A state is taken at once: the path begins with it.
    """
    rows = np.arange(len(places))
    origins = np.repeat(question.row[None, :], len(places), axis=0)
    origins[rows[:, None], places] = targets
    directions = np.zeros_like(origins)
    goes = ~are_states[:, moving]
    own = places[goes, moving]
    origins[rows[goes], own] = question.row[own]
    directions[rows[goes], own] = targets[goes, moving] - question.row[own]
    lines = Brackets(origins, directions, np.zeros(len(places)), np.ones(len(places)))
    t = np.broadcast_to(_ON_THE_PATH, (len(places), len(_ON_THE_PATH)))
    changed = question.decide(lines.points(t)).reshape(t.shape) != question.decision
    # Where the path begins, only two states may have changed the decision, and no reading alone.
    holds = changed.any(axis=1) & (~changed[:, 0] | are_states.all(axis=1))
    steps = np.argmax(changed, axis=1)
    inside, outside = _ON_THE_PATH[np.maximum(steps - 1, 0)], _ON_THE_PATH[steps]
    chosen = np.flatnonzero(holds)
    narrowed = narrow(question, Brackets(origins, directions, inside, outside).take(chosen))
    points = narrowed.points(narrowed.outside[:, None])
    ends, own = np.arange(len(points)), places[chosen, moving]
    points[ends, own] = question.outward(own, points[ends, own])
    does = question.decide(points) != question.decision  # if scores bend, a whole number may miss
    for (first, second), point in zip(places[chosen[does]].tolist(), points[does], strict=True):
        if question.allows(point):
            readings = float(point[first]), float(point[second])
            size = math.hypot(*map(question.size, (first, second), readings))
            yield Pair((first, second), readings, size)
