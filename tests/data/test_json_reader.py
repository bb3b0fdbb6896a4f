"""What JSON says is read whatever it is; what is too large, too deep or ambiguous is refused."""

import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from solah.data.json_reader import MAX_DEPTH, JsonParser, Reader, shown
from solah.exceptions import DataError

PARSER = JsonParser("the note", DataError, max_bytes=100_000)

texts = st.text(st.characters(codec="utf-8")) | st.text('[]{}"\\\\,:a', max_size=12)
finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=40,
)


def depth_of(value):
    if not isinstance(value, dict | list):
        return 0
    below = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth_of, below), default=0)


def nested(value, depth):
    for place in range(depth):
        value = {'{"[': value} if place % 2 else [value]
    return value


@given(value=values, escaped=st.booleans(), indent=st.sampled_from([None, 2]))
@example(value='"[[[' * 100, escaped=True, indent=None)
@example(value=["\\", '\\"' + "[" * 40], escaped=True, indent=None)
def test_all_that_json_says_is_read(value, escaped, indent):
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    for data in (text.encode(), text.encode("utf-8-sig")):
        assert repr(PARSER.read(data).value) == repr(value)


@given(value=values, depth=st.integers(0, 2 * MAX_DEPTH))
def test_the_depth_is_bounded_by_a_number_of_ours(value, depth):
    value = nested(value, depth)
    data = json.dumps(value).encode()
    if depth_of(value) <= MAX_DEPTH:
        assert PARSER.read(data).value == value
    else:
        with pytest.raises(DataError, match="the note is nested too deeply: more than 32"):
            PARSER.read(data)


def test_the_recursion_limit_plays_no_part():
    data = b"[" * 20_000 + b"]" * 20_000
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        with pytest.raises(DataError, match="nested too deeply"):
            JsonParser("the note", DataError, 10**6).read(data)
    finally:
        sys.setrecursionlimit(limit)


@given(value=values)
def test_lists_and_objects_are_counted_exactly(value):
    def count(value):
        if not isinstance(value, dict | list):
            return 0
        return 1 + sum(map(count, value.values() if isinstance(value, dict) else value))

    value = [value]
    data = json.dumps(value).encode()
    assert JsonParser("it", DataError, 10**6, count(value)).read(data).value == value
    with pytest.raises(DataError, match="lists and objects"):
        JsonParser("it", DataError, 10**6, count(value) - 1).read(data)


@given(data=st.binary(max_size=60) | st.text('[]{}"\\,:1aeNt\n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    try:
        value = PARSER.read(data).value
    except DataError as error:
        assert str(error).startswith("the note")  # noqa: PT017
        return
    assert value == json.loads(data.decode("utf-8-sig"))


@given(value=values, inside=texts)
def test_a_literal_that_is_no_json_is_refused_with_its_place(value, inside):
    for literal in ("NaN", "Infinity", "-Infinity"):
        data = json.dumps({"a": value, "b": [inside, "HERE"]}).encode()
        data = data.replace(b'"HERE"', literal.encode())
        with pytest.raises(
            DataError, match=r"^the note.b\[1\] must be a finite number. Got -?(n|i)"
        ):
            PARSER.read(data)
        (number,) = PARSER.read(data, allow_nan=True).not_finite()
        assert repr(number.value) == repr(float(literal))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "the note has the key 'b' twice in one object"),
        (b" " * 100_001, "the note has 100,001 bytes, more than the limit of 100,000"),
        (b"[" + b"[]," * 6_250 + b"[]]", "the note has more than 6,250 lists and objects"),
        (b'{"a": 1', "the note is not valid JSON: Expecting ',' delimiter at line 1, column 8"),
        (b"\xc3(", "the note is not text in UTF-8 (byte 0)"),
        ("[1]".encode("utf-16"), "the note is not text in UTF-8 (byte 0)"),
        (b"9" * 5_000, "the note is not readable JSON: Exceeds the limit"),
    ],
)
def test_what_is_wrong_with_the_text_is_named(data, words):
    with pytest.raises(DataError) as caught:
        PARSER.read(data)
    assert words in str(caught.value)


def test_the_remedy_stands_behind_the_size():
    parser = JsonParser("the note", DataError, max_bytes=10, remedy="; write less")
    with pytest.raises(DataError, match="11 bytes, more than the limit of 10; write less"):
        parser.read(b" " * 11)


@given(text=st.text(st.characters(), max_size=100), most=st.integers(0, 50))
def test_a_text_can_be_written_again(text, most):
    reader = Reader(text, "it", DataError)
    is_whole = not any("\ud800" <= character <= "\udfff" for character in text)
    if len(text) <= most and is_whole:
        assert reader.text(0, most) == text
    else:
        with pytest.raises(DataError):
            reader.text(0, most)


@given(value=values)
def test_what_is_shown_is_short(value):
    assert len(shown(value)) <= 60


def test_places_with_odd_names_are_quoted():
    reader = PARSER.read(json.dumps({"two words": [{"x" * 500: 1}]}).encode())
    (row,) = reader.named(1, 20)["two words"].items(1, 1)
    (one,) = row.named(1, 500).values()
    assert one.place == f"the note['two words'][0].{'x' * 60}"
    with pytest.raises(
        DataError, match=r"^a name of the note\['two words'\]\[0\] must be a text of"
    ):
        row.named(1, 499)
