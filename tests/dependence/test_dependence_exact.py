"""The fast forms equal the definition, closed forms and the package dcor."""

import numpy as np
import pytest
from dependence_strategies import column_pairs, naive_correlation
from hypothesis import given
from hypothesis import strategies as st

from solah.dependence import distance_correlation
from solah.kernels import native
from solah.kernels.dependence_reference import distances, naive_square

KERNELS = [
    pytest.param(
        "native",
        marks=pytest.mark.skipif(native.load() is None, reason="built without a compiler"),
    ),
    "reference",
]
both_statistics = pytest.mark.parametrize("bias_corrected", [False, True])


@pytest.fixture(params=KERNELS)
def kernel(request):
    """Use one kernel; not the fixture monkeypatch, which hypothesis cannot reset."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOLAH_KERNEL", request.param)
        yield request.param


def squared(root):
    return np.sign(root) * root**2


@both_statistics
@given(case=column_pairs())
@pytest.mark.usefixtures("kernel")
def test_equals_the_definition(bias_corrected, case):
    x, y, _ = case
    found = distance_correlation(x, y, bias_corrected=bias_corrected)
    expected = naive_correlation(x, y, bias_corrected=bias_corrected)
    assert squared(found) == pytest.approx(np.clip(expected, -1, 1), abs=1e-10)


@both_statistics
@given(case=column_pairs(weighted=True))
@pytest.mark.usefixtures("kernel")
def test_weights_count_rows(bias_corrected, case):
    x, y, weights = case
    if not weights.any():
        weights[:] = 1
    settings = {"bias_corrected": bias_corrected}
    weighted = distance_correlation(x, y, sample_weight=weights, **settings)
    rows = np.repeat(np.arange(len(x)), weights)
    assert weighted == pytest.approx(distance_correlation(x[rows], y[rows], **settings), abs=1e-9)
    expected = naive_correlation(x, y, weights, **settings)
    assert squared(weighted) == pytest.approx(np.clip(expected, -1, 1), abs=1e-10)


@given(case=column_pairs(), seed=st.integers(0, 1000), weighted=st.booleans())
def test_neither_order_nor_place_nor_scale_matter(case, seed, weighted):
    x, y, _ = case
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, len(x)) if weighted else np.ones(len(x))
    order = rng.permutation(len(x))
    found = distance_correlation(x, y, sample_weight=weights)
    assert distance_correlation(x[order], y[order], sample_weight=weights[order]) == found
    assert distance_correlation(y, x, sample_weight=weights) == pytest.approx(found, abs=1e-9)
    if x.dtype != object:
        moved = distance_correlation(-4 * x, y, sample_weight=weights)
        assert moved == pytest.approx(found, abs=1e-9)


@given(st.integers(4, 60), st.integers(0, 2**32 - 1))
def test_is_the_correlation_of_two_binary_columns(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.5, x, rng.integers(0, 2, n))
    x[:2], y[:2] = [0, 1], [1, 0]
    phi = abs(np.corrcoef(x, y)[0, 1])
    for nominal in (False, True):
        found = distance_correlation(x, y, nominal_x=nominal)
        assert squared(found) == pytest.approx(phi**2, abs=1e-12)


@pytest.mark.parametrize("n", [10, 300, 2000])
def test_equals_dcor(n):
    dcor = pytest.importorskip("dcor")
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n)
    y = x**2 + rng.standard_normal(n)
    assert distance_correlation(x, y) == pytest.approx(dcor.distance_correlation(x, y), abs=1e-11)
    found = distance_correlation(x, y, bias_corrected=True)
    assert squared(found) == pytest.approx(dcor.u_distance_correlation_sqr(x, y), abs=1e-11)


def test_numbers_may_be_names():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 400, 900), rng.standard_normal(900)
    names = np.array([str(code) for code in codes], dtype=object)
    found = distance_correlation(codes, y, nominal_x=True)
    assert found == distance_correlation(names, y)
    square = naive_square(distances(codes, nominal=True), distances(y))
    assert squared(found) == pytest.approx(square, abs=1e-12)
    other = rng.integers(0, 300, 900)
    square = naive_square(distances(codes, nominal=True), distances(other, nominal=True))
    found = distance_correlation(codes, other, nominal_x=True, nominal_y=True)
    assert squared(found) == pytest.approx(square, abs=1e-12)


def test_an_independent_design_has_zero():
    x, y = np.repeat([0.0, 1.0, 5.0], 4), np.tile([1.0, 2.0, 3.0, 9.0], 3)
    assert distance_correlation(x, y) == 0.0
    assert distance_correlation(x, x) == 1.0


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0], [np.nan, np.nan], [1.0, np.nan]])
@both_statistics
def test_a_constant_column_has_zero(values, bias_corrected):
    other = np.arange(float(len(values)))
    assert distance_correlation(values, other, bias_corrected=bias_corrected) == 0.0


def test_truth_values_and_python_objects():
    flags = [True, False, True, None, False, True]
    numbers = np.array([1, 2, None, 4, 5, 6], dtype=object)
    found = distance_correlation(flags, numbers)
    assert found == distance_correlation([1, 0, 0, 1], [1, 2, 5, 6])
