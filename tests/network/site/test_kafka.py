"""Readings come from Kafka: through the real client, from the mock cluster that it brings."""

import json
import select
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE, Listener, until
from rooms import write_site

from solah.exceptions import MissingExtraError, ParameterError
from solah.network.client import BrokerError, find_broker
from solah.network.messages import MAX_BYTES
from solah.network.site import load_site
from solah.network.site.document import KafkaAccess, Sensor, TimeField
from solah.network.site.feeding import Feed
from solah.network.site.kafka import KafkaBroker, KafkaSource, check_kafka_topic, kafka_hosts
from solah.network.site.mapping import Mapper, Target
from solah.network.site.payloads import Message

confluent_kafka = pytest.importorskip("confluent_kafka")


class Cluster:
    """A Kafka broker in this process, and a producer on it."""

    def __init__(self):
        settings = {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
        self._producer = confluent_kafka.Producer(settings)
        (broker,) = self._producer.list_topics(timeout=PATIENCE).brokers.values()
        self.url = f"kafka://{broker.host}:{broker.port}"

    def __call__(self, topic, value, key=None, **options):
        self._producer.produce(topic, value, key, **options)
        self._producer.flush(PATIENCE)

    def stop(self):
        """End the broker; its producer holds it."""
        self._producer = None


@pytest.fixture
def cluster():
    return Cluster()


@pytest.fixture
def consume():
    """Start sources of messages, and stop them in the end."""
    sources = []

    def start(url, filters, take, log=lambda _: None, **options):
        broker = KafkaBroker(kafka_hosts(url), **options)
        sources.append(KafkaSource(broker, "solah:room:hall", filters, take, log))
        sources[-1].start()
        return sources[-1]

    yield start
    for source in sources:
        source.stop()


def until_taken(publish, is_so):
    """Publish until it is so; a consumer begins with the newest records once it is ready."""

    def is_done():
        publish()
        return is_so()

    until(is_done)


# --- addresses and topics ------------------------------------------------------------------------


def test_a_cluster_has_several_hosts():
    assert kafka_hosts("kafkas://one,two:1") == ("one:9093", "two:1")
    assert kafka_hosts("kafka://[::1]:9092/") == ("[::1]:9092",)
    assert repr(KafkaBroker(("a:1", "b:2"), is_secret=True)) == "kafkas://a:1,b:2"
    for wrong in ("kafka://", "kafka://a,", "kafka://ann:secret@a", "kafka://a:0", "kafka://a/b"):
        with pytest.raises(ParameterError, match="a Kafka cluster is written"):
            kafka_hosts(wrong)


@given(st.text(max_size=30))
def test_whatever_is_no_name_of_kafka_is_refused(text):
    topic = text.partition("/")[0]
    is_good = topic not in ("", ".", "..") and all(
        letter.isascii() and (letter.isalnum() or letter in "._-") for letter in topic
    )
    if is_good:
        assert check_kafka_topic(text) == topic
    else:
        with pytest.raises(ParameterError, match="its first level is a Kafka topic"):
            check_kafka_topic(text)


def test_nodes_do_not_talk_kafka():
    with pytest.raises(ParameterError, match="is Kafka, from which only readings come"):
        find_broker("kafka://hub")


# --- site files ----------------------------------------------------------------------------------


def site_text(brokers, topic="telemetry/+", name="'{1}'", nodes="hall: [door]"):
    return (
        f"sensor_brokers: {{hall: {brokers}}}\n"
        f"nodes:\n  {nodes}\n  plug: [power]\n"
        f"sensors:\n  - topic: '{topic}'\n    attributes: {{{name}: value}}\n"
    )


def written(folder, text):
    file = folder / "site.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_site_says_how_to_come_into_a_cluster(tmp_path, monkeypatch):
    credentials = "{username_variable: KAFKA_USER, password_variable: KAFKA_PASSWORD}"
    given_ = f"url: 'kafkas://a:1,b', ca: ca.crt, credentials: {credentials}"
    brokers = f"{{{given_}, mechanism: SCRAM-SHA-512}}"
    access = load_site(written(tmp_path, site_text(brokers))).broker_of("hall")
    monkeypatch.setenv("KAFKA_USER", "ann")
    with pytest.raises(ParameterError, match="KAFKA_PASSWORD"):
        access.find()
    monkeypatch.setenv("KAFKA_PASSWORD", "secret")
    broker = access.find()
    assert (broker.hosts, broker.is_secret) == (("a:1", "b:9093"), True)
    assert (broker.username, broker.password) == ("ann", "secret")
    assert (broker.mechanism, broker.authority) == ("SCRAM-SHA-512", str(tmp_path / "ca.crt"))
    assert "secret" not in repr(broker)
    monkeypatch.setenv("SOLAH_MQTT_USERNAME", "bob")  # who is nobody to Kafka
    assert KafkaAccess("kafka://a").find().username is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic": "+/attic"}, r"line 7: .*'\+/attic' is to come from Kafka"),
        ({"topic": "a b", "name": "door"}, "line 7: .*Got 'a b' instead"),
        ({"brokers": "'kafka://a b'"}, "line 1: site.sensor_brokers.hall: a Kafka cluster"),
        ({"brokers": "{url: 'kafka://a', ca: x}"}, "line 1: .*certificates are for kafkas://"),
        ({"brokers": "{url: 'kafka://a', mechanism: PLAIN}"}, "goes with 'credentials'"),
        ({"brokers": "{url: 'kafka://a', mqtt: 5}"}, "mqtt"),
        ({"brokers": "{url: 'kafka://a', password: x}"}, "does not belong into a file"),
        (
            {"brokers": "{url: 'kafka://a', credentials: {file: x}, mechanism: GSSAPI}"},
            "'PLAIN' or 'SCRAM-SHA-256' or 'SCRAM-SHA-512'",
        ),
    ],
)
def test_what_is_wrong_with_kafka_is_told_with_its_line(tmp_path, changes, message):
    text = site_text(**{"brokers": "kafka://a", **changes})
    with pytest.raises(ParameterError, match=message):
        load_site(written(tmp_path, text))


