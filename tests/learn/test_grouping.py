import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from solah.exceptions import ParameterError
from solah.learn.organisation import choose_n_clusters, group_attributes


def symmetric(n, pairs, rest=0.0):
    """Make a matrix of the pairs' dependences, the rest being the same."""
    matrix = np.full((n, n), rest)
    for (i, j), value in pairs.items():
        matrix[i, j] = matrix[j, i] = value
    np.fill_diagonal(matrix, 1.0)
    return matrix


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 12))
    some = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 0.5, 1.0, np.nan, np.inf]))
    upper = np.triu(draw(nps.arrays(np.float64, (n, n), elements=some)), 1)
    return np.where(np.tri(n, dtype=bool), upper.T, upper)


@st.composite
def matrices_without_ties(draw):
    n = draw(st.integers(2, 10))
    ranks = draw(st.permutations(range(n * (n - 1) // 2)))
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = np.array(ranks) / len(ranks)
    return matrix + matrix.T


def test_the_rounds_by_hand():
    """Round 1: d_max .9 (0, 3), alpha (.9-.1)/2 = .4, so dCor(., 0) >= .5: 3 and 1 join.

    Round 2, over 2, 4, 5: d_max .6 (2, 4), alpha (.6-.3)/2 = .15, limit .45: 5 stays out.
    Then 5 is alone. K is 3 where k was 2.
    """
    dcorr = symmetric(
        6,
        {(0, 3): 0.9, (0, 1): 0.5, (0, 2): 0.49, (2, 4): 0.6, (2, 5): 0.4, (4, 5): 0.3},
        rest=0.1,
    )
    assert group_attributes(dcorr, 2) == ((0, 3, 1), (2, 4), (5,))


def test_alpha_follows_what_remains():
    """With the first round's alpha (.45), 4 would join 2 in the second."""
    dcorr = symmetric(5, {(0, 1): 0.9, (2, 3): 0.5, (2, 4): 0.2, (3, 4): 0.2})
    assert group_attributes(dcorr, 2) == ((0, 1), (2, 3), (4,))


def test_k_of_one_takes_all_and_a_large_k_parts_all_it_can():
    dcorr = symmetric(4, {(0, 1): 0.9, (0, 2): 0.7, (0, 3): 0.1, (2, 3): 0.3}, rest=0.1)
    assert group_attributes(dcorr, 1) == ((0, 1, 2, 3),)
    assert group_attributes(dcorr, 1000) == ((0, 1), (2, 3))


def test_the_seed_is_the_lower_of_the_pair():
    """3 depends on 2 only: it joins where 2 is the seed, and does not where 1 is."""
    dcorr = symmetric(4, {(1, 2): 0.9, (2, 3): 0.8})
    assert group_attributes(dcorr, 2)[0] == (1, 2)
    assert group_attributes(dcorr[::-1, ::-1], 2)[0] == (1, 2, 0)


def test_what_stands_on_the_edge_of_a_cluster_joins():
    """.9 - (.9 - .1) / 1 is .09999999999999998 in floats, and its like may fall either side."""
    for edge in np.arange(1, 90) / 100:
        dcorr = symmetric(3, {(0, 1): 0.9, (0, 2): edge, (1, 2): edge})
        assert len(group_attributes(dcorr, 1)) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, np.nan, -0.1])
@pytest.mark.parametrize("k", [1, 2, 50, "auto"])
def test_equal_dependences_make_one_cluster(n, value, k):
    assert group_attributes(np.full((n, n), value), k) == (tuple(range(n)),)


def test_columns_without_values_are_not_lost():
    dcorr = symmetric(5, {(1, 3): 0.8})
    dcorr[[0, 2]] = np.nan
    dcorr[:, [0, 2]] = np.nan
    assert group_attributes(dcorr, 2) == ((1, 3), (0, 2, 4))


@given(matrices(), st.one_of(st.integers(1, 20), st.just("auto")))
def test_every_attribute_appears_exactly_once(dcorr, k):
    clusters = group_attributes(dcorr, k)
    assert sorted(i for cluster in clusters for i in cluster) == list(range(len(dcorr)))


@given(matrices(), st.integers(1, 20))
def test_a_cluster_lists_its_seed_and_then_falling_dependence(dcorr, k):
    finite = np.round(np.where(np.isfinite(dcorr), dcorr, 0.0), 6)
    for seed, *others in group_attributes(finite, k):
        keys = [(-finite[seed, other], other) for other in others]
        assert keys == sorted(keys)


@given(matrices_without_ties(), st.integers(1, 8), st.data())
def test_the_order_of_columns_matters_for_ties_only(dcorr, k, data):
    clusters = group_attributes(dcorr, k)
    place = data.draw(st.permutations(range(len(dcorr))))
    for seed, *others in clusters:
        # Which of a pair is the seed is the one tie that a matrix without equal entries has.
        if others and place[seed] > place[others[0]]:
            place[seed], place[others[0]] = place[others[0]], place[seed]
    moved = np.empty_like(dcorr)
    moved[np.ix_(place, place)] = dcorr
    expected = [{place[i] for i in cluster} for cluster in clusters]
    assert list(map(set, group_attributes(moved, k))) == expected


@given(matrices(), st.integers(1, 8))
def test_only_the_upper_triangle_is_read(dcorr, k):
    assert group_attributes(np.triu(dcorr, 1), k) == group_attributes(dcorr, k)


def test_the_matrix_is_left_as_it_was():
    dcorr = symmetric(4, {(0, 1): 0.9, (2, 3): 0.3})
    before = dcorr.copy()
    group_attributes(dcorr)
    np.testing.assert_array_equal(dcorr, before)


def oracle(dcorr, k):
    """Run Algorithm 1 pair by pair, in plain Python."""
    left = list(range(len(dcorr)))
    clusters = []
    while len(left) > 1:
        pairs = [(-dcorr[i][j], i, j) for i in left for j in left if i < j]
        largest, seed = -min(pairs)[0], min(pairs)[1]
        limit = largest - (largest + max(pairs)[0]) / k - 1e-9
        members = [a for a in left if a != seed and dcorr[a][seed] >= limit]
        members.sort(key=lambda a: (-dcorr[a][seed], a))
        clusters.append((seed, *members))
        left = [a for a in left if a not in clusters[-1]]
    return (*clusters, *[(a,) for a in left])


@given(matrices(), st.integers(1, 8))
def test_it_does_what_the_obvious_program_does(dcorr, k):
    finite = np.round(np.where(np.isfinite(dcorr), dcorr, 0.0), 6)
    assert group_attributes(finite, k) == oracle(finite, k)


def test_dependences_that_differ_by_rounding_are_equal():
    dcorr = symmetric(4, {(0, 1): 0.5, (2, 3): 0.5 + 1e-12, (0, 2): 0.1})
    assert group_attributes(dcorr, 4) == ((0, 1), (2, 3))


def noisy_blocks(n, block, seed=0):
    """Make blocks of attributes that depend on each other, and a little on all others."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(0, 0.2, (n, n)), 1)
    for start in range(0, n, block):
        here = slice(start, start + block)
        upper[here, here] += np.triu(rng.uniform(0.3, 0.7, upper[here, here].shape), 1)
    return upper + upper.T


class TestAuto:
    @pytest.mark.parametrize("n", [10, 60, 200])
    def test_is_the_smallest_k_whose_clusters_are_small(self, n):
        dcorr = noisy_blocks(n, 30)
        k = choose_n_clusters(dcorr)
        largest = [max(map(len, group_attributes(dcorr, c))) for c in range(2, k + 1)]
        limit = max(6, np.sqrt(n))
        assert largest[-1] <= limit
        assert all(size > limit for size in largest[:-1])

    def test_is_what_group_attributes_takes(self):
        dcorr = noisy_blocks(60, 12)
        assert group_attributes(dcorr) == group_attributes(dcorr, choose_n_clusters(dcorr))

    @pytest.mark.parametrize(("n", "k"), [(1, 2), (2, 2), (6, 2), (7, 7), (30, 30)])
    def test_ends_where_nothing_parts_the_attributes(self, n, k):
        assert choose_n_clusters(np.full((n, n), 0.5)) == k

    def test_is_not_driven_up_by_constants(self):
        dcorr = noisy_blocks(60, 12)
        with_constants = np.zeros((100, 100))
        with_constants[:60, :60] = dcorr
        assert choose_n_clusters(with_constants) <= choose_n_clusters(dcorr)
        assert set(range(60, 100)) <= set(group_attributes(with_constants)[-1])


@pytest.mark.parametrize("k", [2, 600, "auto"])
def test_six_hundred_attributes_take_no_time(k):
    dcorr = noisy_blocks(600, 40)
    start = time.process_time()
    clusters = group_attributes(dcorr, k)
    assert time.process_time() - start < 5
    assert sorted(i for cluster in clusters for i in cluster) == list(range(600))


@pytest.mark.parametrize("k", [0, -1, 1.5, "many", None, True])
def test_a_wrong_number_of_clusters_is_named(k):
    with pytest.raises(ParameterError, match=f"n_clusters must be .* Got {k!r} instead"):
        group_attributes(np.eye(3), k)


@pytest.mark.parametrize("shape", [(0, 0), (3,), (2, 3), (2, 2, 2)])
def test_a_wrong_shape_is_named(shape):
    with pytest.raises(ParameterError, match="square matrix"):
        group_attributes(np.zeros(shape), 2)
