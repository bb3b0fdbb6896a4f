"""Labelled rows as plain values, and the rows that a stream keeps to train on again."""

from __future__ import annotations

from collections import Counter, deque
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from solah.data import Column, Table, as_array, as_column
from solah.data.spelling import plain, spell
from solah.exceptions import DataError
from solah.kernels.arrays import MAX_FOCAL_SETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Value: TypeAlias = str | int | float | bool
Cell: TypeAlias = Value | None


class KeptRow(NamedTuple):
    """A labelled row.

    Attributes
    ----------
    values : one per feature; None where missing
    label : its class
    loss : minus the logarithm of the predicted probability of this class when the row came; NaN if
        there was no model yet
    """

    values: tuple[Cell, ...]
    label: Value
    loss: float


class Reservoir:
    """The latest labelled rows, and a sample of older ones per class.

    A row that leaves the window is offered to the sample of its class, which is uniform over all
    such rows (Vitter's algorithm R, 1985). So a class that has become rare is not lost.

    Examples
    --------
    >>> kept = Reservoir(window=3, per_class=1, random_state=0)
    >>> for n, label in enumerate("abbbb"):
    ...     kept.add(KeptRow((float(n),), label, 0.0))
    >>> [row.label for row in kept.rows()]
    ['a', 'b', 'b', 'b']
    """

    def __init__(self, window: int, per_class: int, random_state: int) -> None:
        self.window, self.per_class = window, per_class
        self._recent: deque[KeptRow] = deque()
        self._older: dict[Value, list[KeptRow]] = {}
        self._n_offered: Counter[Value] = Counter()
        self._rng = np.random.default_rng(random_state)

    def __len__(self) -> int:
        return len(self._recent) + sum(map(len, self._older.values()))

    @property
    def n_recent(self) -> int:
        """The number of rows in the window."""
        return len(self._recent)

    def add(self, row: KeptRow) -> None:
        """Keep a row; offer the one that leaves the window to the sample of its class."""
        self._recent.append(row)
        if len(self._recent) <= self.window:
            return
        row = self._recent.popleft()
        if row.label not in self._n_offered and len(self._n_offered) == MAX_FOCAL_SETS:
            return  # no model has more classes, and memory is bounded
        self._n_offered[row.label] += 1
        sample = self._older.setdefault(row.label, [])
        if len(sample) < self.per_class:
            sample.append(row)
            return
        place = int(self._rng.integers(self._n_offered[row.label]))
        if place < self.per_class:
            sample[place] = row

    def recent(self, n_rows: int) -> list[KeptRow]:
        """Return at most this many of the latest rows, oldest first."""
        return list(islice(self._recent, max(len(self._recent) - n_rows, 0), None))

    def rows(self, n_recent: int | None = None, *, leave_out: int = 0) -> list[KeptRow]:
        """Return the latest rows, and before them older rows of classes that are rare among them.

        Older rows fill up classes with fewer than ``per_class`` of the ``n_recent`` rows, the
        latest first. The ``leave_out`` latest rows are dropped.
        """
        window = list(self._recent)[: len(self._recent) - leave_out]
        first = 0 if n_recent is None else max(len(self._recent) - n_recent, 0)
        earlier, latest = window[:first], window[first:]
        counts = Counter(row.label for row in latest)
        filled: list[KeptRow] = []
        for row in chain(reversed(earlier), *self._older.values()):
            if counts[row.label] < self.per_class:
                counts[row.label] += 1
                filled.append(row)
        return filled + latest

    def state(self) -> dict[str, Any]:
        """Return the rows and the random generator as JSON values."""
        return {
            "recent": list(self._recent),
            "older": [
                [label, n_offered, self._older.get(label, [])]
                for label, n_offered in self._n_offered.items()
            ],
            "random": self._rng.bit_generator.state,
        }

    def restore(self, state: dict[str, Any], n_values: int) -> None:
        """Continue from a result of :meth:`state`, with rows of this many values."""
        self._recent = deque(kept_rows(state["recent"], n_values))
        self._older = {label: kept_rows(rows, n_values) for label, _, rows in state["older"]}
        self._n_offered = Counter({label: int(offered) for label, offered, _ in state["older"]})
        self._rng.bit_generator.state = state["random"]


