import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solah.labels.words import (
    NumbersAtHand,
    merge_peaks,
    place_peaks,
    uniform_peaks,
    weighted_quantiles,
)

some_values = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30).map(np.array)


def test_uniform_peaks_stand_at_equal_distances():
    assert uniform_peaks(0.0, 8.0, 3) == (0.0, 2.0, 4.0, 6.0, 8.0)


def test_quantile_peaks_cut_the_rows_into_equal_shares():
    values = np.arange(101.0) ** 2
    assert place_peaks(NumbersAtHand(values), 3, "quantile") == (
        0.0,
        625.0,
        2500.0,
        5625.0,
        10000.0,
    )


def test_words_whose_peaks_coincide_become_one():
    assert merge_peaks(np.array([0.0, 0.0, 0.0, 3.0, 9.0])) == (0.0, 3.0, 9.0)
    assert merge_peaks(np.array([0.0, 0.0, 4.0, 9.0, 9.0])) == (0.0, 2.0, 4.0, 6.5, 9.0)
    assert merge_peaks(np.array([7.0, 7.0, 7.0])) == (7.0,)


def test_no_peak_is_put_between_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert merge_peaks(np.array([low, low, high])) == (low,)


@given(some_values, st.integers(2, 7), st.sampled_from(["uniform", "quantile"]))
def test_peaks_always_increase_and_leave_whole_words(values, n_words, placement):
    peaks = place_peaks(NumbersAtHand(values), n_words, placement)
    assert (np.diff(peaks) > 0).all()
    assert len(peaks) % 2 == 1
    assert len(peaks) <= 2 * n_words - 1
    assert peaks[0] == values.min()


@given(some_values, st.integers(1, 12), st.data())
def test_a_weight_of_three_counts_as_three_rows(values, n_parts, data):
    repeats = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    )
    weighted = weighted_quantiles(values, repeats << 20, n_parts)
    repeated = weighted_quantiles(np.repeat(values, repeats), None, n_parts)
    np.testing.assert_array_equal(weighted, repeated)


@given(some_values, st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values, n_parts, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    np.testing.assert_array_equal(
        weighted_quantiles(values, None, n_parts), weighted_quantiles(shuffled, None, n_parts)
    )
