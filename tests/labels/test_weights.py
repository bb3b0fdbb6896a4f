import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import DataError
from solah.kernels.arrays import WEIGHT_ONE
from solah.labels.targets import integer_weights


@given(st.lists(st.integers(0, 1000), min_size=1).filter(any))
def test_whole_weights_are_kept_exactly(weights):
    integers, unit = integer_weights(np.array(weights, dtype=float))
    np.testing.assert_array_equal(integers * unit, weights)
    assert integers.max() <= WEIGHT_ONE


@given(st.lists(st.floats(1e-3, 1e3), min_size=1))
def test_other_weights_are_kept_closely(weights):
    integers, unit = integer_weights(np.array(weights))
    np.testing.assert_allclose(integers * unit, weights, rtol=1e-3)
    assert WEIGHT_ONE // 2 <= integers.max() <= WEIGHT_ONE


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], "Got -1.0 in row 2"),
        ([np.nan, 1.0], "Got nan in row 1"),
        ([1e308, 1.0], "Got 1e[+]308"),
        ([1e-315, 0.0], "Got 1e-315"),
        ([0.0, 0.0], "must weigh between 1e-100 and 1e[+]100. Got 0"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        integer_weights(np.array(weights))