def kept_rows(saved: Sequence[Sequence[Any]], n_values: int) -> list[KeptRow]:
    """Return rows from their JSON values, or raise ValueError."""
    rows = [KeptRow(tuple(values), label, float(loss)) for values, label, loss in saved]
    cells = chain.from_iterable((*row.values, row.label) for row in rows)
    if any(len(row.values) != n_values or row.label is None for row in rows) or not all(
        cell is None or isinstance(cell, Value) for cell in cells
    ):
        raise ValueError(f"a row that was kept does not have {n_values} values and a class")
    return rows


def read_labels(y: Any, n_rows: int) -> list[Cell]:
    """Return the class of each row, None where missing; whole numbers become integers.

    Examples
    --------
    >>> read_labels([1.0, float("nan"), None], 3)
    [1, None, None]
    >>> read_labels(["ripe", None, 2], 3)
    ['ripe', None, 2]
    """
    values = as_array(y.values if isinstance(y, Column) else y)
    if values.shape != (n_rows,):
        raise DataError(
            f"y must have one class for each of the {n_rows} rows; got an array of shape "
            f"{values.shape}"
        )
    column = as_column("y", values)
    if column.values.dtype.kind == "f" and np.isinf(column.values).any():
        row = int(np.isinf(column.values).argmax())
        raise DataError(f"row {row + 1} of y is infinite; a class is a text or a finite number")
    # From the values as they came: in a column, one text makes texts of all numbers beside it.
    labels = zip(values.tolist(), column.missing(), strict=True)
    return [None if is_missing else plain(label) for label, is_missing in labels]


def split_rows(table: Table) -> list[tuple[Cell, ...]]:
    """Split a table into rows of plain values, None where missing.

    Examples
    --------
    >>> split_rows(Table((Column("a", np.array([1.0, np.nan])), Column("b", np.arange(2))), 2))
    [(1.0, 0), (None, 1)]
    """
    columns = []
    for column in table.columns:
        cells: list[Cell] = column.values.tolist()
        if column.values.dtype.kind == "f":
            cells = [None if cell != cell else cell for cell in cells]
        columns.append(cells)
    return list(zip(*columns, strict=True))


def as_table(rows: Sequence[Sequence[Cell]], like: Sequence[Column]) -> Table:
    """Return a table of rows whose columns have the names and the nature of others."""
    by_column = zip(*rows, strict=True) if rows else [()] * len(like)
    columns = (
        Column(one.name, _array(one.name, cells), one.order, one.nominal)
        for one, cells in zip(like, by_column, strict=True)
    )
    return Table(tuple(columns), len(rows))


def as_target(name: str, labels: Sequence[Cell]) -> Column:
    """Return a column of classes: integers if all are, texts if any is.

    Examples
    --------
    >>> as_target("state", [1, "ripe", None]).values
    array(['1', 'ripe', None], dtype=object)
    >>> as_target("state", [0, 1]).values
    array([0, 1])
    """
    values = _array(name, labels)
    if values.dtype.kind == "f" and all(isinstance(label, int) for label in labels):
        values = values.astype(np.int64)
    return Column(name, values)


def _array(name: str, cells: Sequence[Cell]) -> NDArray[Any]:
    types = set(map(type, cells))
    if float in types and types <= {float, type(None)}:  # as most features are
        return np.array(cells, dtype=np.float64)
    # A whole number beside text has no decimal point, however its column came in.
    texts = {one for one in types if issubclass(one, str)}
    is_mixed = bool(texts) and not types <= {*texts, type(None)}
    objects = np.empty(len(cells), dtype=object)
    objects[:] = [spell(cell) if is_mixed and cell is not None else cell for cell in cells]
    return as_column(name, objects).values
