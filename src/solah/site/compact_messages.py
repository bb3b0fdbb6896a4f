"""Write the messages of nodes that send on change in few bytes, and read them with all checks.

What both sides know from the plan is left out: names are places in it, the hash of the bundle is
cut to 32 bits, and evidence is written in units, less that for the last class. Messages are CBOR:
lists, and rows that are objects with numbers as keys. Exact messages have names as keys
(:mod:`solah.site.messages`), so that the first byte tells which of both one is.

On ``out``: ``[hash, row, …]``, a row with

- 0: its number
- 1: how many rows before it the one was that was sent last; left out where nothing is left out
- 2: the time, in whole seconds
- 3: for each part that is sent a list: whole numbers in units, or exact numbers for every class
- 4: the unknown share and variance by the place of the part; left out where all is known
- 5: readings by the place of the feature: a number, mantissa and exponent of ten, or null
- 6: how many readings are out of range, and how many pairs unseen; left out where none are
- 7: what is missing, by its place among what the node runs and reads; left out where nothing is
- 8: how many seconds before the time its oldest reading was taken; left out where nobody knows

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
    read_doubts,
    read_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.site.bundle import Bundle
    from solah.site.plan import NodePlan

SEQUENCE, SINCE, TIME, SIGNALS, UNKNOWN, READINGS, DOUBTS, MISSING, AGE = range(9)
_LISTS = range(0x80, 0xA0)  # how CBOR's lists begin
_MOST_SECONDS = 2**40
_MOST_UNITS = 2**31
_MOST = 1e9
_MOST_MANTISSA = 2**32
_MOST_EXPONENT = 300
_MOST_ALLOWED = 1_001


def is_compact(payload: bytes) -> bool:
    """Whether a message is one of these."""
    return bool(payload) and payload[0] in _LISTS


def encode_rows(message: Beliefs, bundle: Bundle) -> bytes:
    """Write what a node sends of rows, as the plan has it: in few bytes, or in full."""
    if bundle.plan.sending is None:
        return encode(message)
    node = bundle.plan.node(message.node)
    rows = (_plain_row(row, node, bundle) for row in message.rows)
    return _dump([_short(bundle.hash), *rows])


def decode_rows(payload: bytes, node: str, bundles: Iterable[Bundle]) -> Beliefs:
    """Read what a node sent of rows, written in either way.

    Parameters
    ----------
    payload : bytes
    node : str
        Who sent it, by the topic; a message in full says so itself.
    bundles : iterable of Bundle
        Those that may be in use; a message about none of them has their hash alone, and no rows.
    """
    if not is_compact(payload):
        return decode_beliefs(payload)
    model, *rows = _read(payload).items(1, MAX_ROWS + 1)
    bundle = _find(model, bundles)
    if bundle is None:
        return Beliefs(node, f"{model.value:08x}", ())
    if all(one.name != node for one in bundle.plan.nodes):
        raise MessageError(f"the plan has no node {node!r}")
    plan = bundle.plan.node(node)
    return Beliefs(node, bundle.hash, tuple(_read_row(row, plan, bundle) for row in rows))


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
    for bundle in bundles:
        if bundle.plan.sending is not None and _short(bundle.hash) == short:
            return bundle
    return None


def _unit(bundle: Bundle) -> float:
    return bundle.plan.sending.unit if bundle.plan.sending is not None else 0.0


def _parts(node: NodePlan, bundle: Bundle) -> tuple[list[str], list[str]]:
    """List the parts and the features that a node sends."""
    home = bundle.plan.home
    return [one for one in node.sends if one in home], [
        one for one in node.sends if one not in home
    ]


def _own(node: NodePlan) -> tuple[str, ...]:
    return (*node.runs, *node.reads)


# --- writing -------------------------------------------------------------------------------------


def _plain_row(row: NodeOutput, node: NodePlan, bundle: Bundle) -> dict[int, Any]:
    parts, features = _parts(node, bundle)
    plain: dict[int, Any] = {SEQUENCE: row.sequence}
    if row.previous is not None:
        plain[SINCE] = row.sequence - row.previous
    plain[TIME] = int(max(row.time, 0.0))
    if parts:
        unit = 0.0 if row.is_exact else _unit(bundle)
        plain[SIGNALS] = [_plain_signal(row.signals[part], unit) for part in parts]
    if row.unknown:
        plain[UNKNOWN] = {parts.index(part): list(of) for part, of in row.unknown.items()}
    if row.readings:
        plain[READINGS] = {
            features.index(name): _plain_reading(one) for name, one in row.readings.items()
        }
    if any(row.abstain_reasons):
        plain[DOUBTS] = list(row.abstain_reasons)
    if missing := [name for name in row.missing if name in _own(node)]:
        plain[MISSING] = [_own(node).index(name) for name in missing]
    if row.oldest is not None:
        plain[AGE] = max(ceil(plain[TIME] - row.oldest), 0)  # never younger than it is
    return plain


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


# --- reading -------------------------------------------------------------------------------------


def _read_row(row: Reader, node: NodePlan, bundle: Bundle) -> NodeOutput:
    parts, features = _parts(node, bundle)
    fields = _numbered(row, range(9))
    if SEQUENCE not in fields or TIME not in fields or (SIGNALS in fields) != bool(parts):
        raise row.fail("a row with a number, a time and the evidence of every part")
    sequence = fields[SEQUENCE].integer(0, MAX_SEQUENCE)
    signals, is_exact = _read_signals(fields.get(SIGNALS), len(parts), bundle)
    unknown = _numbered(fields[UNKNOWN], range(len(parts))) if UNKNOWN in fields else {}
    readings = _numbered(fields[READINGS], range(len(features))) if READINGS in fields else {}
    since = fields[SINCE].integer(1, sequence) if SINCE in fields else None
    if since is None and len(readings) != len(features):
        raise row.fail("a row with all readings, where none was sent before it")
    time = float(fields[TIME].integer(0, _MOST_SECONDS))
    return NodeOutput(
        sequence=sequence,
        time=time,
        signals=dict(zip(parts, signals, strict=True)),
        missing=_read_missing(fields[MISSING], _own(node)) if MISSING in fields else (),
        unknown={parts[place]: read_unknown(one) for place, one in unknown.items()},
        readings={features[place]: _read_reading(one) for place, one in readings.items()},
        oldest=time - fields[AGE].integer(0, _MOST_SECONDS) if AGE in fields else None,
        abstain_reasons=read_doubts(fields[DOUBTS]) if DOUBTS in fields else (0, 0),
        previous=None if since is None else sequence - since,
        is_exact=is_exact,
    )


def _read_missing(reader: Reader, own: tuple[str, ...]) -> tuple[str, ...]:
    places = [one.integer(0, len(own) - 1) for one in reader.items(1, len(own))]
    return tuple(own[place] for place in dict.fromkeys(places))


def _numbered(reader: Reader, places: range) -> dict[int, Reader]:
    """Read an object that has some of these numbers as keys."""
    if not isinstance(reader.value, dict):
        raise reader.fail("an object")
    for key in reader.value:
        if type(key) is not int or key not in places:
            raise reader.fail(f"an object with numbers from 0 to {places.stop - 1} as keys")
    return {key: Reader(value, key, MessageError, reader) for key, value in reader.value.items()}


def _read_signals(
    signals: Reader | None, n_parts: int, bundle: Bundle
) -> tuple[list[tuple[float, ...]], bool]:
    """Read the evidence of parts, and whether it is exact."""
    if signals is None:
        return [], True
    size, unit = bundle.model.target.size, _unit(bundle)
    parts = signals.items(n_parts, n_parts)
    is_exact = all(_is_exact(part, size) for part in parts)
    if is_exact:
        return [part.numbers(size, size, -_MOST, _MOST) for part in parts], True
    if not unit:
        raise signals.fail("exact numbers")
    return [_read_units(part, size, unit) for part in parts], False


def _is_exact(part: Reader, size: int) -> bool:
    value = part.value
    return isinstance(value, list) and len(value) == size and all(type(x) is float for x in value)


def _read_units(part: Reader, size: int, unit: float) -> tuple[float, ...]:
    n_sent = max(size - 1, 1)
    read = [unit * one.integer(-_MOST_UNITS, _MOST_UNITS) for one in part.items(n_sent, n_sent)]
    return (*read, 0.0) if size > 1 else tuple(read)


def _read_reading(reader: Reader) -> float | None:
    if not isinstance(reader.value, list):
        return read_code(reader)
    mantissa, exponent = reader.items(2, 2)
    digits = mantissa.integer(-_MOST_MANTISSA, _MOST_MANTISSA)
    return float(f"{digits}e{exponent.integer(-_MOST_EXPONENT, _MOST_EXPONENT)}")
