"""Put the samples of sensors onto the ticks of a site's clock, without a network or a clock.

A message has a batch of samples, or a single number that is held. Batches follow each other without
gaps as long as that agrees with the time at which they were measured; else they begin again there.
All that belongs to one step of the model's windows makes one row, which the node's core turns into
readings (:mod:`solah.site.sample_windows`).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from solah.site.aligner import READINGS, Aligner
from solah.site.messages import MAX_SAMPLES, Measured, Samples
from solah.site.sample_windows import MOST_TICKS
from solah.site.sensor_mapping import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.model.signals import Channel, Signals
    from solah.site.aligner import SensorState
    from solah.site.messages import Reading
    from solah.site.sensor_mapping import Found, InputSpec

TOLERANCE = 0.1
"""Seconds by which batches may arrive early or late; half a batch, where that is longer."""
_REPEATED = 0.75  # the share of a batch that lies before the end of the last, if it is that one
_MOST_WAITING = 1_000_000  # samples of all channels
_MOST_HELD = 4_096  # single numbers of a channel
_MOST_BEHIND = 100  # rows that are made late, beside those that wait
_MOST_LATE = 5  # batches in a row before one is told of them
_MOST_COUNTED = 1_000_000


class Sampler:
    """Makes rows of samples, one for each step of a model's windows.

    Parameters
    ----------
    signals : Signals
        With the features of one node alone.
    specs : mapping of channel name to InputSpec
    max_ages : mapping of channel name to seconds
        For how long single numbers are held; learned for those that are not in it.
    deadline : float
        Seconds that a row waits for batches.
    counters : Counter
        Counts ``skipped_rows`` and ``clock_back``.
    last : int, default=-1
        The last row that was made before.
    log : callable
        Called with what an operator should know.

    Examples
    --------
    >>> from solah.site.settings import Sensor
    >>> from solah.site.sensor_mapping import Mapper, InputSpec
    >>> from solah.signals import describe_signals
    >>> signals = describe_signals(["x"], rate=10, window=4, overlap=0.5, features=["mean"])
    >>> specs = {"x": InputSpec(takes_samples=True)}
    >>> mapper = Mapper([Sensor("x", "shaker")], specs)
    >>> sampler = Sampler(signals, specs, {}, deadline=2.0)
    >>> sampler.next_row(now=100.0)
    >>> for found in mapper.read("shaker", b"[1, 2, null]"):
    ...     sampler.take(found, "shaker", now=100.2)
    >>> sampler.next_row(now=100.2).samples
    Samples(channels={'x': (1.0, 2.0)}, tick=1000, lead=0)
    """

    def __init__(
        self,
        signals: Signals,
        specs: Mapping[str, InputSpec],
        max_ages: Mapping[str, float],
        deadline: float,
        counters: Counter[str] | None = None,
        last: int = -1,
        log: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._log = log
        self._signals, self._deadline = signals, deadline
        self._counters = Counter() if counters is None else counters
        self._aligner = Aligner(specs, max_ages, signals.step_seconds)
        share = _MOST_WAITING // len(signals.measured)
        self._channels = {
            one.name: _Ticks(one, signals, max(share, 2 * MAX_SAMPLES)) for one in signals.measured
        }
        self._number, self._has_begun = last, False
        self._told: set[str] = set()
        self._most_behind = _MOST_BEHIND + math.ceil(deadline / signals.step_seconds)

    def take(self, found: Found, topic: str, now: float, *, is_retained: bool = False) -> None:
        """Take in what a message said of a channel."""
        self._begin(now)
        time = self._aligner.take(found, topic, now, is_retained=is_retained)
        if time is None:
            return
        channel = self._channels[found.feature]
        if found.batch is not None:
            samples, n_unusable = found.batch
            counts = channel.take(samples, time, has_arrival=time != found.time)
            counts[Event.UNUSABLE_SAMPLES] += n_unusable
            counts[Event.MISSING_SAMPLES] += sum(map(math.isnan, samples)) - n_unusable
        else:
            is_reading = found.event in READINGS
            counts = channel.hold(self._aligner.value(found.feature), time, is_reading)
        self._aligner.count(found.feature, counts)
        self._tell_of_late(channel)

    def _tell_of_late(self, channel: _Ticks) -> None:
        """Say once of a channel that rows do not wait for its batches; the first may be late."""
        if channel.n_late > _MOST_LATE and channel.name not in self._told:
            self._told.add(channel.name)
            self._log(
                f"samples of {channel.name} come when their row is made already; set the sensor's "
                f"clock, or give 'decide.deadline', which is {self._deadline:g} s, more than a "
                "batch takes"
            )

    def next_row(self, now: float) -> Measured | None:
        """Make the next row whose step is over, if all batches are there or it waits no longer."""
        self._begin(now)
        number, newest = self._number, self._newest(now)
        if newest <= number:
            self._counters["clock_back"] += newest < number
            return None
        if (n_skipped := newest - number - self._most_behind) > 0:
            self._counters["skipped_rows"] += min(n_skipped, _MOST_COUNTED)
            number += n_skipped
            self._go_on_after(number)
        end = self._end(number + 1)
        is_waiting = now < end / self._signals.rate + self._deadline
        if is_waiting and not all(one.is_there(end) for one in self._channels.values()):
            return None
        self._number = number + 1
        return self._row(number + 1, end)

    def seconds_to_next(self, now: float) -> float:
        """Return for how long there is nothing to do, unless messages come."""
        end = self._end(self._number + 1) / self._signals.rate
        return end - now if now < end else max(0.0, end + self._deadline - now)

    def states(self, now: float) -> dict[str, SensorState]:
        """Return how the samples of each channel come in."""
        return self._aligner.states(now)

    # --- reading rows again ----------------------------------------------------------------------

    @property
    def n_lead(self) -> int:
        """How many rows before one have samples that are in its window, or stand for them."""
        signals = self._signals
        needed = -(-(signals.window + signals.max_gap) // signals.step) - 1
        return max(0, min(needed, MOST_TICKS // signals.step - 1))

    def with_lead(self, before: Sequence[Measured], row: Measured) -> Measured:
        """Give a row the samples before it, so that its window is whole where reading begins."""
        samples, step = row.samples, self._signals.step
        if samples is None or samples.tick is None:
            return row
        fitting = {
            one.samples.tick: one.samples.channels
            for one in before
            if one.samples is not None
            and one.samples.tick is not None
            and 0 < samples.tick - one.samples.tick <= self.n_lead * step
            and (samples.tick - one.samples.tick) % step == 0
        }
        first = min(fitting, default=samples.tick)
        channels = {}
        for name, own in samples.channels.items():
            parts = [
                _exactly(len(own), fitting.get(tick, {}).get(name, ()))
                for tick in range(first, samples.tick, step)
            ]
            channels[name] = (*(value for part in parts for value in part), *own)
        joined = Samples(channels, first, lead=samples.tick - first)
        return Measured({}, row.sequence, row.time, row.oldest, samples=joined)

    # --- rows ------------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        """Begin with the step that goes on now."""
        if not self._has_begun:
            self._has_begun = True
            newest = max(self._number, self._newest(now))
            n_skipped = newest - self._number if self._number >= 0 else 0
            self._counters["skipped_rows"] += min(n_skipped, _MOST_COUNTED)
            self._go_on_after(newest)

    def _newest(self, now: float) -> int:
        """Return the last row whose window is over."""
        return self._signals.last_row(math.floor(now * self._signals.rate))

    def _end(self, number: int) -> int:
        """Return the tick behind a row."""
        return self._signals.window + number * self._signals.step

    def _go_on_after(self, number: int) -> None:
        self._number = number
        for channel in self._channels.values():
            self._aligner.count(channel.name, channel.drop_before(self._end(number)))

    def _row(self, number: int, end: int) -> Measured:
        start, rate = max(0, end - self._signals.step), self._signals.rate
        channels = {
            name: channel.cut(start, end, self._aligner.max_age(name))
            for name, channel in self._channels.items()
        }
        since = end / rate - self._signals.window_seconds
        known = [one.known for one in self._channels.values() if one.known is not None]
        oldest = min((measured for time, measured in known if time >= since), default=None)
        return Measured({}, number, end / rate, oldest, samples=Samples(channels, start, lead=0))


class _HeldNumber(NamedTuple):
    """A single number: the first sample that it stands for, when it was measured, and itself."""

    first: int
    time: float
    value: float | None


class _Ticks:
    """The samples of a channel that no row has yet, by their number: time times the rate."""

    def __init__(self, channel: Channel, signals: Signals, most: int) -> None:
        self.name = channel.name
        self.known: tuple[float, float] | None = None
        """The time of the last sample in a row that is known, and when it was measured."""
        self.n_late = 0
        """How many batches, one after the other, had samples of rows that are made already."""
        self._every, self._rate = channel.every, signals.rate / channel.every
        self._most = most + signals.step // channel.every
        self._samples: dict[int, float] = {}
        self._held: deque[_HeldNumber] = deque(maxlen=_MOST_HELD)
        self._first = 0  # of the next row
        self._next: int | None = None  # behind the last batch
        self._phase = 0.0  # by how much the last sample was off its tick when batches began

    def take(self, samples: Sequence[float], time: float, *, has_arrival: bool) -> Counter[str]:
        """Take a batch, whose last sample was measured at a time; return what to count.

        Where nobody knows when it was measured, its arrival says it, and that has jitter.
        """
        counts: Counter[str] = Counter()
        last, n_samples = time * self._rate, len(samples)
        tolerance = max(n_samples / 2, TOLERANCE * self._rate if has_arrival else 0.0)
        behind = self._behind(last, n_samples, tolerance, counts)
        if behind is None:
            counts[Event.DROPPED_SAMPLES] += n_samples
            return counts
        begin = behind - n_samples
        if self._held and self._held[-1].value is not None:
            self.hold(None, begin / self._rate, True)
        n_again = 0 if self._next is None else max(0, self._next - begin)
        low, high = max(begin + n_again, self._first), min(behind, self._first + self._most)
        for number in range(low, high):
            self._samples[number] = samples[number - begin]
        counts[Event.DROPPED_SAMPLES] += n_samples - max(0, high - low)
        self.n_late = self.n_late + 1 if begin + n_again < self._first else 0
        self._next = behind
        return counts

    def _behind(
        self, last: float, n_samples: int, tolerance: float, counts: Counter[str]
    ) -> int | None:
        """Return the number behind a batch: it goes on where the one before ended, or by the clock.

        None for a batch that is repeated: it would come again before most of it is over.
        """
        if self._next is not None:
            drift = last - self._phase - (self._next + n_samples - 1)
            if abs(drift) <= tolerance:
                return self._next + n_samples
        nearest = _nearest(last)
        if self._next is not None:
            gap = nearest + 1 - n_samples - self._next
            if -gap > _REPEATED * n_samples:
                return None
            counts[Event.SYNCHRONISED] += 1
            counts[Event.MISSING_SAMPLES] += min(max(0, gap), _MOST_COUNTED)
        self._phase = last - nearest
        return nearest + 1

    def hold(self, value: Reading, time: float, is_reading: bool) -> Counter[str]:
        """Hold a single number from a time on; what is no reading ends one that is held."""
        counts: Counter[str] = Counter()
        if not is_reading and not self._held:
            return counts
        if isinstance(value, float):
            self._next = None
        first = _nearest(time * self._rate)
        while self._held and self._held[-1].first >= first:
            self._held.pop()
        counts[Event.DROPPED_SAMPLES] += len(self._held) == _MOST_HELD
        self._held.append(_HeldNumber(first, time, value if isinstance(value, float) else None))
        return counts

    def is_there(self, end: int) -> bool:
        """Whether all samples up to a tick have come that are to be waited for."""
        return bool(self._held) if self._next is None else self._next * self._every >= end

    def cut(self, start: int, end: int, max_age: float) -> tuple[float, ...]:
        """Return the samples from a tick to another, the next; NaN for missing ones."""
        first, self._first = -(-start // self._every), -(-end // self._every)
        return tuple(self._sample(number, max_age) for number in range(first, self._first))

    def _sample(self, number: int, max_age: float) -> float:
        time = number / self._rate
        while len(self._held) > 1 and self._held[1].first <= number:
            self._held.popleft()
        if number in self._samples:
            value = self._samples.pop(number)
            self.known = self.known if math.isnan(value) else (time, time)
            return value
        if not self._held or self._held[0].first > number:
            return math.nan
        held = self._held[0]
        if held.value is None or time - held.time > max_age:
            return math.nan
        self.known = time, held.time
        return held.value

    def drop_before(self, tick: int) -> Counter[str]:
        """Forget the samples before a tick, of rows that are over; return what to count."""
        self._first = -(-tick // self._every)
        late = [number for number in self._samples if number < self._first]
        for number in late:
            del self._samples[number]
        return Counter({Event.DROPPED_SAMPLES: len(late)})


def _nearest(last: float) -> int:
    """Return the number of a sample; where it lies between two, the lower, as in recordings."""
    return math.ceil(last - 0.5)


def _exactly(length: int, samples: Sequence[float]) -> Sequence[float]:
    return samples if len(samples) == length else tuple(repeat(math.nan, length))
