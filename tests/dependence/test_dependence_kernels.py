"""The sums of tables in C are those in NumPy: numbers and names, gaps and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.dependence.statistics import GRAIN, correlations
from solah.dependence.sums import table_sums
from solah.kernels import dependence_native as native
from solah.kernels import dependence_reference as reference
from solah.kernels import native as kernels
from solah.kernels.coded import Coded

pytestmark = pytest.mark.skipif(kernels.load() is None, reason="built without a compiler")


@st.composite
def small_columns(draw, n_rows, rng, *, named):
    """Draw codes, some missing, that need not use every level."""
    n_levels = draw(st.sampled_from([1, 2, 3, 17, 160, 255]))
    missing = draw(st.booleans())
    codes = rng.integers(0, n_levels + missing, n_rows).astype(np.uint8)
    values = None if named else np.sort(rng.uniform(-1, 1, n_levels)) + np.arange(n_levels)
    return Coded(codes, n_levels, values)


@st.composite
def small_pairs(draw):
    """Draw pairs with names first, and weights."""
    n_rows = draw(st.sampled_from([1, 7, 8, 9, 500]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(["numbers", "names", "both"]), min_size=1, max_size=4))
    pairs = [
        (
            draw(small_columns(n_rows, rng, named=kind != "numbers")),
            draw(small_columns(n_rows, rng, named=kind == "both")),
        )
        for kind in kinds
    ]
    return pairs, rng.integers(0, 5, n_rows) if draw(st.booleans()) else None


@given(small_pairs())
def test_native_equals_reference(case):
    pairs, weights = case
    found, expected = (module.pair_sums(pairs, weights) for module in (native, reference))
    # By the sizes that the terms of a sum have, which may cancel.
    scale = np.abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * scale.max(initial=1.0))


@given(small_pairs(), st.booleans())
def test_their_correlations_differ_by_a_grain_at_most(case, bias_corrected):
    pairs, weights = case
    found, expected = (
        correlations(module.pair_sums(pairs, weights), bias_corrected=bias_corrected)
        for module in (native, reference)
    )
    squares = [np.sign(roots) * roots**2 for roots in (found, expected)]
    np.testing.assert_allclose(*squares, rtol=0, atol=4 * GRAIN)


def test_counts_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    a, b = (Coded(rng.integers(0, 256, 1003).astype(np.uint8), 255, None) for _ in range(2))
    counts = np.zeros((256, 256), dtype=np.int64)
    native.add_joint_counts(a, b, None, counts)
    expected = np.bincount(256 * a.codes.astype(int) + b.codes, minlength=256**2)
    np.testing.assert_array_equal(counts.ravel(), expected)


@pytest.mark.parametrize("n_levels", [255, 256, 700])
def test_tables_of_any_size_have_their_sums(n_levels):
    rng = np.random.default_rng(n_levels)
    counts = rng.integers(0, 3, (n_levels + 1, 4))
    a = Coded(np.empty(0, np.int32), n_levels, np.arange(float(n_levels)))
    b = Coded(np.empty(0, np.uint8), 3, None)
    expected = reference.count_sums(counts.T, b, a)
    np.testing.assert_allclose(table_sums(counts, a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(table_sums(counts.T, b, a), expected, rtol=1e-12)
