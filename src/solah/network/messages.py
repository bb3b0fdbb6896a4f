"""What nodes tell each other: objects in, bytes out, and back; everything that comes in is checked.

A message is JSON or, where the first byte says so, CBOR: numbers, texts, lists and objects, and
none of CBOR's tags, which build other things. ``MessageError`` is all that a wrong one raises, so
that a stranger on the broker can be counted and ignored.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from solah.exceptions import SolahError, require, shorten
from solah.model.soundness import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VERSION = 1
MAX_BYTES = 256 * 1024
MAX_ROWS = 2_000
MAX_SEQUENCE = 2**53 - 1
MAX_READINGS = 10_000
MAX_CONTAINERS = MAX_BYTES // 8
_MOST = 1e9
_ROUNDING = 1e-9
_FLOAT_MAX = sys.float_info.max
# How CBOR's lists and objects begin, and no text in UTF-8 does.
_CBOR = range(0x80, 0xC0)
_CBOR_DEPTH = 8

Wire = Literal["json", "cbor"]
Reading = float | str | None


class MessageError(SolahError, ValueError):
    """A message is not one of ours."""


@dataclass(frozen=True)
class Said:
    """What a node says of one row.

    Attributes
    ----------
    sequence : the row's number
    time : when its newest reading was taken, in seconds
    signals : what goes up of each tree or fusion, by its name
    missing : the trees and fusions that said nothing in time, and for which ignorance stands
    """

    sequence: int
    time: float
    signals: Mapping[str, tuple[float, ...]]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beliefs:
    """What a node says of some rows.

    Attributes
    ----------
    node : who says it
    model : the hash of the bundle that it says it with
    rows : what it says
    """

    node: str
    model: str
    rows: tuple[Said, ...]


@dataclass(frozen=True)
class Decided:
    """A decision on one row.

    Attributes
    ----------
    sequence, time : the row's
    decision : the class
    beliefs : the belief in each class, by its name
    missing : the trees and fusions that said nothing in time
    known : the share of the model's knowledge that was reached
    """

    sequence: int
    time: float
    decision: str
    beliefs: Mapping[str, float]
    missing: tuple[str, ...] = ()
    known: float = 1.0


@dataclass(frozen=True)
class Decisions:
    """Decisions on some rows."""

    node: str
    model: str
    rows: tuple[Decided, ...]


@dataclass(frozen=True)
class Measured:
    """Readings of one row; the sequence is None where the node counts by time."""

    readings: Mapping[str, Reading]
    sequence: int | None = None
    time: float | None = None


@dataclass(frozen=True)
class Ask:
    """A wish to hear some rows again: those with these numbers, and all from ``since`` on."""

    sequences: tuple[int, ...] = ()
    since: int | None = None


@dataclass(frozen=True)
class Status:
    """How a node is doing; kept by the broker."""

    node: str
    state: Literal["online", "offline"]
    model: str = ""
    counters: Mapping[str, int] = field(default_factory=dict)


def encode(message: Beliefs | Decisions | Measured | Ask | Status, wire: Wire = "json") -> bytes:
    """Write a message."""
    plain = _WRITERS[type(message)](message)
    if wire == "cbor":
        cbor2 = require("cbor2", "mqtt", "CBOR messages")
        return bytes(cbor2.dumps(plain))
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def decode_beliefs(payload: bytes) -> Beliefs:
    """Read what a node says."""
    plain = _opened(payload, {"v", "node", "model", "rows"})
    rows = tuple(map(_said, _list(plain["rows"], "rows", MAX_ROWS)))
    return Beliefs(_text(plain["node"], "node"), _text(plain["model"], "model"), rows)


def decode_decisions(payload: bytes) -> Decisions:
    """Read decisions."""
    plain = _opened(payload, {"v", "node", "model", "rows"})
    rows = tuple(map(_decided, _list(plain["rows"], "rows", MAX_ROWS)))
    return Decisions(_text(plain["node"], "node"), _text(plain["model"], "model"), rows)


def decode_ask(payload: bytes) -> Ask:
    """Read a wish to hear rows again."""
    plain = _opened(payload, {"v", "sequences", "since"})
    sequences = _list(plain["sequences"], "sequences", MAX_ROWS)
    since = None if plain["since"] is None else _sequence(plain["since"])
    return Ask(tuple(_sequence(one) for one in sequences), since)


def decode_progress(payload: bytes) -> int:
    """Read the number of a row; -1 stands for none."""
    plain = _parse(payload)
    if type(plain) is not int or not -1 <= plain <= MAX_SEQUENCE:
        raise MessageError(f"a row is a whole number. Got {shown(plain)} instead.")
    return plain


def decode_status(payload: bytes) -> Status:
    """Read how a node is doing."""
    plain = _opened(payload, {"v", "node", "state", "model", "counters"})
    state = plain["state"]
    if state not in ("online", "offline"):
        raise MessageError(f"'state' must be 'online' or 'offline'. Got {shown(state)} instead.")
    counters = _mapping(plain["counters"], "counters", _count)
    return Status(_text(plain["node"], "node"), state, _text(plain["model"], "model"), counters)


def decode_readings(payload: bytes) -> tuple[Measured, ...]:
    """Read readings: an object, or a list of them.

    ``{"readings": {...}, "seq": 7, "time": 1700000000.5}``, where only the readings must be there;
    or plainly the readings themselves, ``{"temperature": 21.5}``.
    """
    plain = _parse(payload)
    rows = plain if isinstance(plain, list) else [plain]
    return tuple(map(_measured, _list(rows, "the message", MAX_ROWS)))


# --- writing -------------------------------------------------------------------------------------


def _plain_beliefs(message: Beliefs) -> dict[str, Any]:
    rows = [
        {
            "seq": one.sequence,
            "time": one.time,
            "says": dict(one.signals),
            "missing": list(one.missing),
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
    counters = dict(message.counters)
    about = {"node": message.node, "state": message.state, "model": message.model}
    return {"v": VERSION, **about, "counters": counters}


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Beliefs: _plain_beliefs,
    Decisions: _plain_decisions,
    Measured: _plain_measured,
    Ask: _plain_ask,
    Status: _plain_status,
}


# --- reading -------------------------------------------------------------------------------------


def _parse(payload: bytes) -> Any:
    if len(payload) > MAX_BYTES:
        raise MessageError(f"the message has {len(payload)} bytes, more than {MAX_BYTES}")
    read = _parse_cbor if payload and payload[0] in _CBOR else parse_json
    try:
        return read(payload)
    except MessageError:
        raise
    except Exception as error:  # whatever a parser may raise on a stranger's bytes
        raise MessageError(f"the message cannot be read: {error}") from None


def parse_json(payload: bytes, most_containers: int = MAX_CONTAINERS) -> Any:
    """Read JSON in which no object has a name twice, since readers would differ on what it says.

    Lists and objects take far more memory than bytes, so there is a bound to their number.
    """
    if payload.count(b"[") + payload.count(b"{") > most_containers:
        raise MessageError(f"there are more than {most_containers:,} lists and objects")
    return json.loads(payload.decode("utf-8"), object_pairs_hook=_once_each)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise MessageError("a name stands twice in one object")
    return plain


def _parse_cbor(payload: bytes) -> Any:
    cbor2 = require("cbor2", "mqtt", "CBOR messages")
    stream = BytesIO(payload)
    plain = cbor2.CBORDecoder(
        stream,
        semantic_decoders=_NoTags(),
        max_depth=_CBOR_DEPTH,
        allow_indefinite=False,
        allow_duplicate_keys=False,
        strict_hashable_types=True,
    ).decode()
    if stream.read(1):
        raise MessageError("the message goes on behind its end")
    return plain


class _NoTags(dict[int, Any]):
    """What CBOR's tags stand for: nothing. They would build dates, patterns, and lists in lists."""

    def __missing__(self, tag: int) -> Any:
        raise MessageError(f"the message has CBOR's tag {tag}, and none is taken here")


