"""The first pass: find what the columns are.

It finds what a table in memory would show at a glance: what kind each column is, its states or a
sketch of its numbers, the classes, the weights, and how rows are to be drawn for a sample.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Kind, Table, settle, states_of
from solah.data.cells import are_truth, likely_numbers, not_numbers, to_numbers, to_text
from solah.data.digests import digest_column
from solah.data.spelling import is_number, parse_written_numbers, spell
from solah.exceptions import ColumnError, DataError
from solah.labels.drawing import LIMITS, digest_values, digest_within, keep_smallest
from solah.labels.sketches import Sketch, SketchState
from solah.scale.passes import Pass, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from solah.data import Declared, State
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float
    from solah.labels.drawing import Limits

MAX_TEXTS = 10_000
"""A column of text with more different values is no category."""
MAX_CLASSES = 10_000
_ROW = re.compile(r" \(row \d+\)")


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns are meant for what.

    Attributes
    ----------
    attributes : the columns to decide by
    target : the column of classes
    weight : the column of rows' weights; None where all weigh the same
    of_classes : what rows of a class weigh, by the class's spelling; 1 for others
    group : the column of what rows belong to; None where that does not matter
    """

    attributes: tuple[str, ...]
    target: str
    weight: str | None = None
    of_classes: Mapping[str, float] = field(default_factory=dict)
    group: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that must be read."""
        return (*self.attributes, self.target, *filter(None, (self.weight, self.group)))

    def weights(self, table: Table) -> Float:
        """Return what each row weighs by itself, whatever its class; see that it can."""
        if self.weight is None:
            return np.ones(table.n_rows)
        weights: Float = to_numbers(table.column(self.weight), first_row=table.first_row).values
        wrong = ~np.isfinite(weights) | (weights < 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"the weights in {self.weight!r} must be finite and not negative. "
                f"Got {weights[row]} in row {table.first_row + row}."
            )
        return weights

    def groups(self, table: Table) -> UInt64 | None:
        """Digest what each row belongs to, if that matters; see that each belongs to something."""
        if self.group is None:
            return None
        column = table.column(self.group)
        missing = column.missing()
        if missing.any():
            raise DataError(
                f"the groups' column {self.group!r} has no value in row "
                f"{table.first_row + int(np.argmax(missing))}; leave such rows out of the data"
            )
        return digest_column(column)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of all rows.

    Attributes
    ----------
    n_rows : rows of weight zero do not count
    columns : each attribute with some of its values: all distinct ones, or a sketch of them
    kinds : what each attribute is
    sketches : of the attributes that are numbers, by name
    classes : the different values of the target and how many rows have each, whatever they weigh
    weights : the smallest weight above zero and the largest one of each class's rows, by its
        spelling; class weights not included
    digests : the smallest digests of rows, as ``keep_smallest`` has them
    """

    n_rows: int
    columns: tuple[Column, ...]
    kinds: tuple[Kind, ...]
    sketches: Mapping[str, Sketch]
    classes: Mapping[State, int]
    weights: Mapping[str, tuple[float, float]]
    digests: UInt64

    def states(self, place: int) -> tuple[State, ...]:
        """Return the states of an attribute; a continuous one has none."""
        return states_of(self.columns[place], self.kinds[place])


