"""Write the messages of nodes as bytes, and read those of others with every value checked.

A message is JSON; those of nodes that send on change are CBOR (:mod:`solah.site.compact_messages`):
numbers, texts, lists and objects, and none of CBOR's tags, which build other things.
``MessageError`` is all that a wrong one raises, so that a stranger on the broker can be counted and
ignored.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from solah.data.json_reader import MAX_DEPTH, JsonParser, Reader, shown
from solah.exceptions import SolahError, cut, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

VERSION = 1
MAX_BYTES = 256 * 1024
MAX_ROWS = 2_000
MAX_SEQUENCE = 2**53 - 1
MAX_READINGS = 10_000
MAX_CONTAINERS = MAX_BYTES // 8
MAX_CHARACTERS = 500
_MAX_SIGNAL_SIZE = 1_000
_MOST = 1e9
_MOST_VARIANCE = 1e18
_LATEST = 1e12
_ROUNDING = 1e-9
_FLOAT_MAX = sys.float_info.max
# How CBOR's lists and objects begin, and no text in UTF-8 does.
_CBOR = range(0x80, 0xC0)
_NOT_CBOR = bytes(set(range(256)) - set(_CBOR))
_CBOR_LENGTHS = {24: 1, 25: 2, 26: 4, 27: 8}  # bytes behind the first byte of an item

Reading = float | str | None
Value = TypeVar("Value")


class MessageError(SolahError, ValueError):
    """A message is not one of ours."""


_PARSER = JsonParser("the message", MessageError, MAX_BYTES, MAX_CONTAINERS)


@dataclass(frozen=True)
class NodeOutput:
    """The signals of a node for one row.

    Attributes
    ----------
    sequence : the row's number
    time : when its newest reading was taken, in seconds
    signals : what each part of the model passes up, by its name
    missing : the parts and readings that did not come in time, and count as unknown
    unknown : the share and the variance of the evidence that is unknown in those signals; nothing,
        of a part that is not in it
    readings : those that a tree elsewhere asks, by feature: a number, the place of a state, or
        None where it is unknown
    oldest : when the oldest of the readings behind it was taken; None where nobody knows
    abstain_reasons : how many readings are out of the range that the model learned from, and how
        many pairs of them never occurred together there
    previous : of a node that sends on change, the row that it sent before; readings that are the
        same there are left out. None where nothing is left out
    is_exact : whether the signals are exact, rather than in units
    """

    sequence: int
    time: float
    signals: Mapping[str, tuple[float, ...]]
    missing: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    readings: Mapping[str, float | None] = field(default_factory=dict)
    oldest: float | None = None
    abstain_reasons: tuple[int, int] = (0, 0)
    previous: int | None = None
    is_exact: bool = True


@dataclass(frozen=True)
class Beliefs:
    """The signals of a node for some rows.

    Attributes
    ----------
    node : the node that sends them
    model : the hash of the bundle that they were computed with
    rows : one entry per row
    """

    node: str
    model: str
    rows: tuple[NodeOutput, ...]


@dataclass(frozen=True)
class Decided:
    """A decision on one row.

    Attributes
    ----------
    sequence, time : the row's
    decision : the class
    beliefs : the belief in each class, by its name
    missing : the parts and readings that did not come in time
    known : the share of the model's knowledge that was reached
    oldest : when the oldest of its readings was taken; None where nobody knows
    settled : of a model with a policy, the class that stands; None for "don't know", and empty
        where there is no policy
    abstain_reasons : why it is or could be held back: low probability, few readings, out of range,
        unseen
    """

    sequence: int
    time: float
    decision: str
    beliefs: Mapping[str, float]
    missing: tuple[str, ...] = ()
    known: float = 1.0
    oldest: float | None = None
    settled: str | None = ""
    abstain_reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decisions:
    """Decisions on some rows."""

    node: str
    model: str
    rows: tuple[Decided, ...]


@dataclass(frozen=True)
class Measured:
    """Readings of one row; the sequence is None where the node counts by time.

    Of readings that were held until a row was made, ``oldest`` says when the oldest was taken, and
    ``missing`` names those that are unknown.
    """

    readings: Mapping[str, Reading]
    sequence: int | None = None
    time: float | None = None
    oldest: float | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask:
    """A request to send some rows again: those with these numbers, and all from ``since`` on."""

    sequences: tuple[int, ...] = ()
    since: int | None = None


@dataclass(frozen=True)
class SensorReport:
    """How the readings of a feature come in.

    Attributes
    ----------
    age : seconds since the last was taken; None where none came
    max_age : seconds after which it is unknown; None where it is held until the sensor is gone
    is_known : whether there is one that is not too old
    counts : how often each thing happened to its messages
    """

    age: float | None
    max_age: float | None
    is_known: bool
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Terms:
    """How much the silence of nodes that send on change may hide.

    Attributes
    ----------
    model : the hash of the bundle that they are about
    row : they hold for the rows from this one on
    winner : the place of the class that is decided for
    allowed : by how much its lead over each class may fall at one node, in nats; empty where every
        change is to be sent, and exactly
    """

    model: str
    row: int
    winner: int
    allowed: tuple[float, ...]


@dataclass(frozen=True)
class Status:
    """How a node is doing; kept by the broker.

    Attributes
    ----------
    node, state : who it is, and whether it is there
    model : the hash of the newest plan that it took
    starts : the first row of that plan
    shadow : the hash of the plan that it only compares; empty for none
    refused : the last plan that it refused, as :func:`document_id` names it, and why
    counters : what it counted so far
    sensors : how the readings of its features come in
    """

    node: str
    state: Literal["online", "offline"]
    model: str = ""
    counters: Mapping[str, int] = field(default_factory=dict)
    sensors: Mapping[str, SensorReport] = field(default_factory=dict)
    starts: int = 0
    shadow: str = ""
    refused: tuple[str, str] = ("", "")


def document_id(document: bytes) -> str:
    """Name a document, whatever is in it, for who wants to know what became of it."""
    return sha256(document).hexdigest()[:16]


def encode(message: Beliefs | Decisions | Measured | Ask | Status) -> bytes:
    """Write a message."""
    plain = _WRITERS[type(message)](message)
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def decode_beliefs(payload: bytes) -> Beliefs:
    """Read the signals of a node."""
    fields = _fields(payload, ("node", "model", "rows"))
    rows = tuple(map(_read_signals, fields["rows"].items(0, MAX_ROWS)))
    return Beliefs(_text(fields["node"]), _text(fields["model"]), rows)


def decode_decisions(payload: bytes) -> Decisions:
    """Read decisions."""
    fields = _fields(payload, ("node", "model", "rows"))
    rows = tuple(map(_read_decision, fields["rows"].items(0, MAX_ROWS)))
    return Decisions(_text(fields["node"]), _text(fields["model"]), rows)


def decode_ask(payload: bytes) -> Ask:
    """Read a request to send rows again."""
    fields = _fields(payload, ("sequences", "since"))
    sequences = tuple(map(_count, fields["sequences"].items(0, MAX_ROWS)))
    return Ask(sequences, _optional(_count, fields["since"]))


def decode_progress(payload: bytes) -> int:
    """Read the number of a row; -1 stands for none."""
    return _read(payload).integer(-1, MAX_SEQUENCE)


def decode_status(payload: bytes) -> Status:
    """Read how a node is doing."""
    optional = ("sensors", "from", "shadow", "refused")
    fields = _fields(payload, ("node", "state", "model", "counters"), optional)
    state = fields["state"].value
    if state not in ("online", "offline"):
        raise fields["state"].fail("'online' or 'offline'")
    counters = _mapping(fields["counters"], _count)
    sensors = _mapping(fields["sensors"], _read_sensor) if "sensors" in fields else {}
    refused = fields["refused"].texts(2, 2) if "refused" in fields else ("", "")
    return Status(
        node=_text(fields["node"]),
        state=state,
        model=_text(fields["model"]),
        counters=counters,
        sensors=sensors,
        starts=_count(fields["from"]) if "from" in fields else 0,
        shadow=_text(fields["shadow"]) if "shadow" in fields else "",
        refused=(refused[0], refused[1]),
    )


def decode_readings(payload: bytes) -> tuple[Measured, ...]:
    """Read readings: an object, or a list of them.

    ``{"readings": {...}, "seq": 7, "time": 1700000000.5}``, where only the readings must be there;
    or plainly the readings themselves, ``{"temperature": 21.5}``. A reading that is NaN or infinite
    is unknown.
    """
    message = _read(payload, allow_nan=True)
    is_list = isinstance(message.value, list)
    return tuple(map(_read_readings, message.items(0, MAX_ROWS) if is_list else [message]))


# --- writing -------------------------------------------------------------------------------------


def _plain_beliefs(message: Beliefs) -> dict[str, Any]:
    rows = [
        {
            "seq": one.sequence,
            "time": one.time,
            "says": dict(one.signals),
            "missing": list(one.missing),
            **({"unknown": dict(one.unknown)} if one.unknown else {}),
            **({"readings": dict(one.readings)} if one.readings else {}),
            **({"oldest": one.oldest} if one.oldest is not None else {}),
            **({"abstain_reasons": list(one.abstain_reasons)} if any(one.abstain_reasons) else {}),
        }
        for one in message.rows
    ]
    return {"v": VERSION, "node": message.node, "model": message.model, "rows": rows}


def _plain_decisions(message: Decisions) -> dict[str, Any]:
    rows = [
        {
            "seq": one.sequence,
            "time": one.time,
            "decision": one.decision,
            "beliefs": dict(one.beliefs),
            "missing": list(one.missing),
            "known": one.known,
            **({"oldest": one.oldest} if one.oldest is not None else {}),
            **({"settled": one.settled} if one.settled != "" else {}),
            **({"abstain_reasons": list(one.abstain_reasons)} if one.abstain_reasons else {}),
        }
        for one in message.rows
    ]
    return {"v": VERSION, "node": message.node, "model": message.model, "rows": rows}


def _plain_measured(message: Measured) -> dict[str, Any]:
    plain = {"seq": message.sequence, "time": message.time}
    known = {name: value for name, value in plain.items() if value is not None}
    return {"readings": dict(message.readings), **known}


def _plain_ask(message: Ask) -> dict[str, Any]:
    return {"v": VERSION, "sequences": list(message.sequences), "since": message.since}


def _plain_status(message: Status) -> dict[str, Any]:
    sensors = {name: _plain_sensor(one) for name, one in message.sensors.items()}
    plan, why = message.refused
    return {
        "v": VERSION,
        "node": message.node,
        "state": message.state,
        "model": message.model,
        "counters": dict(message.counters),
        **({"from": message.starts} if message.starts else {}),
        **({"shadow": message.shadow} if message.shadow else {}),
        **({"refused": [plan, cut(why, MAX_CHARACTERS)]} if plan else {}),
        **({"sensors": sensors} if sensors else {}),
    }


def _plain_sensor(report: SensorReport) -> dict[str, Any]:
    age = None if report.age is None else round(report.age, 3)
    about = {"age": age, "max_age": report.max_age, "known": report.is_known}
    return {**about, "counts": dict(report.counts)}


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Beliefs: _plain_beliefs,
    Decisions: _plain_decisions,
    Measured: _plain_measured,
    Ask: _plain_ask,
    Status: _plain_status,
}


# --- reading -------------------------------------------------------------------------------------


def _read(payload: bytes, *, allow_nan: bool = False) -> Reader:
    return _PARSER.read(payload, allow_nan=allow_nan)


def parse_cbor(payload: bytes) -> Any:
    """Parse CBOR without tags, open lengths and repeated keys."""
    _PARSER.check_size(payload)
    _PARSER.check_containers(_most_containers(payload))
    stream = BytesIO(payload)
    try:
        cbor2 = require("cbor2", "site", "CBOR messages")
        plain = cbor2.CBORDecoder(
            stream,
            semantic_decoders=_NoTags(),
            max_depth=MAX_DEPTH,
            allow_indefinite=False,
            allow_duplicate_keys=False,
        ).decode()
    except Exception as error:  # whatever a parser may raise on a stranger's bytes
        raise MessageError(f"the message cannot be read: {error}") from None
    if stream.read(1):
        raise MessageError("the message goes on behind its end")
    return plain


def _most_containers(payload: bytes) -> int:
    """Count the lists and objects of CBOR, or return a bound where that is low enough."""
    bound = len(payload.translate(None, _NOT_CBOR))
    if bound <= MAX_CONTAINERS:
        return bound
    at = count = 0
    while at < len(payload):
        major, length = divmod(payload[at], 32)
        size = _CBOR_LENGTHS.get(length, 0)
        at += 1 + size
        if major in (2, 3):  # the bytes of a text
            at += int.from_bytes(payload[at - size : at]) if size else length
        count += major in (4, 5)
    return count


class _NoTags(dict[int, Any]):
    """What CBOR's tags stand for: nothing. They would build dates, patterns, and lists in lists."""

    def __missing__(self, tag: int) -> Any:
        raise MessageError(f"the message has CBOR's tag {tag}, and none is taken here")


