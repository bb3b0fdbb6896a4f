"""Finds where predictions flip if values of a row are others: along single values, and for pairs.

Between neighbouring words the scores of an additive model are straight in a value. If a decision
holds at both ends, it holds in between, and the first flip is found exactly. If stages feed stages,
paths are cut finer before they are searched. All decisions are those of the program, to the last
bit.

Two values of different terms add up, and each is straight between neighbouring stops. So the
decision flips along a line, and the nearest point of the line is known in closed form. If values
meet in one term the line bends, and the point found is near the nearest.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from solah.model.evaluate import run, trace
from solah.model.program import AxisKind, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.explain.paths import Path, Paths
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target
    from solah.model.program import Program

    Places = NDArray[np.intp]

# If stages feed stages that feed stages, a bend of one output bends the next.
_BENDING_ROUNDS = 2
_MOST_ROUNDS = 100
_CLOSE = 1e-13
# Where to look, around the point where straight scores would cross: close, and closer.
_AROUND = np.array([-1e-3, -1e-6, -1e-9, -1e-12, -1e-14, 0.0, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3])
_LEAST = 1e-300
# Pairs are sought among the features that move the decision most by themselves, and those that do
# so within the shortest path: this many of each.
_MOST_OF_EACH = 6
_WORTH_NARROWING = 4
# Where to look on the path to where straight scores cross, and beyond it, for those that bend.
_ON_THE_PATH = np.array([0, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9, 1, 1 + 1e-9, 1.01, 1.1, 1.3])
_STILL = 1e-9
# Leads that rise less cross nowhere that a float could be.
_FLAT = 1e-100
_T = TypeVar("_T", bound=np.generic)


def compared_scores(program: Program, target: Target, outputs: Float) -> Float:
    """Return the scores that a decision compares; piecewise linear for additive models."""
    compared = outputs / np.array(target.thresholds) if target.thresholds else outputs
    if program.stages[-1].link is Link.SHARES:
        return compared
    return np.asarray(np.log(np.maximum(compared, _LEAST)))


class Flip(NamedTuple):
    """The nearest flip along a path.

    Attributes
    ----------
    inside : the last value before, or the end of the path; a whole number if all are, as is the
        next
    outside : the nearest value that flips the decision; None if none does
    decision : the index of the decision there
    """

    inside: float
    outside: float | None = None
    decision: int = -1


class Pair(NamedTuple):
    """Two values that flip the decision together.

    Attributes
    ----------
    places : the features
    values : the values
    size : their distance, in shares of ranges
    """

    places: tuple[int, ...]
    values: tuple[float, ...]
    size: float


class FlipSearch:
    """Searches for flips of the decision on one row.

    Parameters
    ----------
    model : Model
    limits : Paths
    row : ndarray of shape (n_features,)

    Attributes
    ----------
    decision : the index of the decision on the row
    are_whole : (n_features,) which values can only become other whole numbers
    paths : the paths of the values
    """

    def __init__(self, model: Model, limits: Paths, row: Float) -> None:
        self.row, self.limits = row, limits
        self._program, self._target = model.program, model.target
        self.decision = int(self.decide(row[None, :])[0])
        self.are_whole = np.array([limits.is_whole(*one) for one in enumerate(row.tolist())], bool)
        self._coarse = limits.of_row(row, finer=False)
        self.paths = self._bent(limits.of_row(row)) if limits.is_fine else self._coarse

    def decide(self, points: Float) -> Places:
        """Return the indices of the decisions on points."""
        return self._target.decide(run(self._program, points))

    def size(self, place: int, value: float) -> float:
        """Return the distance of another value, as a share of the range."""
        return float(self.limits.sizes(place, float(self.row[place]), np.array([value]))[0])

    def with_values(self, places: Places, values: Float) -> Float:
        """Return copies of the row, in each of which one value is another."""
        points = np.repeat(self.row[None, :], len(places), axis=0)
        points[np.arange(len(points)), places] = values
        return points

    def _leads(self, points: Float) -> Float:
        """Return how far the decision is ahead of each other class: ``(n, n_classes - 1)``."""
        outputs = run(self._program, points)
        scores = compared_scores(self._program, self._target, outputs)
        return np.asarray(scores[:, [self.decision]] - np.delete(scores, self.decision, axis=1))

    def _outward(self, places: Places, values: Float) -> Float:
        """Round values away from those of the row where they must be whole numbers."""
        rounded = np.where(values > self.row[places], np.ceil(values), np.floor(values))
        return np.where(self.are_whole[places], rounded, values)

    def _along(self, paths: Sequence[Path]) -> Float:
        """Return the points of all stops, path after path."""
        places = np.repeat([path.place for path in paths], [len(path.stops) for path in paths])
        return self.with_values(places, np.concatenate([path.stops for path in paths]))

    def _bent(self, paths: list[Path]) -> list[Path]:
        """Add the values at which an output described by words passes from one word to the next."""
        axes = [axis for axis in self._program.axes if axis.kind is AxisKind.ONE_BELIEF]
        for _ in range(_BENDING_ROUNDS if paths and axes else 0):
            steps = trace(self._program, self._along(paths))
            outputs = [_by_path(steps[one.source].outputs[:, one.output], paths) for one in axes]
            for i, path in enumerate(paths):
                if path.direction:
                    found = [
                        _crossings(path.stops, of_paths[i], axis.peaks)
                        for axis, of_paths in zip(axes, outputs, strict=True)
                    ]
                    paths[i] = self.limits.with_stops(path, np.concatenate(found))
        return paths

    @cached_property
    def decisions(self) -> list[Places]:
        """The indices of the decisions at the stops of each path."""
        return _by_path(self.decide(self._along(self.paths)), self.paths) if self.paths else []

    def flips(self) -> list[Flip]:
        """Find the nearest flip along each path."""
        found: list[Flip] = []
        open_: list[int] = []
        for path, decisions in zip(self.paths, self.decisions, strict=True):
            changed = np.flatnonzero(decisions != self.decision)
            if not len(changed):
                found.append(Flip(float(path.stops[-1])))
                continue
            step = int(changed[0])
            # A value that is not allowed goes to the end of its range at once.
            inside = path.stops[step - 1] if step else self.row[path.place]
            if path.direction and step:
                open_.append(len(found))
            found.append(Flip(float(inside), float(path.stops[step]), int(decisions[step])))
        if not open_:
            return found
        places = np.array([self.paths[i].place for i in open_])
        inner, outer = np.array([found[i][:2] for i in open_], dtype=np.float64).T
        origins = self.with_values(places, np.zeros(len(places)))
        directions = np.zeros_like(origins)
        directions[np.arange(len(places)), places] = 1.0
        inside, outside = self._narrowed(origins, directions, inner, outer)
        first = self._outward(places, outside)
        last = np.where(self.are_whole[places], first - np.sign(outer - inner), inside)
        decided = self.decide(self.with_values(places, first))
        for i, *flip in zip(open_, last.tolist(), first.tolist(), decided.tolist(), strict=True):
            if flip[-1] != self.decision:  # if scores bend, a whole number may miss
                found[i] = Flip(*flip)
        return found

    def _narrowed(
        self, origins: Float, directions: Float, inside: Float, outside: Float
    ) -> tuple[Float, Float]:
        """Narrow pieces of lines until their ends are as close as floats need.

        A point on a line is ``origins + t * directions``; the decision holds at t = ``inside``, and
        is another at ``outside``. Each round looks around the crossing of straight scores, which is
        exact where they are straight, and in the middle, which halves the piece in any case.
        """
        inside, outside = inside.copy(), outside.copy()
        for _ in range(_MOST_ROUNDS):
            size = np.maximum(np.abs(inside), np.abs(outside))
            wide = np.flatnonzero(np.abs(outside - inside) > _CLOSE * size)
            if not len(wide):
                break
            lines, line = (origins[wide], directions[wide]), np.arange(len(wide))
            ends = np.column_stack([inside[wide], outside[wide]])
            leads = self._leads(_on_lines(*lines, ends)).reshape(*ends.shape, -1)
            lead, falling = leads[:, 0], leads[:, 0] - leads[:, 1]
            # Straight leads are gone after this share of the piece.
            crossing = np.divide(lead, falling, out=np.ones_like(lead), where=falling > 0)
            share = np.clip(crossing.min(axis=1, initial=1.0), 0.0, 1.0)[:, None]
            shares = np.column_stack([share + _AROUND, np.full(len(wide), 0.5)])
            shares = np.sort(np.clip(shares, 0.0, 1.0), axis=1)
            t = ends[:, :1] + shares * (ends[:, 1:] - ends[:, :1])
            changed = (self.decide(_on_lines(*lines, t)) != self.decision).reshape(t.shape)
            t = np.column_stack([ends[:, 0], t, ends[:, 1]])
            first = 1 + np.argmax(np.column_stack([changed, np.ones(len(wide))]), axis=1)
            inside[wide], outside[wide] = t[line, first - 1], t[line, first]
        return inside, outside

    # --- pairs ---------------------------------------------------------------------------------

    def pair(self) -> Pair | None:
        """Find the smallest change of two values, in the plane of their shares of ranges."""
        paths = self._movers()
        if len({path.place for path in paths}) < 2:
            return None
        pieces = _Pieces(self, paths)
        first, second = np.triu_indices(len(pieces.places), 1)
        apart = pieces.places[first] != pieces.places[second]
        both = np.stack([first[apart], second[apart]], axis=1)
        sizes, distance = self._nearest_crossings(pieces, both)
        nearest = np.argsort(distance, kind="stable")[:_WORTH_NARROWING]
        nearest = nearest[np.isfinite(distance[nearest])]
        both = np.concatenate([both[nearest], both[nearest, ::-1]])
        sizes = np.concatenate([sizes[nearest], sizes[nearest, ::-1]])
        return min(self._corrected(pieces, both, sizes), key=lambda one: one.size, default=None)

    def _movers(self) -> list[Path]:
        """Choose the paths of the features that move the decision most, or soonest."""
        paths, lead = self._coarse, self._leads(self.row[None, :])
        if not paths or not lead.size:
            return []
        points = self._along(paths)
        gains = _by_path(lead.min() - self._leads(points).min(axis=1), paths)
        farthest: dict[int, float] = {}
        soonest: dict[int, float] = {}
        for path, gain in zip(paths, gains, strict=True):
            sizes = self.limits.sizes(path.place, float(self.row[path.place]), path.stops)
            rate = gain / np.maximum(sizes, _STILL)
            for ranking, most in ((farthest, gain), (soonest, rate)):
                known = ranking.get(path.place, 0.0)
                ranking[path.place] = max(known, float(most.max(initial=0.0)))
        chosen = {
            place
            for ranking in (farthest, soonest)
            for place in sorted(ranking, key=lambda place: -ranking[place])[:_MOST_OF_EACH]
            if ranking[place] > 0
        }
        movers = []
        for path, decided in zip(paths, _by_path(self.decide(points), paths), strict=True):
            if not path.direction:  # without the categories that flip the decision alone
                keeps = decided == self.decision
                path = replace(path, stops=path.stops[keeps])
            if path.place in chosen and len(path.stops) > 1:
                movers.append(path)
        return movers

    def _nearest_crossings(self, pieces: _Pieces, both: Places) -> tuple[Float, Float]:
        """Find the nearest point of each pair of pieces at which straight scores cross.

        Returns
        -------
        sizes : ndarray of shape (n_pairs, 2)
            How far both values move.
        distance : ndarray of shape (n_pairs,)
            Infinite where nothing crosses.
        """
        first, second = both.T
        ends = [self.with_values(pieces.places, pieces.values[:, end]) for end in (0, 1)]
        alone, base = list(map(self._leads, ends)), self._leads(self.row[None, :])
        meet = np.flatnonzero(self.limits.meet[pieces.places[first], pieces.places[second]])

        def leads_at(i: int, j: int) -> Float:
            """Return the leads at ends of pieces; those of values that do not meet add up."""
            leads = alone[i][first] + alone[j][second] - base
            if len(meet):
                points, others = ends[i][first[meet]], second[meet]
                points[np.arange(len(meet)), pieces.places[others]] = pieces.values[others, j]
                leads[meet] = self._leads(points)
            return np.asarray(leads)

        corner, along_first, along_second = leads_at(0, 0), leads_at(1, 0), leads_at(0, 1)
        box, units = pieces.sizes[both], pieces.units[both]
        sizes, distance = np.zeros((len(both), 2)), np.full(len(both), np.inf)
        for rival in range(corner.shape[1]):
            rises = np.column_stack([along_first[:, rival], along_second[:, rival]])
            point = _nearest_in_box(box, corner[:, rival], rises - corner[:, [rival]], units)
            away = np.hypot(*point.T)
            better = np.nan_to_num(away, nan=np.inf) < distance
            sizes[better], distance[better] = point[better], away[better]
        distance[sizes.min(axis=1) <= _STILL] = np.inf
        return sizes, distance

    def _corrected(self, pieces: _Pieces, both: Places, sizes: Float) -> Iterator[Pair]:
        """Keep the first value of each pair, and move the second until the decision flips.

        A category is taken at once: the path begins with it.
        """
        places, are_states = pieces.places[both], pieces.are_states[both]
        targets = np.column_stack([pieces.at(both[:, k], sizes[:, k]) for k in (0, 1)])
        targets = np.where(self.are_whole[places], np.rint(targets), targets)
        rows, (own, moving) = np.arange(len(both)), places.T
        origins = self.with_values(own, targets[:, 0])
        origins[rows, moving] = np.where(are_states[:, 1], targets[:, 1], self.row[moving])
        directions = np.zeros_like(origins)
        directions[rows, moving] = targets[:, 1] - origins[rows, moving]
        t = np.broadcast_to(_ON_THE_PATH, (len(both), len(_ON_THE_PATH)))
        changed = (self.decide(_on_lines(origins, directions, t)) != self.decision).reshape(t.shape)
        # Where the path begins, only two categories may have flipped it, and no value alone.
        holds = changed.any(axis=1) & (~changed[:, 0] | are_states.all(axis=1))
        steps = np.argmax(changed, axis=1)[holds]
        origins, directions, places, moving = (
            one[holds] for one in (origins, directions, places, moving)
        )
        ends = _ON_THE_PATH[np.maximum(steps - 1, 0)], _ON_THE_PATH[steps]
        _, outside = self._narrowed(origins, directions, *ends)
        points, rows = origins + outside[:, None] * directions, np.arange(len(origins))
        points[rows, moving] = self._outward(moving, points[rows, moving])
        flips = self.decide(points) != self.decision  # if scores bend, a whole number may miss
        for of_pair, point in zip(np.sort(places[flips]).tolist(), points[flips], strict=True):
            values = tuple(point[of_pair].tolist())
            ranges = (self.limits.allowed(place, self.row[place]) for place in of_pair)
            if all(low <= one <= high for one, (low, high) in zip(values, ranges, strict=True)):
                yield Pair(tuple(of_pair), values, math.hypot(*map(self.size, of_pair, values)))


class _Pieces:
    """Pieces of paths, from one stop to the next; a category is a piece with two equal ends.

    Attributes
    ----------
    places : (n,) the feature
    values : (n, 2) the values at both ends
    sizes : (n, 2) their distances, as shares of the range
    units : (n,) the size of a step between whole numbers; 0 for other values
    """

    def __init__(self, search: FlipSearch, paths: Sequence[Path]) -> None:
        ends = [
            np.column_stack([path.stops[:-1] if path.direction else path.stops[1:], path.stops[1:]])
            for path in paths
        ]
        limits, row = search.limits, search.row
        self.values = np.concatenate(ends)
        self.places = np.repeat([path.place for path in paths], list(map(len, ends)))
        self.sizes = np.concatenate(
            [
                limits.sizes(path.place, float(row[path.place]), own)
                for path, own in zip(paths, ends, strict=True)
            ]
        )
        spans = np.array([limits.span(place) for place in self.places.tolist()])
        self.units = np.where(search.are_whole[self.places], 1.0 / spans, 0.0)
        self.are_states = self.values[:, 0] == self.values[:, 1]

    def at(self, pieces: Places, sizes: Float) -> Float:
        """Return the values of pieces at some distances."""
        first, last = self.sizes[pieces].T
        start, end = self.values[pieces].T
        share = np.divide(sizes - first, last - first, out=np.ones_like(sizes), where=last > first)
        # A sum may miss the end by a rounding, and so leave the range.
        return np.asarray(np.where(share >= 1.0, end, start + share * (end - start)))


def _by_path(numbers: NDArray[_T], paths: Sequence[Path]) -> list[NDArray[_T]]:
    """Split numbers of all stops, path after path."""
    return np.split(numbers, np.cumsum([len(path.stops) for path in paths])[:-1])


def _on_lines(origins: Float, directions: Float, t: Float) -> Float:
    """Return points of lines at ``t`` ``(n, m)``: ``(n * m, n_features)``."""
    points = origins[:, None, :] + t[:, :, None] * directions[:, None, :]
    return np.asarray(points.reshape(-1, origins.shape[1]))


def _crossings(stops: Float, outputs: Float, peaks: Float) -> Float:
    """Return the values at which outputs, straight between stops, cross peaks."""
    before, after = outputs[:-1, None] - peaks, outputs[1:, None] - peaks
    crossed = np.nonzero(before * after < 0)
    share, piece = before[crossed] / (before - after)[crossed], crossed[0]
    return np.asarray(stops[piece] + share * (stops[piece + 1] - stops[piece]))


def _nearest_in_box(box: Float, lead: Float, rises: Float, units: Float) -> Float:
    """Find the point of each box that is nearest to the origin and where the lead is gone.

    Parameters
    ----------
    box : (n, 2, 2) the ends of each axis
    lead : (n,) the lead at the lower corner
    rises : (n, 2) how much it grows up to the other end of each axis
    units : (n, 2) the step of each axis, in which points are counted; 0 for no steps

    Returns
    -------
    points : (n, 2), NaN where the lead is not gone anywhere
    """
    low, width = box[:, :, 0], box[:, :, 1] - box[:, :, 0]
    slope = np.divide(rises, width, out=np.zeros_like(rises), where=width > 0)
    # The lead is gone where slope . point <= bound.
    bound = (slope * low).sum(axis=1) - lead
    steep = (slope**2).sum(axis=1)
    along = np.divide(bound, steep, out=np.zeros_like(bound), where=steep > _FLAT**2)
    edges = [_on_edge(slope, bound, box[:, k, end], k) for k in (0, 1) for end in (0, 1)]
    nearest = _nearest_of([low, slope * along[:, None], *edges], box, slope, bound)
    if not units.any():
        return nearest
    # The distance grows to both sides of the nearest point, so on one axis with steps the nearest
    # step is one of the two beside it.
    steps = []
    for axis in (0, 1):
        outward = np.where(slope[:, 1 - axis] < 0, 1, -1)  # where the lead is gone
        for direction in (-1, 1):
            end = _on_step(nearest[:, axis], units[:, axis], direction)
            point = _on_edge(slope, bound, end, axis)
            point[:, 1 - axis] = _on_step(point[:, 1 - axis], units[:, 1 - axis], outward)
            steps.append(point)
    stepped = _nearest_of(steps, box, slope, bound)
    return np.where(units.any(axis=1, keepdims=True), stepped, nearest)


def _nearest_of(candidates: Sequence[Float], box: Float, slope: Float, bound: Float) -> Float:
    """Choose the nearest of several points ``(n, 2)`` in each box where the lead is gone."""
    low, high, points = box[:, None, :, 0], box[:, None, :, 1], np.stack(candidates, axis=1)
    slack = 1e-12 * (1.0 + np.abs(bound))
    gone = (slope[:, None, :] * points).sum(axis=2) <= (bound + slack)[:, None]
    edge = 1e-12 * np.maximum(high, 1.0)
    within = ((points >= low - edge) & (points <= high + edge)).all(axis=2)
    away = np.where(gone & within, np.hypot(points[..., 0], points[..., 1]), np.inf)
    best, rows = np.argmin(away, axis=1), np.arange(len(away))
    return np.where(np.isfinite(away[rows, best])[:, None], points[rows, best], np.nan)


def _on_step(sizes: Float, units: Float, direction: int | NDArray[np.intp]) -> Float:
    """Round sizes down (-1) or up (1) to multiples of their unit, where they have one."""
    steps = np.divide(sizes, units, out=np.zeros_like(sizes), where=units > 0)
    whole = np.where(np.asarray(direction) > 0, np.ceil(steps - _STILL), np.floor(steps + _STILL))
    return np.where(units > 0, whole * units, sizes)


def _on_edge(slope: Float, bound: Float, end: Float, axis: int) -> Float:
    """Return where the lead is just gone on the edge of a box."""
    other = 1 - axis
    rest, steep = bound - slope[:, axis] * end, np.abs(slope[:, other]) > _FLAT
    point = np.empty((len(end), 2))
    point[:, axis] = end
    point[:, other] = np.divide(rest, slope[:, other], out=np.full_like(rest, np.nan), where=steep)
    return point
