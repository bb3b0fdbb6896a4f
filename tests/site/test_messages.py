"""What is said arrives bit for bit; what is wrong is refused, with one kind of error."""

import json
import random
import re
import sys
import time
from contextlib import nullcontext

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import with_noise, with_strange

from solah.site.compact_messages import decode_rows
from solah.site.messages import (
    MAX_BYTES,
    MAX_ROWS,
    MAX_SEQUENCE,
    Ask,
    Beliefs,
    Decided,
    Decisions,
    Measured,
    MessageError,
    NodeOutput,
    Status,
    decode_ask,
    decode_beliefs,
    decode_decisions,
    decode_progress,
    decode_readings,
    decode_status,
    encode,
    parse_cbor,
)


def decode_row(payload):
    (row,) = decode_readings(payload)
    return row


DECODERS = {
    Beliefs: decode_beliefs,
    Decisions: decode_decisions,
    Measured: decode_row,
    Ask: decode_ask,
    Status: decode_status,
}


def again(message):
    """Send a message to ourselves."""
    return DECODERS[type(message)](encode(message))


# --- what is said arrives ------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8"), max_size=30)
sequences = st.integers(0, MAX_SEQUENCE)
times = st.floats(-1e12, 1e12)
shares = st.floats(0.0, 1.0)
missing = st.lists(names, max_size=3).map(tuple)
signals = st.dictionaries(names, st.lists(st.floats(-1e9, 1e9), max_size=4).map(tuple), max_size=3)
unknown = st.dictionaries(names, st.tuples(shares, st.floats(0.0, 1e18)), max_size=3)
codes = st.dictionaries(names, st.none() | st.floats(-1e300, 1e300), max_size=3)
said = st.builds(NodeOutput, sequences, times, signals, missing, unknown, codes)
decided = st.builds(
    Decided, sequences, times, names, st.dictionaries(names, shares, max_size=3), missing, shares
)
finite = st.floats(allow_nan=False, allow_infinity=False)
readings = st.dictionaries(names, st.none() | names | finite, max_size=4)
messages = st.one_of(
    st.builds(Beliefs, names, names, st.lists(said, max_size=3).map(tuple)),
    st.builds(Decisions, names, names, st.lists(decided, max_size=3).map(tuple)),
    st.builds(Measured, readings, st.none() | sequences, st.none() | times),
    st.builds(Ask, st.lists(sequences, max_size=5).map(tuple), st.none() | sequences),
    st.builds(
        Status,
        names,
        st.sampled_from(["online", "offline"]),
        names,
        st.dictionaries(names, sequences, max_size=3),
        starts=sequences,
        shadow=names,
        refused=st.tuples(names.filter(bool), names.filter(bool)).filter(lambda it: len({*it}) > 1)
        | st.just(("", "")),
    ),
)


@given(message=messages)
def test_a_message_arrives_bit_for_bit(message):
    # The spelling tells 0.0 from -0.0, and every other number from its neighbours.
    assert repr(again(message)) == repr(message)


# --- readings, as others write them --------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "row"),
    [
        (b'{"t": 21.5}', Measured({"t": 21.5})),
        (
            b'{"t": true, "door": "open", "x": null}',
            Measured({"t": 1.0, "door": "open", "x": None}),
        ),
        (b'{"readings": {"t": 1}, "seq": 7}', Measured({"t": 1.0}, 7)),
        (b'{"readings": {"t": 1}, "time": 5}', Measured({"t": 1.0}, None, 5.0)),
        (b'{"t": NaN, "u": Infinity, "v": 1e999}', Measured({"t": None, "u": None, "v": None})),
        (b'{"t": ' + b"9" * 400 + b"}", Measured({"t": None})),
    ],
)
def test_readings_come_in_several_ways(payload, row):
    assert decode_readings(payload) == (row,)


# --- what is wrong is refused --------------------------------------------------------------------

