"""YAML of a stranger: plain values are read, tags and what is too deep or too large refused."""

import re
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import ParameterError
from solah.site.yaml_reader import parse_yaml

TAGS = (
    *("!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!binary", "!!str", "!!set"),
    *("!!omap", "!!pairs", "!!merge", "!!value", "!!map", "!!seq", "!", "!x", "!<tag:x>"),
    *("!!python/name:os.system", "!!python/object/apply:os.system"),
)
# PyYAML leaves texts such as 0E0 bare, which YAML 1.2 and solah read as numbers.
TEXT = st.text().filter(lambda text: not re.fullmatch(r"[-+]?[0-9]+[eE][-+]?[0-9]+", text))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda below: st.lists(below) | st.dictionaries(TEXT, below),
)


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("value", ["", "maybe", "[x]", "{x: }", "'6'", "2024-13-45"])
def test_a_tag_is_refused_with_its_line(tag, value):
    with pytest.raises(ParameterError, match=r"line 2: remove the tag '"):
        parse_yaml(f"a: 1\nb: [{tag} {value}]\n", "the file")


@given(PLAIN)
def test_plain_values_are_read_as_they_were_written(value):
    assert parse_yaml(yaml.safe_dump(value), "the file")[0] == value


def test_words_that_other_versions_read_as_truth_values_or_dates_are_texts():
    assert parse_yaml(b"[ON, no, 2024-01-01, 0x1f, true]", "the file")[0] == [
        *("ON", "no", "2024-01-01", "0x1f", True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100 + "]" * 100,
        "[" * 5000,
        "&a [*a]",
        "a: &a [x, x, x, x]\n"
        + "".join(f"b{i}: &b{i} [{', '.join(['*a'] * 9999)}]\n" for i in range(9)),
    ],
    ids=["deep", "deeper", "endless", "large"],
)
def test_what_is_too_deep_or_too_large_is_refused(text):
    with pytest.raises(ParameterError, match="nested too deeply"):
        parse_yaml(text, "the file")


@given(st.text() | st.binary())
def test_any_text_is_read_or_refused(data):
    with suppress(ParameterError):
        parse_yaml(data, "the file")
