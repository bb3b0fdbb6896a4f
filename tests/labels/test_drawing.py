"""Rows are drawn by their values: order and partition leave no trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Table
from solah.data.digests import digest_numbers
from solah.labels.drawing import digest_rows, draw_rows


@st.composite
def some_rows(draw):
    """Return the digests of rows, some of which are equal, and their weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_kinds = draw(st.integers(1, 120)), draw(st.integers(1, 150))
    digests = digest_numbers(rng.integers(0, n_kinds, n_rows).astype(float))
    return digests, rng.integers(0, 4, n_rows)


@given(some_rows(), st.integers(1, 130), st.integers(0, 2**32 - 1))
def test_order_does_not_matter(rows, n_rows, seed):
    digests, weights = rows
    order = np.random.default_rng(seed).permutation(len(digests))
    _, sums, counts, drawn = draw_rows(digests, weights, n_rows)
    again = draw_rows(digests[order], weights[order], n_rows)
    _, sums_again, counts_again, drawn_again = again
    np.testing.assert_allclose(counts, counts_again, rtol=1e-12)
    np.testing.assert_array_equal(drawn, drawn_again)
    np.testing.assert_array_equal(sums, sums_again)


@given(some_rows(), st.integers(1, 130))
def test_weights_of_equal_rows_add_up(rows, n_rows):
    digests, weights = rows
    places, sums, counts, drawn = draw_rows(digests, weights, n_rows)
    np.testing.assert_array_equal(digests[places], drawn)
    assert (weights[places] > 0).all()
    assert (drawn[1:] > drawn[:-1]).all()
    assert len(drawn) == min(n_rows, len(np.unique(digests[weights > 0])))
    for digest, weight, count in zip(drawn, sums, counts, strict=True):
        equal = weights[digests == digest]
        assert weight == equal.sum()
        assert count == pytest.approx(equal.sum() ** 2 / (equal**2).sum())


@given(some_rows(), st.integers(0, 2**32 - 1))
def test_samples_of_parts_make_up_the_sample_of_all(rows, seed):
    digests, weights = rows
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(digests) + 1, 2))
    _, sums, counts, drawn = draw_rows(digests, weights, len(digests))
    parts = [
        draw_rows(d, w, len(d))
        for d, w in zip(np.split(digests, cuts), np.split(weights, cuts), strict=True)
        if len(d)
    ]
    both = np.concatenate([part.digests for part in parts])
    of_both = np.concatenate([part.weights for part in parts])
    occurred = np.concatenate([part.counts for part in parts])
    _, merged_sums, merged_counts, merged = draw_rows(both, of_both, max(1, len(both)), occurred)
    np.testing.assert_allclose(merged_counts, counts, rtol=1e-12)
    np.testing.assert_array_equal(merged, drawn)
    np.testing.assert_array_equal(merged_sums, sums)


def test_a_digest_is_of_the_values_and_the_target():
    def rows_of(numbers, names):
        columns = (
            Column("n", np.array(numbers, dtype=float)),
            Column("name", np.array(names, dtype=object)),
        )
        return Table(columns, len(numbers))

    targets = digest_numbers(np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    table = rows_of([1, 1, 2, np.nan, 1], ["a", "a", "a", None, "a"])
    digests = digest_rows(table, targets)
    assert digests[0] == digests[1]
    assert len(set(digests.tolist())) == 4
    swapped = Table(table.columns[::-1], table.n_rows)
    is_known = [True, True, True, False, True]
    np.testing.assert_array_equal(digest_rows(swapped, targets) != digests, is_known)


def test_a_target_is_not_mistaken_for_a_value():
    """Rows of 0 and 1 whose class is 0 or 1 are four kinds of rows, and not two."""
    values, targets = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    digests = digest_rows(Table((Column("x", values),), 4), digest_numbers(targets))
    assert len(set(digests.tolist())) == 4