def test_sensors_of_other_nodes_may_have_any_topic(tmp_path):
    text = site_text("kafka://a", topic="+/power", name="power")
    (sensor,) = load_site(written(tmp_path, text)).sensors
    assert sensor.topic == "+/power"


def test_the_broker_of_the_nodes_is_not_kafka(tmp_path):
    with pytest.raises(ParameterError, match="line 1: site.broker: .*is Kafka"):
        load_site(written(tmp_path, "broker: kafka://hub\n"))


def test_a_check_shows_where_readings_come_from(tmp_path, run_cli):
    file = write_site(tmp_path, "mqtt://hub", sensor_brokers="{hall: 'kafka://a:1'}")
    assert "sensor brokers  hall kafka://a:1" in run_cli("site", "check", file)
    described = json.loads(run_cli("site", "check", file, "--json"))
    assert described["sensor_brokers"] == {"hall": "kafka://a:1"}


# --- what a record says --------------------------------------------------------------------------


def test_a_record_says_itself_when_it_was_measured():
    own = TimeField(("at",), "s", is_optional=True)
    for time_field, expected in ((None, 1000.0), ("arrival", None), (own, 990.0)):
        mapper = Mapper([Sensor("t", "a", ("t",), time=time_field)], {"t": Target()})
        (found,) = mapper.read("a", Message(b'{"t": 21.5, "at": 990}', 1000.0))
        assert (found.value, found.time) == (21.5, expected)


def test_nothing_any_more_is_unknown():
    mapper = Mapper([Sensor("t", "a", ("t",), time=TimeField(("at",)))], {"t": Target()})
    (found,) = mapper.read("a", Message(None, 1000.0))
    assert (found.event, found.time) == ("unknown", 1000.0)


# --- the real client -----------------------------------------------------------------------------


