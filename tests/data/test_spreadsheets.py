"""No text is a formula, no line break is bare, and every text can be had back."""

import csv
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from solah.data.spelling import is_number
from solah.data.spreadsheets import guarded, table_writer, unguarded

TEXTS = st.text(st.sampled_from("'=+-@\t\r\n,\"a1.e"), max_size=8) | st.text(max_size=8)


@given(text=TEXTS)
def test_what_is_guarded_is_no_formula_and_can_be_read(text):
    cell = guarded(text)
    assert cell[:1] not in {*"=+-@\t\r\n"} or is_number(cell)
    assert unguarded(cell) == text


@given(number=st.floats() | st.integers() | st.booleans() | st.none())
def test_numbers_stay_numbers(number):
    assert guarded(number) is number


@given(rows=st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5))
def test_a_cell_does_not_begin_a_line(rows):
    page = StringIO(newline="")
    table_writer(page).writerows(rows)
    assert [*csv.reader(StringIO(page.getvalue(), newline=""))] == rows
    if not any("\r" in cell for row in rows for cell in row):
        assert "\r" not in page.getvalue()