BELIEFS = Beliefs("kitchen", "0f" * 8, (NodeOutput(3, 1.5, {"z1": (0.25, -0.5)}, ("z9",)),))
UNKNOWN = NodeOutput(4, 1.5, {"z1": (0.25, -0.5)}, (), {"z1": (0.25, 1.5)}, {"t": 21.5, "u": None})
EXAMPLES = (
    BELIEFS,
    Beliefs("kitchen", "0f" * 8, (UNKNOWN,)),
    Decisions("gate", "0f" * 8, (Decided(3, 1.5, "yes", {"yes": 0.75, "no": 0.25}),)),
    Measured({"t": 21.5, "door": "open", "x": None}, 3, 1.5),
    Ask((1, 2, 3), 5),
    Status("kitchen", "online", "0f" * 8, {"heard": 4}),
)


def plain_of(message):
    return json.loads(encode(message))


def changed(message, **changes):
    return {**plain_of(message), **changes}


def row_changed(message, **changes):
    plain = plain_of(message)
    plain["rows"][0] |= changes
    return plain


@pytest.mark.parametrize(
    ("decode", "plain", "words"),
    [
        (decode_beliefs, changed(BELIEFS, v=2), "version 2"),
        (decode_beliefs, changed(BELIEFS, v=True), "version True"),
        (decode_beliefs, changed(BELIEFS, more=1), "the message has 'more'"),
        (decode_beliefs, changed(BELIEFS, node=5), "the message.node must be a text. Got 5"),
        (decode_beliefs, changed(BELIEFS, node="x" * 501), "a text of at most 500 characters"),
        (decode_beliefs, changed(BELIEFS, node="\ud800"), "a text of whole characters"),
        (
            decode_beliefs,
            changed(BELIEFS, rows=[{}] * (MAX_ROWS + 1)),
            "rows must have between 0 and 2000",
        ),
        (
            decode_beliefs,
            row_changed(BELIEFS, seq=-1),
            "the message.rows[0].seq must be an integer",
        ),
        (decode_beliefs, row_changed(BELIEFS, seq=2**53), "rows[0].seq must be an integer"),
        (decode_beliefs, row_changed(BELIEFS, seq=True), "rows[0].seq must be an integer"),
        (decode_beliefs, row_changed(BELIEFS, seq=1.0), "rows[0].seq must be an integer"),
        (decode_beliefs, row_changed(BELIEFS, time=10**400), "time must be a finite number"),
        (
            decode_beliefs,
            row_changed(BELIEFS, says={"z": [float("nan")]}),
            "says.z[0] must be a finite",
        ),
        (
            decode_beliefs,
            row_changed(BELIEFS, says={"z": [float("inf")]}),
            "says.z[0] must be a finite",
        ),
        (decode_beliefs, row_changed(BELIEFS, says={"z": [10**400]}), "says.z[0] must be a finite"),
        (decode_beliefs, row_changed(BELIEFS, says=[1]), "says must be an object"),
        *(
            (decode_beliefs, row_changed(BELIEFS, unknown={"z": unknown}), words)
            for unknown, words in (
                ([0.5], "unknown.z must have 2 items"),
                ([0.5, 1.0, 1.0], "unknown.z must have 2 items"),
                (0.5, "unknown.z must be a list"),
                ([-1e-9, 1.0], "unknown.z[0] must be a finite number from 0"),
                ([1.0 + 1e-8, 1.0], "unknown.z[0] must be a finite number from 0"),
                ([0.5, -1e-9], "unknown.z[1] must be a finite number from 0"),
                ([0.5, 1e19], "unknown.z[1] must be a finite number from 0"),
                ([0.5, float("nan")], "unknown.z[1] must be a finite number"),
                ([float("inf"), 1.0], "unknown.z[0] must be a finite number"),
                ([True, 1.0], "unknown.z[0] must be a number"),
            )
        ),
        (
            decode_beliefs,
            row_changed(BELIEFS, readings={"t": "hot"}),
            "readings.t must be a number",
        ),
        (
            decode_beliefs,
            row_changed(BELIEFS, readings={"t": 10**400}),
            "readings.t must be a finite",
        ),
        (
            decode_decisions,
            row_changed(EXAMPLES[2], completeness=1.5),
            "rows[0].completeness must be a finite number",
        ),
        (
            decode_decisions,
            row_changed(EXAMPLES[2], completeness=-0.5),
            "rows[0].completeness must be a finite number",
        ),
        (
            decode_readings,
            {"readings": {}, "seqq": 1},
            "the message has 'seqq'; did you mean 'seq'?",
        ),
        (
            decode_readings,
            {"readings": {}, "unit": 1},
            "the message has 'unit'; there are: 'readings', 'seq', 'time'",
        ),
        (decode_readings, {"t": [1]}, "the message.t must be a number, a text or null. Got a list"),
        (decode_readings, {"\ud800": 1}, "a name of the message must be a text of whole"),
        (decode_readings, {"a b": [1]}, "the message['a b'] must be a number"),
        (decode_readings, 5, "the message must be an object"),
        (decode_ask, changed(EXAMPLES[4], sequences=[0.5]), "Got 0.5"),
        (decode_status, changed(EXAMPLES[5], state="dead"), "state must be 'online' or 'offline'"),
        (decode_status, changed(EXAMPLES[5], counters={"a": -1}), "counters.a must be an integer"),
    ],
)
def test_what_is_wrong_is_named(decode, plain, words):
    with pytest.raises(MessageError, match=re.escape(words)):
        decode(json.dumps(plain).encode())


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x00",
        b"{",
        b"[" * 100_000,
        b"[" * 900 + b"]" * 900,
        b'{"t":' * 800 + b"1" + b"}" * 800,
        b'{"t": ' + b"[" * 950 + b"]" * 950 + b"}",
        b'{"t": ' + b"9" * 10_000 + b"}",
        b'{"t": 1, "t": 2}',
        b'{"readings": {"t": 1, "t": 2}}',
        b"\xff\xfe{\x00}\x00",
        b" " * (MAX_BYTES + 1),
    ],
    ids=range(12),
)
def test_json_that_would_do_harm_is_refused(payload):
    check_refused(payload)


