"""Write the messages of nodes that send on change in few bytes, and read them with all checks.

What both sides know from the plan is dropped: names are their indices in it, the hash of the bundle
is cut to 32 bits, and scores are written in units, less that for the last class. Messages are CBOR:
lists, and rows that are objects with numbers as keys. Exact messages have names as keys
(:mod:`solah.site.messages`), so that the first byte identifies the encoding.

On ``out``: ``[hash, row, …]``, a row with

- 0: its number
- 1: the number of rows since the last sent one; dropped if nothing is dropped
- 2: the time, in whole seconds
- 3: a list for each part that is sent: whole numbers in units, or exact numbers for every class
- 4: the missing share and variance by the index of the part; dropped if nothing is missing
- 5: readings by the index of the feature: a number, mantissa and exponent of ten, or null
- 6: how many readings are out of range, and how many pairs unseen; dropped if none are
- 7: the indices of what is missing among what the node runs and reads; dropped if nothing is
- 8: how many seconds before the time its oldest reading was taken; dropped if unknown

On ``terms``: ``[hash, row, class, allowed, …]``.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Any

from solah.data.json_reader import Reader
from solah.exceptions import require
from solah.site.messages import (
    MAX_ROWS,
    MAX_SEQUENCE,
    Beliefs,
    MessageError,
    NodeOutput,
    Terms,
    decode_beliefs,
    encode,
    parse_cbor,
    read_code,
    read_counts,
    read_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.site.bundle import Bundle

SEQUENCE, SINCE, TIME, SIGNALS, UNKNOWN, READINGS, COUNTS, MISSING, AGE = range(9)
_LISTS = range(0x80, 0xA0)  # how CBOR's lists begin
_MOST_SECONDS = 2**40
_MOST_UNITS = 2**31
_MOST = 1e9
_MOST_MANTISSA = 2**32
_MOST_EXPONENT = 300
_MOST_ALLOWED = 1_001


def encode_rows(message: Beliefs, bundle: Bundle) -> bytes:
    """Write what a node sends of rows, as the plan has it: in few bytes, or in full."""
    if bundle.plan.sending is None:
        return encode(message)
    rows = _Rows(bundle, message.node)
    return _dump([_short(bundle.hash), *map(rows.plain, message.rows)])


def decode_rows(payload: bytes, node: str, bundles: Iterable[Bundle]) -> Beliefs:
    """Read what a node sent of rows, written in either way.

    Parameters
    ----------
    payload : bytes
    node : str
        The sender, by the topic; a full message names it.
    bundles : iterable of Bundle
        Those that may be in use; a message about none of them has their hash alone, and no rows.
    """
    if not payload or payload[0] not in _LISTS:
        return decode_beliefs(payload)
    model, *rows = _read(payload).items(1, MAX_ROWS + 1)
    bundle = _find(model, bundles)
    if bundle is None:
        return Beliefs(node, f"{model.value:08x}", ())
    if all(one.name != node for one in bundle.plan.nodes):
        raise MessageError(f"the plan has no node {node!r}")
    return Beliefs(node, bundle.hash, tuple(map(_Rows(bundle, node).read, rows)))


def encode_terms(terms: Terms, bundle: Bundle) -> bytes:
    """Write terms."""
    unit = _unit(bundle)
    allowed = [round(one / unit) for one in terms.allowed] if unit else list(terms.allowed)
    return _dump([_short(bundle.hash), terms.row, terms.winner, *allowed])


def decode_terms(payload: bytes, bundles: Iterable[Bundle]) -> Terms | None:
    """Read terms; None for those of a bundle that is not in use."""
    model, row, winner, *allowed = _read(payload).items(3, 3 + _MOST_ALLOWED)
    bundle = _find(model, bundles)
    if bundle is None:
        return None
    size, unit = bundle.model.target.size, _unit(bundle)
    if len(allowed) not in (0, size):
        raise MessageError(f"the message must allow something for each of {size} classes, or none")
    return Terms(
        bundle.hash,
        row.integer(0, MAX_SEQUENCE),
        winner.integer(0, size - 1),
        tuple(
            unit * one.integer(0, _MOST_UNITS) if unit else one.number(0.0, _MOST)
            for one in allowed
        ),
    )


def _read(payload: bytes) -> Reader:
    return Reader(parse_cbor(payload), "the message", MessageError)


def _dump(plain: list[Any]) -> bytes:
    return bytes(require("cbor2", "site", "CBOR messages").dumps(plain))


def _short(model: str) -> int:
    return int(model[:8], 16)


def _find(model: Reader, bundles: Iterable[Bundle]) -> Bundle | None:
    """Find the bundle with this short hash, of those with which nodes send on change."""
    short = model.integer(0, 2**32 - 1)
    found = (one for one in bundles if one.plan.sending and _short(one.hash) == short)
    return next(found, None)


def _unit(bundle: Bundle) -> float:
    return bundle.plan.sending.unit if bundle.plan.sending is not None else 0.0


class _Rows:
    """Writes and reads the rows of one node."""

    def __init__(self, bundle: Bundle, node: str) -> None:
        plan, home = bundle.plan.node(node), bundle.plan.home
        self._parts = [one for one in plan.sends if one in home]
        self._features = [one for one in plan.sends if one not in home]
        self._own = (*plan.runs, *plan.reads)
        self._size, self._unit = bundle.model.target.size, _unit(bundle)

    def plain(self, row: NodeOutput) -> dict[int, Any]:
        """Return a row ready for CBOR."""
        time = int(max(row.time, 0.0))
        missing = [self._own.index(name) for name in row.missing if name in self._own]
        since = None if row.previous is None else row.sequence - row.previous
        # An age is never younger than it is.
        age = None if row.oldest is None else max(ceil(time - row.oldest), 0)
        unit = 0.0 if row.is_exact else self._unit
        found = {
            SEQUENCE: row.sequence,
            SINCE: since,
            TIME: time,
            SIGNALS: [_plain_signal(row.signals[part], unit) for part in self._parts] or None,
            UNKNOWN: {self._parts.index(part): [*of] for part, of in row.unknown.items()} or None,
            READINGS: {
                self._features.index(name): _plain_reading(one)
                for name, one in row.readings.items()
            }
            or None,
            COUNTS: [*row.abstain_reasons] if any(row.abstain_reasons) else None,
            MISSING: missing or None,
            AGE: age,
        }
        return {key: value for key, value in found.items() if value is not None}

    def read(self, row: Reader) -> NodeOutput:
        """Read a row."""
        fields = _numbered(row, range(9))
        parts, features = self._parts, self._features
        if SEQUENCE not in fields or TIME not in fields or (SIGNALS in fields) != bool(parts):
            raise row.fail("a row with a number, a time and the scores of every part")
        sequence = fields[SEQUENCE].integer(0, MAX_SEQUENCE)
        signals = fields[SIGNALS].items(len(parts), len(parts)) if parts else []
        is_exact = all(self._is_exact(signal.value) for signal in signals)
        if not is_exact and not self._unit:
            raise fields[SIGNALS].fail("exact numbers")
        read = self._read_exact if is_exact else self._read_units
        unknown = _numbered(fields[UNKNOWN], range(len(parts))) if UNKNOWN in fields else {}
        readings = _numbered(fields[READINGS], range(len(features))) if READINGS in fields else {}
        since = fields[SINCE].integer(1, sequence) if SINCE in fields else None
        if since is None and len(readings) != len(features):
            raise row.fail("a row with all readings, as no row before it is named")
        time = float(fields[TIME].integer(0, _MOST_SECONDS))
        return NodeOutput(
            sequence=sequence,
            time=time,
            signals=dict(zip(parts, map(read, signals), strict=True)),
            missing=self._read_missing(fields[MISSING]) if MISSING in fields else (),
            unknown={parts[place]: read_unknown(one) for place, one in unknown.items()},
            readings={features[place]: _read_reading(one) for place, one in readings.items()},
            oldest=time - fields[AGE].integer(0, _MOST_SECONDS) if AGE in fields else None,
            abstain_reasons=read_counts(fields[COUNTS]) if COUNTS in fields else (0, 0),
            previous=None if since is None else sequence - since,
            is_exact=is_exact,
        )

    def _is_exact(self, value: Any) -> bool:
        is_whole = isinstance(value, list) and len(value) == self._size
        return is_whole and all(type(one) is float for one in value)

    def _read_exact(self, signal: Reader) -> tuple[float, ...]:
        return signal.numbers(self._size, self._size, -_MOST, _MOST)

    def _read_units(self, signal: Reader) -> tuple[float, ...]:
        n_sent = max(self._size - 1, 1)
        units = [one.integer(-_MOST_UNITS, _MOST_UNITS) for one in signal.items(n_sent, n_sent)]
        return tuple([self._unit * one for one in units] + [0.0] * (self._size > 1))

    def _read_missing(self, reader: Reader) -> tuple[str, ...]:
        n_own = len(self._own)
        places = [one.integer(0, n_own - 1) for one in reader.items(1, n_own)]
        return tuple(self._own[place] for place in dict.fromkeys(places))


def _plain_signal(signal: tuple[float, ...], unit: float) -> list[float] | list[int]:
    if not unit:
        return [float(one) for one in signal]
    return [round(one / unit) for one in (signal[:-1] if len(signal) > 1 else signal)]


def _plain_reading(reading: float | None) -> float | int | list[int] | None:
    """Write a number as briefly as it can be without a change."""
    if reading is None or reading == 0.0:
        return reading
    if reading.is_integer() and abs(reading) < MAX_SEQUENCE:
        return int(reading)
    sign, digits, exponent = Decimal(repr(reading)).as_tuple()
    mantissa = int("".join(map(str, digits))) * (-1 if sign else 1)
    is_short = abs(mantissa) < _MOST_MANTISSA and abs(int(exponent)) <= _MOST_EXPONENT
    return [mantissa, int(exponent)] if is_short else reading


def _read_reading(reader: Reader) -> float | None:
    if not isinstance(reader.value, list):
        return read_code(reader)
    mantissa, exponent = reader.items(2, 2)
    digits = mantissa.integer(-_MOST_MANTISSA, _MOST_MANTISSA)
    return float(f"{digits}e{exponent.integer(-_MOST_EXPONENT, _MOST_EXPONENT)}")


def _numbered(reader: Reader, places: range) -> dict[int, Reader]:
    """Read an object that has some of these numbers as keys."""
    if not isinstance(reader.value, dict):
        raise reader.fail("an object")
    for key in reader.value:
        if type(key) is not int or key not in places:
            raise reader.fail(f"an object with numbers from 0 to {places.stop - 1} as keys")
    return {key: Reader(value, key, MessageError, reader) for key, value in reader.value.items()}
