"""Plain values: in from users, and out as columns and packed arrays."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Table, from_frame
from solah.exceptions import DataError
from solah.model import Goal
from solah.stream.packing import pack_rows, unpack_rows
from solah.stream.values import as_goal, as_table, places_of, read_labels, split_rows

CELLS = st.one_of(
    st.none(),
    st.floats(allow_nan=False),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.text(),
)


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([1, 2], [1, 2]),
        ([1.0, np.nan], [1, None]),
        ([0.5, 2.0], [0.5, 2]),
        (["a", None], ["a", None]),
        (np.array([True, False]), [True, False]),
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series(["x", "y"], dtype="category"), ["x", "y"]),
        (Column("goal", np.array([3, 4])), [3, 4]),
        (np.array([1, "a", None], dtype=object), [1, "a", None]),
    ],
)
def test_labels_are_plain_values(y, labels):
    found = read_labels(y, len(labels))
    assert found == labels
    assert list(map(type, found)) == list(map(type, labels))


def test_labels_that_make_no_sense_are_refused():
    with pytest.raises(DataError, match="one class for each of the 3 rows"):
        read_labels([1, 2], 3)
    with pytest.raises(DataError, match="row 2 of y is infinite"):
        read_labels([1.0, np.inf], 2)


def test_places_are_found_however_a_batch_spells_its_classes():
    goal = Goal("g", states=(1, 2))
    assert places_of([2, None, 7], goal).tolist() == [1, -2, -1]
    assert places_of(["2", "x"], goal).tolist() == [1, -1]


def test_whole_numbers_stay_integers_in_a_goal():
    assert as_goal("g", [1, 0]).values.dtype == np.int64
    assert as_goal("g", [1, 0.5]).values.tolist() == [1.0, 0.5]
    assert as_goal("g", [True, False]).values.dtype == bool


def test_a_table_survives_being_split():
    frame = pd.DataFrame(
        {
            "number": [1.5, np.nan],
            "whole": [3, 4],
            "text": ["a", None],
            "size": pd.Categorical(["S", "L"], categories=["S", "L"], ordered=True),
        }
    )
    table = from_frame(frame)
    again = as_table(split_rows(table), table.columns)
    assert again.names == table.names
    assert again.column("size").order == ("S", "L")
    for one, other in zip(table.columns, again.columns, strict=True):
        assert str(one.values.tolist()) == str(other.values.tolist()) or one.name == "whole"


def test_an_empty_table_has_its_columns():
    like = [Column("a", np.empty(0))]
    assert as_table([], like).names == ("a",)
    assert split_rows(Table((like[0],), 0)) == []


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=20))
def test_packing_is_exact_and_needs_no_pickle(rows):
    packed = io.BytesIO()
    np.savez(packed, **pack_rows("kept", rows))
    packed.seek(0)
    with np.load(packed, allow_pickle=False) as arrays:
        again = unpack_rows("kept", arrays)
    assert again == rows
    assert [list(map(type, row)) for row in again] == [list(map(type, row)) for row in rows]
