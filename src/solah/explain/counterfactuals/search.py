"""Finds what would change the decision on a row: one reading or two, and the safe range of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import DataError
from solah.explain.counterfactuals.boundaries import Boundary, Question, find_boundaries
from solah.explain.counterfactuals.pairs import find_pair
from solah.explain.counterfactuals.paths import N_ROUNDINGS, Paths, rounded_outward
from solah.explain.rule_text import spell_value
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model


@dataclass(frozen=True)
class Move:
    """One reading, and what it would have to become.

    Attributes
    ----------
    attribute : the attribute's name
    before : the reading
    after : the nearest reading that does it
    rounded : a reading of few digits, hardly farther, that does it too
    size : the path as a share of the attribute's range; 1 for a state without order
    """

    attribute: str
    before: State
    after: State
    rounded: State
    size: float

    def __str__(self) -> str:
        return f"{self.attribute} from {spell_value(self.before)} to {spell_value(self.rounded)}"


@dataclass(frozen=True)
class Change:
    """Moves of one reading or two that change the decision.

    Attributes
    ----------
    moves : what has to move
    decision : what would be decided
    """

    moves: tuple[Move, ...]
    decision: State

    @property
    def size(self) -> float:
        """How far it is: the moves as shares of ranges, two of them as sides of a right angle."""
        return math.hypot(*(move.size for move in self.moves))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "decision": self.decision,
            "size": self.size,
            "moves": [dict(vars(move)) for move in self.moves],
            "text": str(self),
        }

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.moves))}: {spell(self.decision)}"


@dataclass(frozen=True)
class SafeRange:
    """How far one reading may move, all others kept, with the decision unchanged.

    Attributes
    ----------
    attribute : the attribute's name
    reading : what was read
    low, high : the ends of the interval around the reading, of an attribute that is measured
    below, above : what is decided beyond each end; None where the allowed range ends
    states : the states that keep the decision, of an attribute that has states
    """

    attribute: str
    reading: State
    low: float | None = None
    high: float | None = None
    below: State | None = None
    above: State | None = None
    states: tuple[State, ...] = ()

    def __str__(self) -> str:
        if self.states:
            return f"{self.attribute}: {', '.join(map(spell, self.states))}"
        return f"{self.attribute}: from {spell_value(self.low)} to {spell_value(self.high)}"


@dataclass(frozen=True)
class Changes:
    """What would change one decision.

    Attributes
    ----------
    decision : what is decided
    one : for each attribute that can change it alone the smallest change, the smallest first
    two : the smallest change of two readings together that was found, if it is smaller than any
        of one; else None
    safe_ranges : how far each known reading may move, in the order of the attributes
    """

    decision: State
    one: tuple[Change, ...]
    two: Change | None
    safe_ranges: tuple[SafeRange, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "one": [change.to_dict() for change in self.one],
            "two": None if self.two is None else self.two.to_dict(),
            "safe_ranges": [{**vars(one), "states": list(one.states)} for one in self.safe_ranges],
        }


class ChangeFinder:
    """Finds what would change decisions.

    Parameters
    ----------
    model : Model
        A model that decides between classes.
    ranges : mapping of attribute name to (low, high), default=None
        Where measured readings may go; by default as far as the training rows went.
    fixed : collection of str, default=()
        Attributes that cannot change.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.explain.counterfactuals import ChangeFinder
    >>> from solah.model.encode import encode
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.goal).model_
    >>> row = encode(wine.table, model.attributes)[1]
    >>> found = ChangeFinder(model, fixed=["flavanoids"]).of_row(row)
    >>> print(found.one[0])
    proline 1050 → 630: class_1
    >>> print(found.safe_ranges[0])
    alcohol: from 11.03 to 14.83
    """

    def __init__(
        self,
        model: Model,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
        columns: Collection[str] = (),
    ) -> None:
        if model.goal.task is not Task.CLASSIFICATION:
            raise DataError(
                f"{model.goal.name!r} is a number; what would change a decision can only be found "
                "for a choice between classes"
            )
        self._model = model
        self._limits = Paths(model, ranges, fixed, columns)

    def of_row(self, row: Float) -> Changes:
        """Find what would change the decision on a row.

        Parameters
        ----------
        row : ndarray of shape (n_attributes,)
            As :func:`solah.model.encode.encode` returns it.

        Returns
        -------
        changes : Changes
        """
        return _Answer(self._model, self._limits, row).changes()


class _Answer:
    """Puts together what would change the decision on one row."""

    def __init__(self, model: Model, limits: Paths, row: Float) -> None:
        self._attributes, self._states = model.attributes, model.goal.states
        self._row, self._limits = row, limits
        self._question = Question(model, limits, row)
        self._boundaries = find_boundaries(self._question)

    def changes(self) -> Changes:
        one = sorted(self._one(), key=lambda change: change.size)
        return Changes(
            decision=self._states[self._question.decision],
            one=tuple(one),
            two=self._two(one[0].size if one else np.inf),
            safe_ranges=tuple(self._safe_ranges()),
        )

    def _one(self) -> Iterator[Change]:
        """Describe the nearest change of each attribute alone."""
        nearest: dict[int, float] = {}
        for path, boundary in zip(self._question.paths, self._boundaries, strict=True):
            if boundary.outside is not None:
                here, known = self._row[path.place], nearest.get(path.place, np.inf)
                nearest[path.place] = min(boundary.outside, known, key=lambda one: abs(one - here))
        for place, reading in nearest.items():
            options = self._roundings((place,), (reading,))
            decisions = self._question.decide(self._points((place,), options))
            # The last is the reading with all its digits, so that there is always one that does it.
            rounded = options[int(np.argmax(decisions == decisions[-1]))]
            yield self._change((place,), (reading,), rounded, int(decisions[-1]))

    def _two(self, smallest: float) -> Change | None:
        """Describe the smallest change of two readings, if it is smaller than any of one."""
        pair = find_pair(self._question)
        if pair is None or pair.size >= smallest:
            return None
        options = self._roundings(pair.places, pair.readings)
        together = self._question.decide(self._points(pair.places, options))
        does = together == together[-1]
        for k, place in enumerate(pair.places):
            alone = self._points((place,), [(readings[k],) for readings in options])
            does &= self._question.decide(alone) == self._question.decision
        rounded = options[int(np.argmax(does))] if does.any() else pair.readings
        return self._change(pair.places, pair.readings, rounded, int(together[-1]))

    def _points(self, places: tuple[int, ...], options: Sequence[tuple[float, ...]]) -> Float:
        """Put each of several choices of readings into the row."""
        points = np.repeat(self._row[None, :], len(options), axis=0)
        points[:, list(places)] = options
        return points

    def _change(
        self,
        places: tuple[int, ...],
        readings: tuple[float, ...],
        rounded: tuple[float, ...],
        decision: int,
    ) -> Change:
        moves = []
        for place, after, spelled in zip(places, readings, rounded, strict=True):
            attribute = self._attributes[place]
            moves.append(
                Move(
                    attribute=attribute.name,
                    before=_as_read(attribute, float(self._row[place])),
                    after=_as_read(attribute, after),
                    rounded=_as_read(attribute, spelled),
                    size=self._question.size(place, after),
                )
            )
        return Change(tuple(moves), self._states[decision])

    def _roundings(
        self, places: tuple[int, ...], readings: tuple[float, ...]
    ) -> list[tuple[float, ...]]:
        """Round readings outward with more and more digits; the last are the readings."""
        rounded = [self._rounded(*both) for both in zip(places, readings, strict=True)]
        return [*zip(*rounded, strict=True), readings]

    def _rounded(self, place: int, reading: float) -> list[float]:
        attribute, before = self._attributes[place], float(self._row[place])
        if not attribute.is_continuous:
            return [reading] * N_ROUNDINGS
        low, high = self._limits.allowed(place, before)
        rounded = rounded_outward(
            reading,
            upward=reading > before,
            span=self._limits.span(place),
            whole=bool(self._question.are_whole[place]),
        )
        return [min(max(number, low), high) for number in rounded]

    def _safe_ranges(self) -> Iterator[SafeRange]:
        by_place: dict[int, list[int]] = {}
        for i, path in enumerate(self._question.paths):
            by_place.setdefault(path.place, []).append(i)
        for place, along in by_place.items():
            attribute, reading = self._attributes[place], float(self._row[place])
            if attribute.is_continuous:
                ends = {self._question.paths[i].direction: self._boundaries[i] for i in along}
                low, high = (ends.get(direction, Boundary(reading)) for direction in (-1, 1))
                below, above = (
                    None if end.outside is None else self._states[end.decision]
                    for end in (low, high)
                )
                yield SafeRange(attribute.name, reading, low.inside, high.inside, below, above)
                continue
            path, decisions = self._question.paths[along[0]], self._question.decisions[along[0]]
            kept = path.knots[decisions == self._question.decision].tolist()
            states = tuple(_as_read(attribute, number) for number in sorted([reading, *kept]))
            yield SafeRange(attribute.name, _as_read(attribute, reading), states=states)


def _as_read(attribute: Attribute, number: float) -> State:
    """Return what a number stands for: itself, or a state of the attribute."""
    if attribute.is_continuous or number not in attribute.peaks:
        return number
    return attribute.states[attribute.peaks.index(number)]
