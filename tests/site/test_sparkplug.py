"""Messages of Sparkplug B are read as their specification says, and garbage breaks nothing."""

import json
import math
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from edge_nodes import DOUBLE, EdgeNode, message, metric
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import PATIENCE, until
from rooms import write_site

from solah.exceptions import ParameterError
from solah.site import sparkplug
from solah.site.acl import acl_text
from solah.site.aligner import Aligner
from solah.site.feed import sensor_commands, sensor_topics
from solah.site.messages import MessageError
from solah.site.sensor_mapping import InputSpec, Mapper
from solah.site.sensors import Sensor, TimeField
from solah.site.site_file import load_site
from solah.site.sparkplug import Decoder, command_topic, place_of
from solah.site.topics import Topics

T = 1_700_000_000_000
NODE, DEVICE = "spBv1.0/plant/line1", "spBv1.0/plant/line1/motor"
# Written by pysparkplug 0.6.1.
GOLDEN = {
    "nbirth": "0880d095ffbc3112120a0562645365711880d095ffbc312004580312230a144e6f646520436f6e7472"
    "6f6c2f5265626972746810001880d095ffbc31200b700012190a07566f6c7461676510011880d095ffbc31200965"
    "0080664312180a07416d6269656e7410021880d095ffbc31200250fbff031800",
    "dbirth": "0881d095ffbc3112270a114d6f746f722f54656d7065726174757265100a1880d095ffbc31200a6900"
    "00000000d0514012140a04696e7438100b1880d095ffbc31200150ff0112160a05696e743136100c1880d095ffbc"
    "31200250d4fd0312180a05696e743332100d1880d095ffbc3120035090ddfbff0f121d0a05696e743634100e1880"
    "d095ffbc31200458809ce8afedffffffff0112150a0575696e7438100f1880d095ffbc31200550c801121e0a0675"
    "696e74363410101880d095ffbc312008588080808080808080800112110a026f6e10111880d095ffbc31200b7001"
    "121a0a05737461746510121880d095ffbc31200c7a066cc3a475667412160a02617410131880d095ffbc31200d58"
    "80d095ffbc3112160a04626c6f6210141880d095ffbc312011820102000112130a04676f6e6510151880d095ffbc"
    "31200a380112170a05617272617910161880d095ffbc31201682010201021801",
    "ndata": "08d0df95ffbc31120d100218dcdb95ffbc3150faff031207100165008067431802",
    "ddata": "08b8e795ffbc311212100a18c4e395ffbc31690000000000205240120d100b18d88995ffbc3128015007"
    "120f100d18c4e395ffbc31508fddfbff0f120b101218c4e395ffbc3138011803",
    "ddeath": "08a0ef95ffbc311804",
    "ndeath": "0880d095ffbc3112120a0562645365711880d095ffbc3120045803",
    "older ndeath": "0880d095ffbc3112120a0562645365711880d095ffbc3120045802",
    "rebirth": "0880d095ffbc3112210a144e6f646520436f6e74726f6c2f526562697274681880d095ffbc31200b"
    "7001",
}
TOPICS = {
    kind: f"spBv1.0/plant/{kind}/line1{'/motor' if kind[0] == 'D' else ''}"
    for kind in ("NBIRTH", "NDATA", "NDEATH", "DBIRTH", "DDATA", "DDEATH")
}
WANTED = {NODE: ["Voltage", "Ambient"], DEVICE: ["Motor/Temperature", "int8", "state"]}


def play(decoder, *names):
    """Let a decoder read golden messages; return what the last one says, by place."""
    decoded = []
    for name in names:
        topic = TOPICS[name.split()[-1].upper()]
        decoded = decoder.read(topic, bytes.fromhex(GOLDEN[name]))
    return dict(decoded)


def values(decoded):
    return {name: one["value"] for name, one in decoded.document.items()}


def test_what_cannot_be_read_in_place_of_a_death_ends_devices():
    decoder = Decoder({DEVICE: ["Motor/Temperature"]})
    play(decoder, "nbirth", "dbirth")
    ((place, ended),) = decoder.read(TOPICS["NDEATH"], b"\xff\xff")
    assert place == DEVICE
    assert values(ended) == {"Motor/Temperature": None}
    assert decoder.read(TOPICS["NBIRTH"], b"\xff\xff") == []
    assert decoder.counters["sparkplug_unreadable"] == 2
    assert len(decoder.requests(now=1000.0)) == 1


# --- golden messages -----------------------------------------------------------------------------


def test_births_name_metrics_with_their_types():
    node = play(Decoder(WANTED), "nbirth")[NODE]
    assert node.begins
    assert node.document["Ambient"] == {"value": -5, "time": T}
    assert values(node)["Voltage"] == 230.5
    device = play(Decoder(WANTED), "dbirth")[DEVICE]
    assert values(device) == {
        "Motor/Temperature": 71.25,
        "int8": -1,
        "int16": -300,
        "int32": -70_000,
        "int64": -5_000_000_000,
        "uint8": 200,
        "uint64": 2**63,
        "on": True,
        "state": "läuft",
        "at": T,
        "blob": [],
        "gone": None,
        "array": [],
    }


