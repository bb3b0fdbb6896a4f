"""What a cell means."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import MISSING_WORDS, Column, to_numbers
from solah.data.cells import (
    TextCells,
    encode_states,
    likely_numbers,
    order_of_texts,
    understand,
)
from solah.exceptions import DataError


def text(*cells: str | None, **known: Any) -> Column:
    return Column("age", np.array(cells, dtype=object), **known)


def test_space_missing_words_and_truth_are_read_cell_by_cell() -> None:
    cells = [" red", "red", " NA ", None, "TRUE", " false "]
    assert TextCells().of(cells).tolist() == ["red", "red", None, None, "True", "False"]
    assert TextCells(frozenset({"red"})).of(["red", "-"]).tolist() == [None, "-"]


def test_the_words_for_missing_are_those_of_pandas_at_least() -> None:
    from pandas._libs.parsers import STR_NA_VALUES

    assert STR_NA_VALUES <= MISSING_WORDS


@given(st.lists(st.one_of(st.none(), st.text(max_size=4))))
def test_reading_again_changes_nothing(cells: list[str | None]) -> None:
    once = TextCells().of(cells)
    assert TextCells().of(once).tolist() == once.tolist()


def test_an_order_has_no_words_for_missing() -> None:
    assert order_of_texts(["low ", "NA", 1.0]) == ("low", "1")


def test_text_is_understood_as_what_it_is_throughout() -> None:
    assert understand(text("TRUE", "false")).values.dtype == bool
    assert understand(text("TRUE", None)).values.tolist() == ["True", None]
    assert understand(text("7", "07", "7.0")).values.tolist() == [7.0] * 3
    assert understand(text("7", "red")).values.tolist() == ["7", "red"]
    assert understand(text("TRUE", "1")).values.tolist() == ["TRUE", "1"]
    assert understand(text(None, None)).is_text


def test_names_stay_names() -> None:
    assert understand(text("07", "8", nominal=True)).values.tolist() == ["07", "8"]
    assert understand(text("True", "False", nominal=True)).values.tolist() == [True, False]
    assert understand(text("2", "1", order=("2", "1"))).is_text


def test_how_numbers_were_read_is_noted() -> None:
    assert understand(text("25%", "3%")).note == "percentages: '25%' is read as 25"
    assert understand(text("25", "3")).note == ""


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [(["7", "1.5"], [7.0, 1.5]), (["25%", "3 %"], [25.0, 3.0]), (["TRUE", "False"], [1.0, 0.0])],
)
def test_text_becomes_numbers(cells: list[str], numbers: list[float]) -> None:
    assert to_numbers(text(*cells)).values.tolist() == numbers
    with_gap = to_numbers(text(*cells, None)).values
    assert with_gap[:2].tolist() == numbers
    assert np.isnan(with_gap[2])


def test_a_word_between_numbers_is_likely_missing() -> None:
    with pytest.raises(DataError) as caught:
        to_numbers(text("1", "unknown", None, "unknown"), first_row=11)
    assert str(caught.value) == (
        "column 'age' has 2 values that are not numbers (first: 'unknown', row 12); if that means "
        "missing, pass --read missing=unknown (None or NaN in Python), or declare it categorical "
        "with feature_types={'age': 'categorical'} (--type age=categorical)"
    )
    assert caught.value.remedy == "--read missing=unknown"


def test_many_words_between_numbers_are_categories() -> None:
    with pytest.raises(DataError, match=r"row 2\); declare it categorical with") as caught:
        to_numbers(text("1", "a", "b", "c", "d"))
    assert caught.value.remedy == "--type age=categorical"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["$1,234", "56"], ".* write all of its numbers alike"),
        (["25%", "0.3", "7"], ".* write all of its numbers alike"),
        (
            ["5 kg", "7.5 kg"],
            "looks like numbers, such as '5 kg'; write all of them without a unit",
        ),
        (["USD 12", "USD 7"], "looks like numbers, such as 'USD 12'; write"),
        (["1.234,50 €", "7,25 €"], "looks like numbers, such as '1.234,50 €'; write"),
        (["7", "-", "9"], ".*first: '-'.* if that means missing, pass --read missing=-"),
    ],
)
def test_text_that_is_likely_numbers_comes_with_advice(cells: list[str], message: str) -> None:
    error = likely_numbers(text(*cells, None))
    assert error is not None
    assert re.match(f"column 'age' {message}", str(error))


@pytest.mark.parametrize(
    "cells",
    [["A00123", "A00124"], ["red", "green"], ["1001A", "1002B", "1003C", "1004D"], ["7", "8"]],
)
def test_names_are_not_likely_numbers(cells: list[str]) -> None:
    assert likely_numbers(text(*cells)) is None


ONE = [1, 1.0, "1", "01", "1.0", True, "TRUE", "true", "True", np.float32(1.0)]


def test_one_is_one_in_all_its_forms() -> None:
    for states in [(0, 1), (0.0, 1.0), ("0", "1"), (False, True), ("FALSE", "TRUE")]:
        for value in ONE:
            values = np.array([value], dtype=object if isinstance(value, str) else None)
            assert encode_states(Column("x", values), states).tolist() == [1.0]


def test_texts_that_are_one_number_stay_apart() -> None:
    assert encode_states(text("1", "01", "1.0"), ("1", "01")).tolist()[:2] == [0.0, 1.0]


def test_states_that_are_not_all_numbers_are_found_by_text() -> None:
    states = ("1", "other", "True")
    codes = encode_states(text("1", "other", "TRUE", "01", None), states)
    np.testing.assert_array_equal(codes, [0, 1, 2, np.nan, np.nan])
    numbers = Column("x", np.array([1.0, 2.0]))
    np.testing.assert_array_equal(encode_states(numbers, states), [0, np.nan])


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=1, unique=True))
def test_numbers_are_found_as_numbers_and_as_text(numbers: list[float]) -> None:
    series = pd.Series(numbers)
    expected = list(range(len(numbers)))
    for states in (tuple(numbers), tuple(map(str, numbers))):
        for values in (series.to_numpy(), series.astype(str).to_numpy(dtype=object)):
            assert encode_states(Column("x", values), states).tolist() == expected
