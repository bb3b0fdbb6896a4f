"""Lines that PyArrow cuts become the same tables, and the same errors, as without it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from solah.data import ReadOptions, delimited
from solah.data.delimited import iter_typed
from solah.data.dialect import Dialect
from solah.exceptions import SolahError
from solah.scale.plain_text import cut_plain

NUMBERS = (
    "1",
    "-2.5",
    "+3",
    ".5",
    "5.",
    "1e3",
    "1e999",
    "1e-400",
    "1_000",
    "0x10",
    "1,5",
    "\uff11",
)
WORDS = ("inf", "nan", "NAN", "nan(1)", "", "NA", "?", "-99", "a", "a b", "True", "\ufeff")
STRANGE = (" 7", "7 ", "\t8", "\u00a09", "x\ry", "\0", '"', 'a"b', '"q, r"', '"two\nlines"')
CELLS = st.sampled_from(NUMBERS + WORDS + STRANGE)
PLAIN = st.sampled_from(["1", "-2.5", "17", "0.1", "", "NA", "a", "a b", "nan"])
FEW_STRANGE = st.one_of(PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, CELLS)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\r", "\n \n"])


@st.composite
def texts(draw):
    cells = draw(st.sampled_from([PLAIN, FEW_STRANGE, CELLS]))
    width = draw(st.integers(1, 3))
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    lines = [delimiter.join("xyz"[:width]) + "\n"]
    for _ in range(draw(st.integers(0, 12))):
        odd = draw(st.integers(0, 30)) == 0
        row = draw(st.lists(cells, min_size=width + odd, max_size=width + odd))
        lines.append(delimiter.join(row) + draw(ENDS))
    return "".join(lines)


def read(path, rows, cut_block):
    """Return the columns of all tables and what is text, or the error."""
    options, text = ReadOptions(missing=frozenset(["?", "-99"])), set()
    try:
        tables = list(iter_typed(path, options, rows, text, cut_block))
    except SolahError as error:
        return str(error)
    columns = [[column.values.tolist() for column in table.columns] for table in tables]
    return [table.names for table in tables], repr(columns), text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(text=texts(), block=st.integers(1, 40), rows=st.sampled_from([1, 1_000]))
@example(text="x,y\n1,2\n3,4\n5\n", block=4, rows=1)
@example(text='x,y\n1,2\n3,"a\nb\nc"\n5,6\n7\n', block=4, rows=1)
@example(text="x,y\n1,2\n\0,3\n", block=4, rows=1)
def test_tables_and_errors_are_the_same(tmp_path, monkeypatch, text, block, rows):
    monkeypatch.setattr(delimited, "_BLOCK", block)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    assert read(path, rows, cut_plain) == read(path, rows, None)


def test_plain_lines_are_cut_at_once():
    dialect = Dialect(",", ("x", "y"), True, False, False)
    (first, second) = cut_plain("1,a\n,b\n3,c\n", dialect, 2)
    np.testing.assert_array_equal(first[0].numbers(frozenset([""])), [1.0, np.nan])
    assert first[1].numbers(frozenset([""])) is None
    assert list(second[1]) == ["c"]


@pytest.mark.parametrize("block", ['1,"a"\n', "1, a\n", "1\n", "1,a\r2,b\n", "1,2,3\n", "1,\0\n"])
def test_other_lines_are_left_alone(block):
    assert cut_plain(block, Dialect(",", ("x", "y"), True, False, False), 10) is None


def test_numbers_are_those_of_float():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(2_000) * 10.0 ** rng.integers(-300, 300, 2_000)
    spelt = "".join(f"{number!r}\n" for number in numbers.tolist())
    ((cells,),) = cut_plain(spelt, Dialect(",", ("x",), True, False, False), 9_999)
    np.testing.assert_array_equal(cells.numbers(frozenset()), numbers)
