"""Messages in few bytes: what is said arrives; what is wrong is refused, with one kind of error."""

import random
from dataclasses import replace

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import with_noise
from test_send_on_change import on_change

from solah.site.compact_messages import (
    decode_rows,
    decode_terms,
    encode_rows,
    encode_terms,
)
from solah.site.messages import (
    MAX_SEQUENCE,
    Beliefs,
    MessageError,
    NodeOutput,
    Terms,
)
from solah.site.send_on_change import Sending

UNIT = 2.0**-5
BUNDLE = on_change("words and pairs", Sending(unit=UNIT))
NODE = next(one for one in BUNDLE.plan.nodes if len(one.sends) == 2)
PART = next(one for one in NODE.sends if one in BUNDLE.plan.home)
FEATURE = next(one for one in NODE.sends if one not in BUNDLE.plan.home)
SHORT = int(BUNDLE.hash[:8], 16)

units = st.lists(st.integers(-5_000, 5_000), min_size=2, max_size=2)
in_units = units.map(lambda two: (UNIT * two[0], UNIT * two[1], 0.0))
exact = st.tuples(*[st.floats(-1e9, 1e9)] * 3)
reading = st.none() | st.floats(-1e300, 1e300) | st.decimals(-99, 99, places=3).map(float)


@st.composite
def rows(draw):
    is_exact = draw(st.booleans())
    sequence = draw(st.integers(1, MAX_SEQUENCE))
    previous = draw(st.none() | st.integers(0, sequence - 1))
    must = previous is None
    readings = {FEATURE: draw(reading)} if must or draw(st.booleans()) else {}
    unknown = {PART: draw(st.tuples(st.floats(0, 1), st.floats(0, 1e18)))}
    time, age = draw(st.integers(0, 2**40)), draw(st.none() | st.integers(0, 2**40))
    return NodeOutput(
        sequence,
        float(time),
        {PART: draw(exact if is_exact else in_units)},
        missing=draw(st.sampled_from([(), (PART,), NODE.reads[:1]])),
        unknown=unknown if draw(st.booleans()) else {},
        readings=readings,
        oldest=None if age is None else float(time - age),
        abstain_reasons=draw(st.sampled_from([(0, 0), (2, 0), (1, 3)])),
        previous=previous,
        is_exact=is_exact,
    )


@given(sent=st.lists(rows(), max_size=3))
def test_rows_arrive_as_they_were_sent(sent):
    message = Beliefs(NODE.name, BUNDLE.hash, tuple(sent))
    payload = encode_rows(message, BUNDLE)
    assert repr(decode_rows(payload, NODE.name, [BUNDLE])) == repr(message)


@given(
    row=st.integers(0, MAX_SEQUENCE),
    winner=st.integers(0, 2),
    allowed=st.just(()) | st.tuples(*[st.integers(0, 500).map(lambda one: one * UNIT)] * 3),
)
def test_terms_arrive_as_they_were_sent(row, winner, allowed):
    terms = Terms(BUNDLE.hash, row, winner, allowed)
    assert decode_terms(encode_terms(terms, BUNDLE), [BUNDLE]) == terms


def test_a_row_takes_few_bytes():
    row = NodeOutput(
        1234, 1.7e9, {PART: (2.5, -1.25, 0.0)}, readings={}, previous=1230, is_exact=False
    )
    payload = encode_rows(Beliefs(NODE.name, BUNDLE.hash, (row,)), BUNDLE)
    assert len(payload) <= 32
    assert cbor2.loads(payload)[1] == {0: 1234, 1: 4, 2: 1_700_000_000, 3: [[80, -40]]}


@given(time=st.floats(0, 2e9), age=st.floats(-1, 1e6))
def test_readings_never_arrive_younger_than_they_are(time, age):
    row = NodeOutput(1, time, {PART: (1.0, 0.0, 0.0)}, readings={FEATURE: 0.0}, oldest=time - age)
    payload = encode_rows(Beliefs(NODE.name, BUNDLE.hash, (row,)), BUNDLE)
    (arrived,) = decode_rows(payload, NODE.name, [BUNDLE]).rows
    assert arrived.oldest <= max(row.oldest, arrived.time)
    assert abs(arrived.oldest - row.oldest) <= 2.0
    assert len(payload) <= 64