def _opened(payload: bytes, keys: set[str]) -> dict[str, Any]:
    plain = _object(_parse(payload), "the message", keys)
    version = plain["v"]
    if type(version) is not int or version != VERSION:
        raise MessageError(f"the message has version {shown(version)}; this is {VERSION}")
    return plain


def _object(value: Any, what: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != keys:
        raise MessageError(f"{what} must be an object with {', '.join(sorted(keys))}")
    return value


def _said(value: Any) -> Said:
    row = _object(value, "a row", {"seq", "time", "says", "missing"})
    return Said(
        sequence=_sequence(row["seq"]),
        time=_number(row["time"], "time", 1e12),
        signals=_mapping(row["says"], "says", _numbers),
        missing=_names(row["missing"]),
    )


def _decided(value: Any) -> Decided:
    keys = {"seq", "time", "decision", "beliefs", "missing", "known"}
    row = _object(value, "a row", keys)
    return Decided(
        sequence=_sequence(row["seq"]),
        time=_number(row["time"], "time", 1e12),
        decision=_text(row["decision"], "decision"),
        beliefs=_mapping(row["beliefs"], "beliefs", lambda one: _share(one, "a belief")),
        missing=_names(row["missing"]),
        known=_share(row["known"], "known"),
    )


def _measured(value: Any) -> Measured:
    if not isinstance(value, dict):
        raise MessageError("readings must be an object, or a list of objects")
    if not isinstance(value.get("readings"), dict):
        return Measured(_mapping(value, "readings", _reading))
    for strange in value.keys() - {"readings", "seq", "time"}:
        raise MessageError(f"readings come with 'seq' and 'time'. Got {shown(strange)} too.")
    sequence, time = value.get("seq"), value.get("time")
    return Measured(
        _mapping(value["readings"], "readings", _reading),
        None if sequence is None else _sequence(sequence),
        None if time is None else _number(time, "time", 1e12),
    )


def _mapping(value: Any, what: str, read: Callable[[Any], Any]) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > MAX_READINGS:
        raise MessageError(f"{what} must be an object with at most {MAX_READINGS} names")
    return {_text(name, f"a name of {what}"): read(one) for name, one in value.items()}


def _list(value: Any, what: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise MessageError(f"{what} must be a list of at most {most}")
    return value


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_text(one, "missing") for one in _list(value, "missing", MAX_READINGS))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 500 or not _is_whole(value):
        raise MessageError(f"{what} must be a short text. Got {shown(value)} instead.")
    return value


def _is_whole(text: str) -> bool:
    """Whether a text can be written: JSON lets halves of characters (lone surrogates) in."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sequence(value: Any) -> int:
    return _whole_number(value, "'seq'")


def _count(value: Any) -> int:
    return _whole_number(value, "a counter")


def _whole_number(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SEQUENCE:
        raise MessageError(
            f"{what} must be a whole number from 0 to {MAX_SEQUENCE}. Got {shown(value)} instead."
        )
    return value


def _share(value: Any, what: str) -> float:
    share = _number(value, what, 1.0 + _ROUNDING)
    if share < -_ROUNDING:
        raise MessageError(f"{what} must be from 0 to 1. Got {share} instead.")
    return share


def _number(value: Any, what: str, most: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= most:
        raise MessageError(
            f"{what} must be a number, at most {most:g}. Got {shown(value)} instead."
        )
    return float(value)


def _numbers(value: Any) -> tuple[float, ...]:
    return tuple(_number(one, "a signal", _MOST) for one in _list(value, "a signal", 1000))


def _reading(value: Any) -> Reading:
    if value is None or isinstance(value, str):
        return value if value is None else _text(value, "a reading")
    if isinstance(value, int | float):
        return float(value) if abs(value) <= _FLOAT_MAX else None
    raise MessageError(f"a reading must be a number, a text or null. Got {shown(value)} instead.")


def shown(value: Any) -> str:
    """Show what is wrong, unless it could be deep or large."""
    is_single = value is None or isinstance(value, str | int | float)
    return shorten(value) if is_single else type_of(value)