def _fields(payload: bytes, keys: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Reader]:
    fields = _read(payload).record(("v", *keys), optional)
    version = fields["v"].value
    if type(version) is not int or version != VERSION:
        raise MessageError(f"the message has version {shown(version)}; this is {VERSION}")
    return fields


def _read_signals(row: Reader) -> NodeOutput:
    optional = ("unknown", "readings", "abstain_reasons", "oldest")
    fields = row.record(("seq", "time", "says", "missing"), optional)
    return NodeOutput(
        sequence=_count(fields["seq"]),
        time=_time(fields["time"]),
        signals=_mapping(fields["says"], _signal),
        missing=_names(fields["missing"]),
        unknown=_mapping(fields["unknown"], read_unknown) if "unknown" in fields else {},
        readings=_mapping(fields["readings"], read_code) if "readings" in fields else {},
        abstain_reasons=read_doubts(fields["abstain_reasons"])
        if "abstain_reasons" in fields
        else (0, 0),
        oldest=_time(fields["oldest"]) if "oldest" in fields else None,
    )


def _read_decision(row: Reader) -> Decided:
    required = ("seq", "time", "decision", "beliefs", "missing", "known")
    fields = row.record(required, ("settled", "abstain_reasons", "oldest"))
    return Decided(
        sequence=_count(fields["seq"]),
        time=_time(fields["time"]),
        decision=_text(fields["decision"]),
        beliefs=_mapping(fields["beliefs"], _share),
        missing=_names(fields["missing"]),
        known=_share(fields["known"]),
        oldest=_time(fields["oldest"]) if "oldest" in fields else None,
        settled=_optional(_text, fields["settled"]) if "settled" in fields else "",
        abstain_reasons=_names(fields["abstain_reasons"]) if "abstain_reasons" in fields else (),
    )


