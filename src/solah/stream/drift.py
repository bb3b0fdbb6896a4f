"""Drift detection: errors that have risen, and dependences between columns that have changed."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data import infer_types
from solah.dependence import TableColumns, dependence_of, relevance_of
from solah.exceptions import DataError, ParameterError
from solah.stream.reservoir import as_table, as_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import Column, Declared, Table
    from solah.kernels.arrays import Float
    from solah.stream.reservoir import KeptRow

# The number of buckets of one size in an exponential histogram: the M of Bifet and Gavaldà.
_MAX_BUCKETS = 5
# A mean of fewer values is too uncertain to cut by.
_MIN_PER_SIDE = 5

# Rows per side and features in a comparison of dependences: pairs are many, and each takes time.
COMPARED_ROWS = 500
_MAX_FEATURES = 16
# After this many shuffles, a change this many standard deviations above them is certain: none of
# the other shuffles would be as large, but for one check in 500. (The largest of many changes has
# about the tail of Gumbel's distribution.)
_MIN_SHUFFLES, _CERTAIN = 19, 8.0


class AdaptiveWindow:
    """Detector of a changed mean, whose window grows while the mean stays the same (ADWIN2).

    The window holds all values since the last change. Wherever it can be cut in two parts whose
    means differ by more than chance explains, the older part is dropped, which is a drift (Bifet
    and Gavaldà, *Learning from time-changing data with adaptive windowing*, 2007). Values are kept
    in buckets of 1, 2, 4, … of them, so memory grows with the logarithm of their number.

    Parameters
    ----------
    delta : float, default=0.002
        Probability of a false alarm per check: the paper's bound, and the customary value.
        Measured on 200 streams of 10,000 rows (``benchmarks/streams.py --detector``): no false
        alarm at an error rate of 0.1, nor at 0.4.
    check_every : int, default=32
        Number of values between checks, as in the paper's implementation.
    only_rises : bool, default=False
        Whether to report only rises of the mean. The window is cut after a fall too.

    Examples
    --------
    >>> window = AdaptiveWindow()
    >>> any(window.update(float(n % 10 == 0)) for n in range(1_000))
    False
    >>> window.n_kept, round(window.mean, 2)
    (1000, 0.1)
    >>> any(window.update(float(n % 10 < 5)) for n in range(200))
    True
    >>> window.n_kept < 1_200
    True
    """

    def __init__(
        self, delta: float = 0.002, *, check_every: int = 32, only_rises: bool = False
    ) -> None:
        if not 0 < delta < 1:
            raise ParameterError(f"'delta' must be above 0 and below 1; got {delta!r}")
        if check_every < 1:
            raise ParameterError(f"'check_every' must be 1 or more; got {check_every!r}")
        self.delta, self.check_every, self.only_rises = delta, check_every, only_rises
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self._n_seen = self.n_kept = self.n_recent = 0
        self._total = self._squares = 0.0
        # One list per bucket size (1, 2, 4, …), oldest first: the sum of a bucket's values, and of
        # their squared distances from its mean.
        self._buckets: list[list[tuple[float, float]]] = [[]]

    @property
    def mean(self) -> float:
        """The mean of the values in the window; 0 if it is empty."""
        return self._total / self.n_kept if self.n_kept else 0.0

    @property
    def variance(self) -> float:
        """The variance of the values in the window; 0 if it is empty."""
        return max(self._squares, 0.0) / self.n_kept if self.n_kept else 0.0

    def update(self, value: float) -> bool:
        """Take the next value and return whether the mean has changed.

        After a change, ``n_recent`` is the number of values that came after it.

        Parameters
        ----------
        value : float
            From 0 to 1, such as 1 for an error and 0 for none: the bound on false alarms holds for
            such values.
        """
        if not 0 <= value <= 1:
            raise DataError(f"an adaptive window takes values from 0 to 1; got {value!r}")
        self._add(value)
        if self._n_seen % self.check_every:
            return False
        before = self.mean
        cut = self._sharpest_cut()
        if cut is None:
            return False
        self.n_recent = cut
        while cut is not None:
            self._drop_oldest()
            cut = self._sharpest_cut()
        return self.mean > before or not self.only_rises

    def state(self) -> list[Any]:
        """Return the window as JSON values."""
        return [
            *(self._n_seen, self.n_kept, self.n_recent, self._total, self._squares),
            [[list(bucket) for bucket in row] for row in self._buckets],
        ]

    def restore(self, state: Sequence[Any]) -> None:
        """Continue from a result of :meth:`state`."""
        n_seen, n_kept, n_recent, total, squares, buckets = state
        self._n_seen, self.n_kept, self.n_recent = int(n_seen), int(n_kept), int(n_recent)
        self._total, self._squares = float(total), float(squares)
        self._buckets = [[(float(one), float(two)) for one, two in row] for row in buckets]
        if self.n_kept != sum(len(row) << level for level, row in enumerate(self._buckets)):
            raise ValueError("the buckets of the drift detector do not add up")

    def _add(self, value: float) -> None:
        self._n_seen += 1
        if self.n_kept:
            away = value - self.mean
            self._squares += away * away * self.n_kept / (self.n_kept + 1)
        self.n_kept += 1
        self._total += value
        self._buckets[0].append((value, 0.0))
        for level, row in enumerate(self._buckets):
            if len(row) <= _MAX_BUCKETS:
                return
            if level + 1 == len(self._buckets):
                self._buckets.append([])
            (older, squares), (newer, more_squares) = row.pop(0), row.pop(0)
            size = 1 << level
            away = (older - newer) / size
            joined = (older + newer, squares + more_squares + away * away * size / 2)
            self._buckets[level + 1].append(joined)

    def _sharpest_cut(self) -> int | None:
        """Return the number of values after the cut whose parts differ most for their sizes.

        None if no two parts differ by more than epsilon_cut, the paper's equation 3.1, with
        delta' = delta / n, since n cuts are tried.
        """
        n_old, total_old, sharpest, n_newer = 0, 0.0, 1.0, None
        log_term = math.log(2 * max(self.n_kept, 1) / self.delta)
        variance = self.variance
        for level in range(len(self._buckets) - 1, -1, -1):
            for total, _ in self._buckets[level]:
                n_old += 1 << level
                total_old += total
                n_new = self.n_kept - n_old
                if min(n_old, n_new) < _MIN_PER_SIDE:
                    continue
                gap = abs(total_old / n_old - (self._total - total_old) / n_new)
                harmonic = 1 / (1 / n_old + 1 / n_new)
                spread = math.sqrt(2 / harmonic * variance * log_term)
                sharpness = gap / (spread + 2 / (3 * harmonic) * log_term)
                if sharpness > sharpest:
                    sharpest, n_newer = sharpness, n_new
        return n_newer

    def _drop_oldest(self) -> None:
        level = len(self._buckets) - 1
        total, squares = self._buckets[level].pop(0)
        if not self._buckets[level] and level:
            self._buckets.pop()
        size = 1 << level
        n_left = self.n_kept - size
        away = total / size - (self._total - total) / n_left
        self._squares -= squares + away * away * size * n_left / self.n_kept
        self.n_kept, self._total = n_left, self._total - total


class DependenceShift(NamedTuple):
    """A pair of columns whose distance correlation has changed."""

    first: str
    second: str
    before: float
    after: float

    def __str__(self) -> str:
        return (
            f"the dependence of {self.first} and {self.second} changed "
            f"from {self.before:.2f} to {self.after:.2f}"
        )


def find_dependence_shift(
    before: Sequence[KeptRow],
    after: Sequence[KeptRow],
    like: Sequence[Column],
    target_name: str,
    *,
    feature_types: Declared | None = None,
    n_shuffles: int = 99,
    seed: int = 0,
) -> DependenceShift | None:
    """Find the distance correlation that changed most, if by more than chance explains.

    Of either side the last 500 rows are compared, and the 16 features that depend most on the
    target. The largest change is compared with the largest change between two random parts of the
    same rows, ``n_shuffles`` times, and must exceed all of them. So a stationary stream has a false
    alarm with a probability of at most ``1 / (n_shuffles + 1)`` per check: 1%. Shuffling stops at
    the first change that is as large, or once no other could be.
    """
    before, after = before[-COMPARED_ROWS:], after[-COMPARED_ROWS:]
    pooled, n_before = [*before, *after], len(before)
    try:
        table, types = infer_types(as_table([row.values for row in pooled], like), feature_types)
        target = as_target(target_name, [row.label for row in pooled]).values
        if len(types) > _MAX_FEATURES:
            columns = TableColumns.of(table, types, target, nominal_target=True)
            strongest = np.argsort(-relevance_of(columns), kind="stable")[:_MAX_FEATURES]
            best = np.sort(strongest).tolist()
            table = table.select([table.names[j] for j in best])
            types = tuple(types[j] for j in best)
    except DataError:
        return None  # such rows cannot be trained on either, and the next fit reports why

    def changes(order: np.ndarray[Any, Any]) -> tuple[Float, Float]:
        """Correlate all pairs of features, then each with the target, in two parts of the rows."""
        first, second = (
            _correlations(table.take(part), types, target[part])
            for part in (order[:n_before], order[n_before:])
        )
        return first, second

    old, new = changes(np.arange(len(pooled)))
    gaps = np.abs(new - old)
    rng, by_chance = np.random.default_rng(seed), list[float]()
    while len(by_chance) < n_shuffles:
        is_enough = len(by_chance) >= _MIN_SHUFFLES
        if is_enough and gaps.max() > np.mean(by_chance) + _CERTAIN * np.std(by_chance):
            break
        first, second = changes(rng.permutation(len(pooled)))
        by_chance.append(float(np.abs(second - first).max()))
        if by_chance[-1] >= gaps.max():
            return None
    pairs = [*combinations(table.names, 2), *((name, target_name) for name in table.names)]
    most = int(gaps.argmax())
    return DependenceShift(*pairs[most], float(old[most]), float(new[most]))


def _correlations(table: Table, types: Any, target: np.ndarray[Any, Any]) -> Float:
    found = dependence_of(TableColumns.of(table, types, target, nominal_target=True))
    return np.concatenate([found.matrix[np.triu_indices(len(found.names), 1)], found.relevance])
