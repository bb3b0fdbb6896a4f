"""Hold the last reading of each feature until it is too old, without a network or a clock.

Readings arrive at their own rates. The last message counts: one without a reading makes the feature
missing until the next one. A reading that is older than its feature allows is missing, too. When
the connection is lost, all readings are missing until a message confirms or replaces them: nobody
knows what was missed. A device that goes offline has no readings. Repeats, late messages, gaps and
restarted counts are distinguished and counted.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from solah.site.messages import Measured, SensorReport
from solah.site.sensor_mapping import Event, InputSpec, check_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from solah.site.messages import Reading
    from solah.site.sensor_mapping import Found

CLOCK_TOLERANCE = 60.0
"""Seconds that a sensor's clock may be ahead of ours."""
FIRST_MAX_AGE = 600.0
"""Seconds that a reading is held while nobody knows how often it comes."""
_INTERVALS = 20
_LEAST_INTERVALS = 3
_QUANTILE = 0.9
_TIMES = 3.0
_MOST_LOST = 1_000_000
READINGS = (Event.TAKEN, Event.UNUSUAL)
"""What a message with a reading is."""


@dataclass
class _Held:
    """The last reading of a feature and how it came."""

    max_age: float | None = None  # where it is given
    value: Reading = None
    time: float | None = None  # when it was measured
    topic: str | None = None
    lost: float | None = None  # since when a message may have been missed; None if confirmed
    is_offline: bool = False  # whether its device reports that it is gone
    number: float | None = None  # the sensor's own count
    below: float | None = None  # a count that was dropped for being no larger
    counted: tuple[float, float] | None = None  # the last value of a counter, and when
    intervals: deque[float] = field(default_factory=lambda: deque(maxlen=_INTERVALS))
    counts: Counter[str] = field(default_factory=Counter)


