"""Rows that are kept: the last ones, and some of each class."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import ParameterError
from solah.stream import KeptRow, Reservoir

LABELS = st.lists(st.sampled_from("aaaab"), max_size=120)


def filled(labels, **parameters):
    kept = Reservoir(**{"window": 10, "per_class": 3, **parameters})
    for number, label in enumerate(labels):
        kept.add(KeptRow((float(number),), label, 0.5))
    return kept


def numbers(rows):
    return [int(row.readings[0]) for row in rows]


@given(LABELS)
def test_the_last_rows_are_all_there_and_memory_is_bounded(labels):
    kept = filled(labels)
    n_rows = len(labels)
    assert numbers(kept.recent(10)) == list(range(max(n_rows - 10, 0), n_rows))
    assert len(kept) <= 10 + 3 * len(set(labels))


@given(LABELS)
def test_no_class_is_lost(labels):
    assert {row.label for row in filled(labels).rows()} == set(labels)


@given(LABELS, st.integers(0, 10), st.integers(0, 3))
def test_a_class_is_filled_up_and_no_row_is_there_twice(labels, n_recent, leave_out):
    kept = filled(labels)
    leave_out = min(leave_out, kept.n_recent)
    rows = kept.rows(n_recent, leave_out=leave_out)
    assert len(set(numbers(rows))) == len(rows)
    held = set(numbers(kept.recent(leave_out))) if leave_out else set()
    assert not held & set(numbers(rows))
    there = Counter(row.label for row in kept.recent(max(n_recent, leave_out)))
    for label, n_rows in Counter(row.label for row in rows).items():
        assert n_rows <= max(3, there[label])


def test_older_rows_are_a_uniform_sample():
    drawn = Counter()
    for seed in range(400):
        kept = filled("a" * 40 + "b" * 10, random_state=seed)
        drawn.update(numbers(row for row in kept.rows() if row.label == "a"))
    assert set(drawn) == set(range(40))
    assert all(10 <= times <= 55 for times in drawn.values())  # 30 expected, sd 5.3


def test_recent_rows_fill_up_before_older_ones():
    kept = filled("abbbbbbbbb", window=10)
    assert numbers(kept.rows(2)) == [7, 0, 8, 9]


def test_rows_of_endless_classes_do_not_fill_the_memory():
    assert len(filled(map(str, range(1_000)))) <= 10 + 254


@given(LABELS, LABELS)
def test_it_goes_on_where_it_was_saved(before, after):
    one, other = filled(before), Reservoir(window=10, per_class=3)
    other.restore(*one.state())
    for number, label in enumerate(after, start=1_000):
        for kept in (one, other):
            kept.add(KeptRow((float(number),), label, 0.5))
    assert one.rows() == other.rows()


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="'window' must be 1 or more"):
        Reservoir(window=0)
    with pytest.raises(ParameterError, match="'per_class' must be 0 or more"):
        Reservoir(per_class=-1)