@pytest.mark.parametrize("container", [b"\x80", b"\xa0"])
def test_many_lists_are_refused_in_cbor_too(monkeypatch, container):
    monkeypatch.setattr("cbor2.CBORDecoder", pytest.fail)
    with pytest.raises(MessageError, match="more than 32,768 lists and objects"):
        parse_cbor(b"\x99\xff\xff" + container * 65_535)


def test_bytes_of_numbers_and_texts_are_no_lists():
    rows = [{"ä" * 200: -1.1, "b" * 20: -1.2, "c": 2**40} for _ in range(400)]
    payload = cbor2.dumps(rows)
    assert sum(0x80 <= byte < 0xC0 for byte in payload) > 32_768
    assert parse_cbor(payload) == rows


@pytest.mark.parametrize("depth", [30, 31, 32, 500])
def test_both_ways_of_writing_have_the_same_depth(depth):
    nested = None
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(MessageError) as caught:
        decode_readings(json.dumps({"t": nested}).encode())
    assert ("null. Got a list" in str(caught.value)) == (depth < 32)
    with nullcontext() if depth < 32 else pytest.raises(MessageError):
        parse_cbor(cbor2.dumps({"t": nested}))


def tagged(number, item=b"\x01"):
    """Put a tag before an item, inside an object."""
    return b"\xa1\x61t" + b"\xda" + number.to_bytes(4, "big") + item


