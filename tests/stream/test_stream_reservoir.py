"""Rows that are kept, and their plain values."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Table, from_frame
from solah.exceptions import DataError
from solah.stream.reservoir import (
    KeptRow,
    Reservoir,
    as_table,
    as_target,
    read_labels,
    split_rows,
)

LABELS = st.lists(st.sampled_from("aaaab"), max_size=120)


def filled(labels, window=10, per_class=3, random_state=0):
    kept = Reservoir(window, per_class, random_state)
    for number, label in enumerate(labels):
        kept.add(KeptRow((float(number),), label, 0.5))
    return kept


def numbers(rows):
    return [int(row.values[0]) for row in rows]


@given(LABELS, st.integers(0, 10), st.integers(0, 3))
def test_the_latest_rows_are_there_and_no_class_is_lost(labels, n_recent, leave_out):
    kept, n_rows = filled(labels), len(labels)
    assert numbers(kept.recent(10)) == list(range(max(n_rows - 10, 0), n_rows))
    assert len(kept) <= 10 + 3 * len(set(labels))
    assert {row.label for row in kept.rows()} == set(labels)
    leave_out = min(leave_out, kept.n_recent)
    rows = kept.rows(n_recent, leave_out=leave_out)
    assert len(set(numbers(rows))) == len(rows)
    held = set(numbers(kept.recent(leave_out))) if leave_out else set()
    assert not held & set(numbers(rows))
    there = Counter(row.label for row in kept.recent(max(n_recent, leave_out)))
    for label, times in Counter(row.label for row in rows).items():
        assert times <= max(3, there[label])


def test_older_rows_are_a_uniform_sample():
    drawn = Counter()
    for seed in range(400):
        kept = filled("a" * 40 + "b" * 10, random_state=seed)
        drawn.update(numbers(row for row in kept.rows() if row.label == "a"))
    assert set(drawn) == set(range(40))
    assert all(10 <= times <= 55 for times in drawn.values())  # 30 expected, sd 5.3


def test_recent_rows_fill_up_before_older_ones_and_memory_is_bounded():
    assert numbers(filled("abbbbbbbbb").rows(2)) == [7, 0, 8, 9]
    assert len(filled(map(str, range(1_000)))) <= 10 + 254


@given(LABELS, LABELS)
def test_it_continues_where_it_was_saved(before, after):
    one, other = filled(before), Reservoir(10, 3, 0)
    other.restore(json.loads(json.dumps(one.state())), 1)
    for number, label in enumerate(after, start=1_000):
        for kept in (one, other):
            kept.add(KeptRow((float(number),), label, 0.5))
    assert one.rows() == other.rows()


def test_labels_are_plain_values():
    for y, labels in (
        ([1, 2], [1, 2]),
        ([1.0, np.nan], [1, None]),
        ([0.5, 2.0], [0.5, 2]),
        (["a", None], ["a", None]),
        (np.array([True, False]), [True, False]),
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series(["x", "y"], dtype="category"), ["x", "y"]),
        (Column("target", np.array([3, 4])), [3, 4]),
        (np.array([1, "a", None], dtype=object), [1, "a", None]),
    ):
        found = read_labels(y, len(labels))
        assert found == labels
        assert list(map(type, found)) == list(map(type, labels))
    with pytest.raises(DataError, match="one class for each of the 3 rows"):
        read_labels([1, 2], 3)
    with pytest.raises(DataError, match="row 2 of y is infinite"):
        read_labels([1.0, np.inf], 2)


def test_whole_numbers_stay_integers_in_a_target():
    assert as_target("g", [1, 0]).values.dtype == np.int64
    assert as_target("g", [1, 0.5]).values.tolist() == [1.0, 0.5]
    assert as_target("g", [True, False]).values.dtype == bool


def test_a_table_survives_being_split():
    frame = pd.DataFrame(
        {
            "number": [1.5, np.nan],
            "text": ["a", None],
            "size": pd.Categorical(["S", "L"], categories=["S", "L"], ordered=True),
        }
    )
    table = from_frame(frame)
    again = as_table(split_rows(table), table.columns)
    assert again.names == table.names
    assert again.column("size").order == ("S", "L")
    for one, other in zip(table.columns, again.columns, strict=True):
        assert str(one.values.tolist()) == str(other.values.tolist())
    like = [Column("a", np.empty(0))]
    assert as_table([], like).names == ("a",)
    assert split_rows(Table((like[0],), 0)) == []
