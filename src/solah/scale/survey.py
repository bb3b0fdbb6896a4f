"""The first pass: what the columns are, which classes there are, and what rows weigh.

It finds what a table in memory would show at a glance, by the same rules: a few values represent
each column, and ``solah.data.infer_types`` decides on them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import MAX_CATEGORIES, Column, Kind, Table, infer_types, states_of
from solah.data.cells import are_truth, likely_numbers, to_numbers
from solah.data.digests import digest_column
from solah.data.kinds import frequent_categories, warn_of_rare_categories
from solah.data.spelling import TRUTH, is_number, parse_written_numbers, spell
from solah.exceptions import ColumnError, DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Declared, State
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float

MAX_TEXTS = 10_000
"""A column of text with more different values is not a category."""
MAX_CLASSES = 10_000
_KEPT = 256
_ROW = re.compile(r" \(row \d+\)|, row \d+(?=\))")
_TRUTH = "truth"


@dataclass(frozen=True)
class ColumnRoles:
    """The columns by their role.

    Attributes
    ----------
    features : the columns to predict from
    target : the column of classes
    weight : the column of row weights; None where all weigh the same
    of_classes : the weight of a class's rows, by the class's text; 1 for others
    group : the column of what rows belong to; None where that does not matter
    """

    features: tuple[str, ...]
    target: str
    weight: str | None = None
    of_classes: Mapping[str, float] = field(default_factory=dict)
    group: str | None = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        target: object,
        weight: object,
        group: object,
        class_weight: Any,
    ) -> ColumnRoles:
        """Read which columns are meant for what."""
        if not isinstance(target, str):
            raise ParameterError(
                "y must be the name of the column of classes if rows are in files, frames or a "
                f"Dask collection. Got {type(target).__name__}."
            )
        for what, given in (("weights", weight), ("groups", group)):
            if given is not None and not isinstance(given, str):
                raise ParameterError(
                    f"the {what} of rows in files, frames or a Dask collection are in one of "
                    f"their columns; give its name. Got {type(given).__name__}."
                )
        apart = [name for name in (target, weight, group) if isinstance(name, str)]
        for name in apart:
            if name not in names:
                raise ColumnError.unknown(name, names)
        features = tuple(name for name in names if name not in apart)
        if not features:
            raise DataError(f"no column is left to predict {target!r} with")
        of_classes = {}
        if isinstance(class_weight, Mapping):
            of_classes = {spell(name): float(weight) for name, weight in class_weight.items()}
        weight, group = (one if isinstance(one, str) else None for one in (weight, group))
        return cls(features, target, weight, of_classes, group)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that must be read."""
        return (*self.features, self.target, *filter(None, (self.weight, self.group)))

    def weights(self, table: Table) -> Float:
        """Return the weight of each row, whatever its class."""
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
        """Digest what each row belongs to, if that matters."""
        if self.group is None:
            return None
        column = table.column(self.group)
        _refuse_missing(f"the groups' column {self.group!r}", column, table.first_row)
        return digest_column(column)


@dataclass(frozen=True, eq=False)
class Facts:
    """What the survey found.

    Attributes
    ----------
    n_all : the number of rows
    columns : each feature as a few of its values
    kinds : the feature types
    spans : the smallest and the largest number of continuous features, by name
    classes : the values of the target and the number of their rows, whatever these weigh
    weights : the smallest weight above zero and the largest one of each class's rows, by its
        text; class weights not included
    """

    n_all: int
    columns: tuple[Column, ...]
    kinds: tuple[Kind, ...]
    spans: Mapping[str, tuple[float, float] | None]
    classes: Mapping[State, int]
    weights: Mapping[str, tuple[float, float]]

    def states(self) -> list[tuple[State, ...]]:
        """Return the categories of each feature; a continuous one has none."""
        return [states_of(*one) for one in zip(self.columns, self.kinds, strict=True)]

    def class_weights(self, class_weight: Any) -> Float:
        """Return the weight of each class's rows, as scikit-learn has it."""
        counts = np.array(list(self.classes.values()), dtype=np.float64)
        if class_weight is None:
            return np.ones(len(counts))
        if isinstance(class_weight, str):
            return np.asarray(counts.sum() / (len(counts) * counts))
        named = {spell(name): float(weight) for name, weight in class_weight.items()}
        spelt = [spell(state) for state in self.classes]
        strangers = [name for name in named if name not in spelt]
        if strangers and not named.keys() >= set(spelt):
            raise ParameterError(
                f"'class_weight' names the class {strangers[0]!r}, which the rows do not have"
            )
        return np.array([named.get(name, 1.0) for name in spelt])