CBOR_TRICKS = {
    "a huge decimal": b"\xa1\x61t\xc4\x82\x1b\x00\xff\xff\xff\xff\xff\xff\xff\x01",
    "a huge bigfloat": b"\xa1\x61t\xc5\x82\x1b\x00\xff\xff\xff\xff\xff\xff\xff\x01",
    "a list in itself": b"\xa1\x61t\xd8\x1c\x81\xd8\x1d\x00",
    "a pattern": tagged(35, b"\x61a"),
    "a set": tagged(258, b"\x81\x01"),
    "a date": tagged(1),
    "a large integer": tagged(2, b"\x41\x01"),
    "an unknown tag": tagged(99_999),
    "a tag before all": b"\xd9\xd9\xf7\xa1\x61t\x01",
    "a list without an end": b"\x9f\xa1\x61t\x01\xff",
    "an object without an end": b"\xbf\x61t\x01\xff",
    "a text without an end": b"\xa1\x61t\x7f\x61a\xff",
    "a name twice": b"\xa2\x61t\x01\x61t\x02",
    "a list for a name": b"\xa1\x81\x01\x01",
    "undefined": b"\xa1\x61t\xf7",
    "a simple value": b"\xa1\x61t\xe5",
    "more behind the end": b"\xa1\x61t\x01\x01",
    "a list of 2^56": b"\x9b\x00\xff\xff\xff\xff\xff\xff\xff",
    "a list of 2^28": b"\x9a\x10\x00\x00\x00\x01",
    "an object of 2^56": b"\xbb\x00\xff\xff\xff\xff\xff\xff\xff",
    "a text of 2^56": b"\xa1\x61t\x7b\x00\xff\xff\xff\xff\xff\xff\xff",
    "lists in lists": b"\xa1\x61t" + b"\x81" * 100_000 + b"\x01",
    "half a character": b"\xa1\x61t\x63\xed\xa0\x80",
}


@pytest.mark.parametrize("payload", CBOR_TRICKS.values(), ids=CBOR_TRICKS)
def test_cbor_builds_nothing_strange(payload):
    started = time.process_time()
    with pytest.raises(MessageError):
        decode_rows(payload, "kitchen", [])
    assert time.process_time() - started < 5.0


def check_refused(payload):
    started = time.process_time()
    for decode in (*DECODERS.values(), decode_readings):
        with pytest.raises(MessageError):
            decode(payload)
    assert time.process_time() - started < 5.0


def test_cbor_without_its_package_is_a_wrong_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "cbor2", None)
    with pytest.raises(MessageError, match=r"pip install 'solah\[site\]'"):
        parse_cbor(b"\xa1\x61t\x01")


# --- thousands of mutations ----------------------------------------------------------------------

STRANGE = (
    *(None, True, -1, 2**53, 2**64 - 1, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *(float("nan"), float("inf"), "", "x" * 600, "\x00", "ü", [], {}, [[]], [{}], {"": None}),
    *({"readings": {}}, {"v": 1}, [None] * 50, [[[[[[[[[[]]]]]]]]]]),
)


def mutated(rng):
    message = rng.choice(EXAMPLES)
    kind = rng.random()
    if kind < 0.4:
        return with_noise(rng, encode(message))
    if kind < 0.5:
        return rng.randbytes(rng.randint(0, 40))
    plain = with_strange(rng, plain_of(message), STRANGE)
    return json.dumps(plain).encode()


def test_a_mutated_message_is_a_message_or_refused():
    rng = random.Random(0)
    outcomes = {"taken": 0, "refused": 0}
    for _ in range(2_000):
        payload = mutated(rng)
        for decode in (
            decode_beliefs,
            decode_decisions,
            decode_readings,
            decode_ask,
            decode_status,
        ):
            outcomes[outcome(decode, payload)] += 1
    assert outcomes["taken"] > 200
    assert outcomes["refused"] > 2_000


def outcome(decode, payload):
    try:
        found = decode(payload)
    except MessageError:
        return "refused"
    for message in found if isinstance(found, tuple) else [found]:
        assert repr(again(message)) == repr(message)  # it is whole
    return "taken"


@pytest.mark.parametrize(
    "payload", [b"Infinity", b"1e999", b"true", b"3.7", b'"12"', b"-5", b"1" * 30]
)
def test_the_row_of_progress_is_a_whole_number(payload):
    assert decode_progress(b"-1") == -1
    with pytest.raises(MessageError):
        decode_progress(payload)


def test_many_lists_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr("solah.site.messages.json.loads", pytest.fail)
    with pytest.raises(MessageError, match="more than 32,768 lists and objects"):
        decode_readings(b"[" + b"{}," * 40_000 + b"{}]")
