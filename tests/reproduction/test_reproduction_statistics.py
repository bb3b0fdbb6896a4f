"""Wins, ranks and tests, against figures known from elsewhere."""

import numpy as np
import pytest

from reproduction.statistics import compare


def test_ties_count_for_all_that_share_them():
    standing = compare(np.array([[0.9, 0.9, 0.1], [0.2, 0.1, 0.3], [0.5, 0.4, 0.3]]))
    assert standing.wins == (2, 1, 1)
    assert standing.ranks == pytest.approx((1.5, 2.1667, 2.3333), abs=1e-4)


def test_nemenyis_difference_is_the_tabulated_one():
    # Demsar (2006): q(0.05) is 2.569 for four and 2.728 for five models.
    rng = np.random.default_rng(0)
    for n_models, quantile in ((4, 2.569), (5, 2.728)):
        standing = compare(rng.random((14, n_models)))
        expected = quantile * np.sqrt(n_models * (n_models + 1) / (6 * 14))
        assert standing.critical_difference == pytest.approx(expected, abs=2e-3)
