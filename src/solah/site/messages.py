"""The messages of nodes: dataclasses whose fields describe how they are written and checked.

A message is JSON; those of nodes that send on change are CBOR (:mod:`solah.site.compact_messages`):
numbers, texts, lists and objects, and none of CBOR's tags, which build other things.
``MessageError`` is all that a wrong one raises, so that untrusted messages can be counted and
ignored.
"""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from solah.data.json_reader import MAX_DEPTH, JsonParser, Reader, shown
from solah.exceptions import SolahError, cut, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
Record = TypeVar("Record")


class MessageError(SolahError, ValueError):
    """A message is not valid."""


_PARSER = JsonParser("the message", MessageError, MAX_BYTES, MAX_CONTAINERS)


# --- values --------------------------------------------------------------------------------------


def read_text(reader: Reader) -> str:
    """Read a short text."""
    return reader.text(0, MAX_CHARACTERS)


def read_count(reader: Reader) -> int:
    """Read the number of a row, or how often something happened."""
    return reader.integer(0, MAX_SEQUENCE)


def read_time(reader: Reader) -> float:
    """Read a time in seconds."""
    return reader.number(-_LATEST, _LATEST)


def read_unknown(reader: Reader) -> tuple[float, float]:
    """Read the missing share and its variance."""
    share, variance = reader.items(2, 2)
    return share.number(0.0, 1.0 + _ROUNDING), variance.number(0.0, _MOST_VARIANCE)


def read_counts(reader: Reader) -> tuple[int, int]:
    """Read how many readings are out of range, and how many pairs unseen."""
    out_of_range, unseen = map(read_count, reader.items(2, 2))
    return out_of_range, unseen


def read_code(reader: Reader) -> float | None:
    """Read a coded reading."""
    return None if reader.value is None else reader.number(-_FLOAT_MAX, _FLOAT_MAX)


def _read_share(reader: Reader) -> float:
    return reader.number(-_ROUNDING, 1.0 + _ROUNDING)


def _read_signal(reader: Reader) -> tuple[float, ...]:
    return reader.numbers(0, _MAX_SIGNAL_SIZE, -_MOST, _MOST)


def _read_names(reader: Reader) -> tuple[str, ...]:
    return tuple(map(read_text, reader.items(0, MAX_READINGS)))


def _read_flag(reader: Reader) -> bool:
    if not isinstance(reader.value, bool):
        raise reader.fail("true or false")
    return reader.value


def _read_state(reader: Reader) -> str:
    if reader.value not in ("online", "offline"):
        raise reader.fail("'online' or 'offline'")
    return str(reader.value)


def _read_reading(reader: Reader) -> Reading:
    value = reader.value
    if value is None or isinstance(value, str):
        return None if value is None else read_text(reader)
    if isinstance(value, int | float):
        return float(value) if abs(value) <= _FLOAT_MAX else None
    raise reader.fail("a number, a text or null")


def _or_none(read: Callable[[Reader], Value]) -> Callable[[Reader], Value | None]:
    return lambda reader: None if reader.value is None else read(reader)


def _named(read: Callable[[Reader], Value]) -> Callable[[Reader], dict[str, Value]]:
    def read_all(reader: Reader) -> dict[str, Value]:
        named = reader.named(MAX_READINGS, MAX_CHARACTERS)
        return {name: read(one) for name, one in named.items()}

    return read_all


def _listed(read: Callable[[Reader], Value]) -> Callable[[Reader], tuple[Value, ...]]:
    return lambda reader: tuple(map(read, reader.items(0, MAX_ROWS)))


def _records(kind: Callable[..., Record]) -> Callable[[Reader], tuple[Record, ...]]:
    return _listed(lambda reader: _read_record(reader, kind))


# --- fields --------------------------------------------------------------------------------------


def _wire(
    read: Callable[[Reader], Any],
    key: str = "",
    *,
    write: Callable[[Any], Any] | None = None,
    is_always: bool = False,
) -> dict[str, Any]:
    """Describe a field: its key, if that is another name, and how its value is read and written.

    A field with a default is written only if the value is another one, unless ``is_always``.
    """
    return {"read": read, "key": key, "write": write, "is_always": is_always}


class _Field(NamedTuple):
    name: str
    key: str
    read: Callable[[Reader], Any]
    write: Callable[[Any], Any] | None
    default: Any  # MISSING for a field that is always there


@lru_cache
def _fields(kind: Any) -> list[_Field]:
    found = []
    for one in fields(kind):
        if about := one.metadata:
            default = one.default if one.default_factory is MISSING else one.default_factory()
            default = MISSING if about["is_always"] else default
            key = about["key"] or one.name
            found.append(_Field(one.name, key, about["read"], about["write"], default))
    return found