class Survey(Pass["_Seen"]):
    """Looks at all columns of all rows for the first time."""

    name = "looking at the columns"

    def __init__(self, roles: ColumnRoles, limits: Limits = LIMITS) -> None:
        self.roles, self.limits = roles, limits

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.roles.columns

    def begin(self) -> _Seen:
        """Return what is gathered of no rows."""
        return _Seen(len(self.roles.attributes), self.limits)

    def add(self, gathered: _Seen, table: Table) -> None:
        """Take the next rows of a part in."""
        gathered.add(table, self.roles)

    def finish(self, gathered: _Seen) -> Statistics:
        """Turn what was gathered into statistics."""
        return gathered.statistics()

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Merge the statistics of different rows."""
        both = _Seen.of(one, self.limits)
        both.merge(_Seen.of(other, self.limits))
        return both.statistics()

    def facts(self, statistics: Statistics, declared: Declared | None) -> Facts:
        """Settle what the columns are."""
        for name in declared or ():
            if name not in self.roles.attributes:
                raise ColumnError.unknown(name, self.roles.attributes)
        seen = _Seen.of(statistics, self.limits)
        if seen.n_rows == 0:
            raise DataError("there is no row to learn from: none has any weight")
        settled = [
            _settled(name, one, declared)
            for name, one in zip(self.roles.attributes, seen.columns, strict=True)
        ]
        return Facts(
            n_rows=seen.n_rows,
            columns=tuple(column for column, _ in settled),
            kinds=tuple(kind for _, kind in settled),
            sketches={
                name: one.sketch.sketch()
                for name, one in zip(self.roles.attributes, seen.columns, strict=True)
                if one.is_numeric
            },
            classes=_classes(self.roles.target, seen.goal),
            weights=seen.weights,
            digests=seen.digests,
        )


class _Seen:
    """What is known of the rows so far."""

    def __init__(self, n_columns: int, limits: Limits) -> None:
        self.limits = limits
        *self.columns, self.goal = (
            _SeenColumn(SketchState.empty(limits)) for _ in range(n_columns + 1)
        )
        self.n_rows = 0
        self.weights: dict[str, tuple[float, float]] = {}
        self.digests = np.empty(0, dtype=np.uint64)

    def add(self, table: Table, roles: ColumnRoles) -> None:
        weights = roles.weights(table)
        goal = table.column(roles.target)
        _refuse_missing(goal, table.first_row)
        self._weigh(goal, weights)
        self.goal.count(goal)
        if len(self.goal.texts) > MAX_CLASSES:
            raise DataError(
                f"the target {roles.target!r} has more than {MAX_CLASSES:,} different values; "
                "it is no class"
            )
        used = np.flatnonzero(weights > 0)
        if roles.of_classes:
            light = {spelt for spelt, weight in roles.of_classes.items() if weight == 0}
            used = used[[spell(value) not in light for value in goal.values[used].tolist()]]
        rows, groups = table.first_row + used, roles.groups(table)
        if len(used) < table.n_rows:
            table, goal = table.take(used), replace(goal, values=goal.values[used])
            groups = None if groups is None else groups[used]
        self.n_rows += table.n_rows
        digests = [
            seen.add(table.column(name), rows)
            for name, seen in zip(roles.attributes, self.columns, strict=True)
        ]
        of_rows = digest_within(digest_values(digests, digest_column(goal)), groups)
        if len(self.digests) == self.limits.gauge_rows:
            of_rows = of_rows[of_rows <= self.digests[-1]]
        self.digests = keep_smallest(np.concatenate([self.digests, of_rows]), self.limits)

    def _weigh(self, goal: Column, weights: Float) -> None:
        """Note the lightest and the heaviest row of each class."""
        classes, places = np.unique(_spelt(goal), return_inverse=True)
        lightest, heaviest = np.full(len(classes), np.inf), np.zeros(len(classes))
        np.minimum.at(lightest, places, np.where(weights > 0, weights, np.inf))
        np.maximum.at(heaviest, places, weights)
        spans = zip(lightest.tolist(), heaviest.tolist(), strict=True)
        self._widen(dict(zip(classes.tolist(), spans, strict=True)))

    def _widen(self, spans: Mapping[str, tuple[float, float]]) -> None:
        for name, (lightest, heaviest) in spans.items():
            low, high = self.weights.get(name, (np.inf, 0.0))
            self.weights[name] = min(low, lightest), max(high, heaviest)

    def merge(self, other: _Seen) -> None:
        for mine, its in zip(self.columns, other.columns, strict=True):
            mine.merge(its)
        self.goal.merge(other.goal)
        self.n_rows += other.n_rows
        self._widen(other.weights)
        self.digests = keep_smallest(np.concatenate([self.digests, other.digests]), self.limits)

    def statistics(self) -> Statistics:
        found: Statistics = {
            "n": np.array([self.n_rows, len(self.columns)]),
            "classes": np.array(list(self.weights), dtype=np.str_),
            "weights": np.array(list(self.weights.values())).reshape(-1, 2),
            "digests": self.digests,
        }
        for place, column in enumerate([*self.columns, self.goal]):
            found |= {f"{place}/{name}": part for name, part in column.parts().items()}
        return found

    @classmethod
    def of(cls, statistics: Statistics, limits: Limits) -> _Seen:
        n_rows, n_columns = statistics["n"].tolist()
        seen = cls(n_columns, limits)
        *seen.columns, seen.goal = (
            _SeenColumn.of({name: statistics[f"{place}/{name}"] for name in _PARTS}, limits)
            for place in range(n_columns + 1)
        )
        seen.n_rows, seen.digests = n_rows, statistics["digests"]
        spans = map(tuple, statistics["weights"].tolist())
        seen.weights = dict(zip(statistics["classes"].tolist(), spans, strict=True))
        return seen


_PARTS = (
    *("values", "digests", "range", "flags", "texts", "counts", "order"),
    *("signs", "sign rows"),
)
_TRUTH = "truth"


@dataclass
class _SeenColumn:
    """What is known of a column so far."""

    sketch: SketchState
    texts: Counter[str] = field(default_factory=Counter)
    order: tuple[str, ...] | None = None
    is_text: bool = False
    is_truth: bool = False
    is_nominal: bool = False
    is_spelt: bool = True  # whether all text so far is numbers, or truth values
    strange_row: int = 0  # the first that is not
    signs: dict[str, int] = field(default_factory=dict)  # those of numbers, and their first rows

    @property
    def is_numeric(self) -> bool:
        """Whether the column is numbers, or text that spells them throughout."""
        return not self.is_text or (self.is_spelt and not self._stays_text)

    @property
    def _stays_text(self) -> bool:
        return self.is_nominal or self.order is not None or self.sketch.low > self.sketch.high

    def add(self, column: Column, rows: NDArray[np.intp]) -> UInt64:
        """Take the values of rows with these numbers in; return their digests."""
        self._look(column)
        digests = digest_column(column)
        if not column.is_text:
            values = column.values.astype(np.float64)
            _refuse_infinite(column.name, values, rows)
            self.sketch.add(values, digests)
            return digests
        if len(self.texts) <= MAX_TEXTS:
            self.count(column)
        is_truth = are_truth(column.values)
        numbers = to_numbers(column).values if is_truth else None
        sign = _TRUTH
        if numbers is None and self.is_spelt and (written := parse_written_numbers(column.values)):
            numbers, sign = written.values, written.sign
        if numbers is None:
            self.is_spelt = False
            self.strange_row = self.strange_row or int(rows[_first_strange(column)])
        else:
            self.is_truth |= is_truth
            self.sketch.add(numbers, digests)
            known = ~np.isnan(numbers)
            if known.any():
                self._see_signs({sign: int(rows[known.argmax()])})
        if len(self.texts) > MAX_TEXTS and not self.is_numeric:
            raise _too_many(column.name, self.texts)
        return digests

    def count(self, column: Column) -> None:
        """Count the values of text, or of a target, by their spelling."""
        self._look(column)
        if column.is_text:
            self.texts.update(cell for cell in column.values.tolist() if cell is not None)
            return
        values, counts = np.unique(column.values, return_counts=True)
        self.texts.update(dict(zip(map(spell, values.tolist()), counts.tolist(), strict=True)))

    def _see_signs(self, signs: Mapping[str, int]) -> None:
        """Note the signs of numbers, which must all be the same."""
        for sign, row in signs.items():
            self.signs[sign] = min(row, self.signs.get(sign, row))
        if len(self.signs) > 1:
            self.is_spelt = False
            self.strange_row = self.strange_row or max(self.signs.values())

    def merge(self, other: _SeenColumn) -> None:
        self.sketch.merge(other.sketch)
        self.texts.update(other.texts)
        self._see_signs(other.signs)
        self.is_text |= other.is_text
        self.is_truth |= other.is_truth
        self.is_nominal |= other.is_nominal
        self.is_spelt &= other.is_spelt
        self.order = self.order or other.order
        rows = [row for row in (self.strange_row, other.strange_row) if row]
        self.strange_row = min(rows, default=0)

    def parts(self) -> Statistics:
        flags = [self.is_text, self.is_truth, self.is_nominal, self.is_spelt]
        flags += [self.sketch.is_complete, self.order is not None]
        return {
            "values": self.sketch.values,
            "digests": self.sketch.digests,
            "range": np.array([self.sketch.low, self.sketch.high]),
            "flags": np.array([*flags, self.strange_row], dtype=np.int64),
            "texts": np.array(list(self.texts), dtype=np.str_),
            "counts": np.array(list(self.texts.values()), dtype=np.int64),
            "order": np.array(self.order or (), dtype=np.str_),
            "signs": np.array(list(self.signs), dtype=np.str_),
            "sign rows": np.array(list(self.signs.values()), dtype=np.int64),
        }

    @classmethod
    def of(cls, parts: Statistics, limits: Limits) -> _SeenColumn:
        text, truth, nominal, spelt, is_complete, has_order, row = parts["flags"].tolist()
        low, high = parts["range"].tolist()
        sketch = SketchState(
            parts["values"],
            parts["digests"],
            low,
            high,
            is_complete=bool(is_complete),
            limits=limits,
        )
        texts = Counter(dict(zip(parts["texts"].tolist(), parts["counts"].tolist(), strict=True)))
        order = tuple(parts["order"].tolist()) if has_order else None
        signs = dict(zip(parts["signs"].tolist(), parts["sign rows"].tolist(), strict=True))
        flags = (bool(text), bool(truth), bool(nominal), bool(spelt))
        return cls(sketch, texts, order, *flags, row, signs)

    def _look(self, column: Column) -> None:
        self.is_text |= column.is_text
        self.is_truth |= column.values.dtype.kind == "b"
        self.is_nominal |= column.nominal
        self.order = self.order or column.order


def _settled(name: str, seen: _SeenColumn, declared: Declared | None) -> tuple[Column, Kind]:
    """Settle a column by the values that were kept of it."""
    wanted = {name: declared[name]} if declared and name in declared else {}
    if len(seen.texts) > MAX_TEXTS and not seen.is_numeric:
        raise _too_many(name, seen.texts)
    if seen.is_text and not seen.is_spelt:
        _refuse_mixture(name, seen, wanted.get(name))
    column = _representative(name, seen, is_declared=bool(wanted))
    try:
        table, (kind,) = settle(Table((column,), len(column.values)), wanted)
    except DataError as error:  # which would name a row of the values that were kept
        raise DataError(_ROW.sub("", str(error))) from None
    return table.columns[0], kind


def _representative(name: str, seen: _SeenColumn, *, is_declared: bool) -> Column:
    """Make a column of the values that were kept."""
    if seen.is_text and (is_declared or not seen.is_numeric):
        texts = np.empty(len(seen.texts), dtype=object)
        texts[:] = sorted(seen.texts)
        # Text with other words among its numbers stays text, however many there are of each.
        return Column(name, texts, seen.order, seen.is_nominal or not seen.is_spelt)
    values = np.sort(seen.sketch.values)
    return Column(name, values.astype(bool) if seen.is_truth else values)


def _refuse_mixture(name: str, seen: _SeenColumn, wanted: Any) -> None:
    """Refuse numbers with words among them: where they are half of all, or are to be numbers."""
    is_number_wanted = isinstance(wanted, str) and wanted == Kind.CONTINUOUS
    if not is_number_wanted and (wanted is not None or seen.is_nominal or seen.order is not None):
        return
    strange = [text for text in seen.texts if not is_number(text) or text.lower() == "nan"]
    n_strange, n_cells = sum(seen.texts[text] for text in strange), sum(seen.texts.values())
    if is_number_wanted or 2 * n_strange <= n_cells:
        cells = np.array([text for text in strange for _ in range(seen.texts[text])], dtype=object)
        raise not_numbers(Column(name, cells), seen.strange_row)


def _classes(target: str, seen: _SeenColumn) -> dict[State, int]:
    """Order the classes: whole numbers stay numbers, others are known by their spelling."""
    if are_truth(seen.texts):
        return {text == "True": seen.texts[text] for text in sorted(seen.texts)}
    if seen.is_text:
        return {text: seen.texts[text] for text in sorted(seen.texts)}
    try:
        numbers = {int(text): count for text, count in seen.texts.items()}
    except ValueError:
        return {text: seen.texts[text] for text in sorted(seen.texts)}
    return {number: numbers[number] for number in sorted(numbers)}


def _spelt(goal: Column) -> NDArray[Any]:
    return np.asarray(to_text(goal).values, dtype=np.str_)


def _refuse_missing(goal: Column, first_row: int) -> None:
    missing = goal.missing()
    if missing.any():
        raise DataError(
            f"the target {goal.name!r} has no value in row {first_row + int(missing.argmax())}; "
            "leave such rows out of the data"
        )


def _refuse_infinite(name: str, values: Float, rows: NDArray[np.intp]) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            f"column {name!r} has an infinite value (row {rows[infinite.argmax()]}); "
            "replace it with a number or mark it as missing"
        )


def _first_strange(column: Column) -> int:
    cells: list[Any] = column.values.tolist()
    return next(
        (row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)), 0
    )


def _too_many(name: str, texts: Iterable[str]) -> DataError:
    return likely_numbers(Column(name, np.array(list(texts), dtype=object))) or DataError(
        f"column {name!r} has more than {MAX_TEXTS:,} different texts; it looks like an identifier "
        f"or free text: drop it (--drop {name}) or group its rare values"
    )
