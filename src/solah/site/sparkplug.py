"""Read Sparkplug B: births name the metrics of a device, data follow by alias, deaths end them.

An edge node counts its messages, those of its devices included, from 0 to 255 and around; a gap
means that some were lost. What cannot be understood without a birth that was not seen is counted,
and the edge node is asked for another one. Field numbers are those of the Sparkplug specification,
version 3.0.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, require, shorten
from solah.site.messages import MessageError
from solah.site.payloads import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from solah.site.sensors import Sensor

    _Decoded = tuple[str, Message]

NAMESPACE = "spBv1.0"
UNTIL_DEATH = math.inf
"""For how long readings are held: devices send only changes, and announce their death."""
REBIRTH = "Node Control/Rebirth"
_OF_NODES, _OF_DEVICES = ("NBIRTH", "NDATA", "NDEATH"), ("DBIRTH", "DDATA", "DDEATH")
_PURPOSE = "reading Sparkplug B"
_MOST_BYTES = 4 * 1024 * 1024  # as births list all metrics of a device
_COUNTS = 256
_ASK_EVERY = 60.0
_SIGNED = {1: 8, 2: 16, 3: 32, 4: 64}  # the bits of Int8, Int16, Int32 and Int64
_BOOLEAN = 11
_INTEGERS = ("int_value", "long_value")
# Fields of messages as the specification has them; others are left as bytes.
_PAYLOAD = "1 timestamp UINT64, 3 seq UINT64"
_METRIC = (
    "1 name STRING, 2 alias UINT64, 3 timestamp UINT64, 4 datatype UINT32, 5 is_historical BOOL, "
    "7 is_null BOOL"
)
_VALUE = (
    "10 int_value UINT32, 11 long_value UINT64, 12 float_value FLOAT, 13 double_value DOUBLE, "
    "14 boolean_value BOOL, 15 string_value STRING, 16 bytes_value BYTES, 17 dataset_value BYTES, "
    "18 template_value BYTES, 19 extension_value BYTES"
)
_SESSION = "bdSeq"
_UNKNOWN = {"value": None}


def place_of(device: str) -> str:
    """Return as what a device is known: ``group/edge-node``, or ``group/edge-node/device``.

    Examples
    --------
    >>> place_of("plant/line1/motor")
    'spBv1.0/plant/line1/motor'
    """
    levels = device.split("/")
    if len(levels) not in (2, 3) or not all(levels) or set(device) & set("+#\0"):
        raise ParameterError(
            "a device of Sparkplug is written group/edge-node or group/edge-node/device, without "
            f"wildcards. Got {shorten(device)} instead."
        )
    return f"{NAMESPACE}/{device}"


def filters_of(place: str) -> list[str]:
    """List the topics of an edge node and all its devices, which count their messages together."""
    _, group, edge, *_ = place.split("/")
    return [
        *(f"{NAMESPACE}/{group}/{kind}/{edge}" for kind in _OF_NODES),
        *(f"{NAMESPACE}/{group}/{kind}/{edge}/+" for kind in _OF_DEVICES),
    ]


def command_topic(place: str) -> str:
    """Return the topic by which the edge node of a place is asked for a birth."""
    _, group, edge, *_ = place.split("/")
    return f"{NAMESPACE}/{group}/NCMD/{edge}"


def metrics_of(sensors: Iterable[Sensor]) -> dict[str, list[str]]:
    """Return which metrics sensors take of each device, by its place."""
    wanted: dict[str, list[str]] = {}
    for one in sensors:
        if one.is_sparkplug and one.path is not None:
            wanted.setdefault(one.topic, []).append(str(one.path[0]))
    return wanted


@dataclass
class _Device:
    """A subscribed device, or an edge node itself, and the content of its birth."""

    place: str
    wanted: tuple[str, ...]
    is_born: bool = False
    names: dict[int | None, str] = field(default_factory=dict)  # by alias
    datatypes: dict[str, int] = field(default_factory=dict)

    def begin(self, message: Any) -> None:
        """Take in a birth."""
        self.is_born = True
        self.names = {one.alias: one.name for one in message.metrics if one.HasField("alias")}
        self.datatypes = {one.name: one.datatype for one in message.metrics}

    def end(self) -> _Decoded:
        """Forget the birth; what was known is unknown."""
        self.is_born, self.names, self.datatypes = False, {}, {}
        return self.place, Message.of(dict.fromkeys(self.wanted, _UNKNOWN), begins=True)


@dataclass
class _Edge:
    """An edge node: its devices that are wanted, '' for itself, and how it counts and is asked."""

    command: str
    devices: dict[str, _Device] = field(default_factory=dict)
    session: int | None = None
    number: int | None = None
    needs_birth: bool = True
    asked: float = -math.inf


class Decoder:
    """Reads messages of edge nodes and their devices; it never fails on a message.

    Parameters
    ----------
    wanted : mapping of place to names
        The metrics that are wanted of each device.

    Examples
    --------
    >>> decoder = Decoder({"spBv1.0/plant/line1": ["Speed"]})
    >>> ((place, message),) = decoder.read("spBv1.0/plant/NDEATH/line1", b"")
    >>> place, message.document, message.begins
    ('spBv1.0/plant/line1', {'Speed': {'value': None}}, True)
    """

    def __init__(self, wanted: Mapping[str, Iterable[str]]) -> None:
        self.counters: Counter[str] = Counter()
        self._edges: dict[tuple[str, str], _Edge] = {}
        for place, names in wanted.items():
            _, group, name, *device = place.split("/")
            edge = self._edges.setdefault((group, name), _Edge(command_topic(place)))
            edge.devices["".join(device)] = _Device(place, tuple(names))
        _payload_type()  # a missing package is an error at the start

    def is_about(self, topic: str) -> bool:
        """Whether a topic is that of an edge node that is wanted."""
        return self._address(topic) is not None

    def read(self, topic: str, payload: bytes) -> list[_Decoded]:
        """Return what a message has about devices: for each its place, and a message of its own.

        That has the metrics by name, with ``value``, None where missing, and ``time`` in
        milliseconds.
        """
        address = self._address(topic)
        if address is None:
            return []
        edge, kind, name = address
        device = edge.devices.get(name)
        try:
            message = _parse(payload)
        except MessageError:  # one in place of a death ends what that would have ended
            self.counters["sparkplug_unreadable"] += 1
            edge.needs_birth = True
            if kind == "NDEATH":
                return [one.end() for one in edge.devices.values()]
            return [] if device is None else [(device.place, Message.of(None))]
        if kind == "NDEATH":
            return self._end_all(edge, message)
        self._count(edge, kind, message)
        ended = self._begin_session(edge, message) if kind == "NBIRTH" else []
        if device is None:
            return ended
        if kind == "DDEATH":
            return [device.end()]
        is_birth = kind.endswith("BIRTH")
        if is_birth:
            device.begin(message)
        edge.needs_birth |= not device.is_born
        metrics = self._metrics(edge, device, message)
        if is_birth:  # it lists all metrics, so that others are gone
            metrics = dict.fromkeys(device.wanted, _UNKNOWN) | metrics
        return [*ended, (device.place, Message.of(metrics, begins=is_birth))]

    def lose_all(self) -> list[_Decoded]:
        """Note that messages may be lost: nothing is known before births, which are requested."""
        ended = []
        for edge in self._edges.values():
            edge.number = edge.session = None
            edge.needs_birth = True
            ended += [device.end() for device in edge.devices.values()]
        return ended

    def requests(self, now: float) -> list[tuple[str, bytes]]:
        """Return topics and payloads that ask for births, once a minute per edge node at most."""
        due = [
            edge
            for edge in self._edges.values()
            if edge.needs_birth and abs(now - edge.asked) >= _ASK_EVERY  # clocks are set back, too
        ]
        for edge in due:
            edge.asked, edge.needs_birth = now, False
        self.counters["sparkplug_rebirths"] += len(due)
        return [(edge.command, _ask_for_birth(now)) for edge in due]

    def _address(self, topic: str) -> tuple[_Edge, str, str] | None:
        """Return the edge node of a topic, the kind of message, and the device; '' for itself."""
        levels = topic.split("/")
        if len(levels) not in (4, 5) or levels[0] != NAMESPACE:
            return None
        _, group, kind, name, *device = levels
        edge = self._edges.get((group, name))
        if edge is None or kind not in (_OF_DEVICES if device else _OF_NODES):
            return None
        return edge, kind, "".join(device)

    def _count(self, edge: _Edge, kind: str, message: Any) -> None:
        """Notice by an edge node's count of messages that some were lost."""
        if not message.HasField("seq"):
            return
        before, edge.number = edge.number, message.seq % _COUNTS
        if kind == "NBIRTH" or before is None or edge.number == before:
            return
        n_lost = (edge.number - before - 1) % _COUNTS
        self.counters["sparkplug_lost"] += n_lost
        edge.needs_birth |= n_lost > 0

    def _begin_session(self, edge: _Edge, message: Any) -> list[_Decoded]:
        """Take in which session begins; with a new one, devices are not there until their birth."""
        before, edge.session = edge.session, _session(message)
        edge.needs_birth = False
        if edge.session is not None and edge.session == before:
            return []
        return [device.end() for name, device in edge.devices.items() if name]

    def _end_all(self, edge: _Edge, message: Any) -> list[_Decoded]:
        """End an edge node and its devices, unless it is the death of a session before."""
        session = _session(message)
        if None not in (session, edge.session) and session != edge.session:
            self.counters["sparkplug_old_deaths"] += 1
            return []
        edge.number = None
        return [device.end() for device in edge.devices.values()]

    def _metrics(self, edge: _Edge, device: _Device, message: Any) -> dict[str, dict[str, Any]]:
        """Return the values of the metrics that can be named, and are of now."""
        found = {}
        for metric in message.metrics:
            alias = metric.alias if metric.HasField("alias") else None
            name = metric.name or device.names.get(alias, "")
            datatype = metric.datatype or device.datatypes.get(name, 0)
            is_integer = metric.WhichOneof("value") in _INTEGERS
            if metric.is_historical:
                self.counters["sparkplug_historical"] += 1
            elif not name or (is_integer and not datatype):  # which may be a negative number
                self.counters["sparkplug_unnamed"] += 1
                edge.needs_birth = True
            else:
                time = metric.timestamp or message.timestamp or None
                found[name] = {"value": _value(metric, datatype), "time": time}
        return found


