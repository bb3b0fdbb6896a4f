"""A connection to a broker that is made again when it breaks."""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from solah.exceptions import ParameterError, SolahError, require, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

USERNAME, PASSWORD = "SOLAH_MQTT_USERNAME", "SOLAH_MQTT_PASSWORD"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_AT_LEAST_ONCE = 1
_KEEPALIVE = 30
_LOOK_EVERY = 0.05
_MOST_IN_FLIGHT = 400
_MOST_QUEUED = 20_000
_MOST_QUEUED_BYTES = 32 * 1024 * 1024


class BrokerError(SolahError, ConnectionError):
    """A broker cannot be reached, or refuses the connection."""


@dataclass(frozen=True)
class Broker:
    """Where a broker is, and who we are there.

    Attributes
    ----------
    host, port : its address
    is_secret : whether the connection is TLS; its certificate is then checked
    authority : a file with the certificates to trust, instead of the system's
    certificate, key : files with a certificate of our own and its key
    username, password : what we are known by
    """

    host: str
    port: int
    is_secret: bool = False
    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    username: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        scheme = "mqtts" if self.is_secret else "mqtt"
        return f"{scheme}://{self.host}:{self.port}"


def is_kafka(url: str) -> bool:
    """Whether an address is that of a Kafka cluster, not of an MQTT broker."""
    return url.partition("://")[0].lower() in ("kafka", "kafkas")


def find_broker(
    url: str,
    *,
    credentials: str | os.PathLike[str] | None = None,
    authority: str | None = None,
    certificate: str | None = None,
    key: str | None = None,
) -> Broker:
    """Read a broker's address, and who we are from the environment or a file.

    Parameters
    ----------
    url : str
        Such as ``mqtt://localhost:1883``; ``mqtts`` for TLS.
    credentials : path, default=None
        A file with the lines ``username=…`` and ``password=…``. By default the environment's
        ``SOLAH_MQTT_USERNAME`` and ``SOLAH_MQTT_PASSWORD``.
    authority, certificate, key : path, default=None
        Files of certificates, as :class:`Broker` has them.

    Examples
    --------
    >>> find_broker("mqtts://example.org")
    mqtts://example.org:8883
    """
    if is_kafka(url):
        raise ParameterError(
            f"{shorten(url)} is Kafka, from which only readings come: name it in 'sensor_brokers' "
            "of a site file. Nodes talk MQTT with each other: give a broker as mqtt://host:port"
        )
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets that are not those of an IPv6 address, or of the port
        is_address = False
    if not is_address:
        raise ParameterError(
            "a broker is written mqtt://host:port, or mqtts:// for TLS. "
            f"Got {shorten(url)} instead."
        )
    if parts.username or parts.password:
        raise ParameterError(
            "names and passwords do not belong on the command line, where others can see them; "
            f"set {USERNAME} and {PASSWORD}, or give a file of credentials"
        )
    is_secret = parts.scheme == "mqtts"
    if not is_secret and (authority or certificate or key):
        raise ParameterError("certificates are for mqtts:// brokers")
    known = (os.environ.get(USERNAME), os.environ.get(PASSWORD))
    username, password = read_credentials(credentials) if credentials else known
    return Broker(
        host=parts.hostname or "",
        port=parts.port or _PORTS[parts.scheme],
        is_secret=is_secret,
        authority=authority,
        certificate=certificate,
        key=key,
        username=username,
        password=password,
    )


