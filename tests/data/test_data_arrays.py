"""NumPy arrays of any type become columns."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from solah.data import as_column, from_array
from solah.exceptions import DataError


def objects(*values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64, bool])
def test_numbers_are_not_copied(dtype: type) -> None:
    values = np.zeros(3, dtype=dtype)
    assert as_column("x", values).values is values


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (objects(1, 2.5, None), [1.0, 2.5, None]),
        (objects(Decimal("1.5"), np.int64(2), np.float32(np.nan)), [1.5, 2.0, None]),
        (objects(True, 3), [1.0, 3.0]),
    ],
)
def test_objects_that_are_numbers(values: np.ndarray, expected: list[float | None]) -> None:
    found = as_column("x", values).values
    assert found.dtype == np.float64
    assert [None if np.isnan(v) else v for v in found] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (objects("a", None, "b"), ["a", None, "b"]),
        (objects("a", float("nan")), ["a", None]),
        (objects("a", 1, 2.5, True), ["a", "1", "2.5", "True"]),
        (objects(True, None), ["True", None]),
        (objects(None, None), [None, None]),
        (np.array(["a", "b"]), ["a", "b"]),
        (objects(np.str_("a")), ["a"]),
    ],
)
def test_objects_that_are_text(values: np.ndarray, expected: list[str | None]) -> None:
    column = as_column("x", values)
    assert column.is_text
    assert column.values.tolist() == expected


def test_objects_that_are_truth_values() -> None:
    column = as_column("x", objects(True, np.False_))
    assert column.values.dtype == bool
    assert column.values.tolist() == [True, False]


@pytest.mark.parametrize(
    "values",
    [
        objects(datetime.timedelta(1)),
        objects(datetime.time(1), None),
        np.array([1], dtype="timedelta64[s]"),
    ],
)
def test_times_are_refused(values: np.ndarray) -> None:
    with pytest.raises(DataError, match="'when' holds dates or times; make numbers of it, such as"):
        as_column("when", values)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (objects([1], [2]), "list"),
        (objects("a", b"b"), "bytes"),
        (np.array([1j]), "complex128"),
        (np.array([b"a"]), r"\|S1"),
    ],
)
def test_other_types_are_refused(values: np.ndarray, what: str) -> None:
    with pytest.raises(DataError, match=f"column 'odd' holds values of type {what}; make numbers"):
        as_column("odd", values)


def test_a_number_beyond_floats_is_refused() -> None:
    with pytest.raises(DataError, match="column 'x' holds a whole number too large"):
        as_column("x", objects(10**400))


def test_a_matrix_becomes_a_table() -> None:
    matrix = np.arange(6.0).reshape(3, 2)
    table = from_array(matrix, ["a", "b"])
    assert table.n_rows == 3
    assert np.shares_memory(table.column("b").values, matrix)
    mixed = from_array(np.array([[1, "a"], [None, "b"]], dtype=object), ["n", "t"])
    assert not mixed.column("n").is_text
    assert mixed.column("t").is_text
