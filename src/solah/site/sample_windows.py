"""Make rows of raw samples: each window that they complete is a row of readings.

The number of a row is told from ticks, the samples of the model's fastest channel, so that nodes
that count the same ticks agree on rows.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.signals.stream import WindowReadings
from solah.site.messages import MAX_SEQUENCE, Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from solah.model.signals import Signals
    from solah.site.bundle import Bundle
    from solah.site.evaluation import Version
    from solah.site.messages import Samples
    from solah.site.plan import NodePlan
    from solah.site.plan_versions import Versions

MOST_TICKS = 65_536
"""Ticks that a message may be about."""


class Sampling:
    """What a node makes of samples, for each of the plans that it knows.

    Parameters
    ----------
    counters : Counter
        Counts what is left out: ``unknown_channels``, messages that are ``unfit_samples``,
        ``repeated_ticks`` and ``missing_ticks``, and how often ticks ``restarted_ticks``.
    is_by_time : bool, default=False
        Whether rows are told apart by time; samples are not taken then.
    """

    def __init__(self, counters: Counter[str], *, is_by_time: bool = False) -> None:
        self._counters = counters
        self._is_by_time = is_by_time
        self._windows: dict[str, SampledWindows] = {}
        self._next: int | None = None  # the tick behind the last

    def rows(
        self, rows: Iterable[Measured], versions: Versions, first_row: int
    ) -> Iterator[Measured]:
        """Yield rows of readings as they are, and those that samples complete.

        Parameters
        ----------
        rows : readings and samples
        versions : the plans that the node knows
        first_row : with which row samples begin that never had a number
        """
        for row in rows:
            if row.samples is None:
                yield row
            else:
                for one in self._completed(row.samples, versions, first_row):
                    yield replace(one, time=row.time, oldest=row.oldest)

    def row_of(self, samples: Samples, version: Version) -> int | None:
        """Return the row that samples are about to complete; None where they complete none."""
        signals = version.bundle.model.signals
        tick = self._next if samples.tick is None else samples.tick
        if signals is None or tick is None:
            return None
        return max(tick - signals.window, 0) // signals.step

    def _completed(self, samples: Samples, versions: Versions, first_row: int) -> list[Measured]:
        self._keep_windows(versions)
        windows = list(self._windows.values())
        tick = self._tick_of(samples, windows, first_row)
        own = [one.own(samples.channels) for one in windows]
        self._counters["unknown_channels"] += len(set(samples.channels).difference(*own))
        fitting = [one for one in windows if one.end_of(samples.channels, tick) is not None]
        if not fitting or self._is_by_time:
            self._counters["unfit_samples"] += 1
            return []
        self._next = fitting[-1].end_of(samples.channels, tick)
        found = []
        for model, one in self._windows.items():
            counters = self._counters if one is fitting[-1] else None  # each tick once
            rows = one.take(samples.channels, tick, counters, samples.lead)
            found += [row for row in rows if versions.of(row.sequence or 0).hash == model]
        return found

    def _tick_of(self, samples: Samples, windows: list[SampledWindows], first_row: int) -> int:
        """Return the number of the first sample; where it has none, the one behind the last."""
        if samples.tick is not None:
            return samples.tick
        tick = self._next
        if tick is None:
            tick = first_row * windows[-1].signals.step if windows else 0
        return tick if tick + MOST_TICKS <= MAX_SEQUENCE else 0

    def _keep_windows(self, versions: Versions) -> None:
        """Have windows for each plan by which samples are needed, and for no other."""
        self._windows = {
            version.hash: self._windows.get(version.hash) or SampledWindows(signals)
            for version in versions
            if (signals := signals_of(version.bundle, version.plan)) is not None
        }


class SampledWindows:
    """The windows of some signals, by the numbers of their samples.

    Parameters
    ----------
    signals : Signals
        With the features to compute alone.

    Examples
    --------
    >>> from solah.signals import describe_signals
    >>> signals = describe_signals(["x"], rate=10, window=4, overlap=0.5, features=["mean"])
    >>> windows = SampledWindows(signals)
    >>> for row in windows.take({"x": (1, 2, 3, 4, 5, 6)}, tick=0):
    ...     print(row.sequence, row.readings)
    0 {'x mean over 400 ms': 2.5}
    1 {'x mean over 400 ms': 4.5}
    """

    def __init__(self, signals: Signals) -> None:
        self.signals = signals
        self._windows: WindowReadings | None = None

    def end_of(self, channels: Mapping[str, tuple[float, ...]], tick: int) -> int | None:
        """Return the tick behind samples; None where they do not fit together.

        Of each channel there must be as many samples as it has in the ticks of the fastest one.
        """
        every = {name: self.signals.channel(name).every for name in self.own(channels)}
        if not every:
            return None
        fastest = min(every, key=lambda name: every[name])
        end = (_first(tick, every[fastest]) + len(channels[fastest])) * every[fastest]
        is_fitting = all(
            len(channels[name]) == _first(end, apart) - _first(tick, apart)
            for name, apart in every.items()
        )
        is_bounded = tick < end <= min(tick + MOST_TICKS, MAX_SEQUENCE)
        return end if is_fitting and is_bounded else None

    def take(
        self,
        channels: Mapping[str, tuple[float, ...]],
        tick: int,
        counters: Counter[str] | None = None,
        lead: int | None = None,
    ) -> list[Measured]:
        """Take samples from a tick on; return the rows of the windows that they complete.

        Parameters
        ----------
        channels : the samples of each channel; others than those needed are left out
        tick : the number of the first
        counters : where to count ticks that are repeated, missing or begin again
        lead : of samples that may be read again, how many of the first ticks only fill windows: no
            row is made of those that end there, or in a gap before them. Where such samples go
            back, windows begin again
        """
        end = self.end_of(channels, tick)
        if end is None:
            return []
        if lead is not None and self._windows is not None and tick < self._windows.tick:
            self._windows = None
        windows = self._windows_for(tick, end, Counter() if counters is None else counters)
        first = windows.tick if lead is None else tick + lead
        rows = []
        for now in range(windows.tick, end):
            readings = windows.push(self._sample(channels, tick, now))
            if readings is not None and now >= first:
                rows.append(self._row(readings.tolist(), now + 1, windows.lacking))
        return rows

    def own(self, channels: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
        """Return the samples of the channels that are needed."""
        names = [channel.name for channel in self.signals.measured]
        return {name: channels[name] for name in names if name in channels}

    def _windows_for(self, tick: int, end: int, counters: Counter[str]) -> WindowReadings:
        """Return where samples go on, or windows that begin with them."""
        if self._windows is None:
            self._windows = WindowReadings(self.signals, tick)
        ahead, behind = tick - self._windows.tick, self._windows.tick - end
        if ahead > self.signals.window or behind >= self.signals.window:
            counters["restarted_ticks"] += 1
            self._windows = WindowReadings(self.signals, tick)
        elif ahead > 0:
            counters["missing_ticks"] += ahead
        elif ahead < 0:
            counters["repeated_ticks"] += min(end, self._windows.tick) - tick
        return self._windows

    def _sample(
        self, channels: Mapping[str, tuple[float, ...]], tick: int, now: int
    ) -> list[float]:
        """Return the sample of each channel at a time; NaN before the first, and where none is."""
        sample = []
        for channel in self.signals.measured:
            place = now // channel.every - _first(tick, channel.every)
            is_there = now >= tick and now % channel.every == 0 and channel.name in channels
            sample.append(channels[channel.name][place] if is_there else math.nan)
        return sample

    def _row(self, readings: list[float], end: int, lacking: frozenset[str]) -> Measured:
        """Make a row; features of channels that lack samples are named as missing."""
        named = zip(self.signals.names, readings, strict=True)
        known = {name: None if value != value else value for name, value in named}
        missing = tuple(
            one.name for one in self.signals.features if not lacking.isdisjoint(one.channels)
        )
        return Measured(known, self.signals.last_row(end), missing=missing)


def _first(tick: int, every: int) -> int:
    """Return which sample of a channel is the first from a tick on."""
    return -(-tick // every)


def signals_of(bundle: Bundle, node: NodePlan) -> Signals | None:
    """Return how a node's readings come of samples; None where none do."""
    signals = bundle.model.signals
    signals = None if signals is None else signals.only(node.reads)
    return signals if signals is not None and signals.features else None