@dataclass(eq=False)
class Seen:
    """What the survey has seen so far: of features, of the target, and of rows."""

    features: list[ColumnSummary]
    target: ColumnSummary
    n_all: int = 0
    n_used: int = 0
    weights: dict[str, tuple[float, float]] = field(default_factory=dict)

    def widen(self, spans: Mapping[str, tuple[float, float]]) -> None:
        """Note the lightest and the heaviest row of classes."""
        for name, (lightest, heaviest) in spans.items():
            low, high = self.weights.get(name, (np.inf, 0.0))
            self.weights[name] = min(low, lightest), max(high, heaviest)


class Survey:
    """Looks at all columns of all rows for the first time; rows of weight zero do not count."""

    name = "looking at the columns"

    def __init__(
        self, roles: ColumnRoles, numbers: tuple[str, ...] = (), *, is_untyped: bool = False
    ) -> None:
        self.roles, self.numbers, self.is_untyped = roles, numbers, is_untyped

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.roles.columns

    def begin(self) -> Seen:
        """Return what is known of no rows."""
        features = [ColumnSummary(name) for name in self.roles.features]
        return Seen(features, ColumnSummary(self.roles.target))

    def add(self, gathered: Seen, table: Table) -> None:
        """Add the rows of a table."""
        roles, target = self.roles, table.column(self.roles.target)
        _refuse_missing(f"the target {roles.target!r}", target, table.first_row)
        weights = roles.weights(table)
        roles.groups(table)
        classes, places = _distinct(target)
        lightest, heaviest = np.full(len(classes), np.inf), np.zeros(len(classes))
        np.minimum.at(lightest, places, np.where(weights > 0, weights, np.inf))
        np.maximum.at(heaviest, places, weights)
        spans = zip(lightest.tolist(), heaviest.tolist(), strict=True)
        gathered.widen(dict(zip(classes, spans, strict=True)))
        counts = zip(classes, np.bincount(places).tolist(), strict=True)
        gathered.target.count(target, dict(counts))
        if len(gathered.target.texts) > MAX_CLASSES:
            raise DataError(
                f"the target {roles.target!r} has more than {MAX_CLASSES:,} different values; "
                "it is not a class"
            )
        light = {name for name, weight in roles.of_classes.items() if weight == 0}
        used = (weights > 0) & ~np.array([name in light for name in classes])[places]
        gathered.n_all += table.n_rows
        gathered.n_used += int(used.sum())
        rows = np.flatnonzero(used)
        for summary in gathered.features:
            column = table.column(summary.name)
            if len(rows) < table.n_rows:
                column = replace(column, values=column.values[rows])
            summary.add(column, table.first_row + rows)

    def merge(self, one: Seen, other: Seen) -> Seen:
        """Merge what was seen of different rows."""
        for mine, its in zip(one.features, other.features, strict=True):
            mine.merge(its)
        one.target.merge(other.target)
        one.n_all += other.n_all
        one.n_used += other.n_used
        one.widen(other.weights)
        return one

    def facts(self, seen: Seen, declared: Declared | None) -> Facts:
        """Infer the types of the columns."""
        for name in declared or ():
            if name not in self.roles.features:
                raise ColumnError.unknown(name, self.roles.features)
        if seen.n_used == 0:
            raise DataError("there is no row to learn from: none has any weight")
        settled = [one.settled(declared) for one in seen.features]
        return Facts(
            n_all=seen.n_all,
            columns=tuple(column for column, _ in settled),
            kinds=tuple(kind for _, kind in settled),
            spans={one.name: one.span for one in seen.features},
            classes=_classes(seen.target, is_untyped=self.is_untyped),
            weights=seen.weights,
        )


