"""Passes over numbers: their spread, exact quantiles, and a sample of rows.

The first pass counts numbers in fine bins. A quantile is then known to be in one bin, and a second
pass looks at the numbers in that bin alone. Bins that hold very many numbers are parted first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.labels.drawing import draw_rows
from solah.labels.sketches import FineCounts
from solah.labels.words import quantile_ranks
from solah.scale.passes import Pass, Statistics, SummingPass, add_up
from solah.scale.reading import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64
    from solah.labels.sketches import Sketch
    from solah.scale.engines import Engine
    from solah.scale.reading import Reader

_CROWD = 2**22
_UNTIDY = 2**17
_PARTS = 1_024
_MAGNITUDE = np.int64(2**63 - 1)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, each different, with the weight and the number of all that are equal to it."""

    rows: Rows
    digests: UInt64
    counts: Int64


class Spread(Pass["_Spread"]):
    """Counts the numbers of columns in fine bins, and draws a sample of the rows."""

    name = "counting readings"

    def __init__(
        self, reader: Reader, sketches: Mapping[str, Sketch], of_classes: UInt64, bound: int
    ) -> None:
        self.reader, self.sketches = reader, sketches
        self.of_classes, self.bound = of_classes, np.uint64(bound)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        group = self.reader.roles.group
        return self.reader.columns if group is None else (*self.reader.columns, group)

    def begin(self) -> _Spread:
        """Return what is gathered of no rows."""
        return _Spread(
            classes=np.zeros(len(self.reader.classes), dtype=np.int64),
            counts={name: FineCounts.none(sketch) for name, sketch in self.sketches.items()},
            drawn=_Drawn(len(self.reader.attributes)),
        )

    def add(self, gathered: _Spread, table: Table) -> None:
        """Take the next rows of a part in."""
        rows = self.reader.read(table)
        np.add.at(gathered.classes, rows.codes, rows.weights)
        for place, attribute in enumerate(self.reader.attributes):
            if attribute.name in self.sketches:
                gathered.counts[attribute.name].add(
                    rows.readings[:, place], rows.weights, self.sketches[attribute.name]
                )
        digests, groups = self.reader.digests(table, self.of_classes)
        few = np.flatnonzero(digests <= self.bound)
        gathered.drawn.add(_take(replace(rows, groups=groups), few), digests[few])

    def finish(self, gathered: _Spread) -> Statistics:
        """Turn what was gathered into statistics."""
        found: Statistics = {"classes": gathered.classes, **gathered.drawn.statistics()}
        for name, counts in gathered.counts.items():
            found |= {f"weights/{name}": counts.weights, f"places/{name}": counts.places}
        return found

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Merge the statistics of different rows."""
        drawn = _Drawn.of(one)
        drawn.add(*_drawn_rows(other))
        names = [name for name in one if not name.startswith("sample/")]
        counts = add_up({name: one[name] for name in names}, {name: other[name] for name in names})
        return counts | drawn.statistics()

    def class_sums(self, statistics: Statistics) -> Int64:
        """Return the weight of each class."""
        return statistics["classes"]

    def counts(self, statistics: Statistics) -> dict[str, FineCounts]:
        """Return how the numbers of each column are spread."""
        return {
            name: FineCounts(statistics[f"weights/{name}"], statistics[f"places/{name}"])
            for name in self.sketches
        }

    def sample(self, statistics: Statistics) -> Sample:
        """Return the rows that were drawn, by their digests."""
        return Sample(*_drawn_rows(statistics))


@dataclass(frozen=True)
class _Spread:
    classes: Int64
    counts: Mapping[str, FineCounts]
    drawn: _Drawn


class _Drawn:
    """Different rows that were drawn so far."""

    def __init__(self, n_columns: int) -> None:
        nothing = np.empty(0, dtype=np.int64)
        self.rows = Rows(np.empty((0, n_columns)), nothing, nothing)
        self.digests = np.empty(0, dtype=np.uint64)
        self.counts = nothing

    def add(self, rows: Rows, digests: UInt64, counts: Int64 | None = None) -> None:
        """Take rows in, each of which occurred once or as often as given; join equal ones."""
        if not len(digests):
            return
        if counts is None:
            counts = np.ones(len(digests), dtype=np.int64)
        both = rows if not len(self.digests) else _joined(self.rows, rows)
        digests = np.concatenate([self.digests, digests])
        counts = np.concatenate([self.counts, counts])
        drawn = draw_rows(digests, both.weights, len(digests), counts)
        self.rows = replace(_take(both, drawn.rows), weights=drawn.weights)
        self.digests, self.counts = drawn.digests, drawn.counts

    def statistics(self) -> Statistics:
        found = {
            "sample/readings": self.rows.readings,
            "sample/codes": self.rows.codes,
            "sample/weights": self.rows.weights,
            "sample/digests": self.digests,
            "sample/counts": self.counts,
        }
        return found if self.rows.groups is None else found | {"sample/groups": self.rows.groups}

    @classmethod
    def of(cls, statistics: Statistics) -> _Drawn:
        rows, digests, counts = _drawn_rows(statistics)
        drawn = cls(rows.readings.shape[1])
        drawn.rows, drawn.digests, drawn.counts = rows, digests, counts
        return drawn


def _drawn_rows(statistics: Statistics) -> tuple[Rows, UInt64, Int64]:
    names = ("readings", "codes", "weights")
    rows = Rows(*(statistics[f"sample/{name}"] for name in names))
    rows = replace(rows, groups=statistics.get("sample/groups"))
    return rows, statistics["sample/digests"], statistics["sample/counts"]


def _joined(one: Rows, other: Rows) -> Rows:
    groups = None
    if one.groups is not None and other.groups is not None:
        groups = np.concatenate([one.groups, other.groups])
    return Rows(
        np.concatenate([one.readings, other.readings]),
        np.concatenate([one.codes, other.codes]),
        np.concatenate([one.weights, other.weights]),
        groups,
    )


def _take(rows: Rows, places: Int64 | NDArray[np.intp]) -> Rows:
    groups = None if rows.groups is None else rows.groups[places]
    return Rows(rows.readings[places], rows.codes[places], rows.weights[places], groups)


@dataclass(frozen=True)
class Bracket:
    """Where a quantile of a column is: from ``low`` on, and before ``high``.

    ``before`` is the weight of what is below ``low``, ``within`` that of what is between.
    """

    name: str
    low: float
    high: float
    before: int
    within: int

    @property
    def key(self) -> str:
        """A name for what is found there."""
        return f"{self.name}/{self.low!r}/{self.high!r}"

    def holds(self, numbers: Float) -> Int64:
        """Return the places of the numbers that are in it."""
        return np.flatnonzero((numbers >= self.low) & (numbers < self.high))

    @cached_property
    def edges(self) -> Float:
        """Where many parts of it begin; one is left where no number lies between.

        Parts hold equally many floats each, so that whatever is crowded, around zero too, is
        parted in a few passes.
        """
        low, high = _places_of_floats(np.array([self.low, self.high])).tolist()
        n_parts = min(_PARTS, high - low)
        places = [low + part * (high - low) // n_parts for part in range(n_parts)]
        return _floats_at(np.array(places, dtype=np.int64))

    def part(self, edges: Float, counts: Int64, rank: int) -> Bracket:
        """Return the part that holds a rank, given the weights of all parts."""
        sums = self.before + np.cumsum(counts)
        place = int(np.searchsorted(sums, rank, side="left"))
        high = float(edges[place + 1]) if place + 1 < len(edges) else self.high
        within = int(counts[place])
        return Bracket(self.name, float(edges[place]), high, int(sums[place]) - within, within)


def _places_of_floats(numbers: Float) -> Int64:
    """Return the places of floats among all floats; both zeros have the place 0."""
    bits = numbers.view(np.int64)
    return np.where(bits < 0, -(bits & _MAGNITUDE), bits)


def _floats_at(places: Int64) -> Float:
    """Return the floats at places."""
    numbers = np.abs(places).view(np.float64)
    return np.where(places < 0, -numbers, numbers)


class Quantiles:
    """The quantiles of columns, as they are asked for."""

    def __init__(
        self,
        engine: Engine,
        reader: Reader,
        sketches: Mapping[str, Sketch],
        counts: Mapping[str, FineCounts],
    ) -> None:
        self.engine, self.reader = engine, reader
        self.sketches, self.counts = sketches, counts
        self._known: dict[tuple[str, int], float] = {}

    def find(self, wanted: Mapping[str, int]) -> dict[str, Float]:
        """Return, for each column, the numbers that cut its weight into so many equal parts."""
        ranks = {name: self._ranks(name, n_parts) for name, n_parts in wanted.items()}
        open_ = {
            (name, rank): self._bracket(name, rank)
            for name, of_column in ranks.items()
            for rank in of_column
            if (name, rank) not in self._known
        }
        self._look_into({question: b for question, b in open_.items() if b is not None})
        return {
            name: np.array([self._known[name, rank] for rank in of_column])
            for name, of_column in ranks.items()
        }

    def _ranks(self, name: str, n_parts: int) -> list[int]:
        found: list[int] = quantile_ranks(int(self.counts[name].weights.sum()), n_parts).tolist()
        return found

    def _bracket(self, name: str, rank: int) -> Bracket | None:
        """Return the fine bin that holds a rank; None where that is the value already."""
        sketch, counts = self.sketches[name], self.counts[name].weights
        top = math.nextafter(sketch.high, math.inf)
        whole = Bracket(name, sketch.low, top, 0, int(counts.sum()))
        bracket = whole.part(sketch.edges, counts, rank)
        if sketch.is_complete:
            self._known[name, rank] = bracket.low
        elif rank in (1, whole.within):
            self._known[name, rank] = sketch.low if rank == 1 else sketch.high
        return None if (name, rank) in self._known else bracket

    def _look_into(self, open_: dict[tuple[str, int], Bracket]) -> None:
        """Find the values of ranks in their brackets; part those first that hold very many."""
        while crowded := {b for b in open_.values() if self._is_crowded(b)}:
            counts = self._part(sorted(crowded, key=lambda b: b.key))
            open_ = {
                (name, rank): b.part(b.edges, counts[b.key], rank) if b in crowded else b
                for (name, rank), b in open_.items()
            }
        if not open_:
            return
        brackets = sorted(set(open_.values()), key=lambda b: b.key)
        found = self.engine.run(Inside(self.reader.only([b.name for b in brackets]), brackets))
        for (name, rank), b in open_.items():
            sums = b.before + np.cumsum(found[f"{b.key}/weights"])
            values = found[f"{b.key}/values"]
            place = int(np.searchsorted(sums, rank, side="left"))
            self._known[name, rank] = float(values[place]) + 0.0  # which makes -0.0 a 0.0

    def _is_crowded(self, bracket: Bracket) -> bool:
        n_rows = bracket.within * self.reader.weight_unit
        return n_rows > _CROWD and len(bracket.edges) > 1

    def _part(self, brackets: Sequence[Bracket]) -> Statistics:
        return self.engine.run(Parting(self.reader.only([b.name for b in brackets]), brackets))


class Inside(Pass[dict[str, "_Values"]]):
    """Gathers the different numbers in brackets, with their weights."""

    name = "placing words"

    def __init__(self, reader: Reader, brackets: Sequence[Bracket]) -> None:
        self.reader, self.brackets = reader, brackets
        self._places = {one.name: place for place, one in enumerate(reader.attributes)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> dict[str, _Values]:
        """Return what is gathered of no rows."""
        return {bracket.key: _Values() for bracket in self.brackets}

    def add(self, gathered: dict[str, _Values], table: Table) -> None:
        """Take the next rows of a part in."""
        rows = self.reader.read(table)
        for bracket in self.brackets:
            numbers = rows.readings[:, self._places[bracket.name]]
            inside = bracket.holds(numbers)
            if len(inside):
                gathered[bracket.key].add(numbers[inside], rows.weights[inside])

    def finish(self, gathered: dict[str, _Values]) -> Statistics:
        """Turn what was gathered into statistics."""
        found: Statistics = {}
        for key, values in gathered.items():
            values.tidy()
            found |= {f"{key}/values": values.numbers[0], f"{key}/weights": values.weights[0]}
        return found

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Merge the statistics of different rows."""
        both = self.begin()
        for key, values in both.items():
            for part in (one, other):
                values.add(part[f"{key}/values"], part[f"{key}/weights"])
        return self.finish(both)


