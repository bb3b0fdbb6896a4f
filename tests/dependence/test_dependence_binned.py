"""Bins: close to exact, additive over chunks of rows, and untouched by the rows' order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solah.dependence import distance_correlation, distance_correlation_matrix
from solah.dependence.coding import N_BINS, code_numbers
from solah.dependence.statistics import correlations
from solah.dependence.sums import implementation, table_sums
from solah.kernels.coded import MAX_SMALL, Coded
from solah.labels.drawing import LIMITS
from solah.labels.sketches import Sketch


def hard_columns(n, seed=0):
    rng = np.random.default_rng(seed)
    normal, heavy = rng.standard_normal(n), rng.standard_t(2, n)
    return np.column_stack(
        [
            normal,
            normal**2 + 0.3 * rng.standard_normal(n),
            heavy,
            heavy + rng.standard_normal(n),
            rng.standard_t(3, n),
            np.exp(normal),
            np.exp(2 * rng.standard_normal(n)),
            np.where(normal > 0, np.exp(heavy / 5), 0.0),
            rng.poisson(3, n),
            rng.integers(0, 1000, n),
        ]
    )


def test_stays_near_the_exact_form():
    X = hard_columns(6_000)
    exact = distance_correlation_matrix(X, method="exact", n_jobs=2)
    binned = distance_correlation_matrix(X, method="binned", n_jobs=2)
    assert np.abs(binned - exact).max() < 0.002
    assert (binned != exact).any()


def test_few_values_stay_exact():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (900, 3)).astype(float)
    exact = distance_correlation_matrix(X, method="exact")
    np.testing.assert_allclose(distance_correlation_matrix(X, method="binned"), exact, atol=1e-9)


def test_auto_takes_bins_for_many_rows():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, LIMITS.exact_rows + 1))
    assert distance_correlation(x, y) == distance_correlation(x, y, method="binned")
    x, y = x[1:], y[1:]
    assert distance_correlation(x, y) == distance_correlation(x, y, method="exact")


@given(st.integers(1, 3000), st.integers(0, 2**32 - 1), st.booleans())
def test_bins_keep_the_order_and_the_mean(n, seed, weighted):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(1.5, n)
    weights = rng.integers(1, 5, n) if weighted else None
    coded = code_numbers(values, weights, LIMITS)
    assert coded.n_levels <= (N_BINS if n > MAX_SMALL else n)
    assert np.all(np.diff(coded.values) > 0)
    assert np.all(np.diff(coded.codes[np.argsort(values)].astype(int)) >= 0)
    # What stands for a bin is the mean of its numbers, shifted and scaled, up to what is lost of
    # them within the fine bins that it is made of.
    widest = Sketch.of(values).widths.max() * 2.0**-16
    means = [
        np.average(values[here], weights=None if weights is None else weights[here])
        for here in (coded.codes == level for level in range(coded.n_levels))
    ]
    scale, shift = np.polyfit(coded.values, means, 1) if n > 1 else (1.0, means[0])
    rounding = 1e-9 * np.abs(values).max()
    np.testing.assert_allclose(coded.values * scale + shift, means, rtol=0, atol=widest + rounding)


def test_bins_do_not_depend_on_the_order_of_rows():
    values = np.random.default_rng(0).standard_t(2, 5_000)
    order = np.random.default_rng(1).permutation(5_000)
    one, other = (
        code_numbers(values, None, LIMITS),
        code_numbers(values[order], None, LIMITS),
    )
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.codes[order], other.codes)


def test_weighted_bins_equal_repeated_rows():
    X = hard_columns(3_000)
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = distance_correlation_matrix(X, sample_weight=weights, method="binned")
    repeated = distance_correlation_matrix(np.repeat(X, weights, axis=0), method="binned")
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def joint_counts(a, b):
    counts = np.zeros((a.n_levels + 1, b.n_levels + 1), dtype=np.int64)
    implementation().add_joint_counts(a, b, None, counts)
    return counts


def test_counts_of_chunks_add_up():
    X = hard_columns(5_000)
    X[::7, 0] = np.nan
    a, b = (code_numbers(X[:, j], None, LIMITS) for j in (0, 2))
    chunks = [slice(0, 1), slice(1, 1700), slice(1700, 5_000)]
    counts = sum(
        joint_counts(*(Coded(c.codes[rows], c.n_levels, c.values) for c in (a, b)))
        for rows in chunks
    )
    np.testing.assert_array_equal(counts, joint_counts(a, b))
    found = correlations(table_sums(counts, a, b)[None])[0]
    assert found == distance_correlation(X[:, 0], X[:, 2], method="binned")
