"""Readings come from Kafka: through the real client, from the mock cluster that it brings."""

import select
import socket
import socketserver
import struct
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import PATIENCE, until

from solah.exceptions import ParameterError
from solah.site.client import find_broker
from solah.site.kafka import KafkaBroker, KafkaSource, check_kafka_topic, kafka_hosts
from solah.site.settings import Access
from solah.site.site_file import load_site

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


@settings(max_examples=25)
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
        f"sensors:\n  - topic: '{topic}'\n    features: {{{name}: value}}\n"
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
        access.find_kafka()
    monkeypatch.setenv("KAFKA_PASSWORD", "secret")
    broker = access.find_kafka()
    assert (broker.hosts, broker.is_secret) == (("a:1", "b:9093"), True)
    assert (broker.username, broker.password) == ("ann", "secret")
    assert (broker.mechanism, broker.authority) == ("SCRAM-SHA-512", str(tmp_path / "ca.crt"))
    assert "secret" not in repr(broker)
    monkeypatch.setenv("SOLAH_MQTT_USERNAME", "bob")  # who is nobody to Kafka
    assert Access("kafka://a").find_kafka().username is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic": "+/attic"}, r"line 7: .*'\+/attic' is to come from Kafka"),
        ({"topic": "a b", "name": "door"}, "line 7: .*Got 'a b' instead"),
        ({"brokers": "'kafka://a b'"}, "line 1: site.sensor_brokers.hall: a Kafka cluster"),
        ({"brokers": "{url: 'kafka://a', ca: x}"}, "line 1: .*certificates are for kafkas://"),
        (
            {"brokers": "{url: 'kafka://a', mechanism: PLAIN}"},
            "goes with a Kafka cluster",
        ),
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


# --- what a record says --------------------------------------------------------------------------


# --- the real client -----------------------------------------------------------------------------


def test_records_come_by_topic_and_key(cluster, consume):
    taken = {}
    filters = ["telemetry/+", "telemetry/hall/door", "plain"]
    for topic in ("telemetry", "plain"):
        cluster(topic, b"before", b"attic")
    source = consume(
        cluster.url, filters, lambda topic, payload, _, time: taken.update({(topic, payload): time})
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
    assert taken["telemetry/attic", None] == 1_700_000_000.123
    assert begun - 60 < taken["plain", b"6"] < begun + 3600
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
    source = consume(
        f"kafka://127.0.0.1:{address[1]}", ["a"], lambda *one: taken.append(one), told.append
    )
    until(lambda: any(": transport: " in one for one in told))
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
    source = consume(first.url, ["telemetry"], lambda *one: taken.append(one), told.append)
    until_taken(lambda: first("telemetry", b"1"), lambda: taken and source.is_connected)
    first.stop()
    until(lambda: not source.is_connected)
    assert sum("is lost" in one for one in told) == 1
    names = [getattr(one, "name", "") for one in told]
    assert names.index("connected") < names.index("connection_lost")
    until(lambda: any(": transport: " in one for one in told))


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
        consume(url, ["a"], lambda *_: None, told.append, username="ann", password="wrong")
        until(lambda: any("authentication" in one for one in told))
        thread.join(PATIENCE)
    assert not any("wrong" in one for one in told)
