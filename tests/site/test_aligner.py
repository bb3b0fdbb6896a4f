"""The last reading counts, until it is too old; everything else is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.site.aligner import FIRST_MAX_AGE, Aligner
from solah.site.sensor_mapping import Event, Found, InputSpec
from solah.site.sensors import Sensor
from solah.site.units import Linear

SENSOR = Sensor("a", "t")
GARBAGE = [Event.UNKNOWN, Event.UNPARSABLE, Event.NOT_A_NUMBER, Event.OUT_OF_RANGE]
ADDED = {Event.CLOCK_AHEAD, Event.RESTARTED}  # counted beside what became of the message


def aligner(max_age=60.0, every=10.0, **spec):
    ages = {} if max_age is None else {"a": max_age}
    return Aligner({"a": InputSpec(**spec)}, ages, every)


def reading(value, time=None, number=None, sensor=SENSOR):
    return Found(sensor, "a", Event.TAKEN, float(value), time, number)


def counts(one, now=0.0):
    return one.reports(now)["a"].counts


def value(one, now):
    return one.row(now).readings["a"]


EVENTS = st.lists(
    st.tuples(
        st.floats(0.0, 100.0),  # seconds since the one before
        st.sampled_from([Event.TAKEN, Event.UNUSUAL, Event.ABSENT, *GARBAGE]),
        st.floats(-50.0, 50.0),
    ),
    max_size=25,
)


@given(EVENTS, st.floats(0.0, 200.0), st.floats(1.0, 300.0))
def test_a_row_has_what_arrived_last_and_is_not_too_old(events, wait, max_age):
    one, now, last = aligner(max_age), 1000.0, None
    for gap, event, number in events:
        now += gap
        is_reading = event in (Event.TAKEN, Event.UNUSUAL)
        one.take(Found(SENSOR, "a", event, number if is_reading else None), "t", now)
        if event is not Event.ABSENT:
            last = (now, number) if is_reading else None
    now += wait
    row = one.row(now)
    is_known = last is not None and now - last[0] <= max_age
    assert row.readings == {"a": last[1] if is_known else None}
    assert row.missing == (() if is_known else ("a",))
    assert row.oldest == (last[0] if is_known else None)
    assert sum(counts(one).values()) == len(events)


TIMED = st.lists(st.tuples(st.integers(0, 30), st.integers(-5, 5)), max_size=25)


@given(TIMED)
def test_late_and_repeated_readings_never_win(events):
    """Of readings with times of their own, the newest measured is held."""
    one, arrived = aligner(max_age=1e9), 1000.0
    for time, number in events:
        arrived += 1.0
        one.take(reading(number, time=1000.0 + time), "t", arrived)
    first_of_newest = {}
    for time, number in events:
        first_of_newest.setdefault(time, number)
    expected = first_of_newest[max(first_of_newest)] if events else None
    assert value(one, arrived) == expected
    assert sum(n for what, n in counts(one).items() if what not in ADDED) == len(events)


def test_a_clock_that_is_ahead_is_not_believed():
    one = aligner()
    one.take(reading(1, time=9999.0), "t", 100.0)
    one.take(reading(2, time=130.0), "t", 101.0)
    assert value(one, 140.0) == 2.0
    assert counts(one) == {"clock_ahead": 1, "taken": 2}


def test_counts_of_a_sensor_tell_repeats_late_messages_and_restarts():
    one = aligner()
    for number in (7, 7, 8, 6, 9, 0, 1, 2):
        one.take(reading(number, number=number), "t", 100.0)
    assert value(one, 100.0) == 2.0
    assert counts(one) == {"late": 2, "repeated": 1, "restarted": 1, "taken": 5}


def test_what_a_broker_had_kept_counts_only_if_it_says_when_it_was_measured():
    one = aligner()
    one.take(reading(1), "t", 100.0, is_retained=True)
    assert value(one, 100.0) is None
    one.take(reading(2, time=95.0), "t", 100.0, is_retained=True)
    assert value(one, 100.0) == 2.0
    taking = Sensor("a", "t", takes_retained=True)
    one.take(reading(3, sensor=taking), "t", 101.0, is_retained=True)
    assert value(one, 101.0) == 3.0
    assert counts(one) == {"retained": 1, "taken": 2}


def test_the_age_is_learned_from_the_intervals():
    one = aligner(max_age=None, every=1.0)
    one.take(reading(0), "t", 0.0)
    assert one.reports(0.0)["a"].max_age == FIRST_MAX_AGE
    for number in range(1, 12):
        one.take(reading(number), "t", 5.0 * number)
    assert one.reports(55.0)["a"].max_age == 15.0
    assert value(one, 69.0) == 11.0
    assert value(one, 71.0) is None
    one.take(reading(1), "t", 5000.0)  # an outage is not an interval
    assert one.reports(5000.0)["a"].max_age == 15.0


def test_the_increase_of_a_counter_is_a_reading_and_its_restart_is_none():
    meter = Sensor("a", "t", per=3600.0, convert=Linear(1000.0, 0.0))  # kWh to W
    one = aligner(max_age=600.0)
    known = []
    for now, count in ((0, 5.0), (60, 5.01), (120, 5.03), (180, 0.0), (240, 0.02)):
        one.take(reading(count, sensor=meter), "t", 1000.0 + now)
        known.append(value(one, 1000.0 + now))
    assert known == [None, pytest.approx(600.0), pytest.approx(1200.0), None, pytest.approx(1200.0)]
    assert counts(one) == {"restarted": 1, "taken": 5}


def test_a_reading_does_not_count_that_a_lost_connection_left_unconfirmed():
    one = aligner(max_age=43_200.0)  # a door that sends when it moves
    one.take(reading(1), "t", 100.0)
    one.lose(1000.0)
    assert one.row(1000.0).missing == ("a",)
    one.take(reading(0), "t", 2000.0)
    assert value(one, 9000.0) == 0.0


@given(st.booleans(), st.sampled_from([0.0, 1.0]), st.floats(1.0, 3600.0))
def test_a_reconnection_takes_what_the_broker_kept(takes_retained, kept, away):
    """The same reading confirms the one that is held; another is as old as the loss."""
    sensor = Sensor("a", "t", takes_retained=takes_retained)
    one = aligner(max_age=43_200.0)
    one.take(reading(1, sensor=sensor), "t", 100.0)
    one.lose(1000.0)
    one.take(reading(kept, sensor=sensor), "t", 1000.0 + away, is_retained=True)
    row = one.row(5000.0)
    assert row.readings == {"a": kept}
    assert row.oldest == (100.0 if kept == 1.0 else 1000.0)
    assert counts(one) == ({"confirmed": 1, "taken": 1} if kept == 1.0 else {"taken": 2})


def test_a_device_that_is_offline_has_no_readings():
    one, kept = aligner(max_age=600.0), Sensor("a", "t", takes_retained=True)
    one.take(reading(1, sensor=kept), "t", 100.0)
    one.note_device(["a"], is_online=False)
    assert one.row(101.0).missing == ("a",)
    one.take(reading(1, sensor=kept), "t", 102.0, is_retained=True)
    assert one.row(102.0).missing == ("a",)  # the broker had kept it, and the device is gone
    one.note_device(["a"], is_online=True)
    assert one.row(103.0).missing == ("a",)
    one.take(reading(2, sensor=kept), "t", 104.0)
    assert value(one, 104.0) == 2.0
    assert counts(one) == {"offline": 2, "taken": 2}


def test_gaps_in_the_count_of_a_sensor_are_lost_messages():
    one = aligner()
    for number in (0, 1, 5, 6, 8):
        one.take(reading(number, number=number), "t", 100.0)
    assert counts(one) == {"lost": 4, "taken": 5}