class _Values:
    """Different numbers and the weight of each, tidied up now and then."""

    def __init__(self) -> None:
        self.numbers: list[Float] = [np.empty(0)]
        self.weights: list[Int64] = [np.empty(0, dtype=np.int64)]
        self._untidy = 0

    def add(self, numbers: Float, weights: Int64) -> None:
        self.numbers.append(numbers)
        self.weights.append(weights)
        self._untidy += len(numbers)
        if self._untidy > _UNTIDY:
            self.tidy()

    def tidy(self) -> None:
        weights = np.concatenate(self.weights)
        distinct, kind = np.unique(np.concatenate(self.numbers), return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sums, kind, weights)
        self.numbers, self.weights, self._untidy = [distinct], [sums], 0


class Parting(SummingPass):
    """Counts the numbers in crowded brackets more finely."""

    name = "placing words"

    def __init__(self, reader: Reader, brackets: Sequence[Bracket]) -> None:
        self.reader, self.brackets = reader, brackets
        self._places = {one.name: place for place, one in enumerate(reader.attributes)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return what is gathered of no rows."""
        return {b.key: np.zeros(len(b.edges), dtype=np.int64) for b in self.brackets}

    def add(self, gathered: Statistics, table: Table) -> None:
        """Take the next rows of a part in."""
        rows = self.reader.read(table)
        for bracket in self.brackets:
            numbers = rows.readings[:, self._places[bracket.name]]
            inside = bracket.holds(numbers)
            bins = np.searchsorted(bracket.edges[1:], numbers[inside], side="right")
            np.add.at(gathered[bracket.key], bins, rows.weights[inside])
