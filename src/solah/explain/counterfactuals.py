"""The smallest changes of one or two values that flip a prediction, and safe ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import DataError
from solah.explain.flips import Flip, FlipSearch
from solah.explain.paths import N_ROUNDINGS, Paths, rounded_outward
from solah.explain.rule_text import spell_value
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature


@dataclass(frozen=True)
class Move:
    """One value, and the value that it has to become.

    Attributes
    ----------
    feature : the feature's name
    before : the value
    after : the nearest value that flips the prediction
    rounded : a value of few digits, hardly farther, that flips it too
    size : the distance as a share of the feature's range; 1 for a category without order
    """

    feature: str
    before: State
    after: State
    rounded: State
    size: float

    def __str__(self) -> str:
        return f"{self.feature} {spell_value(self.before)} → {spell_value(self.rounded)}"


@dataclass(frozen=True)
class Change:
    """Moves of one value or two that flip the prediction.

    Attributes
    ----------
    moves : the moves
    decision : the prediction after them
    """

    moves: tuple[Move, ...]
    decision: State

    @property
    def size(self) -> float:
        """Its distance: the moves as shares of ranges, two of them as sides of a right angle."""
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
    """The range of one value without a change of the prediction, all others kept.

    Attributes
    ----------
    feature : the feature's name
    value : the value
    low, high : the ends of the range, of a continuous feature
    below, above : the prediction beyond each end; None where the allowed range ends
    categories : the categories that keep the prediction, of a categorical feature
    """

    feature: str
    value: State
    low: float | None = None
    high: float | None = None
    below: State | None = None
    above: State | None = None
    categories: tuple[State, ...] = ()

    def __str__(self) -> str:
        if self.categories:
            return f"{self.feature}: {', '.join(map(spell, self.categories))}"
        return f"{self.feature}: from {spell_value(self.low)} to {spell_value(self.high)}"


@dataclass(frozen=True)
class Changes:
    """The changes that flip one prediction.

    Attributes
    ----------
    decision : the prediction
    one : for each feature that can flip it alone the smallest change, the smallest first
    two : the smallest change of two values that was found, if it is smaller than any of one;
        else None
    safe_ranges : the safe range of each known value, in the order of the features
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
            "safe_ranges": [
                {**vars(one), "categories": list(one.categories)} for one in self.safe_ranges
            ],
        }


class ChangeFinder:
    """Finds the smallest changes that flip predictions.

    Parameters
    ----------
    model : Model
        A classifier.
    ranges : mapping of feature name to (low, high), default=None
        Limits for the values of continuous features; by default those of the training rows.
    fixed : collection of str, default=()
        Features that cannot change.
    columns : collection of str, default=()
        Other columns of the rows, which ``ranges`` and ``fixed`` may name as well.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.explain.counterfactuals import ChangeFinder
    >>> from solah.model.encode import encode
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> row = encode(wine.table, model.features)[1]
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
        if model.target.task is not Task.CLASSIFICATION:
            raise DataError(
                f"{model.target.name!r} is a number; changes that flip a prediction can only be "
                "found for classes"
            )
        self._model, self._classes = model, model.target.classes
        self._limits = Paths(model, ranges, fixed, columns)

    def of_row(self, row: Float) -> Changes:
        """Find the changes that flip the prediction for a row.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            As :func:`solah.model.encode.encode` returns it.

        Returns
        -------
        changes : Changes
        """
        search = FlipSearch(self._model, self._limits, row)
        flips = search.flips()
        nearest: dict[int, float] = {}
        for path, flip in zip(search.paths, flips, strict=True):
            if flip.outside is not None:
                known, here = nearest.get(path.place, np.inf), row[path.place]
                nearest[path.place] = min(flip.outside, known, key=lambda x: abs(x - here))
        alone = (self._change(search, (place,), (one,)) for place, one in nearest.items())
        one = sorted(alone, key=lambda change: change.size)
        pair, two = search.pair(), None
        if pair is not None and pair.size < (one[0].size if one else np.inf):
            two = self._change(search, pair.places, pair.values)
        safe_ranges = tuple(self._safe_ranges(search, flips))
        return Changes(self._classes[search.decision], tuple(one), two, safe_ranges)

    def _change(
        self, search: FlipSearch, places: tuple[int, ...], values: tuple[float, ...]
    ) -> Change:
        """Describe a change of one value or two, with few digits if these flip the prediction."""
        options = self._roundings(search, places, values)
        decisions = search.decide(_points(search.row, places, options))
        does = decisions == decisions[-1]  # the last has all digits
        for k, place in enumerate(places if len(places) > 1 else ()):
            alone = _points(search.row, (place,), [(one[k],) for one in options])
            does &= search.decide(alone) == search.decision
        rounded = options[int(np.argmax(does))] if does.any() else values
        moves = []
        for place, after, short in zip(places, values, rounded, strict=True):
            feature = self._model.features[place]
            numbers = float(search.row[place]), after, short
            old, new, few = (_as_read(feature, number) for number in numbers)
            moves.append(Move(feature.name, old, new, few, search.size(place, after)))
        return Change(tuple(moves), self._classes[int(decisions[-1])])

    def _roundings(
        self, search: FlipSearch, places: tuple[int, ...], values: tuple[float, ...]
    ) -> list[tuple[float, ...]]:
        """Round values outward with more and more digits; the last are the values."""
        columns = []
        for place, value in zip(places, values, strict=True):
            before, column = float(search.row[place]), [value] * N_ROUNDINGS
            if self._model.features[place].is_continuous:
                low, high = self._limits.allowed(place, before)
                whole, span = bool(search.are_whole[place]), self._limits.span(place)
                rounded = rounded_outward(value, upward=value > before, span=span, whole=whole)
                column = [min(max(number, low), high) for number in rounded]
            columns.append(column)
        return [*zip(*columns, strict=True), values]

    def _safe_ranges(self, search: FlipSearch, flips: list[Flip]) -> Iterator[SafeRange]:
        by_place: dict[int, dict[int, int]] = {}
        for i, path in enumerate(search.paths):
            by_place.setdefault(path.place, {})[path.direction] = i
        for place, along in by_place.items():
            feature, value = self._model.features[place], float(search.row[place])
            if feature.is_continuous:
                low, high = (
                    flips[along[direction]] if direction in along else Flip(value)
                    for direction in (-1, 1)
                )
                below, above = (
                    None if one.outside is None else self._classes[one.decision]
                    for one in (low, high)
                )
                yield SafeRange(feature.name, value, low.inside, high.inside, below, above)
            else:
                stops, decisions = search.paths[along[0]].stops, search.decisions[along[0]]
                kept = sorted(stops[decisions == search.decision].tolist())
                categories = tuple(_as_read(feature, number) for number in kept)
                yield SafeRange(feature.name, _as_read(feature, value), categories=categories)


def _points(row: Float, places: tuple[int, ...], options: Sequence[tuple[float, ...]]) -> Float:
    """Put each of several choices of values into a row."""
    points = np.repeat(row[None, :], len(options), axis=0)
    points[:, list(places)] = options
    return points


def _as_read(feature: Feature, number: float) -> State:
    """Return the value that a number encodes: itself, or a category."""
    if feature.is_continuous or number not in feature.peaks:
        return number
    return feature.categories[feature.peaks.index(number)]
