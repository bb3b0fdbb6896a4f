"""What reads as a number, and how numbers are spelt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, to_numbers, to_text
from solah.data.spelling import is_number, parse_numbers, parse_written_numbers, read_number


@pytest.mark.parametrize("cell", ["1", "-1.5", "+.5", "1e-3", " 7 ", "007", "nan", "٣"])
def test_numbers(cell: str) -> None:
    assert is_number(cell)
    assert parse_numbers([cell]) is not None


@pytest.mark.parametrize("cell", ["", "a", "1_000", "inf", "-Infinity", "1e999", "1,5", "0x1F"])
def test_not_numbers(cell: str) -> None:
    assert not is_number(cell)
    assert parse_numbers([cell]) is None


@given(st.lists(st.one_of(st.none(), st.text(max_size=8), st.floats().map(str))))
def test_bulk_and_single_agree(cells: list[str | None]) -> None:
    expected = all(cell is None or is_number(cell) for cell in cells)
    assert (parse_numbers(cells) is not None) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_numbers_survive_being_spelt(numbers: list[float]) -> None:
    column = Column("x", np.array(numbers, dtype=np.float64))
    assert to_numbers(to_text(column)).values.tolist() == numbers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1.0, np.nan, 0.5]), ["1", None, "0.5"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array([3, -1]), ["3", "-1"]),
        (np.array([0.1, 1.0], dtype=np.float32), ["0.1", "1"]),
        (np.array([1e300]), ["1e+300"]),
        (np.array([np.nan]), [None]),
        (np.array([]), []),
    ],
)
def test_to_text(values: np.ndarray, expected: list[str | None]) -> None:
    assert to_text(Column("x", values)).values.tolist() == expected


@given(numbers=st.lists(st.integers(-(10**9), 10**9), min_size=1))
def test_numbers_with_commas_between_thousands_are_read(numbers):
    cells = [f"{number:,}" for number in numbers]
    written = parse_written_numbers(cells)
    assert written.values.tolist() == numbers
    assert bool(written.note) == (max(map(abs, numbers)) >= 1000)


@pytest.mark.parametrize(
    "cells",
    [["30%", "0.3"], ["%"], ["1,23"], ["1,2345"], ["12,34,567"], ["a%"], ["$1", "2"], ["$1", "€2"]],
)
def test_what_may_mean_something_else_is_no_number(cells):
    assert parse_written_numbers(cells) is None


def test_percentages_keep_their_size():
    written = parse_written_numbers(["30%", None, "1,250.5 %"])
    assert written.values[[0, 2]].tolist() == [30.0, 1250.5]
    assert (written.sign, written.note) == ("%", "percentages: '30%' is read as 30")


def test_amounts_are_read_without_their_currency():
    written = parse_written_numbers(["$1,234", "-$5", None, "$ 0.5"])
    assert written.values[[0, 1, 3]].tolist() == [1234.0, -5.0, 0.5]
    assert (written.sign, written.note) == ("$", "amounts in $: '$1,234' is read as 1234")
    assert parse_written_numbers(["5 €", "7€"]).values.tolist() == [5.0, 7.0]


@given(st.lists(st.one_of(st.none(), st.floats(allow_infinity=False).map(str)), min_size=1))
def test_plain_numbers_need_no_note(cells):
    assert parse_written_numbers(cells)[1:] == ("", "")


def test_one_number_is_read_as_a_column_of_it_is():
    for cell in ("7", "07", "7.0", "7%", "$7", "7 €", "+7"):
        assert read_number(cell) == 7.0
        assert parse_written_numbers([cell]).values.tolist() == [7.0]
    assert [read_number(cell) for cell in ("TRUE", "false", "red")] == [1.0, 0.0, None]
