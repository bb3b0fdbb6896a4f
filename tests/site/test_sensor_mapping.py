"""Messages of sensors become readings, or are told apart by what is wrong with them."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paho.mqtt.client import topic_matches_sub

from solah.exceptions import ParameterError
from solah.site.messages import MessageError
from solah.site.payloads import parse_path, read_time
from solah.site.sensor_mapping import Event, InputSpec, Mapper, check_filter, match
from solah.site.sensors import Sensor, TimeField
from solah.site.templates import TEMPLATES
from solah.site.units import UNITS, conversion

READINGS = (Event.TAKEN, Event.UNUSUAL)
NUMBER = InputSpec()
DOOR = InputSpec({"open": "open", "closed": "closed"})
BINARY = InputSpec({"0": 0.0, "1": 1.0})


def found(payload, spec=NUMBER, **options):
    """Return what becomes of one message for one feature."""
    payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    mapper = Mapper([Sensor("a", "t", **options)], {"a": spec})
    (one,) = mapper.read("t", payload)
    assert (one.value is not None) == (one.event in READINGS)
    return one.event, one.value


def of_template(name, device, source, **options):
    topic, path = TEMPLATES[name].place(device, source)
    path = None if path is None else parse_path(path)
    template = TEMPLATES[name]
    return Sensor("a", topic, path, unknown=template.unknown, time=template.time, **options)


LEVEL = st.sampled_from(["a", "b", "", "$x", "attic"])


@given(
    st.lists(LEVEL, min_size=1, max_size=4), st.lists(LEVEL | st.just("+"), min_size=1, max_size=4)
)
def test_topics_match_as_pahos_do(levels, wanted):
    topic = "/".join(levels)
    for topic_filter in ("/".join(wanted), "/".join([*wanted, "#"])):
        if not topic_filter or not topic:
            continue
        expected = topic_matches_sub(topic_filter, topic)
        matched = match(topic_filter, topic)
        assert (matched is not None) == expected
        if matched is not None:
            assert len(matched) == sum(one in ("+", "#") for one in topic_filter.split("/"))


@pytest.mark.parametrize("topic", ["", "a/#/b", "a+/b", "a/b#", "x" * 2000, "a\0b"])
def test_what_is_no_filter_is_refused(topic):
    with pytest.raises(ParameterError, match="a topic has levels"):
        check_filter(topic)


@given(st.binary(max_size=60), st.binary(max_size=60).map(lambda one: b'{"x": ' + one + b"}"))
@example(b"[" * 5000, b'{"x": 1e999}')
@example(b'{"x": {"y": NaN}}', b'{"x": ' + b"9" * 5000 + b"}")
def test_no_message_raises(one, other):
    sensors = [
        Sensor("bare", "t"),
        Sensor("deep", "t", path=("x", "y", 0)),
        Sensor("state", "t", path=("x",)),
        Sensor("timed", "t", path=("x",), time=TimeField(("x",)), number=("x",)),
        Sensor("{1}", "+", path=("x",), states={"1": 2.0}),
    ]
    specs = {"bare": NUMBER, "deep": NUMBER, "state": DOOR, "timed": NUMBER, "t": NUMBER}
    for payload in (one, other):
        results = Mapper(sensors, specs).read("t", payload)
        assert [result.feature for result in results] == list(specs)
        for result in results:
            assert (result.value is not None) == (result.event in READINGS)
            if isinstance(result.value, float):
                assert math.isfinite(result.value)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"21.5", (Event.TAKEN, 21.5)),
        (b' "21.5" ', (Event.TAKEN, 21.5)),
        (b"true", (Event.TAKEN, 1.0)),
        (b"ON", (Event.NOT_A_NUMBER, None)),
        (b"1_0", (Event.NOT_A_NUMBER, None)),
        (b"1e999", (Event.NOT_A_NUMBER, None)),
        (b"nan", (Event.UNKNOWN, None)),
        (b"\xff\xfe", (Event.UNPARSABLE, None)),
        (b"x" * 1000, (Event.UNPARSABLE, None)),
        (b"", (Event.NOT_A_NUMBER, None)),
    ],
)
def test_bare_values(payload, expected):
    assert found(payload) == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"x": 3}, (Event.TAKEN, 3.0)),
        ({"x": "3"}, (Event.TAKEN, 3.0)),
        ({"x": None}, (Event.UNKNOWN, None)),
        ({"x": math.nan}, (Event.UNKNOWN, None)),
        ({"x": "ON"}, (Event.NOT_A_NUMBER, None)),
        ({"x": {"y": 1}}, (Event.NOT_A_NUMBER, None)),
        ({"y": 3}, (Event.ABSENT, None)),
        ([3], (Event.ABSENT, None)),
        (b"{'x': 3}", (Event.UNPARSABLE, None)),
    ],
)
def test_values_in_documents(document, expected):
    assert found(document, path=("x",)) == expected


def test_states_are_looked_up():
    assert found(b"open", DOOR) == (Event.TAKEN, "open")
    assert found(b"ON", DOOR, states={"ON": "open", "OFF": "closed"}) == (Event.TAKEN, "open")
    assert found(b"ajar", DOOR) == (Event.UNSEEN_CATEGORY, None)
    assert found({"c": True}, DOOR, path=("c",), states={"true": "closed"}) == (
        Event.TAKEN,
        "closed",
    )
    assert found({"c": True}, BINARY, path=("c",)) == (Event.TAKEN, 1.0)
    assert found(b"1.0", BINARY) == (Event.TAKEN, 1.0)
    assert found(b"2", BINARY) == (Event.UNSEEN_CATEGORY, None)
    assert found(b"ON", NUMBER, states={"ON": 1.0, "OFF": 0.0}) == (Event.TAKEN, 1.0)
    assert found(b"7", NUMBER, states={"ON": 1.0, "OFF": 0.0}) == (Event.UNSEEN_CATEGORY, None)


def test_numbers_that_cannot_be_are_unknown_and_unusual_ones_are_counted():
    usual = InputSpec(low=0.0, high=40.0)
    fahrenheit = {"convert": conversion("F to C")}
    assert found(b"70", usual) == (Event.UNUSUAL, 70.0)
    event, value = found(b"70", usual, **fahrenheit)
    assert (event, round(value, 2)) == (Event.TAKEN, 21.11)
    assert found(b"70", usual, low=-40.0, high=60.0) == (Event.OUT_OF_RANGE, None)
    assert found(b"1e308", usual, convert=conversion("F to C").then(conversion("K to C"))) != (
        Event.TAKEN,
        1e308,
    )


@pytest.mark.parametrize(
    ("sensor", "topic", "payload", "value"),
    [
        (
            of_template("zigbee2mqtt", "bedroom/motion", "illuminance_lux"),
            "zigbee2mqtt/bedroom/motion",
            b'{"battery":100,"linkquality":18,"occupancy":true,"temperature":19.9,'
            b'"illuminance_lux":49,"last_seen":"2026-11-18T03:00:00+01:00"}',
            49.0,
        ),
        (
            of_template("tasmota", "TH16", "AM2301.Temperature"),
            "tele/TH16/SENSOR",
            b'{"Time":"2018-03-02T18:25:03","AM2301":{"Temperature":22.6,"Humidity":32.4},'
            b'"TempUnit":"C"}',
            22.6,
        ),
        (
            of_template("esphome", "kitchen", "sensor/co2"),
            "kitchen/sensor/co2/state",
            b"812.5",
            812.5,
        ),
        (
            of_template("shelly", "shellyplusht-b8d6", "temperature:0/tC"),
            "shellyplusht-b8d6/status/temperature:0",
            b'{"id": 0,"tC":19.8, "tF":67.6}',
            19.8,
        ),
        (
            of_template("shelly1", "shellyht-1", "sensor/humidity"),
            "shellies/shellyht-1/sensor/humidity",
            b"41.5",
            41.5,
        ),
        (
            of_template("statestream", "homeassistant", "sensor/hall"),
            "homeassistant/sensor/hall/state",
            b"21.0",
            21.0,
        ),
        (of_template("plain", "home/attic", "temp"), "home/attic/temp", b"18", 18.0),
    ],
)
def test_templates_know_what_firmware_publishes(sensor, topic, payload, value):
    (one,) = Mapper([sensor], {"a": NUMBER}).read(topic, payload)
    assert (one.event, one.value) == (Event.TAKEN, value)


NOON = 1_763_467_200.0  # 2025-11-18 12:00 UTC


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("2025-11-18T12:00:00Z", TimeField(("at",))),
        ("2025-11-18T13:00:00+01:00", TimeField(("at",))),
        ("2025-11-18T13:00:00", TimeField(("at",), zone="Europe/Berlin")),
        ("2025-11-18 12:00:00", TimeField(("at",))),
        (NOON, TimeField(("at",), "s")),
        (str(NOON), TimeField(("at",), "s")),
        (NOON * 1000, TimeField(("at",), "ms")),
    ],
)
def test_times_are_read(value, field):
    assert read_time({"at": value}, field) == NOON


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("yesterday", TimeField(("at",))),
        (12, TimeField(("at",))),
        (True, TimeField(("at",))),
        ("noon", TimeField(("at",), "s")),
        (1e300, TimeField(("at",), "s")),
        (None, TimeField(("at",), "ms")),
        ("9999-12-31T23:59:59-23:00", TimeField(("at",))),
    ],
)
def test_what_is_no_time_is_told(value, field):
    try:
        time = read_time({"at": value}, field)
    except MessageError:
        return
    assert math.isfinite(time)
    assert value == "9999-12-31T23:59:59-23:00"


PAIRS = [(one, other) for units in UNITS.values() for one in units for other in units]


@given(st.sampled_from(PAIRS), st.floats(-1e6, 1e6))
def test_conversions_have_a_way_back(units, number):
    one, other = units
    there, back = conversion(f"{one} to {other}"), conversion(f"{other} to {one}")
    assert back(there(number)) == pytest.approx(number, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("F to C", 32.0, 0.0),
        ("°C to °F", 100.0, 212.0),
        ("K to C", 273.15, 0.0),
        ("inHg to hPa", 29.92, 1013.2),
        ("km/h to m/s", 36.0, 10.0),
        ("kWh to MJ", 1.0, 3.6),
        ("% to 1", 50.0, 0.5),
        ("mph to kn", 1.0, 0.868976),
    ],
)
def test_conversions_are_right(text, number, expected):
    assert conversion(text)(number) == pytest.approx(expected, rel=1e-4, abs=1e-9)
