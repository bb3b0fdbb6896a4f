from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from toy_plants import TOY, TOY_RAW

from solah.datasets.entries import GOAL, RawFile
from solah.datasets.raw import read_raw

if TYPE_CHECKING:
    from solah.data.table import Table


def parse(text: str, raw: RawFile) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / raw.file_name
        file.write_bytes(text.encode())
        return read_raw(file, raw)


def test_columns_are_reordered_dropped_and_put_into_words() -> None:
    assert TOY.raw is not None
    table = parse(TOY_RAW.decode(), TOY.raw)
    assert table.names == ("size", "weight", "code", GOAL)
    assert table.column("size").values.tolist() == ["small", "large", None]
    np.testing.assert_array_equal(table.column("weight").values, [1.5, np.nan, 0.5])
    np.testing.assert_array_equal(table.column("code").values, [np.nan, 7, 7])
    assert table.column(GOAL).values.tolist() == ["yes", "no", "yes"]


def test_runs_of_blanks_and_windows_line_ends_separate() -> None:
    raw = RawFile("x.dat", "", ("a", GOAL), separator=None)
    table = parse("1.0   p\r\n  2.5 q\r\n", raw)
    assert table.column("a").values.tolist() == [1.0, 2.5]
    assert table.column(GOAL).values.tolist() == ["p", "q"]


cells = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False) | st.just("?"),
        st.text(st.characters(categories=["Lu"]), min_size=1).map(lambda text: f"word {text}"),
    ),
    min_size=1,
)


@given(cells)
def test_every_cell_comes_back(rows: list[tuple[float | str, str]]) -> None:
    text = "".join(f"{label},{value}\n" for value, label in rows)
    table = parse(text, RawFile("x.data", "", (GOAL, "value")))
    expected = [np.nan if value == "?" else value for value, _ in rows]
    np.testing.assert_array_equal(table.column("value").values, np.array(expected, dtype=float))
    assert table.column(GOAL).values.tolist() == [label for _, label in rows]
