"""Rows become tables and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import LinguisticTreeClassifier
from solah.data import Column, Kind, Table
from solah.exceptions import ColumnError, DataError
from solah.model.encode import Encoder, ValueKind, encode, encode_column, rows_table, value_kinds
from solah.model.features import Feature, discrete_feature


def text(*values):
    return np.array(values, dtype=object)


def discrete(kind, *states):
    return discrete_feature("c", kind, states, (1 / len(states),) * len(states))


@pytest.mark.parametrize(
    ("feature", "values", "codes"),
    [
        (discrete(Kind.CATEGORICAL, "a", "b"), text("b", None, "a", "z"), [1, np.nan, 0, np.nan]),
        (discrete(Kind.BINARY, 0, 1), np.array([1.0, np.nan, 0.0, 0.5]), [1, np.nan, 0, np.nan]),
        (discrete(Kind.BINARY, 0, 1), text("1", "0", "1.0", "one"), [1, 0, 1, np.nan]),
        (discrete(Kind.BINARY, False, True), np.array([True, False]), [1, 0]),
        (discrete(Kind.BINARY, False, True), np.array([1.0, 0.0, 2.0]), [1, 0, np.nan]),
        (discrete(Kind.BINARY, False, True), text("true", "False", "on"), [1, 0, np.nan]),
        (discrete(Kind.BINARY, 0, 1), np.array([True, False]), [1, 0]),
        (discrete(Kind.BINARY, 0.1, 0.2), np.array([0.2, 0.1], dtype=np.float32), [1, 0]),
        (discrete(Kind.BINARY, float(np.float32(0.1)), 2.0), np.array([0.1]), [0]),
        (discrete(Kind.CATEGORICAL, 2**60, 2**60 + 1), np.array([2**60 + 1, 2**60]), [1, 0]),
        (discrete(Kind.BINARY, 1.00000001, 1.00000002), np.array([1.00000002]), [1]),
        (discrete(Kind.CATEGORICAL, "a", "nan"), np.array([np.nan]), [np.nan]),
        (discrete(Kind.CATEGORICAL, "1", "2"), np.array([2, 1, 3]), [1, 0, np.nan]),
        (discrete(Kind.ORDINAL, "low", "high"), text("high", "low"), [1, 0]),
        (discrete(Kind.ORDINAL, 1, 2, 4), np.array([4, 3]), [4, 3]),
    ],
)
def test_states_become_codes_and_readings_stay(feature, values, codes):
    table = Table((Column("c", values),), len(values))
    np.testing.assert_array_equal(encode(table, [feature])[:, 0], codes)


def test_text_of_a_continuous_feature_is_parsed_or_refused():
    peaks = (0.0, 1.0, 2.0)
    feature = Feature("c", Kind.CONTINUOUS, ("low", "high"), peaks, (0.2, 0.3, 0.5), (), 0, 2)
    good = Table((Column("c", text("1.5", None)),), 2)
    np.testing.assert_array_equal(encode(good, [feature])[:, 0], [1.5, np.nan])
    bad = Table((Column("c", text("1.5", "warm")),), 2)
    with pytest.raises(
        DataError, match="column 'c' has 1 value that is not a number.*'warm', row 2"
    ):
        encode(bad, [feature])


def test_a_missing_column_is_named():
    table = Table((Column("hue ", np.zeros(1)),), 1)
    with pytest.raises(ColumnError, match="no column 'hue'; did you mean 'hue '"):
        encode(table, [Feature("hue", Kind.CONTINUOUS, ("any",), (0.0,), (1.0,), (), 0, 0)])


def measured(name):
    return Feature(name, Kind.CONTINUOUS, ("low", "high"), (0.0, 1.0, 2.0), (1.0, 0.0, 0.0))


def test_blocks_are_encoded_as_the_whole_is():
    features = [measured("w"), discrete(Kind.CATEGORICAL, "a", "b"), measured("n")]
    columns = (
        Column("c", text("b", None, "a", "z", "b")),
        Column("n", np.array([3, 1, 4, 1, 5], dtype=np.int8)),
        Column("w", text("1,234", "2", None, "1.5", "7")),
    )
    table = Table(columns, 5)
    encoder, found = Encoder(table, dict(enumerate(features))), np.empty((5, 3))
    for start in (0, 2, 4):
        rows = slice(start, min(start + 2, 5))
        encoder.encode(rows, found[rows])
    np.testing.assert_array_equal(found, encode(table, features))


def test_all_rows_say_how_numbers_are_written_and_not_each_block():
    table = Table((Column("w", text("30%", "40%", "0.3", "0.4")),), 4)
    with pytest.raises(DataError, match="'w' has 2 values that are not numbers"):
        Encoder(table, {0: measured("w")})


COLOUR = discrete_feature("colour", Kind.CATEGORICAL, ("green", "red"), (0.5, 0.5))
WET = discrete_feature("wet", Kind.BINARY, (False, True), (0.5, 0.5))
SHARE = (
    LinguisticTreeClassifier().fit([[0.1], [0.7], [0.3], [0.9]], [0, 1, 0, 1]).model_.features[0]
)

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("value", "of_number", "of_colour", "of_wet"),
    [
        (1, "number", "unseen", "category"),
        (2.5, "number", "unseen", "unseen"),
        (True, "number", "unseen", "category"),
        ("FALSE", "number", "unseen", "category"),
        ("25%", "number", "unseen", "unseen"),
        ("$1,234", "number", "unseen", "unseen"),
        (" red ", "wrong type", "category", "unseen"),
        ("mauve", "wrong type", "unseen", "unseen"),
        (None, "missing", "missing", "missing"),
        (math.nan, "missing", "missing", "missing"),
        ("", "missing", "missing", "missing"),
        ("n/a", "missing", "missing", "missing"),
        ([1], "wrong type", "wrong type", "wrong type"),
        ({}, "wrong type", "wrong type", "wrong type"),
        (math.inf, "wrong type", "wrong type", "wrong type"),
        (10**400, "wrong type", "wrong type", "wrong type"),
    ],
)
def test_the_kind_of_a_value(value: Any, of_number: str, of_colour: str, of_wet: str) -> None:
    found = [value_kinds([value], one)[0].value for one in (SHARE, COLOUR, WET)]
    assert found == [of_number, of_colour, of_wet]


@given(st.lists(JSON, max_size=6), st.sampled_from([SHARE, COLOUR, WET]))
def test_kinds_agree_with_what_a_model_makes_of_a_table(values: list[Any], feature: Any) -> None:
    kinds = value_kinds(values, feature)
    assert kinds == [value_kinds([value], feature)[0] for value in values]
    rows = [{feature.name: value} for value in values]
    if ValueKind.WRONG_TYPE in kinds:
        with pytest.raises(DataError, match=f"'{feature.name}'"):
            rows_table(rows, [feature])
        return
    codes = encode_column(rows_table(rows, [feature]), feature)
    known = [kind in (ValueKind.NUMBER, ValueKind.CATEGORY) for kind in kinds]
    assert [not math.isnan(code) for code in codes] == known


def test_numbers_as_text_are_read_row_by_row() -> None:
    rows = [{SHARE.name: value} for value in ("25%", 30, "1,234", None)]
    values = rows_table(rows, [SHARE]).column(SHARE.name).values
    assert values[:3].tolist() == [25.0, 30.0, 1234.0]
    assert math.isnan(values[3])
