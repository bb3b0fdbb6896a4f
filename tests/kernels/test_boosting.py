"""What must always hold of the small trees that either kernel grows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_strategies import grown_rows

from solah.kernels import native, reference
from solah.kernels.arrays import MISSING_BIN

KERNELS = [pytest.param(reference, id="reference")]
if native.load() is not None:
    KERNELS.append(pytest.param(native, id="native"))

pytestmark = pytest.mark.parametrize("kernels", KERNELS)


def grow(kernels, case):
    leaf = np.empty(case["bins"].shape[1], dtype=np.int32)
    gains = np.zeros((len(case["sizes"]), 256))
    return kernels.grow(**case, leaf=leaf, gains=gains), leaf, gains


def rows(*columns, gradient, nominal=False, **changed):
    """Return rows of weight 1; there are as many bins as there are readings of different kinds."""
    bins = np.array(columns, dtype=np.uint8)
    sizes = [max(x for x in column if x != MISSING_BIN) + 1 for column in columns]
    ones = np.ones(bins.shape[1], dtype=np.int32)
    return {
        "bins": bins,
        "sizes": np.array(sizes, dtype=np.int32),
        "nominal": np.full(len(columns), nominal, dtype=np.uint8),
        "gradient": np.array(gradient, dtype=np.int32),
        "curvature": ones,
        "weights": ones,
        "n_leaves": 2,
        "ridge": 1.0,
        "least": 1,
    } | changed


def test_a_threshold_is_found(kernels):
    noise = [0, 1, 0, 1, 0, 1, 0, 1]
    case = rows(noise, [0, 0, 1, 1, 2, 2, 3, 3], gradient=[-4, -4, -4, -4, 4, 4, 4, 4])
    n, leaf, gains = grow(kernels, case)
    assert n == 2
    assert leaf.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert gains[1, 1] == 2 * 16**2 / (4 + 1)
    assert np.count_nonzero(gains) == 1


def test_equal_gains_take_the_lowest_feature_then_bin(kernels):
    """The second feature is the first again, and bin 1 is empty: both change nothing."""
    column = [0, 0, 2, 2]
    _, _, gains = grow(kernels, rows(column, column, gradient=[-1, -1, 1, 1]))
    assert np.flatnonzero(gains).tolist() == [0]


def test_the_largest_gain_is_split_first(kernels):
    """The right part gets the next number, and the left one keeps its own."""
    case = rows([0, 1, 2, 3], gradient=[-9, -8, 0, 40], ridge=1e-9)
    assert grow(kernels, case | {"n_leaves": 2})[1].tolist() == [0, 0, 0, 1]
    assert grow(kernels, case | {"n_leaves": 3})[1].tolist() == [0, 0, 2, 1]
    assert grow(kernels, case | {"n_leaves": 16})[1].tolist() == [0, 3, 2, 1]


@given(case=grown_rows())
def test_leaves_are_numbered_and_weigh_enough(kernels, case):
    n, leaf, gains = grow(kernels, case)
    weighty = case["weights"] > 0
    assert 1 <= n <= case["n_leaves"]
    assert (leaf[~weighty] == -1).all()
    sums = np.zeros(n, dtype=np.int64)
    np.add.at(sums, leaf[weighty], case["weights"][weighty])
    assert n == 1 or sums.min() >= case["least"]
    assert (gains >= 0).all()
    assert n - 1 >= np.count_nonzero(gains)


@given(case=grown_rows(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(kernels, case, seed):
    order = np.random.default_rng(seed).permutation(case["bins"].shape[1])
    by_row = ("gradient", "curvature", "weights")
    shuffled = case | {name: case[name][order] for name in by_row}
    shuffled["bins"] = np.ascontiguousarray(case["bins"][:, order])
    n, leaf, gains = grow(kernels, case)
    n_shuffled, leaf_shuffled, gains_shuffled = grow(kernels, shuffled)
    assert n_shuffled == n
    np.testing.assert_array_equal(leaf_shuffled, leaf[order])
    np.testing.assert_array_equal(gains_shuffled, gains)


@given(case=grown_rows())
def test_gains_are_what_the_leaves_count_more_than_the_whole(kernels, case):
    n, leaf, gains = grow(kernels, case)

    def merit(here):
        gradient = float(case["gradient"][here].sum(dtype=np.int64))
        return gradient**2 / (float(case["curvature"][here].sum(dtype=np.int64)) + case["ridge"])

    parts, whole = sum(merit(leaf == k) for k in range(n)), merit(leaf >= 0)
    assert gains.sum() == pytest.approx(parts - whole, rel=1e-9, abs=1e-9 * (parts + whole))