def test_records_come_by_topic_and_key(cluster, consume):
    taken = {}
    filters = ["telemetry/+", "telemetry/hall/door", "plain"]
    for topic in ("telemetry", "plain"):
        cluster(topic, b"before", b"attic")
    source = consume(
        cluster.url, filters, lambda one: taken.update({(one.topic, one.payload): one})
    )
    expected = {
        *(("telemetry/cellar", b"1"), ("telemetry/hall/door", b"2"), ("telemetry/attic", None)),
        *(("plain", b"5"), ("plain", b"6")),
    }
    begun = time.time()

    def publish():
        cluster("telemetry", b"1", b"cellar")
        cluster("telemetry", b"2", b"hall/door")
        cluster("telemetry", b"3", b"hall/window")  # which no sensor asks for
        cluster("telemetry", b"4")  # nor one without a key
        cluster("telemetry", None, b"attic", timestamp=1_700_000_000_123)
        cluster("plain", b"5", b"any")
        cluster("plain", b"6")

    def is_complete():
        return taken.keys() >= expected and source.counters["other_keys"] >= 2

    until_taken(publish, is_complete)
    assert taken.keys() == expected
    assert taken["telemetry/attic", None].time == 1_700_000_000.123
    assert begun - 60 < taken["plain", b"6"].time < begun + 3600
    until(lambda: source.is_connected)


class Relay(socketserver.BaseRequestHandler):
    """Passes what comes on to a broker, and back what that answers."""

    def handle(self):
        with socket.create_connection(self.server.target) as target:
            ends = {self.request: target, target: self.request}
            while True:
                for one in select.select([*ends], [], [])[0]:
                    data = one.recv(65_536)
                    if not data:
                        return
                    ends[one].sendall(data)


def test_a_cluster_may_start_later(consume):
    told, taken = [], []
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        address = reserved.getsockname()
    source = consume(f"kafka://127.0.0.1:{address[1]}", ["a"], taken.append, told.append)
    until(lambda: any("no connection" in one for one in told))
    assert not source.is_connected
    cluster = Cluster()
    cluster("a", b"1")
    host, _, port = cluster.url.removeprefix("kafka://").partition(":")
    with socketserver.ThreadingTCPServer(address, Relay) as server:
        server.daemon_threads, server.target = True, (host, int(port))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        until_taken(lambda: cluster("a", b"1"), lambda: taken and source.is_connected)
        source.stop()
        server.shutdown()
        server.block_on_close = False


def test_a_cluster_may_go(consume):
    told, taken = [], []
    first = Cluster()
    source = consume(first.url, ["telemetry"], taken.append, told.append)
    until_taken(lambda: first("telemetry", b"1"), lambda: taken and source.is_connected)
    first.stop()
    until(lambda: not source.is_connected)
    assert source.counters["kafka_lost"] == 1
    names = [getattr(one, "name", "") for one in told]
    assert names.index("connected") < names.index("connection_lost")
    until(lambda: any("no connection" in one for one in told))


def test_a_topic_that_is_not_there_is_told(cluster, consume):
    told = []
    cluster("telemetry", b"1")
    consume(cluster.url, ["telemetry", "telemtry/+"], lambda _: None, told.append)
    until(lambda: any("there is no such topic" in one and "telemtry" in one for one in told))


def refuse_everybody(server):
    """Speak as much of Kafka's protocol as it takes to refuse a password."""
    connection, _ = server.accept()
    refusal = b"Invalid username or password"
    answers = {
        18: struct.pack(">hi6h", 0, 2, 17, 0, 1, 36, 0, 0),  # which requests there are
        17: struct.pack(">hih", 0, 1, 5) + b"PLAIN",
        36: struct.pack(">hh", 58, len(refusal)) + refusal + struct.pack(">i", 0),
    }
    while head := connection.recv(4, socket.MSG_WAITALL):
        request = connection.recv(*struct.unpack(">i", head), socket.MSG_WAITALL)
        kind, version, number = struct.unpack(">hhi", request[:8])
        answer = struct.pack(">hi", 35, 0) if kind == 18 and version else answers[kind]
        connection.sendall(struct.pack(">ii", 4 + len(answer), number) + answer)
    connection.close()


def test_wrong_credentials_are_told(consume):
    told = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=refuse_everybody, args=(server,), daemon=True)
        thread.start()
        url = f"kafka://127.0.0.1:{server.getsockname()[1]}"
        consume(url, ["a"], lambda _: None, told.append, username="ann", password="wrong")
        until(lambda: any("the user or the password is not taken" in one for one in told))
        thread.join(PATIENCE)
    assert not any("wrong" in one for one in told)


