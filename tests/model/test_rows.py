"""Rows of values by name become tables."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import LinguisticTreeClassifier
from solah.data import Kind
from solah.exceptions import DataError
from solah.model.attributes import discrete_attribute
from solah.model.encode import ValueKind, encode_column, rows_table, value_kinds

COLOUR = discrete_attribute("colour", Kind.CATEGORICAL, ("green", "red"), (0.5, 0.5))
WET = discrete_attribute("wet", Kind.BINARY, (False, True), (0.5, 0.5))
SHARE = (
    LinguisticTreeClassifier().fit([[0.1], [0.7], [0.3], [0.9]], [0, 1, 0, 1]).model_.attributes[0]
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
def test_kinds_agree_with_what_a_model_makes_of_a_table(values: list[Any], attribute: Any) -> None:
    kinds = value_kinds(values, attribute)
    assert kinds == [value_kinds([value], attribute)[0] for value in values]
    rows = [{attribute.name: value} for value in values]
    if ValueKind.WRONG_TYPE in kinds:
        with pytest.raises(DataError, match=f"'{attribute.name}'"):
            rows_table(rows, [attribute])
        return
    codes = encode_column(rows_table(rows, [attribute]), attribute)
    known = [kind in (ValueKind.NUMBER, ValueKind.CATEGORY) for kind in kinds]
    assert [not math.isnan(code) for code in codes] == known


def test_numbers_as_text_are_read_row_by_row() -> None:
    rows = [{SHARE.name: value} for value in ("25%", 30, "1,234", None)]
    values = rows_table(rows, [SHARE]).column(SHARE.name).values
    assert values[:3].tolist() == [25.0, 30.0, 1234.0]
    assert math.isnan(values[3])