def test_data_follow_by_alias():
    decoder = Decoder(WANTED)
    node = play(decoder, "nbirth", "dbirth", "ndata")[NODE]
    assert not node.begins
    assert node.document == {
        "Ambient": {"value": -6, "time": T + 1500},
        "Voltage": {"value": 231.5, "time": T + 2000},  # when the message was sent
    }
    device = play(decoder, "ddata")[DEVICE]
    assert values(device) == {"Motor/Temperature": 72.5, "int32": -70_001, "state": None}
    assert decoder.counters == {"sparkplug_historical": 1, "sparkplug_lost": 0}
    assert decoder.requests(1000.0) == []


def test_a_death_makes_readings_unknown():
    decoder = Decoder(WANTED)
    ended = play(decoder, "nbirth", "dbirth", "ddeath")
    assert ended.keys() == {DEVICE}
    assert values(ended[DEVICE]) == {"Motor/Temperature": None, "int8": None, "state": None}
    ended = play(decoder, "nbirth", "dbirth", "ndeath")
    assert ended.keys() == {NODE, DEVICE}
    assert all(one.begins and set(values(one).values()) == {None} for one in ended.values())
    assert values(play(decoder, "nbirth")[NODE])["Ambient"] == -5


def test_a_birth_is_asked_for_as_others_ask_for_it():
    decoder = Decoder(WANTED)
    play(decoder, "ddata")
    assert decoder.requests(T / 1000) == [
        ("spBv1.0/plant/NCMD/line1", bytes.fromhex(GOLDEN["rebirth"]))
    ]


# --- what goes wrong -----------------------------------------------------------------------------


def test_data_before_a_birth_are_counted_and_a_birth_is_asked_for_once_a_minute():
    decoder = Decoder(WANTED)
    assert values(play(decoder, "ddata")[DEVICE]) == {}
    assert decoder.counters["sparkplug_unnamed"] == 3
    assert len(decoder.requests(1000.0)) == 1
    for now in (1000.0, 1059.0):
        play(decoder, "ddata")
        assert decoder.requests(now) == []
    assert len(decoder.requests(1060.0)) == 1
    assert decoder.counters["sparkplug_rebirths"] == 2
    play(decoder, "nbirth", "dbirth")
    assert decoder.requests(2000.0) == []


@given(
    st.integers(0, 255),
    st.lists(st.integers(0, 200), min_size=1, max_size=20),
)
def test_gaps_in_the_count_are_lost_messages(first, gaps):
    decoder = Decoder(WANTED)
    decoder.read(TOPICS["NDATA"], message(seq=first))
    number = first
    for gap in gaps:
        number = (number + 1 + gap) % 256
        kind = "DDATA" if number % 2 else "NDATA"
        decoder.read(TOPICS[kind], message(seq=number))
        decoder.read(TOPICS[kind], message(seq=number))  # which a broker may bring twice
    assert decoder.counters["sparkplug_lost"] == sum(gaps)


@given(st.binary(max_size=300), st.sampled_from([*TOPICS.values()]))
def test_garbage_breaks_nothing(payload, topic):
    decoder = Decoder(WANTED)
    for one in (payload, bytes.fromhex(GOLDEN["dbirth"]), payload):
        for place, decoded in decoder.read(topic, one):
            assert place in WANTED
            with suppress(MessageError):
                assert all("value" in metric for metric in decoded.document.values())
    decoder.requests(0.0)


@given(st.sampled_from([*GOLDEN]), st.data())
@settings(max_examples=100)
def test_damaged_messages_break_nothing(name, data):
    """Flip bytes of real messages, and let the mapper and the aligner have what comes of them."""
    payload = bytearray(bytes.fromhex(GOLDEN[name]))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    mapper, aligner, decoder = assembled()
    for one in (bytes(payload), bytes.fromhex(GOLDEN["dbirth"])):
        for place, decoded in decoder.read(TOPICS["DBIRTH"], one):
            for found in mapper.read(place, decoded):
                aligner.take(found, place, T / 1000)
    assert aligner.row(T / 1000).readings["temperature"] in (71.25, None)


# --- readings ------------------------------------------------------------------------------------


