"""Finds what changes the decision on a row: one reading or two, and the leeway of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.explain.changing.boundaries import Boundary, find_boundaries
from solah.explain.changing.pairing import find_pair
from solah.explain.changing.question import Question
from solah.explain.changing.rounding import N_ROUNDINGS, as_read, rounded_outward
from solah.explain.changing.values import Change, Changes, Leeway, Move
from solah.explain.changing.ways import Ways
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model


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
    >>> from solah import SelfOrganisedHierarchyClassifier, datasets
    >>> from solah.explain.changing import ChangeFinder
    >>> from solah.model.encode import encode
    >>> wine = datasets.load("wine")
    >>> model = SelfOrganisedHierarchyClassifier(max_rules=12).fit(wine.table, wine.goal).model_
    >>> row = encode(wine.table, model.attributes)[1]
    >>> found = ChangeFinder(model, fixed=["flavanoids"]).of_row(row)
    >>> print(found.one[0])
    proline from 1050 to 630 → class_1
    >>> print(found.leeways[0])
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
        self._ways = Ways(model, ranges, fixed, columns)

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
        question = Question(self._model, self._ways, row)
        return _Answer(self._model, self._ways, question).changes()


class _Answer:
    """Puts together what would change the decision on one row."""

    def __init__(self, model: Model, ways: Ways, question: Question) -> None:
        self._attributes, self._states = model.attributes, model.goal.states
        self._limits, self._question = ways, question

    def changes(self) -> Changes:
        boundaries = find_boundaries(self._question)
        one = sorted(self._described(self._nearest(boundaries)), key=lambda change: change.size)
        return Changes(
            decision=self._states[self._question.decision],
            one=tuple(one),
            two=self._two(one[0].size if one else np.inf),
            leeways=tuple(self._leeways(boundaries)),
        )

    def _two(self, smallest: float) -> Change | None:
        """Describe the smallest change of two readings, if it is smaller than any of one."""
        pair = find_pair(self._question)
        if pair is None or pair.size >= smallest:
            return None
        options = self._roundings(pair.places, pair.readings)
        together = self._question.decide(self._points(pair.places, options))
        does = together == together[-1]
        for k, place in enumerate(pair.places):
            one = [(readings[k],) for readings in options]
            does &= self._question.decide(self._points((place,), one)) == self._question.decision
        rounded = options[int(np.argmax(does))] if does.any() else pair.readings
        return self._change(pair.places, pair.readings, rounded, int(together[-1]))

    def _nearest(self, boundaries: Sequence[Boundary]) -> dict[int, float]:
        """Return the nearest reading of each attribute that changes the decision by itself."""
        nearest: dict[int, float] = {}
        for way, boundary in zip(self._question.ways, boundaries, strict=True):
            if boundary.outside is None:
                continue
            here = float(self._question.row[way.place])
            known = nearest.get(way.place, np.inf)
            nearest[way.place] = min(boundary.outside, known, key=lambda one: abs(one - here))
        return nearest

    def _described(self, nearest: Mapping[int, float]) -> list[Change]:
        """Describe changes of one reading each, with readings of few digits that do it too."""
        if not nearest:
            return []
        options = [self._roundings((place,), (reading,)) for place, reading in nearest.items()]
        points = [
            self._points((place,), roundings)
            for place, roundings in zip(nearest, options, strict=True)
        ]
        decisions = self._question.decide(np.concatenate(points)).reshape(len(nearest), -1)
        # The last is the reading with all its digits, so there is always one that does it.
        first = np.argmax(decisions == decisions[:, -1:], axis=1).tolist()
        return [
            self._change((place,), (reading,), options[i][first[i]], int(decisions[i, -1]))
            for i, (place, reading) in enumerate(nearest.items())
        ]

    def _points(self, places: tuple[int, ...], options: Sequence[tuple[float, ...]]) -> Float:
        """Put each of several choices of readings into the row."""
        points = np.repeat(self._question.row[None, :], len(options), axis=0)
        points[:, list(places)] = options
        return points

    def _change(
        self,
        places: tuple[int, ...],
        readings: tuple[float, ...],
        rounded: tuple[float, ...],
        decision: int,
    ) -> Change:
        moves = map(self._move, places, readings, rounded)
        return Change(tuple(moves), self._states[decision])

    def _roundings(
        self, places: tuple[int, ...], readings: tuple[float, ...]
    ) -> list[tuple[float, ...]]:
        """Round readings outward with more and more digits; the last are the readings."""
        rounded = [self._rounded(*both) for both in zip(places, readings, strict=True)]
        return [*zip(*rounded, strict=False), readings]

    def _rounded(self, place: int, reading: float) -> list[float]:
        attribute, before = self._attributes[place], float(self._question.row[place])
        if not attribute.is_continuous:
            return [reading] * N_ROUNDINGS
        low, high = self._limits.allowed(place, before)
        return [
            min(max(number, low), high)
            for number in rounded_outward(
                reading,
                upward=reading > before,
                span=self._limits.span(place),
                whole=bool(self._question.are_whole[place]),
            )
        ]

    def _move(self, place: int, reading: float, rounded: float) -> Move:
        attribute, before = self._attributes[place], float(self._question.row[place])
        return Move(
            attribute=attribute.name,
            before=as_read(attribute, before),
            after=as_read(attribute, reading),
            rounded=as_read(attribute, rounded),
            size=self._question.size(place, reading),
        )

    def _leeways(self, boundaries: Sequence[Boundary]) -> Iterator[Leeway]:
        by_place: dict[int, list[int]] = {}
        for i, way in enumerate(self._question.ways):
            by_place.setdefault(way.place, []).append(i)
        for place, along in by_place.items():
            if self._attributes[place].is_continuous:
                ends = {self._question.ways[i].direction: boundaries[i] for i in along}
                yield self._interval(place, ends)
            else:
                yield self._kept_states(place, along[0])

    def _interval(self, place: int, ends: Mapping[int, Boundary]) -> Leeway:
        reading = float(self._question.row[place])
        low, high = (ends.get(direction, Boundary(reading)) for direction in (-1, 1))
        return Leeway(
            attribute=self._attributes[place].name,
            reading=reading,
            low=low.inside,
            high=high.inside,
            below=self._beyond(low),
            above=self._beyond(high),
        )

    def _beyond(self, boundary: Boundary) -> State | None:
        return None if boundary.outside is None else self._states[boundary.decision]

    def _kept_states(self, place: int, i: int) -> Leeway:
        attribute, reading = self._attributes[place], float(self._question.row[place])
        keeps = self._question.decisions_at_knots[i] == self._question.decision
        kept = sorted([reading, *self._question.ways[i].knots[keeps].tolist()])
        return Leeway(
            attribute=attribute.name,
            reading=as_read(attribute, reading),
            states=tuple(as_read(attribute, number) for number in kept),
        )