def _session(message: Any) -> int | None:
    """Return which session of an edge node a birth begins, or a death ends."""
    found = [_value(one, 0) for one in message.metrics if one.name == _SESSION]
    return found[0] if found and isinstance(found[0], int) else None


def _value(metric: Any, datatype: int) -> Any:
    """Return a metric's value; an empty list if it is not a single value."""
    kind = metric.WhichOneof("value")
    if metric.is_null or kind is None:
        return None
    value = getattr(metric, kind)
    if isinstance(value, bytes):
        return []
    bits = _SIGNED.get(datatype)
    if kind in _INTEGERS and bits is not None:
        value &= (1 << bits) - 1  # some fill the field with the sign, and some do not
        return value - (1 << bits) if value >> (bits - 1) else value
    return value


# --- the format ----------------------------------------------------------------------------------


def _ask_for_birth(now: float) -> bytes:
    """Write the command by which an edge node publishes its births again."""
    message = _payload_type()(timestamp=int(1000 * now))
    message.metrics.add(
        name=REBIRTH, timestamp=int(1000 * now), datatype=_BOOLEAN, boolean_value=True
    )
    written: bytes = message.SerializeToString()
    return written


def _parse(payload: bytes) -> Any:
    """Parse a message; its texts are read, too, since that may fail."""
    if len(payload) > _MOST_BYTES:
        raise MessageError(f"the message has {len(payload):,} bytes, too many")
    errors = require("google.protobuf.message", "site", _PURPOSE)
    try:
        message = _payload_type().FromString(payload)
        for metric in message.metrics:
            _ = metric.name, metric.string_value
    except (errors.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise MessageError(f"the message is not Sparkplug B: {error}") from None
    return message


@cache
def _payload_type() -> Any:
    """Make the type of messages."""
    descriptors = require("google.protobuf.descriptor_pb2", "site", _PURPOSE)
    pools = require("google.protobuf.descriptor_pool", "site", _PURPOSE)
    factory = require("google.protobuf.message_factory", "site", _PURPOSE)
    kinds = descriptors.FieldDescriptorProto
    file = descriptors.FileDescriptorProto(name="sparkplug", package="solah", syntax="proto2")
    payload = file.message_type.add(name="Payload")
    metric = payload.nested_type.add(name="Metric")
    metric.oneof_decl.add(name="value")
    for message, text, options in (
        (payload, _PAYLOAD, {}),
        (metric, _METRIC, {}),
        (metric, _VALUE, {"oneof_index": 0}),
    ):
        for field_text in text.split(", "):
            number, name, kind = field_text.split()
            about = {"name": name, "number": int(number), "type": getattr(kinds, f"TYPE_{kind}")}
            message.field.add(label=kinds.LABEL_OPTIONAL, **about, **options)
    of_metrics = {"type": kinds.TYPE_MESSAGE, "type_name": ".solah.Payload.Metric"}
    payload.field.add(name="metrics", number=2, label=kinds.LABEL_REPEATED, **of_metrics)
    pool = pools.DescriptorPool()
    pool.Add(file)
    return factory.GetMessageClass(pool.FindMessageTypeByName("solah.Payload"))
