"""Rows in files, frames or a Dask collection, as the additive learner asks for them.

The second pass draws a sample, as ``solah.labels.drawing`` draws rows in memory: the different rows
whose digests are smallest, each with the weight of all that equal it. Further passes sum up what
the learner asks for. Both give what the same rows give in memory, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import MAX_CATEGORIES, Column, Kind, Table, join_tables, states_of
from solah.data.cells import encode_states
from solah.data.digests import LARGEST
from solah.data.spelling import spell
from solah.kernels.arrays import MASS_BITS
from solah.labels.describe import Description, describe_numbers, describe_states, label_table
from solah.labels.drawing import digest_rows, digest_within, draw_rows
from solah.labels.targets import ClassTarget, TargetFacts, digest_classes, integer_weights
from solah.labels.words import plan_words
from solah.learn.memory import MemoryRows
from solah.learn.rows import BlockPass, RowBlock, Statistics, add_up
from solah.model.encode import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import State
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.drawing import Limits
    from solah.model import Feature, Target
    from solah.scale.scanning import Scan
    from solah.scale.survey import ColumnRoles, Facts

SAMPLES = 3
"""A sample of rare classes begins with this many times as many rows."""


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads tables as numbers.

    Attributes
    ----------
    roles : the columns by their role
    features : the features to read, described
    classes : the target's values
    of_classes : (n_classes,) the weight of each class's rows
    weight_unit : the weight of an integer weight of 1
    """

    roles: ColumnRoles
    features: tuple[Feature, ...]
    classes: tuple[State, ...]
    of_classes: Float
    weight_unit: float

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        last = () if self.roles.weight is None else (self.roles.weight,)
        return (*(one.name for one in self.features), self.roles.target, *last)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that are numbers."""
        return tuple(one.name for one in self.features if not one.is_coded)

    def codes_and_weights(self, table: Table) -> tuple[Int64, Int64]:
        """Return the class of each row, and its weight as an integer."""
        codes = encode_states(table.column(self.roles.target), self.classes).astype(np.int64)
        weights = self.roles.weights(table) * self.of_classes[codes]
        return codes, np.rint(weights / self.weight_unit).astype(np.int64)


@dataclass(eq=False)
class Drawn:
    """Rows that are drawn, with the weight of all that equal each of them.

    Attributes
    ----------
    readings : (n_rows, n_features) as ``encode`` gives them
    codes, weights, digests, counts, groups : (n_rows,) as those of ``MemoryRows``
    """

    readings: Float
    codes: Int64
    weights: Int64
    digests: UInt64
    counts: Float
    groups: UInt64 | None

    @classmethod
    def joined(cls, parts: Sequence[Drawn], n_rows: int) -> Drawn:
        """Join equal rows; keep those with the smallest digests."""
        fields = ("readings", "codes", "weights", "digests", "counts")
        readings, codes, weights, digests, counts = (
            np.concatenate([getattr(part, name) for part in parts]) for name in fields
        )
        groups = None
        if parts[0].groups is not None:
            groups = np.concatenate([part.groups for part in parts if part.groups is not None])
        drawn = draw_rows(digests, weights, n_rows, counts)
        rows = drawn.rows
        groups = None if groups is None else groups[rows]
        return cls(readings[rows], codes[rows], drawn.weights, drawn.digests, drawn.counts, groups)


@dataclass(eq=False)
class Gathered:
    """The weight of each class in all rows, and what is drawn so far.

    Rows with a digest above ``bound`` are not in the sample.
    """

    classes: Int64
    parts: list[Drawn]
    bound: np.uint64 = LARGEST
    n_waiting: int = 0


def without_rare_categories(table: Table, features: Sequence[Feature]) -> Table:
    """Return the table with rare categories as missing, where a feature has as many as it can."""
    columns = []
    for column, feature in zip(table.columns, features, strict=True):
        if column.is_text and len(feature.categories) == MAX_CATEGORIES:
            values = column.values.copy()
            values[np.isnan(encode_states(column, feature.categories))] = None
            column = replace(column, values=values)
        columns.append(column)
    return Table(tuple(columns), table.n_rows)


class Draw:
    """Draws a sample, and sums up the weight of each class."""

    name = "drawing a sample"

    def __init__(self, reader: Reader, of_classes: UInt64, n_rows: int) -> None:
        self.reader, self.of_classes, self.n_rows = reader, of_classes, n_rows
        self.numbers = reader.numbers

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        group = self.reader.roles.group
        return self.reader.columns if group is None else (*self.reader.columns, group)

    def begin(self) -> Gathered:
        """Return what is drawn of no rows."""
        return Gathered(np.zeros(len(self.reader.classes), dtype=np.int64), [])

    def add(self, gathered: Gathered, table: Table) -> None:
        """Add the rows of a table."""
        reader = self.reader
        codes, weights = reader.codes_and_weights(table)
        np.add.at(gathered.classes, codes, weights)
        groups = reader.roles.groups(table)
        features = table.select([one.name for one in reader.features])
        features = without_rare_categories(features, reader.features)
        digests = digest_within(digest_rows(features, self.of_classes[codes]), groups)
        few = np.flatnonzero((digests <= gathered.bound) & (weights > 0))
        drawn = Drawn(
            encode(features.take(few), reader.features),
            codes[few],
            weights[few],
            digests[few],
            np.ones(len(few)),
            None if groups is None else groups[few],
        )
        gathered.parts.append(drawn)
        gathered.n_waiting += len(few)
        if gathered.n_waiting > self.n_rows // 2:
            self.join(gathered)

    def join(self, gathered: Gathered) -> Drawn:
        """Join what is drawn so far, and lower the bound."""
        drawn = Drawn.joined(gathered.parts, self.n_rows)
        gathered.parts, gathered.n_waiting = [drawn], 0
        if len(drawn.digests) == self.n_rows:
            gathered.bound = drawn.digests[-1]
        return drawn

    def merge(self, one: Gathered, other: Gathered) -> Gathered:
        """Merge what was drawn of different rows."""
        one.classes = one.classes + other.classes
        one.parts += other.parts
        if one.parts:
            self.join(one)
        return one


@dataclass(frozen=True, eq=False)
class ScannedRows:
    """Rows that are read for each pass; see :class:`solah.learn.rows.Rows`.

    Attributes
    ----------
    scan : the rows
    reader : reads the features
    facts : the target, and the weight of all rows
    sample : the rows that are drawn
    limits : how many rows are many
    n_threads : how many threads read
    """

    scan: Scan
    reader: Reader
    facts: TargetFacts
    sample: Drawn
    columns: Mapping[str, Column]
    limits: Limits
    n_threads: int = 1

    is_many = True

    @classmethod
    def open(
        cls,
        scan: Scan,
        roles: ColumnRoles,
        facts: Facts,
        target: Target,
        class_weight: Any,
        settings: LabelSettings,
        limits: Limits,
        n_threads: int,
    ) -> ScannedRows:
        """Describe the features as far as users define words, and draw a sample."""
        plans = plan_words(roles.features, settings.n_words, settings.words)
        features = tuple(
            describe_numbers(name, _Span(facts.spans[name]), plans[name], "uniform")
            if kind is Kind.CONTINUOUS
            else describe_states(name, kind, states_of(column, kind), plans[name])
            for name, column, kind in zip(roles.features, facts.columns, facts.kinds, strict=True)
        )
        of_classes = facts.class_weights(class_weight)
        spans = np.array([facts.weights[spell(state)] for state in facts.classes])
        spans[~np.isfinite(spans)] = 0.0  # no row of the class has weight
        _, unit = integer_weights((spans * of_classes[:, None]).ravel())
        reader = Reader(roles, features, tuple(facts.classes), of_classes, unit)
        draw = Draw(reader, digest_classes(target), SAMPLES * limits.many_rows)
        found = scan.run(draw, n_threads)
        sample = draw.join(found)
        classes = np.array(list(facts.classes))
        return cls(
            scan,
            reader,
            TargetFacts(target, classes, found.classes, unit),
            sample,
            dict(zip(roles.features, facts.columns, strict=True)),
            limits,
            n_threads,
        )

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features, described."""
        return self.reader.features

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names."""
        return tuple(feature.name for feature in self.features)

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""
        return self.scan.run(_Blocks(one, self.reader), self.n_threads)

    def draw(self, n_rows: int) -> MemoryRows:
        """Draw different rows by their content, each with the weight of all that equal it."""
        sample, target = self.sample, self.facts
        integers, unit = integer_weights(sample.weights.astype(np.float64) * target.weight_unit)
        columns = (
            _column(feature, self.columns[feature.name], sample.readings[:, j])
            for j, feature in enumerate(self.features)
        )
        table = Table(tuple(columns), len(sample.digests))
        drawn = MemoryRows(
            Description(table, self.features, None),
            ClassTarget(target.target, target.classes, sample.codes, integers, unit),
            self.n_threads,
            digests=sample.digests,
            counts=sample.counts,
            groups=sample.groups,
            limits=self.limits,
        )
        return drawn if n_rows >= table.n_rows else drawn.draw(n_rows)

    def described_by(self, features: Sequence[Feature]) -> ScannedRows:
        """Return the same rows with these columns only, described as these features are."""
        return replace(self, reader=replace(self.reader, features=tuple(features)))


class _Whole:
    """Gathers all rows."""

    name = "reading rows into memory"
    numbers: tuple[str, ...] = ()

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns

    def begin(self) -> list[Table]:
        return []

    def add(self, gathered: list[Table], table: Table) -> None:
        gathered.append(table)

    def merge(self, one: list[Table], other: list[Table]) -> list[Table]:
        return one + other


def read_whole(rows: Scan, roles: ColumnRoles) -> tuple[Table, Column, Any, Column | None]:
    """Read all rows into memory: features, classes, weights and groups."""
    tables = rows.run(_Whole(roles.columns))
    table = join_tables(tables)
    weights = None if roles.weight is None else table.column(roles.weight).values
    groups = None if roles.group is None else table.column(roles.group)
    return table.select(roles.features), table.column(roles.target), weights, groups


class _Blocks:
    """Sums of the learner over tables, each of which is read as a block of rows."""

    def __init__(self, one: BlockPass, reader: Reader) -> None:
        self.name, self.one, self.reader = one.name, one, reader
        self.numbers = reader.numbers

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reader.columns

    def begin(self) -> Statistics:
        return self.one.begin()

    def add(self, gathered: Statistics, table: Table) -> None:
        reader = self.reader
        codes, weights = reader.codes_and_weights(table)
        used = weights > 0
        if not used.all():
            table, codes, weights = table.take(np.flatnonzero(used)), codes[used], weights[used]
        labels = label_table(table, reader.features)
        targets = (codes << MASS_BITS).astype(np.uint32)
        self.one.add(gathered, RowBlock(reader.features, labels, targets, weights))

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        return add_up(one, other)


@dataclass(frozen=True)
class _Span:
    """Numbers of which the range is known; words are placed at equal distances over it."""

    span: tuple[float, float] | None

    def quantiles(self, n_parts: int) -> Float:
        raise AssertionError("words over files are at equal distances or where users place them")


def _column(feature: Feature, column: Column, readings: Float) -> Column:
    """Turn readings back into the values of their column."""
    if not feature.is_coded:
        return replace(column, values=readings)
    unknown = np.isnan(readings)
    places = np.where(unknown, len(feature.categories), readings).astype(np.intp)
    if all(isinstance(state, str) for state in feature.categories):
        values: NDArray[Any] = np.array([*feature.categories, None], dtype=object)
    else:
        values = np.array([*map(float, feature.categories), np.nan])
    return replace(column, values=values[places])