def _read_sensor(sensor: Reader) -> SensorReport:
    fields = sensor.record(("age", "max_age", "known", "counts"))
    if not isinstance(fields["known"].value, bool):
        raise fields["known"].fail("true or false")
    return SensorReport(
        age=_optional(_time, fields["age"]),
        max_age=_optional(_time, fields["max_age"]),
        is_known=fields["known"].value,
        counts=_mapping(fields["counts"], _count),
    )


def _read_readings(row: Reader) -> Measured:
    if not isinstance(row.part("readings").value, dict):
        return Measured(_mapping(row, _reading))
    row.record(("readings",), ("seq", "time"))
    return Measured(
        _mapping(row.part("readings"), _reading),
        _optional(_count, row.part("seq")),
        _optional(_time, row.part("time")),
    )


def _optional(read: Callable[[Reader], Value], reader: Reader) -> Value | None:
    return None if reader.value is None else read(reader)


def _mapping(reader: Reader, read: Callable[[Reader], Value]) -> dict[str, Value]:
    named = reader.named(MAX_READINGS, MAX_CHARACTERS)
    return {name: read(one) for name, one in named.items()}


def _names(reader: Reader) -> tuple[str, ...]:
    return tuple(map(_text, reader.items(0, MAX_READINGS)))


def _text(reader: Reader) -> str:
    return reader.text(0, MAX_CHARACTERS)


