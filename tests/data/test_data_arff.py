"""ARFF files, as Weka writes them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solah.data import Kind, ReadOptions, Table, infer_types, iter_tables, read_table
from solah.exceptions import ColumnError, DataError, FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

WEATHER = r"""% Title: weather
@RELATION 'the weather'

@attribute outlook {sunny, 'partly cloudy', rainy}
@ATTRIBUTE "temperature in °C"   REAL
@attribute windy{0,1}
@attribute 'it\'s said' String
@attribute n integer [0,10]

@data
% the first day
sunny, 21.5, 0, 'hot, dry', 1
'partly cloudy',?,1,"say \"so\"",2

?,-3e1,1,?,?
  rainy ,  7,0,'?',3
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "data.arff") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


def cells(table: Table, name: str) -> list[Any]:
    column = table.column(name)
    return [None if gone else v for v, gone in zip(column.values, column.missing(), strict=True)]


@pytest.mark.parametrize("name", ["data.arff", "data.ARFF", "data.arff.gz"])
def test_what_weka_writes(write: Any, name: str) -> None:
    table = read_table(write(WEATHER, name))
    assert table.names == ("outlook", "temperature in °C", "windy", "it's said", "n")
    assert cells(table, "outlook") == ["sunny", "partly cloudy", None, "rainy"]
    assert cells(table, "temperature in °C") == [21.5, None, -30.0, 7.0]
    assert cells(table, "windy") == ["0", "1", "1", "0"]
    assert cells(table, "it's said") == ["hot, dry", 'say "so"', None, "?"]
    assert cells(table, "n") == [1.0, 2.0, None, 3.0]


def test_nominal_numbers_stay_names(write: Any) -> None:
    table, kinds = infer_types(read_table(write(WEATHER)))
    assert kinds[0] is Kind.CATEGORICAL
    assert kinds[2] is Kind.BINARY
    assert table.column("windy").is_text
    assert table.column("outlook").order is None


def test_streams(write: Any) -> None:
    path = write("@relation r\n@attribute a numeric\n@data\n" + "".join(f"{j}\n" for j in range(9)))
    pieces = list(iter_tables(path, rows=4))
    assert [piece.n_rows for piece in pieces] == [4, 4, 1]
    assert np.concatenate([p.column("a").values for p in pieces]).tolist() == list(range(9))


def test_tabs_between_the_values(write: Any) -> None:
    path = write("@relation r\n@attribute a real\n@attribute b string\n@data\n1\t'x y'\n2\tz\n")
    assert cells(read_table(path), "b") == ["x y", "z"]


def test_further_missing_words(write: Any) -> None:
    path = write("@relation r\n@attribute a numeric\n@data\n-9\n1\n")
    table = read_table(path, options=ReadOptions(missing=frozenset({"-9"})))
    assert cells(table, "a") == [None, 1.0]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a,b\n1,2\n", FileFormatError, "line 1: 'a,b' is not @relation"),
        ("@relation r\n", FileFormatError, "has no @data line"),
        ("@relation r\n@data\n1\n", FileFormatError, "declares no @attribute"),
        ("@attribute a\n@data\n", FileFormatError, "line 1: '@attribute a' is not an attribute"),
        (
            "@attribute a relational\n@data\n",
            FileFormatError,
            "type 'relational' are not supported",
        ),
        ("@attribute t date 'yyyy'\n@data\n", DataError, "column 't' holds dates or times"),
        ("@attribute a real\n@data\n{0 1}\n", FileFormatError, "line 3: sparse rows"),
        ("@attribute a real\n@data\n\n1,2\n", FileFormatError, "line 4: 2 fields instead of 1"),
        ("@attribute a string\n@data\n'a,b'c\n", FileFormatError, "line 3: 2 fields instead of 1"),
        ("@attribute a real\n@data\n?\nx\n", DataError, r"1 value .* \(first: 'x', row 2\)"),
        ("@attribute a real\n@data\n% none\n", DataError, "data.arff has columns but no rows"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", ColumnError, "duplicate column 'a'"),
        ("@attribute a real\n@data\n1\0\n", FileFormatError, "line 3 has a NUL character"),
    ],
)
def test_flaws_are_named(write: Any, text: str, error: type[DataError], message: str) -> None:
    path = write(text)
    with pytest.raises(error, match=message):
        read_table(path)
    with pytest.raises(error, match=message):
        list(iter_tables(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"))] * 2),
        min_size=1,
        max_size=5,
    )
)
def test_text_survives_a_round_trip(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    def quote(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["@relation r", "@attribute a string", "@attribute b string", "@data"]
    lines += [", ".join(map(quote, row)) for row in rows]
    path = tmp_path / "data.arff"
    path.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    table = read_table(path)
    expected = [tuple(text.strip() or None for text in row) for row in rows]
    assert list(zip(*(column.values for column in table.columns), strict=True)) == expected
