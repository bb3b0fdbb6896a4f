"""Detect a change of the mean of a series of numbers.

Both detectors keep little: Page-Hinkley a few sums, the adaptive window a histogram whose size
grows with the logarithm of what it holds. Neither keeps the numbers themselves.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Protocol, TypeAlias

from solah.exceptions import DataError, ParameterError, did_you_mean, shorten

DetectorName: TypeAlias = Literal["adwin", "page-hinkley"]

# How many buckets of one size an exponential histogram may have: the M of Bifet and Gavaldà.
_MOST_OF_A_SIZE = 5
# A mean of fewer values is too uncertain to cut by.
_FEWEST_ON_A_SIDE = 5


class Detector(Protocol):
    """What tells a change of the mean."""

    @property
    def n_recent(self) -> int:
        """How many of the last values came after the change, as far as can be told."""

    def update(self, value: float) -> bool:
        """Take the next value; return whether the mean has changed now."""

    def reset(self) -> None:
        """Forget everything."""

    def state(self) -> dict[str, Any]:
        """Return what is to be kept, as JSON has it."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what was kept."""


class PageHinkley:
    """Tells that a mean has risen (Page, 1954; Hinkley, 1971).

    Sums how far each value lies above the mean of all so far, less what is tolerated. Where the sum
    has risen by more than a threshold above its lowest point, the mean has risen.

    Parameters
    ----------
    delta : float, default=0.005
        The rise that is tolerated; the customary figure.
    threshold : float, default=50.0
        How much excess is a drift: the customary figure. For values of 0 and 1 it is a number of
        errors more than expected. There is no bound on false alarms. Measured
        (``benchmarks/streams.py --detectors``, 200 streams of 10,000 rows): 2 % of the streams with
        an error of 0.1 had one, and 35 % of those with an error of 0.4. A step from 0.1 to 0.3 is
        told after 241 rows (median).
    min_rows : int, default=30
        No drift is told before so many values.

    Examples
    --------
    >>> detector = PageHinkley()
    >>> any(detector.update(0.0) for _ in range(500))
    False
    >>> next(n for n in range(1, 100) if detector.update(1.0))
    53
    """

    def __init__(self, delta: float = 0.005, threshold: float = 50.0, min_rows: int = 30) -> None:
        if not delta >= 0:
            raise ParameterError(f"'delta' must be 0 or more. Got {delta!r} instead.")
        if not threshold > 0:
            raise ParameterError(f"'threshold' must be above 0. Got {threshold!r} instead.")
        if min_rows < 1:
            raise ParameterError(f"'min_rows' must be 1 or more. Got {min_rows!r} instead.")
        self.delta, self.threshold, self.min_rows = delta, threshold, min_rows
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._n = self._n_at_lowest = 0
        self._mean = self._excess = self._lowest = 0.0

    @property
    def n_recent(self) -> int:
        """How many values came since the excess was lowest: since the rise began."""
        return self._n - self._n_at_lowest

    def update(self, value: float) -> bool:
        """Take the next value.

        Parameters
        ----------
        value : float
            Such as 1 for an error and 0 for none.

        Returns
        -------
        drift : bool
            Whether the mean has risen now. It goes on to say so until it is reset.
        """
        _expect_number(value)
        self._n += 1
        self._mean += (value - self._mean) / self._n
        self._excess += value - self._mean - self.delta
        if self._excess < self._lowest:
            self._lowest, self._n_at_lowest = self._excess, self._n
        return self._n >= self.min_rows and self._excess - self._lowest > self.threshold

    def state(self) -> dict[str, Any]:
        """Return what is to be kept, as JSON has it."""
        return {
            "n": self._n,
            "n_at_lowest": self._n_at_lowest,
            "mean": self._mean,
            "excess": self._excess,
            "lowest": self._lowest,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self._n, self._n_at_lowest = int(state["n"]), int(state["n_at_lowest"])
        self._mean, self._excess = float(state["mean"]), float(state["excess"])
        self._lowest = float(state["lowest"])


class AdaptiveWindow:
    """Tells that a mean has changed, with a window that is as long as the mean stays (ADWIN2).

    The window holds all values since the last change. Wherever it can be cut in two whose means
    differ by more than chance explains, the older part is dropped, which is a drift (Bifet and
    Gavaldà, *Learning from time-changing data with adaptive windowing*, 2007). Values are kept in
    buckets of 1, 2, 4, … of them, at most six of a size.

    Parameters
    ----------
    delta : float, default=0.002
        The chance of a false alarm at each look: the paper's bound, and the customary figure. With
        ``check_every=32``, a stream of 10,000 rows has 312 looks, so 0.6 false alarms at most on
        average. Measured (``benchmarks/streams.py --detectors``): none in 200 such streams with an
        error of 0.1, nor in 200 with 0.4; a step from 0.1 to 0.3 is told after 176 rows (median).
    check_every : int, default=32
        Look for a cut after so many values: the paper's implementation does so for speed.
    only_rises : bool, default=False
        Tell only rises of the mean; the window is cut after a fall too. An error that falls is no
        reason to learn again.

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
            raise ParameterError(f"'delta' must be above 0 and below 1. Got {delta!r} instead.")
        if check_every < 1:
            raise ParameterError(f"'check_every' must be 1 or more. Got {check_every!r} instead.")
        self.delta, self.check_every, self.only_rises = delta, check_every, only_rises
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._n_seen = self._n_kept = self._n_recent = 0
        self._total = self._squares = 0.0
        # One list for each size of bucket (1, 2, 4, …), each with the oldest first: the sum of a
        # bucket's values, and of their squared distances from its mean.
        self._buckets: list[list[tuple[float, float]]] = [[]]

    @property
    def n_kept(self) -> int:
        """How many values the window holds: those since the last change."""
        return self._n_kept

    @property
    def n_recent(self) -> int:
        """How many values were newer than the sharpest cut when the last change was told."""
        return self._n_recent

    @property
    def mean(self) -> float:
        """The mean of the values in the window; 0 if it is empty."""
        return self._total / self._n_kept if self._n_kept else 0.0

    @property
    def variance(self) -> float:
        """The variance of the values in the window; 0 if it is empty."""
        return max(self._squares, 0.0) / self._n_kept if self._n_kept else 0.0

    def update(self, value: float) -> bool:
        """Take the next value.

        Parameters
        ----------
        value : float
            From 0 to 1, such as 1 for an error and 0 for none: the bound on false alarms is for
            such values.

        Returns
        -------
        drift : bool
            Whether the mean has changed now.
        """
        _expect_number(value)
        if not 0 <= value <= 1:
            raise DataError(f"an adaptive window is for values from 0 to 1. Got {value!r} instead.")
        self._add(value)
        if self._n_seen % self.check_every:
            return False
        before = self.mean
        cut = self._sharpest_cut()
        if cut is None:
            return False
        self._n_recent = cut
        while cut is not None:
            self._drop_oldest()
            cut = self._sharpest_cut()
        return self.mean > before or not self.only_rises

    def state(self) -> dict[str, Any]:
        """Return what is to be kept, as JSON has it."""
        return {
            "n_seen": self._n_seen,
            "n_kept": self._n_kept,
            "n_recent": self._n_recent,
            "total": self._total,
            "squares": self._squares,
            "buckets": [[list(bucket) for bucket in row] for row in self._buckets],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self._n_seen, self._n_kept = int(state["n_seen"]), int(state["n_kept"])
        self._n_recent = int(state["n_recent"])
        self._total, self._squares = float(state["total"]), float(state["squares"])
        self._buckets = [
            [(float(total), float(squares)) for total, squares in row] for row in state["buckets"]
        ]

    def _add(self, value: float) -> None:
        self._n_seen += 1
        if self._n_kept:
            away = value - self.mean
            self._squares += away * away * self._n_kept / (self._n_kept + 1)
        self._n_kept += 1
        self._total += value
        self._buckets[0].append((value, 0.0))
        self._compress()

    def _compress(self) -> None:
        """Join the two oldest buckets of a size wherever there are too many of it."""
        for level, row in enumerate(self._buckets):
            if len(row) <= _MOST_OF_A_SIZE:
                return
            if level + 1 == len(self._buckets):
                self._buckets.append([])
            older, newer = row.pop(0), row.pop(0)
            self._buckets[level + 1].append(_joined(older, newer, 1 << level))

    def _sharpest_cut(self) -> int | None:
        """Find where two parts differ most for their sizes; return how many values are newer.

        None if their means differ nowhere by more than chance explains.
        """
        n_old, total_old, sharpest, n_newer = 0, 0.0, 1.0, None
        log_term = self._log_term()
        for level in range(len(self._buckets) - 1, -1, -1):
            for total, _ in self._buckets[level]:
                n_old += 1 << level
                total_old += total
                n_new = self._n_kept - n_old
                if min(n_old, n_new) < _FEWEST_ON_A_SIDE:
                    continue
                gap = abs(total_old / n_old - (self._total - total_old) / n_new)
                sharpness = gap / self._bound(n_old, n_new, log_term)
                if sharpness > sharpest:
                    sharpest, n_newer = sharpness, n_new
        return n_newer

    def _log_term(self) -> float:
        """Return ln(2 / delta'), with delta' = delta / n, since n cuts are tried."""
        return math.log(2 * max(self._n_kept, 1) / self.delta)

    def _bound(self, n_old: int, n_new: int, log_term: float) -> float:
        """Return the paper's epsilon_cut, by the variance of the window (its equation 3.1)."""
        harmonic = 1 / (1 / n_old + 1 / n_new)
        spread = math.sqrt(2 / harmonic * self.variance * log_term)
        return spread + 2 / (3 * harmonic) * log_term

    def _drop_oldest(self) -> None:
        level = len(self._buckets) - 1
        total, squares = self._buckets[level].pop(0)
        if not self._buckets[level] and level:
            self._buckets.pop()
        size = 1 << level
        n_left = self._n_kept - size
        away = total / size - (self._total - total) / n_left
        self._squares -= squares + away * away * size * n_left / self._n_kept
        self._n_kept, self._total = n_left, self._total - total


def make_detector(name: str) -> Detector:
    """Make the detector of an error's rise by its name.

    Examples
    --------
    >>> type(make_detector("adwin")).__name__
    'AdaptiveWindow'
    """
    if name == "adwin":
        return AdaptiveWindow(only_rises=True)
    if name == "page-hinkley":
        return PageHinkley()
    known = ("adwin", "page-hinkley")
    raise ParameterError(f"there is no detector {shorten(name)}{did_you_mean(name, known)}")


def _joined(
    older: tuple[float, float], newer: tuple[float, float], size: int
) -> tuple[float, float]:
    """Join two buckets of one size."""
    away = (older[0] - newer[0]) / size
    return older[0] + newer[0], older[1] + newer[1] + away * away * size / 2


def _expect_number(value: float) -> None:
    if not math.isfinite(value):
        raise DataError(f"a detector takes finite numbers. Got {value!r} instead.")