def _count(reader: Reader) -> int:
    return reader.integer(0, MAX_SEQUENCE)


def _time(reader: Reader) -> float:
    return reader.number(-_LATEST, _LATEST)


def _share(reader: Reader) -> float:
    return reader.number(-_ROUNDING, 1.0 + _ROUNDING)


def _signal(reader: Reader) -> tuple[float, ...]:
    return reader.numbers(0, _MAX_SIGNAL_SIZE, -_MOST, _MOST)


def read_unknown(reader: Reader) -> tuple[float, float]:
    """Read the share and the variance of evidence that is unknown."""
    share, variance = reader.items(2, 2)
    return share.number(0.0, 1.0 + _ROUNDING), variance.number(0.0, _MOST_VARIANCE)


def read_doubts(reader: Reader) -> tuple[int, int]:
    """Read how many readings are out of range, and how many pairs unseen."""
    out_of_range, unseen = map(_count, reader.items(2, 2))
    return out_of_range, unseen


def read_code(reader: Reader) -> float | None:
    """Read a coded reading."""
    return None if reader.value is None else reader.number(-_FLOAT_MAX, _FLOAT_MAX)


def _reading(reader: Reader) -> Reading:
    value = reader.value
    if value is None:
        return None
    if isinstance(value, str):
        return _text(reader)
    if isinstance(value, int | float):
        return float(value) if abs(value) <= _FLOAT_MAX else None
    raise reader.fail("a number, a text or null")