def written(folder, device="plant/line1/motor", name="temperature: Motor/Temperature", more=""):
    text = f"sensors:\n  - template: sparkplug\n    device: {device}\n{more}    features:\n"
    file = folder / "site.yaml"
    file.write_text(f"{text}      {name}\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def sensor(tmp_path_factory):
    (found,) = load_site(written(tmp_path_factory.mktemp("site"))).sensors
    return found


def assembled():
    """Return what stands between messages and rows."""
    sensor = sparkplug_sensor()
    specs = {"temperature": InputSpec()}
    decoder = Decoder(sparkplug.metrics_of([sensor]))
    aligner = Aligner(specs, {"temperature": sensor.max_age}, every=10.0)
    return Mapper([sensor], specs), aligner, decoder


def sparkplug_sensor():
    name = "Motor/Temperature"
    time = TimeField((name, "time"), "ms", is_optional=True)
    place = place_of("plant/line1/motor")
    return Sensor(
        *("temperature", place, (name, "value")), time=time, max_age=math.inf, is_sparkplug=True
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"device": "plant"},
            "line [4-6]: site.sensors.*group/edge-node or group/edge-node/device",
        ),
        ({"device": "plant/+"}, "line [4-6]: .*without wildcards"),
        ({"device": "a/b/c/d"}, "line [4-6]: .*Got 'a/b/c/d' instead"),
        ({"more": "    max_age: learned\n"}, "line [4-6]: .*nothing follows"),
        ({"more": "    number: seq\n"}, "line [4-6]: .*counts its messages itself"),
        ({"more": "    time: {path: at}\n"}, "line [4-6]: .*write 'arrival'"),
        ({"name": "temperature: null"}, "line [4-6]: .*such as 'Motor/Temperature'"),
    ],
)
def test_what_sparkplug_says_itself_is_refused(tmp_path, changes, message):
    with pytest.raises(ParameterError, match=message):
        load_site(written(tmp_path, **changes))


def test_a_reading_lasts_from_birth_to_death_and_clocks_may_begin_again():
    mapper, aligner, decoder = assembled()

    def take(kind, payload, now):
        for place, decoded in decoder.read(TOPICS[kind], payload):
            for found in mapper.read(place, decoded):
                aligner.take(found, place, now)
        return aligner.row(now).readings["temperature"]

    def birth(value, timestamp):
        return message(metric("Motor/Temperature", 1, DOUBLE, value, timestamp=timestamp))

    assert take("DBIRTH", birth(20.0, T), T / 1000) == 20.0
    assert aligner.row(T / 1000 + 1e9).readings == {"temperature": 20.0}
    assert take("DBIRTH", birth(20.0, T), T / 1000 + 5) == 20.0  # one that was asked for
    assert take("DDEATH", message(), T / 1000 + 6) is None
    assert take("DBIRTH", birth(20.0, T), T / 1000 + 7) == 20.0
    assert take("DBIRTH", birth(21.0, 5_000), T / 1000 + 8) == 21.0  # its clock began again
    counts = aligner.reports(0.0)["temperature"].counts
    assert counts == {"repeated": 1, "taken": 3, "unknown": 1}
    assert take("DDATA", message({"alias": 1, "double_value": 22.0}), T / 1000 + 9) == 22.0


# --- a site --------------------------------------------------------------------------------------


def site_of_an_edge_node(folder, url):
    file = write_site(folder, url)
    text = file.read_text(encoding="utf-8")
    text = text.replace("template: zigbee2mqtt", "template: sparkplug")
    text = text.replace("device: kitchen\n    max_age: 4s\n", "device: plant/line1/room\n")
    text = text.replace("{from: temperature, range", "{from: Climate/Temperature, range")
    text = text.replace("humidity: humidity", "humidity: Climate/Humidity")
    file.write_text(text, encoding="utf-8")
    return file


def test_a_node_may_read_its_edge_node_and_ask_for_births(tmp_path):
    site = load_site(site_of_an_edge_node(tmp_path, "mqtt://localhost"))
    bundle = site.bundle()
    topics, commands = sensor_topics(site, bundle), sensor_commands(site, bundle)
    assert commands["kitchen"] == [command_topic(NODE)]
    assert commands["hall"] == []
    text = acl_text(bundle.plan, Topics(site.name), sensors=topics, commands=commands)
    assert "topic read spBv1.0/plant/DDATA/line1/+\n" in text
    assert text.count("topic write spBv1.0/plant/NCMD/line1\n") == 1


@pytest.mark.slow
def test_a_site_decides_on_an_edge_node(broker, tmp_path):
    """A birth that was asked for, data by alias, a death, and another birth."""
    file = site_of_an_edge_node(tmp_path, broker.url)
    edge = EdgeNode(broker.url)
    edge.begin()  # before anybody is there
    words = ["site", "node", str(file), "--name", "kitchen"]
    command = [sys.executable, "-m", "solah.cli.main", *words]
    node = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    journal = tmp_path / "room.state" / "kitchen.journal"

    def last():
        """Return the readings of the newest row."""
        lines = [line for one in sorted(journal.glob("*")) for line in one.read_text().splitlines()]
        return json.loads(lines[-1])[4] if lines else {}

    try:
        until(lambda: last() == {"temperature": 23.5, "humidity": 50.0})
        assert edge.n_requests == 1
        edge.change("Climate/Temperature", 24.5)
        until(lambda: last() == {"temperature": 24.5, "humidity": 50.0})
        edge.end()
        until(lambda: last() == {"temperature": None, "humidity": None})
        edge.begin()
        until(lambda: last() == {"temperature": 24.5, "humidity": 50.0})
    finally:
        node.send_signal(signal.SIGTERM)
        node.wait(PATIENCE)
        edge.stop()
