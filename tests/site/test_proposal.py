"""A site file is proposed from what is published, and can be read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rooms import room_model

from solah.model import save_document
from solah.site.messages import Status, encode
from solah.site.proposal import Learner
from solah.site.sensor_mapping import InputSpec, Mapper
from solah.site.site_check import check_site
from solah.site.site_file import load_site


def listened(messages, **options):
    learner = Learner()
    for second in range(10):
        for topic, payload in messages:
            payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
            learner.take(topic, payload, 30.0 * second, **options)
    return learner


def proposed(learner):
    return learner.propose(room_model(), broker="mqtt://hub", model_file="room.json", site="house")


def loaded(tmp_path, proposal):
    file = tmp_path / "site.yaml"
    file.write_text(proposal.text, encoding="utf-8")
    return load_site(file)


MESSAGES = [
    (
        "zigbee2mqtt/kitchen",
        {"temperature": 21.0, "humidity": 40, "linkquality": 99, "last_seen": 1e12},
    ),
    ("zigbee2mqtt/bridge/state", {"state": "online"}),
    ("tele/plug/SENSOR", {"Time": "2026-01-01T00:00:00", "ENERGY": {"Power": 60, "Voltage": 230}}),
    ("tele/plug/LWT", b"Online"),
    ("hall/binary_sensor/front_door/state", b"ON"),
    ("solah/house/decision", {"temperature": 3}),
]


def test_names_tell_which_value_is_which_feature(tmp_path):
    proposal = proposed(listened(MESSAGES))
    assert proposal.mapped == {
        "temperature": "zigbee2mqtt/kitchen temperature",
        "humidity": "zigbee2mqtt/kitchen humidity",
        "power": "tele/plug/SENSOR ENERGY.Power",
        "door": "hall/binary_sensor/front_door/state",
    }
    assert proposal.unmatched == (
        "tele/plug/SENSOR ENERGY.Voltage",
        "zigbee2mqtt/kitchen linkquality",
    )
    assert (proposal.silent, proposal.ambiguous) == ((), {})
    site = loaded(tmp_path, proposal)
    door = next(one for one in site.sensors if one.feature == "door")
    assert door.states == {"ON": "open", "OFF": "closed"}
    assert {one.max_age for one in site.sensors} == {90.0}
    assert next(one for one in site.sensors if one.feature == "humidity").time.format == "ms"


def test_what_got_nothing_and_what_fits_equally_is_told(tmp_path):
    messages = [("home/attic/temperature", b"21"), ("home/cellar/temperature", b"19")]
    proposal = proposed(listened(messages))
    assert proposal.silent == ("humidity", "power", "door")
    assert "# no name fits power; values in its range: home/attic/temperature" in proposal.text
    assert proposal.ambiguous == {
        "temperature": ("home/attic/temperature", "home/cellar/temperature")
    }
    assert loaded(tmp_path, proposal).sensors == ()


def test_values_in_the_training_range_win_and_units_are_converted(tmp_path):
    messages = [("home/attic/temperature", b"70.5"), ("home/oven/temperature", b"230")]
    proposal = proposed(listened(messages))
    assert proposal.mapped == {"temperature": "home/attic/temperature"}
    assert proposal.unmatched == ("home/oven/temperature",)
    (sensor,) = loaded(tmp_path, proposal).sensors
    assert sensor.convert(70.5) == pytest.approx(21.39, abs=0.01)
    assert "unit: F to C" in proposal.text
    both = proposed(listened([*messages, ("home/hall/temperature", b"21.5")]))
    assert both.mapped == {"temperature": "home/hall/temperature"}


def test_topics_of_solah_itself_are_never_read():
    """Whatever their root is, and of plans in the history, too."""
    reading = {"temperature": 21.0}
    status = encode(Status("hub", "online", "1f", {"readings": 7}))
    learner = listened(
        [
            ("solah/house/hub/in", reading),
            ("solah-history/house/17", reading),
            ("plant/site/hub/in", reading),
            ("plant/site/hub/status", status),
            ("plant-history/site/17", reading),
            ("home/temperature", b"21"),
        ]
    )
    assert [one.name for one in learner.sources] == ["home/temperature"]


@pytest.mark.parametrize(
    ("topic", "message", "template", "place"),
    [
        ("application/7/device/0a1b/event/up", {"object": {"door": "open"}}, "chirpstack", "door"),
        (
            "v3/app@ttn/devices/hall/up",
            {"uplink_message": {"decoded_payload": {"door": "open"}}},
            "ttn",
            "door",
        ),
        ("home/gw/BTtoMQTT/A4C1", {"door": "open"}, "bthome", "door"),
        (
            "shelly-hall/events/rpc",
            {"params": {"ts": 1.7e9, "door:0": {"state": "open"}}},
            "shelly_rpc",
            "door:0.state",
        ),
    ],
)
def test_what_a_template_says_is_proposed_and_read(tmp_path, topic, message, template, place):
    proposal = proposed(listened([(topic, message)]))
    assert f"template: {template}" in proposal.text
    site = loaded(tmp_path, proposal)
    (found,) = Mapper(site.sensors, {"door": InputSpec({"open": "open"})}).read(
        topic, json.dumps(message).encode()
    )
    assert (found.feature, found.value) == ("door", "open")
    assert place in proposal.text


TOPIC = st.sampled_from(
    ["a/temperature", "x/status/door:0", "b y/humidity", "tele/é/SENSOR", "zigbee2mqtt/true", "a/#"]
)
PAYLOAD = st.sampled_from(
    [
        b"1",
        b"ON",
        b"{",
        b'{"temperature": "off"}',
        b'{"power": {"door": true}}',
        b'{"door\\n": "on"}',
    ]
) | st.binary(max_size=20)


@settings(max_examples=40)
@given(st.lists(st.tuples(TOPIC, PAYLOAD), max_size=8))
def test_every_proposal_can_be_read_and_fits_the_model(tmp_path_factory, messages):
    folder = tmp_path_factory.mktemp("learned")
    messages = [(topic, payload) for topic, payload in messages if "#" not in topic]
    proposal = proposed(listened(messages))
    site = loaded(folder, proposal)
    save_document(room_model(), folder / "room.json")
    check_site(site, site.bundle())
    assert {one.feature for one in site.sensors} == set(proposal.mapped)