def _read_record(reader: Reader, kind: Callable[..., Record], *more: str) -> Record:
    described: list[_Field] = _fields(kind)
    required = [one.key for one in described if one.default is MISSING]
    optional = [one.key for one in described if one.default is not MISSING]
    parts = reader.record((*more, *required), optional)
    return kind(**{one.name: one.read(parts[one.key]) for one in described if one.key in parts})


def _plain(message: Any) -> dict[str, Any]:
    found = {}
    kind: Any = type(message)
    for name, key, _, write, default in _fields(kind):
        value = getattr(message, name)
        if default is MISSING or value != default:
            found[key] = value if write is None else write(value)
    return found


def _plain_rows(rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [_plain(row) for row in rows]


# --- messages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeOutput:
    """The signals of a node for one row.

    Attributes
    ----------
    sequence : the row's number
    time : when its newest reading was taken, in seconds
    signals : the outputs of parts of the model, by name
    missing : the parts and readings that did not come in time
    unknown : the missing share and its variance in those signals, by part; nothing is missing of a
        part that is not in it
    readings : those that a tree elsewhere uses, by feature: a number, the index of a category, or
        None if it is missing
    oldest : when the oldest of the readings behind it was taken; None if unknown
    abstain_reasons : how many readings are outside the training range, and how many pairs of them
        never occurred together in training
    previous : of a node that sends on change, the row that it sent before; readings that are the
        same there are dropped. None if nothing is dropped
    is_exact : whether the signals are exact, rather than in units
    """

    sequence: int = field(metadata=_wire(read_count, "seq"))
    time: float = field(metadata=_wire(read_time))
    signals: Mapping[str, tuple[float, ...]] = field(metadata=_wire(_named(_read_signal), "says"))
    missing: tuple[str, ...] = field(default=(), metadata=_wire(_read_names, is_always=True))
    unknown: Mapping[str, tuple[float, float]] = field(
        default_factory=dict, metadata=_wire(_named(read_unknown))
    )
    readings: Mapping[str, float | None] = field(
        default_factory=dict, metadata=_wire(_named(read_code))
    )
    oldest: float | None = field(default=None, metadata=_wire(read_time))
    abstain_reasons: tuple[int, int] = field(default=(0, 0), metadata=_wire(read_counts))
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

    node: str = field(metadata=_wire(read_text))
    model: str = field(metadata=_wire(read_text))
    rows: tuple[NodeOutput, ...] = field(metadata=_wire(_records(NodeOutput), write=_plain_rows))


@dataclass(frozen=True)
class Decided:
    """A decision on one row.

    Attributes
    ----------
    sequence, time : the row's
    decision : the class
    probabilities : the probability of each class, by its name
    missing : the parts and readings that did not come in time
    completeness : the share of the importance with a value
    oldest : when the oldest of its readings was taken; None if unknown
    stable : of a model with a policy, the stable decision; None for "don't know", and empty
        without a policy
    abstain_reasons : why it is or could be withheld: low probability, few readings, out of range,
        unseen
    """

    sequence: int = field(metadata=_wire(read_count, "seq"))
    time: float = field(metadata=_wire(read_time))
    decision: str = field(metadata=_wire(read_text))
    probabilities: Mapping[str, float] = field(metadata=_wire(_named(_read_share)))
    missing: tuple[str, ...] = field(default=(), metadata=_wire(_read_names, is_always=True))
    completeness: float = field(default=1.0, metadata=_wire(_read_share, is_always=True))
    oldest: float | None = field(default=None, metadata=_wire(read_time))
    stable: str | None = field(default="", metadata=_wire(_or_none(read_text)))
    abstain_reasons: tuple[str, ...] = field(default=(), metadata=_wire(_read_names))


@dataclass(frozen=True)
class Decisions:
    """Decisions on some rows."""

    node: str = field(metadata=_wire(read_text))
    model: str = field(metadata=_wire(read_text))
    rows: tuple[Decided, ...] = field(metadata=_wire(_records(Decided), write=_plain_rows))


@dataclass(frozen=True)
class Measured:
    """Readings of one row.

    Of readings that were held until a row was made, ``oldest`` is the time of the oldest, and
    ``missing`` names those that are missing. Neither is written.
    """

    readings: Mapping[str, Reading] = field(metadata=_wire(_named(_read_reading)))
    sequence: int | None = field(default=None, metadata=_wire(_or_none(read_count), "seq"))
    time: float | None = field(default=None, metadata=_wire(_or_none(read_time)))
    oldest: float | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask:
    """A request to send some rows again: those with these numbers, and all from ``since`` on."""

    sequences: tuple[int, ...] = field(
        default=(), metadata=_wire(_listed(read_count), is_always=True)
    )
    since: int | None = field(default=None, metadata=_wire(_or_none(read_count), is_always=True))


@dataclass(frozen=True)
class SensorReport:
    """How the readings of a feature come in.

    Attributes
    ----------
    age : seconds since the last was taken; None if none came
    max_age : seconds after which it is missing; None if it is held until the sensor is gone
    is_known : whether there is one that is not too old
    counts : how often each thing happened to its messages
    """

    age: float | None = field(
        metadata=_wire(
            _or_none(read_time), write=lambda age: None if age is None else round(age, 1)
        )
    )
    max_age: float | None = field(metadata=_wire(_or_none(read_time)))
    is_known: bool = field(metadata=_wire(_read_flag, "known"))
    counts: Mapping[str, int] = field(metadata=_wire(_named(read_count)))


@dataclass(frozen=True)
class Terms:
    """How much the silence of nodes that send on change may hide.

    Attributes
    ----------
    model : the hash of the bundle that they are about
    row : they hold for the rows from this one on
    winner : the index of the class that leads
    allowed : by how much its lead over each class may fall at one node, in nats; empty if every
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
    node, state : its name, and whether it is online
    model : the hash of the newest plan that it took
    counters : what it counted so far
    sensors : how the readings of its features come in
    starts : the first row of that plan
    shadow : the hash of the shadow; empty for none
    refused : the last plan that it refused, as :func:`document_id` names it, and why
    """

    node: str = field(metadata=_wire(read_text))
    state: Literal["online", "offline"] = field(metadata=_wire(_read_state))
    model: str = field(default="", metadata=_wire(read_text, is_always=True))
    counters: Mapping[str, int] = field(
        default_factory=dict, metadata=_wire(_named(read_count), is_always=True)
    )
    sensors: Mapping[str, SensorReport] = field(
        default_factory=dict,
        metadata=_wire(
            _named(lambda reader: _read_record(reader, SensorReport)),
            write=lambda sensors: {name: _plain(one) for name, one in sensors.items()},
        ),
    )
    starts: int = field(default=0, metadata=_wire(read_count, "from"))
    shadow: str = field(default="", metadata=_wire(read_text))
    refused: tuple[str, str] = field(
        default=("", ""),
        metadata=_wire(
            lambda reader: tuple(reader.texts(2, 2)),
            write=lambda refused: (refused[0], cut(refused[1], MAX_CHARACTERS)),
        ),
    )


def document_id(document: bytes) -> str:
    """Name a document, so that a node's answer about it can be found."""
    return sha256(document).hexdigest()[:16]


def encode(message: Beliefs | Decisions | Measured | Ask | Status) -> bytes:
    """Write a message."""
    plain = _plain(message)
    if not isinstance(message, Measured):
        plain = {"v": VERSION, **plain}
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def decode_beliefs(payload: bytes) -> Beliefs:
    """Read the signals of a node."""
    return _decode(payload, Beliefs)


def decode_decisions(payload: bytes) -> Decisions:
    """Read decisions."""
    return _decode(payload, Decisions)


def decode_ask(payload: bytes) -> Ask:
    """Read a request to send rows again."""
    return _decode(payload, Ask)


def decode_status(payload: bytes) -> Status:
    """Read how a node is doing."""
    return _decode(payload, Status)


def decode_progress(payload: bytes) -> int:
    """Read the number of a row; -1 represents none."""
    return _PARSER.read(payload).integer(-1, MAX_SEQUENCE)


def decode_readings(payload: bytes) -> tuple[Measured, ...]:
    """Read readings: an object, or a list of them.

    ``{"readings": {...}, "seq": 7, "time": 1700000000.5}``, where only the readings must be there;
    or plainly the readings themselves, ``{"temperature": 21.5}``. A reading that is NaN or infinite
    is missing.
    """
    message = _PARSER.read(payload, allow_nan=True)
    rows = message.items(0, MAX_ROWS) if isinstance(message.value, list) else [message]
    return tuple(
        _read_record(row, Measured)
        if isinstance(row.part("readings").value, dict)
        else Measured(_named(_read_reading)(row))
        for row in rows
    )


def _decode(payload: bytes, kind: Callable[..., Record]) -> Record:
    reader = _PARSER.read(payload)
    message = _read_record(reader, kind, "v")
    version = reader.part("v").value
    if type(version) is not int or version != VERSION:
        raise MessageError(f"the message has version {shown(version)}; this is {VERSION}")
    return message


# --- CBOR ----------------------------------------------------------------------------------------


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
    except Exception as error:  # whatever a parser may raise on untrusted bytes
        raise MessageError(f"the message cannot be read: {error}") from None
    if stream.read(1):
        raise MessageError("the message goes on behind its end")
    return plain


def _most_containers(payload: bytes) -> int:
    """Count the lists and objects of CBOR, or return a bound if that is low enough."""
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
    """The meanings of CBOR's tags: none. They would build dates, patterns, and lists in lists."""

    def __missing__(self, tag: int) -> Any:
        raise MessageError(f"the message has CBOR's tag {tag}, and none is taken here")