GOOD = {0: 5, 2: 10, 3: [[1, 2]], 5: {0: 1.5}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({0: -1}, "must be an integer from 0"),
        ({0: 2.0}, "must be an integer from 0"),
        ({0: None}, "must be an integer from 0"),
        ({1: 6}, "must be an integer from 1 to 5"),
        ({2: -1}, "must be an integer from 0"),
        ({2: 1.5}, "must be an integer from 0"),
        ({3: [[1, 2, 3]]}, "must have 2 items"),
        ({3: [[1.5, 2]]}, "must be an integer"),
        ({3: [[1.5, 2.5, float("nan")]]}, "finite number"),
        ({3: [[1.5, 2.5, 1e300]]}, "finite number"),
        ({3: [[1, 2**40]]}, "must be an integer from"),
        ({3: [[1, 2], [1, 2]]}, "must have 1 items"),
        ({3: {}}, "must be a list"),
        ({4: {1: [0.1, 0.1]}}, "an object with numbers from 0 to 0 as keys"),
        ({4: {0: [2.0, 0.1]}}, "finite number from 0 to 1"),
        ({4: [1]}, "must be an object"),
        ({5: {"x": 1.0}}, "an object with numbers"),
        ({5: {0: "x"}}, "must be a number"),
        ({5: {0: [1, 400]}}, "must be an integer from -300"),
        ({5: {0: [1]}}, "must have 2 items"),
        ({5: {}}, "a row with all readings"),
        ({6: [1]}, "must have 2 items"),
        ({6: [-1, 0]}, "must be an integer"),
        ({7: [99]}, "must be an integer from 0"),
        ({7: []}, "must have between 1"),
        ({8: -1}, "must be an integer from 0"),
        ({9: 1}, "an object with numbers from 0 to 8 as keys"),
        ({True: 1}, "an object with numbers|twice|cannot be read|integer"),
        ({"seq": 1}, "an object with numbers from 0 to 8 as keys"),
    ],
)
def test_rows_that_are_refused(change, words):
    decode_rows(cbor2.dumps([SHORT, GOOD]), NODE.name, [BUNDLE])
    with pytest.raises(MessageError, match=words):
        decode_rows(cbor2.dumps([SHORT, {**GOOD, **change}]), NODE.name, [BUNDLE])


@pytest.mark.parametrize(
    "plain",
    [[], [-1], [2**32], ["x"], [SHORT, 5], [SHORT, {}], [SHORT, {0: 1, 2: 1}], [[SHORT]]],
)
def test_messages_that_are_refused(plain):
    with pytest.raises(MessageError):
        decode_rows(cbor2.dumps(plain), NODE.name, [BUNDLE])


@pytest.mark.parametrize(
    "plain",
    [
        *([], [SHORT], [SHORT, 1], [SHORT, -1, 0], [SHORT, 1, 3], [SHORT, 1, 0, 1]),
        *([SHORT, 1, 0, 1, 1, -1], [SHORT, 1, 0, 1, 1, 0.5], {"a": 1}, [SHORT, 1.0, 0]),
    ],
)
def test_terms_that_are_refused(plain):
    with pytest.raises(MessageError):
        decode_terms(cbor2.dumps(plain), [BUNDLE])


def test_noise_raises_nothing_else():
    rng = random.Random(0)
    row = replace(NodeOutput(5, 10.0, {PART: (0.5, 0.25, 0.0)}), readings={FEATURE: 1.5})
    rows = encode_rows(Beliefs(NODE.name, BUNDLE.hash, (row, row)), BUNDLE)
    terms = encode_terms(Terms(BUNDLE.hash, 5, 1, (0.5, 0.0, 0.25)), BUNDLE)
    n_refused = 0
    for _ in range(1_000):
        for payload, decode in (
            (rows, lambda one: decode_rows(one, NODE.name, [BUNDLE])),
            (terms, lambda one: decode_terms(one, [BUNDLE])),
        ):
            try:
                decode(with_noise(rng, payload))
            except MessageError:
                n_refused += 1
    assert n_refused > 300