def test_errors_are_told_in_words(cluster, consume):
    told, codes = [], confluent_kafka.KafkaError
    source = consume(cluster.url, ["telemetry"], lambda _: None, told.append)
    for code, words in (
        (codes._AUTHENTICATION, "the user or the password is not taken"),
        (codes.TOPIC_AUTHORIZATION_FAILED, "this user may not read a topic"),
        (codes.INVALID_MSG, "Kafka says"),
    ):
        source._note_error(codes(code, "details"))
        assert f"{cluster.url}: {words}: details" in told[-1]


def test_certificates_that_cannot_be_used_are_told(consume, tmp_path):
    for options in ({"authority": str(tmp_path / "none")}, {"certificate": str(tmp_path / "none")}):
        with pytest.raises(BrokerError, match="kafka.*cannot be used.*ssl"):
            consume("kafkas://127.0.0.1:1", ["a"], lambda _: None, is_secret=True, **options)


def test_what_ends_the_thread_is_told(cluster):
    problems = []

    def fail(_message):
        raise RuntimeError("out of order")

    broker = KafkaBroker(kafka_hosts(cluster.url))
    source = KafkaSource(broker, "solah:room:hall", ["hall"], fail, on_problem=problems.append)
    source.start()
    until_taken(lambda: cluster("hall", b"1"), lambda: problems)
    source.stop()
    assert str(problems[0]) == "out of order"


def test_a_missing_client_is_told_with_what_installs_it(consume, monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingExtraError, match="pip install 'solah\\[kafka\\]'"):
        consume("kafka://127.0.0.1:1", ["a"], lambda _: None)


def test_records_of_any_size_are_counted(cluster, consume, tmp_path):
    cluster("hall", b"open")
    sensors = "sensor_brokers: {hall: '" + cluster.url + "'}\n"
    file = write_site(tmp_path, "mqtt://127.0.0.1:1")
    text = file.read_text(encoding="utf-8").replace("template: esphome\n    device: hall\n", "x")
    text = text.replace("- x    max_age: 3s", "- topic: hall\n    max_age: 1h")
    text = text.replace("{from: binary_sensor/door, states", "{states")
    file.write_text(text + sensors, encoding="utf-8")
    site = load_site(file)
    feed = Feed(site, site.bundle(), "hall")
    problems = []
    feed.start(site.broker_of("hall"), "solah:room:hall:sensors", problems.append)

    def counts():
        return feed.report(time.time())["door"].counts

    try:
        large = (MAX_BYTES + 1) * b"x"
        for value, count in ((b"ON", "taken"), (large, "unparsable"), (None, "unknown")):
            until_taken(
                lambda value=value: cluster("hall", value), lambda count=count: count in counts()
            )
        until_taken(
            lambda: cluster("hall", b"ON"), lambda: feed.report(time.time())["door"].is_known
        )
        assert feed.all_counters()["sensor_messages"] >= 4
    finally:
        feed.stop()


@pytest.mark.slow
def test_a_site_decides_on_readings_from_kafka(broker, cluster, tmp_path):
    """Readings of one node come from Kafka, those of others and decisions by MQTT."""
    cluster("doors", b"ON", b"hall")
    file = write_site(tmp_path, broker.url, sensor_brokers=f"{{hall: '{cluster.url}'}}")
    text = file.read_text(encoding="utf-8")
    text = text.replace("template: esphome\n    device: hall", "topic: doors/hall")
    text = text.replace("{from: binary_sensor/door, states", "{states")
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "solah.cli.main", "site", "run", str(file), "--json"]
    up = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    listener = Listener(broker.url, "room")
    try:

        def known():
            """Return the rows that rest on something: the door, of which alone readings come."""
            return [row for _, row in [*listener.rows.values()] if row.known > 0]

        until_taken(lambda: cluster("doors", b"ON", b"hall"), known)
        assert not any("door" in name for name in known()[0].missing)
        assert "temperature" in known()[0].missing
    finally:
        up.terminate()
        up.wait(PATIENCE)
        listener.stop()
    assert "connected to kafka://" in (tmp_path / "room.state" / "hall.log").read_text()
