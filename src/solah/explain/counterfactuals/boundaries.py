"""Asks what would be decided if readings of a row were others, and where the decision changes.

Between neighbouring words the scores of a sum are straight in a reading. If a decision holds at
both ends, it holds in between, and the first change is found exactly. If stages feed stages, paths
are cut finer before they are searched. All decisions are those of the program, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from solah.model.evaluate import run, trace
from solah.model.program import AxisKind, Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.explain.counterfactuals.paths import Path, Paths
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target
    from solah.model.program import Program

    Places = NDArray[np.intp]

# If stages feed stages that feed stages, what bends one output bends the next.
_BENDING_ROUNDS = 2
_MOST_ROUNDS = 100
_CLOSE = 1e-13
# Where to look, around the place where straight scores would cross: close, and closer.
_AROUND = np.array([-1e-3, -1e-6, -1e-9, -1e-12, -1e-14, 0.0, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3])
_LEAST = 1e-300
_T = TypeVar("_T", bound=np.generic)


def compared_scores(program: Program, target: Target, beliefs: Float) -> Float:
    """Return what a decision compares, which is straight between words where terms add up."""
    compared = beliefs / np.array(target.thresholds) if target.thresholds else beliefs
    if program.stages[-1].link is Link.SHARES:
        return compared
    return np.asarray(np.log(np.maximum(compared, _LEAST)))


class Question:
    """Asks what would be decided if some readings of a row were others.

    Parameters
    ----------
    model : what decides
    limits : what is allowed
    row : (n_features,) the readings

    Attributes
    ----------
    decision : the place of the class that is decided for
    are_whole : (n_features,) which readings can only become other whole numbers
    paths : the paths that the readings may go
    coarse_paths : the same, with no more knots than the words have
    """

    def __init__(self, model: Model, limits: Paths, row: Float) -> None:
        self.row, self.limits = row, limits
        self._program, self._target = model.program, model.target
        self.decision = int(self.decide(row[None, :])[0])
        self.are_whole = np.array([limits.is_whole(*one) for one in enumerate(row.tolist())], bool)
        self.coarse_paths = limits.of_row(row, finer=False)
        self.paths = self._bent(limits.of_row(row)) if limits.is_fine else self.coarse_paths

    def decide(self, points: Float) -> Places:
        """Return the places of the classes that would be decided for."""
        return self._target.decide(run(self._program, points))

    def scores(self, points: Float) -> Float:
        """Return what would be compared."""
        return compared_scores(self._program, self._target, run(self._program, points))

    def leads(self, points: Float) -> Float:
        """Return how far the decision is ahead of each other class: ``(n, n_classes - 1)``."""
        scores = self.scores(points)
        others = np.delete(scores, self.decision, axis=1)
        return np.asarray(scores[:, [self.decision]] - others)

    def with_readings(self, places: Places, readings: Float) -> Float:
        """Make points of the row: in each one reading is another."""
        points = np.repeat(self.row[None, :], len(places), axis=0)
        points[np.arange(len(points)), places] = readings
        return points

    def outward(self, places: Places, readings: Float) -> Float:
        """Round readings away from those of the row where only whole numbers can be read."""
        rounded = np.where(readings > self.row[places], np.ceil(readings), np.floor(readings))
        return np.where(self.are_whole[places], rounded, readings)

    def unit(self, place: int) -> float:
        """Return the size of a step between whole numbers; 0 if any number can be read."""
        return 1.0 / self.limits.span(place) if self.are_whole[place] else 0.0

    def along(self, paths: Sequence[Path], stops: Sequence[Float]) -> Float:
        """Make points of the readings along paths, one path after the other."""
        places = np.repeat([path.place for path in paths], [len(one) for one in stops])
        return self.with_readings(places, np.concatenate(stops))

    def size(self, place: int, reading: float) -> float:
        """Return how far another reading is, as a share of the range."""
        here = float(self.row[place])
        return float(self.limits.sizes(place, here, np.array([reading]))[0])

    def allows(self, point: Float) -> bool:
        """Whether all readings that moved are where they may be."""
        moved = np.flatnonzero((point != self.row) & ~np.isnan(self.row)).tolist()
        ends = [self.limits.allowed(place, self.row[place]) for place in moved]
        return all(
            low <= point[place] <= high for place, (low, high) in zip(moved, ends, strict=True)
        )

    @cached_property
    def decisions(self) -> list[Places]:
        """What would be decided at the knots of each path: the classes' places."""
        if not self.paths:
            return []
        knots = [path.knots for path in self.paths]
        return parted(self.decide(self.along(self.paths, knots)), knots)

    def _bent(self, paths: list[Path]) -> list[Path]:
        """Add the values at which an output described by words passes from one word to the next."""
        axes = [axis for axis in self._program.axes if axis.kind is AxisKind.ONE_BELIEF]
        for _ in range(_BENDING_ROUNDS if paths and axes else 0):
            stops = [path.stops for path in paths]
            steps = trace(self._program, self.along(paths, stops))
            beliefs = [parted(steps[one.source].outputs[:, one.output], stops) for one in axes]
            for i, path in enumerate(paths):
                if not path.is_stepwise:
                    found = [
                        _crossings(stops[i], of_paths[i], axis.peaks)
                        for axis, of_paths in zip(axes, beliefs, strict=True)
                    ]
                    new = np.setdiff1d(np.concatenate(found), stops[i])
                    paths[i] = self.limits.with_knots(path, new, float(self.row[path.place]))
        return paths


