"""Keep labelled rows that are worth learning from again.

The last rows are all kept. A row that falls out of this window is offered to the sample of its
class, which is uniform over all such rows (Algorithm R of Vitter, 1985), so that a class that has
become rare is not lost.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.exceptions import ParameterError
from solah.kernels.arrays import MAX_FOCAL_SETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.stream.values import Reading, Value


class KeptRow(NamedTuple):
    """A labelled row.

    Attributes
    ----------
    readings : what was read of each attribute
    label : its class
    loss : minus the logarithm of the belief in this class when the row came; NaN if no model was
        there yet
    """

    readings: tuple[Reading, ...]
    label: Value
    loss: float


class Reservoir:
    """Keeps the last labelled rows, and some older ones of each class.

    Parameters
    ----------
    window : int, default=2000
        How many of the last rows to keep.
    per_class : int, default=50
        How many older rows of each class to keep.
    random_state : int, default=0
        What older rows are drawn with.

    Examples
    --------
    >>> kept = Reservoir(window=3, per_class=1)
    >>> for n, label in enumerate("abbbb"):
    ...     kept.add(KeptRow((float(n),), label, 0.0))
    >>> [row.label for row in kept.rows()]
    ['a', 'b', 'b', 'b']
    """

    def __init__(self, window: int = 2000, per_class: int = 50, random_state: int = 0) -> None:
        if window < 1:
            raise ParameterError(f"'window' must be 1 or more. Got {window!r} instead.")
        if per_class < 0:
            raise ParameterError(f"'per_class' must be 0 or more. Got {per_class!r} instead.")
        self.window_size, self.per_class = window, per_class
        self._recent: deque[KeptRow] = deque()
        self._older: dict[Value, list[KeptRow]] = {}
        self._n_offered: Counter[Value] = Counter()
        self._rng = np.random.default_rng(random_state)

    def __len__(self) -> int:
        return len(self._recent) + sum(map(len, self._older.values()))

    @property
    def n_recent(self) -> int:
        """How many of the last rows are there."""
        return len(self._recent)

    def add(self, row: KeptRow) -> None:
        """Keep a row; the oldest of the window makes room for it."""
        self._recent.append(row)
        if len(self._recent) > self.window_size:
            self._offer(self._recent.popleft())

    def recent(self, n_rows: int) -> list[KeptRow]:
        """Return the last rows, at most so many, the oldest first."""
        skipped = max(len(self._recent) - n_rows, 0)
        return list(islice(self._recent, skipped, None))

    def rows(self, n_recent: int | None = None, *, leave_out: int = 0) -> list[KeptRow]:
        """Return the last rows, and before them older ones of the classes that they have few of.

        Parameters
        ----------
        n_recent : int, default=None
            How many of the last rows to take; by default all of the window. Older ones fill up
            the classes that have fewer than ``per_class`` rows among them, the latest first.
        leave_out : int, default=0
            Leave so many of the very last out.
        """
        window = list(self._recent)
        window = window[: len(window) - leave_out]
        first = 0 if n_recent is None else max(len(self._recent) - n_recent, 0)
        return self._older_of_rare(window[:first], window[first:]) + window[first:]

    def state(self) -> tuple[list[KeptRow], dict[str, Any]]:
        """Return all rows, older ones first, and what JSON can say of them."""
        older = [row for sample in self._older.values() for row in sample]
        classes = [
            [label, len(self._older.get(label, ())), n_offered]
            for label, n_offered in self._n_offered.items()
        ]
        return older + list(self._recent), {
            "classes": classes,
            "random": self._rng.bit_generator.state,
        }

    def restore(self, rows: Sequence[KeptRow], state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        start = 0
        self._older, self._n_offered = {}, Counter()
        for label, n_rows, n_offered in state["classes"]:
            self._older[label] = list(rows[start : start + n_rows])
            self._n_offered[label] = n_offered
            start += n_rows
        self._recent = deque(rows[start:])
        self._rng.bit_generator.state = state["random"]

    def _older_of_rare(self, before: list[KeptRow], last: list[KeptRow]) -> list[KeptRow]:
        there = Counter(row.label for row in last)
        filled: list[KeptRow] = []
        for row in chain(reversed(before), *self._older.values()):
            if there[row.label] < self.per_class:
                there[row.label] += 1
                filled.append(row)
        return filled

    def _offer(self, row: KeptRow) -> None:
        """Let a row into the sample of its class with the chance that makes it uniform."""
        if row.label not in self._n_offered and len(self._n_offered) == MAX_FOCAL_SETS:
            return  # no model could tell more classes apart, and memory is bounded
        self._n_offered[row.label] += 1
        sample = self._older.setdefault(row.label, [])
        if len(sample) < self.per_class:
            sample.append(row)
            return
        place = int(self._rng.integers(self._n_offered[row.label]))
        if place < self.per_class:
            sample[place] = row