def read_credentials(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Read a user's name and password from a file with the lines username=… and password=…."""
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    pairs = dict(line.split("=", 1) for line in lines if "=" in line)
    if pairs.keys() != {"username", "password"}:
        raise ParameterError(f"{path} must have the lines username=… and password=…")
    return pairs["username"], pairs["password"]


class Receipt(NamedTuple):
    """What acknowledges a message: its number, and the connection that it came by."""

    connection: int
    number: int


class Client:
    """A connection to a broker: kept, found again when it is lost, and counted.

    Parameters
    ----------
    broker : Broker
    name : str
        What the broker knows us by; it keeps what is meant for us while we are away.
    on_message : callable of topic and payload
        Called in a thread of its own.
    on_connect : callable, default=None
        Called in that thread whenever a connection is made.
    on_lost : callable, default=None
        Called in that thread whenever a connection is lost.
    on_retained : callable of topic and payload, default=None
        Called instead of ``on_message`` with what the broker had kept, which may be old.
    will : tuple of topic and payload, default=None
        What the broker publishes, and keeps, when we vanish.
    is_kept : bool, default=True
        Whether the broker keeps messages for us while we are away.
    is_careful : bool, default=False
        Whether messages are acknowledged only by :meth:`acknowledge`. Then ``on_message`` gets a
        :class:`Receipt` as well, and the broker sends again what was not acknowledged.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        on_message: Callable[..., None],
        *,
        on_connect: Callable[[], None] | None = None,
        on_lost: Callable[[], None] | None = None,
        on_retained: Callable[..., None] | None = None,
        will: tuple[str, bytes] | None = None,
        is_kept: bool = True,
        is_careful: bool = False,
    ) -> None:
        self._broker = broker
        self._is_careful = is_careful
        self._connection = 0
        self._on_message, self._on_retained = on_message, on_retained or on_message
        self._on_connect, self._on_lost = on_connect, on_lost
        self._topics: dict[str, None] = {}
        self._lock = threading.Lock()
        self._in_flight = 0
        self._waiting_bytes = 0
        self._sizes: dict[int, int] = {}
        self._confirmed_early: set[int] = set()
        self._published = 0
        self._refusal = ""
        self._connected = threading.Event()
        self._paho = self._make(name, is_kept, will)

    @property
    def in_flight(self) -> int:
        """How many messages the broker has not yet confirmed."""
        return self._in_flight

    @property
    def published(self) -> int:
        """How many messages were published so far."""
        return self._published

    @property
    def confirmed(self) -> int:
        """How many of them are done with; brokers confirm in order."""
        with self._lock:
            return self._published - self._in_flight

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connected.is_set()

    @property
    def refusal(self) -> str:
        """Why the broker did not take us, when it last did not; empty where it did."""
        return self._refusal

    def start(self, timeout: float = 10.0, *, is_patient: bool = False) -> None:
        """Connect, and stay so until :meth:`stop`; patiently also to a broker that starts later."""
        address = (self._broker.host, self._broker.port, _KEEPALIVE)
        if is_patient:
            self._paho.connect_async(*address)
            self._paho.loop_start()
            return
        try:
            self._paho.connect(*address)
        except (OSError, ValueError) as error:
            raise BrokerError(f"the broker {self._broker!r} cannot be reached: {error}") from None
        self._paho.loop_start()
        give_up = time.monotonic() + timeout
        while not self._connected.wait(_LOOK_EVERY):
            if self._refusal or time.monotonic() > give_up:
                self.stop()
                reason = self._refusal or "it does not answer"
                raise BrokerError(f"the broker {self._broker!r} refused the connection: {reason}")

    def stop(self) -> None:
        """Disconnect, without a last will."""
        self._paho.disconnect()
        self._paho.loop_stop()

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to topics, now and after every reconnection."""
        new = [topic for topic in topics if topic not in self._topics]
        self._topics |= dict.fromkeys(new)
        if new and self.is_connected:
            self._paho.subscribe([(topic, _AT_LEAST_ONCE) for topic in new])

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
    ) -> bool:
        """Publish a message at least once; return whether there was room for it.

        What waits for the broker has bounds in messages and in bytes; what is larger than all that
        may wait is published only if nothing else does.

        Parameters
        ----------
        topic, payload : what is published, and where
        retain : whether the broker keeps it
        """
        size = len(payload)
        with self._lock:
            if self._waiting_bytes and self._waiting_bytes + size > _MOST_QUEUED_BYTES:
                return False
            self._in_flight += 1
            self._waiting_bytes += size
            self._published += 1
        info = self._paho.publish(topic, payload, qos=_AT_LEAST_ONCE, retain=retain)
        queued = info.rc in (0, 4)  # 4: not connected, and published later
        with self._lock:
            # The broker may have been quicker than we were to note the message's number.
            if not queued or info.mid in self._confirmed_early:
                self._confirmed_early.discard(info.mid)
                self._done_with(size)
            else:
                self._sizes[info.mid] = size
        return queued

    def acknowledge(self, receipt: Receipt) -> None:
        """Let the broker forget a message; one of a lost connection comes again by the next."""
        if receipt.connection == self._connection:
            self._paho.ack(receipt.number, _AT_LEAST_ONCE)

    def _done_with(self, size: int) -> None:
        self._in_flight -= 1
        self._waiting_bytes -= size

    def _make(self, name: str, is_kept: bool, will: tuple[str, bytes] | None) -> Any:
        mqtt = require("paho.mqtt.client", "site", "running nodes")
        paho = mqtt.Client(
            mqtt.CallbackAPIVersion.VERSION2,
            client_id=name,
            clean_session=not is_kept,
            manual_ack=self._is_careful,
        )
        broker = self._broker
        if broker.username:
            paho.username_pw_set(broker.username, broker.password)
        if broker.is_secret:
            try:
                paho.tls_set(broker.authority, broker.certificate, broker.key)
            except (OSError, ValueError) as error:
                files = (broker.authority, broker.certificate, broker.key)
                named = ", ".join(file for file in files if file) or "the system's certificates"
                raise BrokerError(f"{named} cannot be used for TLS: {error}") from None
        if will is not None:
            paho.will_set(*will, qos=_AT_LEAST_ONCE, retain=True)
        paho.max_inflight_messages_set(_MOST_IN_FLIGHT)
        paho.max_queued_messages_set(_MOST_QUEUED)
        paho.reconnect_delay_set(min_delay=1, max_delay=5)
        paho.on_socket_open = self._opened
        paho.on_connect = self._answered
        paho.on_disconnect = self._lost
        paho.on_publish = self._confirmed
        paho.on_message = self._received
        return paho

    def _opened(self, _client: Any, _data: Any, sock: Any) -> None:
        # Small messages would wait for each other's confirmation otherwise.
        if isinstance(sock, socket.socket):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _answered(self, _client: Any, _data: Any, _flags: Any, reason: Any, _more: Any) -> None:
        if reason.is_failure:
            self._refusal = str(reason)
            return
        self._connection += 1
        self._refusal = ""
        self._connected.set()
        if self._topics:
            self._paho.subscribe([(topic, _AT_LEAST_ONCE) for topic in self._topics])
        if self._on_connect is not None:
            self._on_connect()

    def _lost(self, *_: Any) -> None:
        self._connected.clear()
        if self._on_lost is not None:
            self._on_lost()

    def _confirmed(self, _client: Any, _data: Any, number: int, *_: Any) -> None:
        with self._lock:
            size = self._sizes.pop(number, None)
            if size is None:
                self._confirmed_early.add(number)
            else:
                self._done_with(size)

    def _received(self, _client: Any, _data: Any, message: Any) -> None:
        take = self._on_retained if message.retain else self._on_message
        if not self._is_careful:
            take(message.topic, message.payload)
            return
        receipt = Receipt(self._connection, message.mid) if message.qos else None
        take(message.topic, message.payload, receipt)
