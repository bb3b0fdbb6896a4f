"""Digests: the same for what means the same, different for all else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column
from solah.data.digests import chain, digest_column, digest_numbers, digest_texts, mix

PINNED = {
    "7": 18156929767439530862,
    "roof": 13292887793727307708,
    "both": 5892184925999667138,
}


def of_cells(*cells):
    return digest_texts(np.array([*cells, None], dtype=object))[:-1]


def of_numbers(*values, dtype=np.float64):
    return digest_numbers(np.array(values, dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, np.uint16])
def test_a_number_is_a_number_however_it_is_held(dtype):
    assert of_numbers(7, dtype=dtype) == of_numbers(7.0)


@pytest.mark.parametrize("cell", ["7", "7.0", "07", "7e0", " 7"])
def test_a_number_is_a_number_however_it_is_spelt(cell):
    assert of_cells(cell) == of_numbers(7.0)


def test_truth_values_are_one_and_zero():
    truth = digest_numbers(np.array([True, False]))
    np.testing.assert_array_equal(truth, of_numbers(1, 0))
    np.testing.assert_array_equal(of_cells("True", "False"), truth)
    np.testing.assert_array_equal(of_cells("true", "false"), truth)
    np.testing.assert_array_equal(of_cells("1", "0"), truth)


def test_the_two_zeros_are_one():
    assert of_numbers(-0.0) == of_numbers(0.0) == of_cells("-0.0") == of_cells("0")


def test_what_is_missing_is_missing():
    negative = np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    missing = digest_texts(np.array([None], dtype=object))
    assert of_numbers(np.nan) == digest_numbers(negative) == missing
    assert missing not in of_cells("", "None", "missing")


def test_texts_are_known_by_their_letters():
    cells = ["a", "A", "ä", "a\u0308", "日本", "1_000", "inf", "True ", "", "\ud800"]
    assert len(set(of_cells(*cells).tolist())) == len(cells)


def test_digests_are_those_of_every_version():
    """What was drawn or dealt out yesterday is so today, on any machine."""
    assert of_numbers(7.0).tolist() == [PINNED["7"]]
    assert of_cells("roof").tolist() == [PINNED["roof"]]
    assert chain([of_numbers(7.0), of_cells("roof")], of_numbers(0.0)).tolist() == [PINNED["both"]]


@given(st.lists(st.floats(allow_nan=False), unique=True, max_size=50))
def test_different_numbers_have_different_digests(values):
    assert len(set(of_numbers(*values).tolist())) == len({value + 0.0 for value in values})


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, min_size=1, max_size=50))
def test_mixing_loses_nothing(states):
    mixed = mix(np.array(states, dtype=np.uint64))
    assert len(set(mixed.tolist())) == len(states)


def test_digests_look_random():
    digests = of_numbers(*range(20_000))
    shares = [(digests >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)]
    assert np.abs(np.array(shares) - 0.5).max() < 0.02


def test_the_order_of_values_matters_in_a_row():
    a, b, start = of_numbers(1.0), of_numbers(2.0), of_numbers(0.0)
    assert chain([a, b], start) != chain([b, a], start)
    assert chain([], start) == start
    assert chain([a], start) != chain([a, a], start)


@given(st.lists(st.sampled_from(["7", "7.0", "x", "True", None, "-0", "0"]), max_size=20))
def test_a_column_is_digested_value_by_value(cells):
    values = np.array([*cells, None], dtype=object)
    together = digest_column(Column("x", values))
    alone = [digest_column(Column("x", values[j : j + 1]))[0] for j in range(len(values))]
    np.testing.assert_array_equal(together, np.array(alone, dtype=np.uint64))