def parted(numbers: NDArray[_T], stops: Sequence[Float]) -> list[NDArray[_T]]:
    """Part what belongs to the stops of paths, one path after the other."""
    return np.split(numbers, np.cumsum([len(one) for one in stops])[:-1])


def _crossings(readings: Float, values: Float, peaks: Float) -> Float:
    """Return the readings at which values, straight between readings, cross peaks."""
    before, after = values[:-1, None] - peaks, values[1:, None] - peaks
    crossed = np.nonzero(before * after < 0)
    share = before[crossed] / (before - after)[crossed]
    piece = crossed[0]
    return np.asarray(readings[piece] + share * (readings[piece + 1] - readings[piece]))


@dataclass(frozen=True, eq=False)
class Brackets:
    """Pieces of lines through rows, with the decision kept at one end and changed at the other.

    A point on a line is ``origins + t * directions``.

    Attributes
    ----------
    origins, directions : (n, n_features) the lines
    inside : (n,) the last t that is known to keep the decision
    outside : (n,) the first t that is known to change it
    """

    origins: Float
    directions: Float
    inside: Float
    outside: Float

    def points(self, t: Float) -> Float:
        """Return points of each line at ``t`` ``(n, m)``: ``(n * m, n_features)``."""
        points = self.origins[:, None, :] + t[:, :, None] * self.directions[:, None, :]
        return np.asarray(points.reshape(-1, self.origins.shape[1]))

    def take(self, lines: Places) -> Brackets:
        """Return some of the pieces."""
        return Brackets(
            self.origins[lines], self.directions[lines], self.inside[lines], self.outside[lines]
        )


def narrow(question: Question, brackets: Brackets) -> Brackets:
    """Narrow pieces until their ends are as close as floats need.

    Each round looks around the crossing of straight scores, which is exact where they are
    straight, and in the middle, which halves the piece in any case.
    """
    inside, outside = brackets.inside.copy(), brackets.outside.copy()
    for _ in range(_MOST_ROUNDS):
        size = np.maximum(np.abs(inside), np.abs(outside))
        wide = np.flatnonzero(np.abs(outside - inside) > _CLOSE * size)
        if not len(wide):
            break
        left = replace(brackets, inside=inside, outside=outside).take(wide)
        t = np.column_stack([left.inside, _places_to_look(question, left), left.outside])
        changed = np.zeros(t.shape, dtype=bool)
        decisions = question.decide(left.points(t[:, 1:-1]))
        changed[:, 1:-1] = (decisions != question.decision).reshape(len(wide), -1)
        changed[:, -1] = True
        first, line = np.argmax(changed, axis=1), np.arange(len(wide))
        inside[wide], outside[wide] = t[line, first - 1], t[line, first]
    return replace(brackets, inside=inside, outside=outside)


def _places_to_look(question: Question, brackets: Brackets) -> Float:
    """Choose where to look on each piece ``(n, m)``, in the order from inside to outside."""
    ends = np.column_stack([brackets.inside, brackets.outside])
    leads = question.leads(brackets.points(ends)).reshape(*ends.shape, -1)
    lead, falling = leads[:, 0], leads[:, 0] - leads[:, 1]
    # Straight leads are gone after this share of the path.
    crossing = np.divide(lead, falling, out=np.ones_like(lead), where=falling > 0)
    share = np.clip(crossing.min(axis=1, initial=1.0), 0.0, 1.0)
    shares = np.column_stack([share[:, None] + _AROUND, np.full(len(ends), 0.5)])
    shares = np.sort(np.clip(shares, 0.0, 1.0), axis=1)
    return np.asarray(ends[:, :1] + shares * (ends[:, 1:] - ends[:, :1]))


@dataclass(frozen=True)
class Boundary:
    """Where the decision changes along a path.

    Attributes
    ----------
    inside : the last reading before, or the end of the path if nothing changes; a whole number
        where only those can be read, as is the next
    outside : the nearest reading that changes the decision; None if none does
    decision : the place of what is decided there
    """

    inside: float
    outside: float | None = None
    decision: int = -1


def find_boundaries(question: Question) -> list[Boundary]:
    """Find where the decision changes along each path."""
    found: list[Boundary] = []
    places, pieces = [], []
    for path, decisions in zip(question.paths, question.decisions, strict=True):
        changed = np.flatnonzero(decisions != question.decision)
        if not len(changed):
            found.append(Boundary(float(path.knots[-1])))
            continue
        step = int(changed[0])
        inside = float(path.knots[step - 1] if step else question.row[path.place])
        outside = float(path.knots[step])
        found.append(Boundary(inside, outside, int(decisions[step])))
        # A reading that is not allowed goes to the end of its range at once.
        if not path.is_stepwise and (step or outside != path.start):
            places.append(path.place)
            pieces.append((len(found) - 1, inside, outside))
    if pieces:
        at, rows = np.array(places), np.arange(len(places))
        origins = question.with_readings(at, np.zeros(len(at)))
        directions = np.zeros_like(origins)
        directions[rows, at] = 1.0
        _, inner, outer = (np.array(ends, dtype=np.float64) for ends in zip(*pieces, strict=True))
        lines = narrow(question, Brackets(origins, directions, inner, outer))
        first = question.outward(at, lines.outside)
        last = np.where(question.are_whole[at], first - np.sign(outer - inner), lines.inside)
        decided = question.decide(question.with_readings(at, first))
        columns = (last.tolist(), first.tolist(), decided.tolist())
        for (i, _, _), *boundary in zip(pieces, *columns, strict=True):
            if boundary[-1] != question.decision:  # if scores bend, a whole number may miss
                found[i] = Boundary(*boundary)
    return found
