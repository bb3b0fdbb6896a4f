"""A site file is proposed from what is published, and can be read."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from mixers import machine_model, placement
from rooms import room_model

from solah.site.bundle import Bundle
from solah.site.feed import check_sensors
from solah.site.plan import make_plan
from solah.site.proposal import Learner
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
    messages = [("home/attic/temperature", b"21"), ("home/cellar/temperature", b"12")]
    proposal = proposed(listened(messages))
    assert proposal.silent == ("humidity", "power", "door")
    assert proposal.ambiguous == {
        "temperature": ("home/attic/temperature", "home/cellar/temperature")
    }
    assert loaded(tmp_path, proposal).sensors == ()


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
    plan = make_plan(room_model(), site.nodes, site=site.name)
    check_sensors(site, Bundle(plan, room_model()))
    assert {one.feature for one in site.sensors} == set(proposal.mapped)


BATCHES = [
    ("plant/mixer/acceleration", {"axes": {"x": [0.1] * 20, "y": [0.2] * 20, "z": [0.3, None]}}),
    ("plant/mixer/temperature", b"41.5"),
    ("plant/other", {"linkquality": 3, "spectrum": [1.0, 2.0]}),
]


def proposed_windows(messages):
    return listened(messages).propose(
        machine_model(), broker="mqtt://hub", model_file="machine.json", site="plant"
    )


def test_lists_of_numbers_are_samples_of_channels(tmp_path):
    proposal = proposed_windows(BATCHES)
    assert proposal.mapped == {
        **{axis: f"plant/mixer/acceleration axes.{axis}" for axis in "xyz"},
        "temperature": "plant/mixer/temperature",
    }
    assert proposal.unmatched == ("plant/other linkquality", "plant/other spectrum")
    site = loaded(tmp_path, proposal)
    check_sensors(
        site, Bundle(make_plan(machine_model(), site.nodes, site="plant"), machine_model())
    )
    assert {frozenset(names) for names in site.nodes.values()} == {
        frozenset(names) for names in placement().values()
    }
    ages = {one.feature: one.max_age for one in site.sensors}
    assert ages == {"x": None, "y": None, "z": None, "temperature": 90.0}
