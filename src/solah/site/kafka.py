"""Take messages of sensors from Kafka, beginning with the newest and committing nothing.

A record of the Kafka topic ``telemetry`` with the key ``attic`` comes as ``telemetry/attic``, as if
that were a topic of MQTT, for sensors whose topic has several levels, and as ``telemetry`` for
those whose topic has one.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from solah.exceptions import ParameterError, require, shorten
from solah.site.backlog import Complaints
from solah.site.client import BrokerError, is_kafka
from solah.site.logs import Event
from solah.site.messages import MAX_BYTES
from solah.site.sensor_mapping import match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
MECHANISMS: tuple[Mechanism, ...] = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_PORTS = {"kafka": 9092, "kafkas": 9093}
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_AT_ONCE = 500
_WAIT = 0.2
_MOST_WAITING = 16 * 1024  # kilobytes


@dataclass(frozen=True)
class KafkaBroker:
    """Where a Kafka cluster is, and who we are there.

    Attributes
    ----------
    hosts : addresses of brokers, as ``host:port``
    is_secret : whether connections are TLS; certificates are then checked
    authority : a file with the certificates to trust, instead of the system's
    certificate, key : files with a certificate of our own and its key
    username, password : what we are known by, by SASL; None for nobody
    mechanism : of SASL
    """

    hosts: tuple[str, ...]
    is_secret: bool = False
    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    username: str | None = None
    password: str | None = None
    mechanism: Mechanism = "PLAIN"

    def __repr__(self) -> str:
        return f"{'kafkas' if self.is_secret else 'kafka'}://{','.join(self.hosts)}"


def kafka_hosts(url: str) -> tuple[str, ...]:
    """Read the addresses of the brokers of a cluster.

    Examples
    --------
    >>> kafka_hosts("kafka://one.local,two.local:9094")
    ('one.local:9092', 'two.local:9094')
    """
    scheme, _, rest = url.partition("://")
    found = [_HOST.fullmatch(part) for part in rest.removesuffix("/").split(",")]
    if not is_kafka(url) or not all(one and int(one[2] or 1) in range(1, 65_536) for one in found):
        raise ParameterError(
            "a Kafka cluster is written kafka://host:port, with commas between several, or "
            f"kafkas:// for TLS; names and passwords do not belong there. Got {shorten(url)} "
            "instead."
        )
    port = _PORTS[scheme.lower()]
    return tuple(f"{one[1]}:{one[2] or port}" for one in found if one)


def check_kafka_topic(topic_filter: str) -> str:
    """Return the Kafka topic of a sensor's topic: its first level.

    Raises
    ------
    ParameterError
        Kafka does not take the name.
    """
    topic = topic_filter.partition("/")[0]
    if topic in (".", "..") or not _TOPIC.fullmatch(topic):
        raise ParameterError(
            f"{shorten(topic_filter)} is to come from Kafka, so its first level is a Kafka topic: "
            "at most 249 letters, digits, '.', '_' and '-', and no wildcard. Got "
            f"{shorten(topic)} instead."
        )
    return topic


class KafkaSource:
    """A consumer of its own that brings records as messages of sensors.

    Parameters
    ----------
    broker : KafkaBroker
    name : str
        What the name of its group begins with.
    filters : iterable of str
        The sensors' topics.
    take : callable of topic, payload, is_retained, published
        Called in a thread of its own. A record without a value has the payload None, and one
        without a timestamp was published at a time None.
    log : callable
        Called with what an operator should know.
    on_problem : callable
        Called with what ends the thread.
    """

    def __init__(
        self,
        broker: KafkaBroker,
        name: str,
        filters: Iterable[str],
        take: Callable[[str, bytes | None, bool, float | None], None],
        log: Callable[[str], None] = lambda _: None,
        on_problem: Callable[[BaseException], None] = lambda _: None,
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._broker, self._take, self._log = broker, take, log
        self._on_problem = on_problem
        self._filters: dict[str, list[str]] = {}
        for one in filters:
            self._filters.setdefault(check_kafka_topic(one), []).append(one)
        self._complaints = Complaints(log)
        self._connected, self._stopping = threading.Event(), threading.Event()
        self._kafka = require("confluent_kafka", "kafka", "taking readings from Kafka")
        self._consumer = self._make(name)
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection to a broker of the cluster."""
        return self._connected.is_set()

    def start(self) -> None:
        """Consume until :meth:`stop`, also from a cluster that starts later."""
        if self._filters:
            self._consumer.subscribe([*self._filters])
        self._thread.start()

    def stop(self) -> None:
        """End what :meth:`start` began; the consumer leaves its group."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._consumer.close()

    def _make(self, name: str) -> Any:
        broker = self._broker
        protocol = ("sasl_" if broker.username else "") + ("ssl" if broker.is_secret else "")
        settings = {
            "bootstrap.servers": ",".join(broker.hosts),
            "security.protocol": protocol + "plaintext" * (not broker.is_secret),
            "sasl.mechanism": broker.mechanism if broker.username else None,
            "sasl.username": broker.username,
            "sasl.password": broker.password,
            "ssl.ca.location": broker.authority,
            "ssl.certificate.location": broker.certificate,
            "ssl.key.location": broker.key,
            # Nobody shares the records with us, and records from our absence are out of date.
            "group.id": f"{name}:{uuid4().hex[:12]}",
            "auto.offset.reset": "latest",
            "enable.auto.commit": False,
            "fetch.max.bytes": 4 * MAX_BYTES,
            "max.partition.fetch.bytes": MAX_BYTES,
            "queued.max.messages.kbytes": _MOST_WAITING,
            "statistics.interval.ms": 1_000,
            "stats_cb": self._note_states,
            "error_cb": self._note_error,
            "log_level": 0,  # the callback reports errors
        }
        try:
            return self._kafka.Consumer({k: v for k, v in settings.items() if v is not None})
        except self._kafka.KafkaException as error:
            raise BrokerError(f"{broker!r} cannot be used: {error.args[0].str()}") from None

    def _run(self) -> None:
        """Take records as they come."""
        try:
            while not self._stopping.is_set():
                try:
                    records = self._consumer.consume(_AT_ONCE, _WAIT)
                except self._kafka.KafkaException as problem:
                    self._note_error(problem.args[0])
                    self._stopping.wait(_WAIT)
                    continue
                for record in records:
                    if record.error() is not None:
                        self._note_error(record.error())
                    else:
                        self._take_record(record)
                self._complaints.report(time.monotonic())
        except BaseException as problem:
            self._on_problem(problem)

    def _take_record(self, record: Any) -> None:
        kind, milliseconds = record.timestamp()
        is_timed = kind != self._kafka.TIMESTAMP_NOT_AVAILABLE and milliseconds > 0
        names = self._names(record.topic(), record.key())
        self.counters["other_keys"] += not names
        for name in names:
            measured = milliseconds / 1_000 if is_timed else None
            self._take(name, record.value(), False, measured)

    def _names(self, topic: str, key: bytes | None) -> list[str]:
        """Return as which topics of sensors a record comes."""
        filters = self._filters.get(topic, [])
        names = [topic] if topic in filters else []
        if key is not None:
            keyed = f"{topic}/{key.decode(errors='replace')}"
            if any(one != topic and match(one, keyed) is not None for one in filters):
                names.append(keyed)
        return names

    def _note_states(self, statistics: str) -> None:
        """Look at the connections to the brokers."""
        brokers = json.loads(statistics)["brokers"].values()
        self._note_link(any(one["state"] == "UP" and one["nodeid"] >= 0 for one in brokers))

    def _note_link(self, is_connected: bool) -> None:
        if is_connected and not self.is_connected:
            self._connected.set()
            self._log(Event(f"connected to {self._broker!r}", "connected"))
        elif not is_connected and self.is_connected:
            self._connected.clear()
            text = f"the connection to {self._broker!r} is lost"
            self._log(Event(text, "connection_lost", "warning"))

    def _note_error(self, error: Any) -> None:
        """Report an error in words; librdkafka itself tries again."""
        self.counters["kafka_errors"] += 1
        if error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self._note_link(False)
            return
        kind = f"{self._broker!r}: {error.name().strip('_').replace('_', ' ').lower()}"
        self._complaints.add(kind, error.str(), time.monotonic())