@dataclass(eq=False)
class ColumnSummary:
    """What is known of a column so far.

    Attributes
    ----------
    kept : the smallest different numbers, in order
    low, high : the smallest and the largest number
    texts : how often each text occurred; those of numbers are not kept where they are too many
    marks : how text is numbers: booleans, plain, with a percent sign, …; and the first row
    strange : whether some text is not numbers
    is_typed : whether some of the data hold numbers or booleans rather than text
    """

    name: str
    kept: Float = field(default_factory=lambda: np.empty(0))
    low: float = np.inf
    high: float = -np.inf
    texts: Counter[str] = field(default_factory=Counter)
    order: tuple[str, ...] | None = None
    is_nominal: bool = False
    is_text: bool = False
    is_truth: bool = False
    is_number: bool = False
    is_typed: bool = False
    marks: set[str] = field(default_factory=set)
    strange: bool = False

    def add(self, column: Column, rows: NDArray[np.intp]) -> None:
        """Add the values of the rows with these numbers."""
        self.is_nominal |= column.nominal
        self.order = self.order or column.order
        if not column.is_text:
            self.is_typed = True
            values = column.values.astype(np.float64, copy=False)
            self._add_numbers(values)
            if self.low == -np.inf or self.high == np.inf:
                row = rows[np.isinf(values).argmax()]
                raise DataError(
                    f"column {self.name!r} has an infinite value (row {row}); "
                    "replace it with a number or mark it as missing"
                )
            is_truth = column.values.dtype.kind == "b"
            self.is_truth |= is_truth
            self.is_number |= not is_truth and self.low <= self.high
            if is_truth:
                n_true = int(values.sum())
                seen = {"True": n_true, "False": len(values) - n_true}
                self.texts.update({text: n for text, n in seen.items() if n})
            return
        counts: Counter[str] = Counter(column.values.tolist())
        del counts[None]
        if not counts:
            return
        self.is_text = True
        self.texts.update(counts)
        if not self.strange:
            self._read_numbers(list(counts))
        self._refuse_many()

    def count(self, column: Column, counts: Mapping[str, int]) -> None:
        """Count the values of a target, by their text."""
        self.is_text |= column.is_text
        self.is_truth |= column.values.dtype.kind == "b"
        self.texts.update(counts)

    def _read_numbers(self, texts: list[str]) -> None:
        """Read text as booleans or numbers, which all must be written alike."""
        if are_truth(texts):
            values = np.array([float(TRUTH[text]) for text in texts])
            self.marks.add(_TRUTH)
        elif written := parse_written_numbers(texts):
            values = written.values
            self.marks.add(written.sign)
        else:
            self.strange = True
            return
        self.strange = len(self.marks) > 1
        self._add_numbers(values)

    def _add_numbers(self, values: Float) -> None:
        if not len(values):
            return
        # Which of the two zeros is the smallest is chance, so there is one.
        self.low = min(self.low, float(np.fmin.reduce(values, initial=np.inf)) + 0.0)
        self.high = max(self.high, float(np.fmax.reduce(values, initial=-np.inf)) + 0.0)
        if len(self.kept) == _KEPT:
            values = values[values < self.kept[-1]]
        if len(values):
            known = values[~np.isnan(values)]
            self.kept = np.unique(np.concatenate([self.kept, known + 0.0]))[:_KEPT]

    def _refuse_many(self) -> None:
        """Refuse text with too many values; of numbers written as text, keep a few."""
        if len(self.texts) <= MAX_TEXTS:
            return
        if self.is_numeric:
            self.texts = Counter(dict.fromkeys(sorted(self.texts)[: MAX_TEXTS + 1], 1))
            return
        texts = np.array(list(self.texts), dtype=object)
        raise likely_numbers(Column(self.name, texts)) or DataError(
            f"column {self.name!r} has more than {MAX_TEXTS:,} different texts; it looks like an "
            f"identifier or free text: drop it (--drop {quote(self.name)}) or group its rare values"
        )

    def merge(self, other: ColumnSummary) -> None:
        """Take in what is known of other rows."""
        if len(other.kept):
            self._add_numbers(np.append(other.kept, other.high))
        self.texts.update(other.texts)
        self.order = self.order or other.order
        self.is_nominal |= other.is_nominal
        self.is_text |= other.is_text
        self.is_truth |= other.is_truth
        self.is_number |= other.is_number
        self.is_typed |= other.is_typed
        self.marks |= other.marks
        self.strange |= other.strange or len(self.marks) > 1
        if len(self.texts) > MAX_TEXTS:
            self._refuse_many()

    @property
    def is_numeric(self) -> bool:
        """Whether the column is numbers, or text that is numbers throughout."""
        if self.is_text and (self.strange or self.is_nominal or self.order is not None):
            return False
        return not self.is_text or self.low <= self.high

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None where there is no number."""
        return (self.low, self.high) if self.low <= self.high else None

    def settled(self, declared: Declared | None) -> tuple[Column, Kind]:
        """Infer the type of the column from the values that represent it."""
        wanted = {self.name: declared[self.name]} if declared and self.name in declared else {}
        if self.is_number and self.is_text and not self.is_numeric:
            raise DataError(
                f"column {self.name!r} is numbers in some of the data and text in others; make it "
                "one of both throughout"
            )
        column = self._column(wanted.get(self.name))
        try:
            table, (kind,) = infer_types(Table((column,), len(column.values)), wanted)
        except DataError as error:  # which would count rows among the values that were kept
            raise type(error)(_ROW.sub("", str(error))) from None
        return table.columns[0], kind

    def _column(self, wanted: Kind | str | Sequence[State] | None) -> Column:
        """Make a column of the values that represent it, for the type that is declared, if any."""
        is_declared = wanted is not None
        if not self.is_typed and not self.is_text:
            nothing = np.array([None], dtype=object)
            return Column(self.name, nothing, self.order, self.is_nominal)
        if self.is_text and (not self.is_numeric or (is_declared and len(self.texts) <= MAX_TEXTS)):
            texts = sorted(self.texts)
            # Whether most cells are numbers, or most are not, decides what text with numbers is.
            are_numbers = {t: is_number(t) and t.lower() != "nan" for t in texts}
            n_numbers = sum(self.texts[text] for text in texts if are_numbers[text])
            is_mostly = 2 * n_numbers >= self.texts.total()
            if wanted == Kind.CATEGORICAL or (wanted is None and not is_mostly and not self.order):
                texts = self._frequent(texts, is_declared=wanted is not None)
            most = [text for text in texts if are_numbers[text] == is_mostly]
            n_more = len(texts) if is_mostly or len(texts) <= MAX_CATEGORIES else 0
            values = np.array([*texts, *most[:1] * n_more], dtype=object)
            return Column(self.name, values, self.order, self.is_nominal)
        is_saturated = len(self.kept) == _KEPT and self.high > self.kept[-1]
        kept = np.append(self.kept, self.high) if is_saturated else self.kept
        is_bool = not self.is_number and (self.is_truth or self.marks == {_TRUTH})
        return Column(self.name, kept.astype(bool) if is_bool else kept)

    def _frequent(self, texts: list[str], *, is_declared: bool) -> list[str]:
        """Return the texts without rare categories, as in memory."""
        kept = frequent_categories(self.texts, is_declared=is_declared)
        every = Column(self.name, np.array(texts, dtype=object))
        if len(kept) == len(texts) or likely_numbers(every) is not None:
            return texts
        warn_of_rare_categories(self.name, self.texts, kept)
        return sorted(kept)


def _distinct(column: Column) -> tuple[list[str], NDArray[np.intp]]:
    """Return the text of each different value, and the index of each row's."""
    if not column.is_text:
        values, places = np.unique(column.values, return_inverse=True)
        return list(map(spell, values.tolist())), places
    cells = column.values.tolist()
    index = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    return list(index), np.fromiter(map(index.__getitem__, cells), np.intp, len(cells))


def _classes(seen: ColumnSummary, *, is_untyped: bool) -> dict[State, int]:
    """Order the classes: whole numbers are numbers, others are known by their text.

    Text in frames stays text. In files without types it may be numbers, as in memory.
    """
    texts: dict[State, int] = {text: seen.texts[text] for text in sorted(seen.texts)}
    if are_truth(map(str, texts)):
        return {text == "True": number for text, number in texts.items()}
    if seen.is_text and not is_untyped:
        return texts
    numbers: Counter[int] = Counter()
    try:
        for text, number in seen.texts.items():
            numbers[int(text)] += number
    except ValueError:
        return texts
    return {number: numbers[number] for number in sorted(numbers)}


def _refuse_missing(what: str, column: Column, first_row: int) -> None:
    missing = column.missing()
    if missing.any():
        raise DataError(
            f"{what} has no value in row {first_row + int(missing.argmax())}; "
            "leave such rows out of the data"
        )