class Aligner:
    """Holds readings and makes rows of them.

    Parameters
    ----------
    specs : mapping of feature name to InputSpec
        The features of which rows are made.
    max_ages : mapping of feature name to seconds
        For how long readings are held; learned for those that are not in it.
    every : float
        Seconds between two rows; nothing is held for less than two of them.

    Examples
    --------
    >>> from solah.site.sensors import Sensor
    >>> from solah.site.sensor_mapping import Mapper
    >>> specs = {"temperature": InputSpec()}
    >>> mapper = Mapper([Sensor("temperature", "attic")], specs)
    >>> aligner = Aligner(specs, {"temperature": 60.0}, every=10.0)
    >>> for found in mapper.read("attic", b"21.5"):
    ...     _ = aligner.take(found, "attic", now=1000.0)
    >>> aligner.row(now=1030.0).readings, aligner.row(now=1100.0).missing
    ({'temperature': 21.5}, ('temperature',))
    """

    def __init__(
        self, specs: Mapping[str, InputSpec], max_ages: Mapping[str, float], every: float
    ) -> None:
        self._specs, self._every = specs, every
        self._held = {name: _Held(max_ages.get(name)) for name in specs}

    def take(
        self, found: Found, topic: str, now: float, *, is_retained: bool = False
    ) -> float | None:
        """Take a message about a feature.

        Parameters
        ----------
        found : Found
        topic : str
            The topic that it came by.
        now : float
            The time on the wall, in seconds.
        is_retained : bool, default=False
            Whether the broker had kept it.

        Returns
        -------
        time : float or None
            From when on it counts; None for what is left alone.
        """
        held = self._held[found.feature]
        event = self._why_ignored(held, found, topic, is_retained)
        if event is not None:
            held.counts[event] += 1
            if event in (Event.CONFIRMED, Event.REPEATED):
                held.lost = None
            return None
        held.counts[found.event] += 1
        if found.event is Event.ABSENT:
            return None
        held.topic, lost = topic, held.lost
        held.lost, held.is_offline = None, False
        if found.sensor.max_age is not None:  # of a sensor whose topic names the feature
            held.max_age = found.sensor.max_age
        time = found.time
        if time is not None and time > now + CLOCK_TOLERANCE:
            held.counts[Event.CLOCK_AHEAD] += 1
            time = None
        if time is None:  # the broker may have kept it since the connection was lost
            time = lost if is_retained and lost is not None else now
        if found.event in READINGS:
            if held.time is not None:
                held.intervals.append(max(time - held.time, 0.0))
            self._hold(held, found, time)
        else:
            held.value = None
        return time

    def lose(self, now: float) -> None:
        """Note that the connection is lost, so that messages may be missed from now on."""
        for held in self._held.values():
            held.lost = now if held.lost is None else held.lost

    def note_device(self, features: Iterable[str], *, is_online: bool) -> None:
        """Note that the device of some features is there, or is gone and measures nothing."""
        for name in features:
            held = self._held[name]
            held.is_offline = not is_online
            if not is_online:
                held.counts[Event.OFFLINE] += 1
                held.value = None

    def row(self, now: float, sequence: int | None = None) -> Measured:
        """Make a row of what is known now, with a number."""
        known = {name: held for name, held in self._held.items() if self._is_known(held, now)}
        return Measured(
            readings={name: known[name].value if name in known else None for name in self._held},
            sequence=sequence,
            time=now,
            oldest=min((one.time for one in known.values() if one.time), default=None),
            missing=tuple(name for name in self._held if name not in known),
        )

    def reports(self, now: float) -> dict[str, SensorReport]:
        """Return how the readings of each feature come in."""
        return {
            name: SensorReport(
                age=None if held.time is None else max(now - held.time, 0.0),
                max_age=None if (age := self._max_age(held)) == math.inf else age,
                is_known=self._is_known(held, now),
                counts=dict(sorted(held.counts.items())),
            )
            for name, held in self._held.items()
        }

    def _is_known(self, held: _Held, now: float) -> bool:
        """Whether a reading is neither too old nor unconfirmed since the connection was lost."""
        if held.value is None or held.time is None or held.lost is not None:
            return False
        return now - held.time <= self._max_age(held)

    def _why_ignored(
        self, held: _Held, found: Found, topic: str, is_retained: bool
    ) -> Event | None:
        """Return why a message is ignored; None for one that counts."""
        if held.topic not in (None, topic):
            return Event.AMBIGUOUS
        if is_retained and held.is_offline:
            return Event.OFFLINE
        if is_retained and found.time is None:
            if held.lost is None and not found.sensor.takes_retained:
                return Event.RETAINED
            is_held = held.value is not None and found.value == held.value
            if held.lost is not None and is_held and found.sensor.per is None:
                return Event.CONFIRMED
        if found.number is not None:
            return self._why_old(held, found.number)
        if found.time is not None and held.time is not None and found.time <= held.time:
            is_same = found.time == held.time
            if found.begins and not (is_same and held.value is not None):
                return None  # its clock may begin again, too
            return Event.REPEATED if is_same else Event.LATE
        return None

    def _why_old(self, held: _Held, number: float) -> Event | None:
        """Compare a sensor's own count with its last; two rising ones below it are a restart."""
        if held.number is None or number > held.number:
            if held.number is not None and number > held.number + 1:
                held.counts[Event.LOST] += int(min(number - held.number - 1, _MOST_LOST))
            held.number, held.below = number, None
            return None
        if held.below is not None and number > held.below and number != held.number:
            held.number, held.below = number, None
            held.time = None  # times may have begun again, too
            held.counted = None
            held.counts[Event.RESTARTED] += 1
            return None
        held.below = number if number < held.number else held.below
        return Event.REPEATED if number == held.number else Event.LATE

    def _hold(self, held: _Held, found: Found, time: float) -> None:
        value = found.value
        if found.sensor.per is not None and isinstance(value, float):
            value = self._increase(held, found, value, time)
        held.value, held.time = value, time

    def _increase(self, held: _Held, found: Found, count: float, time: float) -> float | None:
        """Return by how much a counter increased in the time that its feature is about."""
        before, held.counted = held.counted, (count, time)
        if before is None or time <= before[1]:
            return None
        if count < before[0]:
            held.counts[Event.RESTARTED] += 1
            return None
        sensor = found.sensor
        increase = sensor.convert.factor * (count - before[0])
        rate = increase / (time - before[1]) * (sensor.per or 1.0)
        event, number = check_number(rate, sensor, self._specs[found.feature])
        if event is not Event.TAKEN:
            held.counts[event] += 1
        return number

    def _max_age(self, held: _Held) -> float:
        """Return for how long a reading is held: as given, or by the intervals at which it came."""
        if held.max_age is not None:
            return held.max_age
        if len(held.intervals) < _LEAST_INTERVALS:
            return FIRST_MAX_AGE
        return max(learned_age(held.intervals), 2 * self._every)


def learned_age(intervals: deque[float] | list[float]) -> float:
    """Return for how long to hold readings that come at such intervals.

    Three times the interval that nine of ten do not exceed: one outage does not count.

    Examples
    --------
    >>> learned_age([10.0, 12.0, 11.0, 10.0, 9.0, 10.0, 10.0, 11.0, 12.0, 3600.0])
    36.0
    """
    ordered = sorted(intervals)
    return _TIMES * ordered[max(0, int(_QUANTILE * len(ordered)) - 1)]
