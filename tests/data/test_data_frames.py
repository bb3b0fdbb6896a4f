"""Frames of pandas, Polars and PyArrow become the same table, and arrays of any type columns."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from solah.data import Column, as_column, from_array, from_frame, is_frame
from solah.data.frames import frame_names
from solah.exceptions import ColumnError, DataError

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]
DAY = datetime.datetime(2020, 1, 1)


def column_of(frame: Any) -> Column:
    (column,) = from_frame(frame).columns
    return column


def test_frames_are_told_from_other_things() -> None:
    assert all(is_frame(make({"a": [1.0]})) for make in FRAMES)
    others = [
        np.zeros((2, 2)),
        [[1]],
        None,
        "a",
        pl.LazyFrame({"a": [1]}),
        pd.Series([1]),
        {"a": 1},
    ]
    assert not any(map(is_frame, others))


def test_looking_at_an_array_imports_no_frame_library() -> None:
    code = (
        "import sys, numpy as np; from solah.data import is_frame; is_frame(np.zeros(2)); "
        "assert 'narwhals' not in sys.modules; is_frame(object()); "
        "assert not {'pandas', 'polars', 'pyarrow', 'sklearn', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", FRAMES)
def test_names_and_types_are_kept(make: Any) -> None:
    table = from_frame(
        make(
            {
                "température °C": [1.5, None, 2.5],
                "n": [1, 2, 3],
                "gaps": [1, None, 3],
                "on": [True, False, True],
                "farbe": ["rot", None, "grün"],
            }
        )
    )
    assert table.names == ("température °C", "n", "gaps", "on", "farbe")
    assert table.n_rows == 3
    assert table.column("température °C").missing().tolist() == [False, True, False]
    assert table.column("n").values.dtype.kind == "i"
    assert table.column("gaps").values.dtype == np.float64
    assert table.column("gaps").missing().tolist() == [False, True, False]
    assert table.column("on").values.dtype == bool
    assert table.column("farbe").values.tolist() == ["rot", None, "grün"]
    assert not table.column("farbe").nominal


def test_floats_are_not_copied() -> None:
    values = np.arange(4.0)
    assert np.shares_memory(column_of(pl.DataFrame({"a": values})).values, values)
    frame = pd.DataFrame({"a": values})
    assert np.shares_memory(column_of(frame).values, frame["a"].to_numpy())


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [True, None]}),
        pa.table({"a": [True, None]}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": np.array([True, None], dtype=object)}),
    ],
    ids=["polars", "pyarrow", "pandas", "objects"],
)
def test_truth_values_with_nulls_keep_their_names(frame: Any) -> None:
    assert column_of(frame).values.tolist() == ["True", None]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Categorical(["y", None, "x"])}),
        pl.DataFrame({"a": pl.Series(["y", None, "x"], dtype=pl.Categorical)}),
        pa.table({"a": pa.array(["y", None, "x"]).dictionary_encode()}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_categoricals_are_nominal_text(frame: Any) -> None:
    column = column_of(frame)
    assert column.values.tolist() == ["y", None, "x"]
    assert column.order is None
    assert column.nominal


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"a": pd.Categorical(["M", None], categories=["S", "M", "L"], ordered=True)},
        ),
        pl.DataFrame({"a": pl.Series(["M", None], dtype=pl.Enum(["S", "M", "L"]))}),
        pa.table(
            {"a": pa.DictionaryArray.from_arrays([1, None], ["S", "M", "L"], ordered=True)},
        ),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_ordered_categoricals_keep_their_order(frame: Any) -> None:
    column = column_of(frame)
    assert column.order == ("S", "M", "L")
    assert column.values.tolist() == ["M", None]


def test_frames_of_one_kind_of_object() -> None:
    frame = pd.DataFrame(
        {
            "numbers": np.array([1, None], dtype=object),
            "decimals": np.array([Decimal("1.5"), None], dtype=object),
            "mixed": np.array(["a", 3], dtype=object),
            "nothing": np.array([None, None], dtype=object),
        }
    )
    table = from_frame(frame)
    assert table.column("numbers").values[0] == 1.0
    assert table.column("decimals").values.dtype == np.float64
    assert table.column("mixed").values.tolist() == ["a", "3"]
    assert table.column("nothing").values.tolist() == [None, None]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": pl.Series([Decimal("1.5"), None])}),
        pa.table({"a": pa.array([Decimal("1.5"), None])}),
        pl.DataFrame({"a": pl.Series([1.5, None], dtype=pl.Float32)}),
        pd.DataFrame({"a": pd.array([1.5, None], dtype="Float64")}),
        pd.DataFrame({"a": pd.arrays.SparseArray([1.5, np.nan])}),
    ],
    ids=["polars decimal", "pyarrow decimal", "float32", "nullable", "sparse"],
)
def test_numbers_of_every_make(frame: Any) -> None:
    values = column_of(frame).values
    assert values.dtype.kind == "f"
    assert values[0] == 1.5
    assert np.isnan(values[1])


def test_types_that_numpy_does_not_have() -> None:
    wide = column_of(pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)}))
    assert wide.values.tolist() == [1.0, 2.0]
    assert column_of(pl.DataFrame({"a": [None, None]})).missing().all()
    assert column_of(pa.table({"a": pa.nulls(2)})).missing().all()
    numbers = column_of(pd.DataFrame({"a": pd.Categorical([3, None, 1], ordered=True)}))
    assert numbers.values.tolist() == ["3", None, "1"]
    assert numbers.order == ("1", "3")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"when": pd.to_timedelta([1])}),
        pl.DataFrame({"when": [DAY.time()]}),
    ],
)
def test_times_are_refused(frame: Any) -> None:
    with pytest.raises(DataError, match=r"'when' holds dates or times; .*hour.*--drop when"):
        from_frame(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"odd": [[1], [2]]}),
        pd.DataFrame({"odd": [1j]}),
        pl.DataFrame({"odd": [[1], [2]]}),
        pl.DataFrame({"odd": [{"a": 1}]}),
        pl.DataFrame({"odd": [b"a"]}),
        pa.table({"odd": [{"a": 1}]}),
    ],
)
def test_nested_values_are_refused(frame: Any) -> None:
    with pytest.raises(DataError, match="column 'odd' holds values of type"):
        from_frame(frame)


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        ([0, 1], ("0", "1")),
        ([5, -3], ("5", "-3")),
        ([0.5, 1.0], ("0.5", "1")),
        (
            pd.to_datetime(["2026-01-31", "2026-02-28"]),
            ("2026-01-31 00:00:00", "2026-02-28 00:00:00"),
        ),
    ],
)
def test_names_that_are_not_text_become_text(names: Any, texts: tuple[str, str]) -> None:
    frame = pd.DataFrame([[1, 2]], columns=names)
    assert from_frame(frame).names == texts
    assert tuple(frame_names(frame)) == texts
    assert from_frame(frame, only=[texts[1]]).names == texts[1:]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", 1], r"names that are not text, such as 1; .*columns\.astype\(str\)"),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), r"such as \('a', '1'\); join the levels"),
        ([None, 1], "a column has an empty name"),
        ([1.0, float("nan")], "a column has an empty name"),
        ([b"1", "1"], "names that are not text"),
    ],
)
def test_names_that_cannot_be_text_are_refused(names: Any, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        from_frame(pd.DataFrame([[1, 2]], columns=names))


def test_names_that_are_one_text_are_refused() -> None:
    names = pd.Index([datetime.date(2026, 1, 31), pd.Period("2026-01-31", "D")], dtype=object)
    with pytest.raises(ColumnError, match="duplicate column '2026-01-31'"):
        from_frame(pd.DataFrame([[1, 2]], columns=names))
    with pytest.raises(ColumnError, match="'a'"):
        from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_few_rows_of_pandas_are_read_as_many_are() -> None:
    frame = pd.DataFrame(
        {
            "a": [1.5, np.nan],
            "b": pd.Categorical(["x", "y"]),
            "c": [7, 8],
            "d": [0.5, 2.5],
            "e": [True, False],
            "f": ["red", None],
            "g": pd.array([1, None], dtype="Int64"),
            "h": np.array([1, 2], dtype=np.float32),
        }
    )
    few, many = from_frame(frame), from_frame(pd.concat([frame] * 600, ignore_index=True))
    assert few.names == many.names == tuple("abcdefgh")
    for own, other in zip(few.columns, many.rows(0, 2).columns, strict=True):
        assert own.values.dtype == other.values.dtype
        assert (own.order, own.nominal) == (other.order, other.nominal)
        np.testing.assert_array_equal(own.values, other.values)


# Arrays


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


@pytest.mark.parametrize(
    "values",
    [
        objects(datetime.timedelta(1)),
        objects(datetime.time(1), None),
        np.array([1], dtype="timedelta64[s]"),
    ],
)
def test_times_in_arrays_are_refused(values: np.ndarray) -> None:
    with pytest.raises(DataError, match="'when' holds dates or times; convert it to numbers, such"):
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
    with pytest.raises(DataError, match=f"column 'odd' holds values of type {what}; convert it"):
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
