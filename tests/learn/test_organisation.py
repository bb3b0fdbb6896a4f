"""The paper's Algorithms 1 and 2: clusters of features, and levels of their trees."""

from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from solah.exceptions import ParameterError
from solah.learn.organisation import group_features, wire_hierarchy


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
    assert group_features(dcorr, 2) == ((0, 3, 1), (2, 4), (5,))


def test_k_of_one_takes_all_and_a_large_k_parts_all_it_can():
    dcorr = symmetric(4, {(0, 1): 0.9, (0, 2): 0.7, (0, 3): 0.1, (2, 3): 0.3}, rest=0.1)
    assert group_features(dcorr, 1) == ((0, 1, 2, 3),)
    assert group_features(dcorr, 1000) == ((0, 1), (2, 3))


def test_what_stands_on_the_edge_of_a_cluster_joins():
    """.9 - (.9 - .1) / 1 is .09999999999999998 in floats, and its like may fall either side."""
    for edge in np.arange(1, 90) / 100:
        dcorr = symmetric(3, {(0, 1): 0.9, (0, 2): edge, (1, 2): edge})
        assert len(group_features(dcorr, 1)) == 1


@given(matrices(), st.one_of(st.integers(1, 20), st.just("auto")))
def test_every_feature_appears_exactly_once(dcorr, k):
    clusters = group_features(dcorr, k)
    assert sorted(i for cluster in clusters for i in cluster) == list(range(len(dcorr)))


@given(matrices(), st.integers(1, 20))
def test_a_cluster_lists_its_seed_and_then_falling_dependence(dcorr, k):
    finite = np.round(np.where(np.isfinite(dcorr), dcorr, 0.0), 6)
    for seed, *others in group_features(finite, k):
        keys = [(-finite[seed, other], other) for other in others]
        assert keys == sorted(keys)


@given(matrices_without_ties(), st.integers(1, 8), st.data())
def test_the_order_of_columns_matters_for_ties_only(dcorr, k, data):
    clusters = group_features(dcorr, k)
    place = data.draw(st.permutations(range(len(dcorr))))
    for seed, *others in clusters:
        # Which of a pair is the seed is the one tie that a matrix without equal entries has.
        if others and place[seed] > place[others[0]]:
            place[seed], place[others[0]] = place[others[0]], place[seed]
    moved = np.empty_like(dcorr)
    moved[np.ix_(place, place)] = dcorr
    expected = [{place[i] for i in cluster} for cluster in clusters]
    assert list(map(set, group_features(moved, k))) == expected


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
    assert group_features(finite, k) == oracle(finite, k)


def test_dependences_that_differ_by_rounding_are_equal():
    dcorr = symmetric(4, {(0, 1): 0.5, (2, 3): 0.5 + 1e-12, (0, 2): 0.1})
    assert group_features(dcorr, 4) == ((0, 1), (2, 3))


def noisy_blocks(n, block, seed=0):
    """Make blocks of features that depend on each other, and a little on all others."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(0, 0.2, (n, n)), 1)
    for start in range(0, n, block):
        here = slice(start, start + block)
        upper[here, here] += np.triu(rng.uniform(0.3, 0.7, upper[here, here].shape), 1)
    return upper + upper.T


def test_auto_is_the_smallest_k_whose_clusters_are_small():
    for n in (10, 60, 200):
        dcorr, limit = noisy_blocks(n, 30), max(6, np.sqrt(n))
        found = group_features(dcorr)
        assert max(map(len, found)) <= limit
        tried = (group_features(dcorr, k) for k in range(2, n + 1))
        assert found == next(one for one in tried if max(map(len, one)) <= limit)
    # Nothing parts equal dependences, and what depends on nothing does not count.
    for n in (1, 2, 7, 30):
        assert group_features(np.full((n, n), 0.5)) == (tuple(range(n)),)
    constants = np.pad(noisy_blocks(60, 12), (0, 40))
    assert set(range(60, 100)) <= set(group_features(constants)[-1])


def test_wrong_clusterings_are_named():
    for k in (0, -1, 1.5, "many", None, True):
        with pytest.raises(ParameterError, match=f"n_clusters must be .* Got {k!r} instead"):
            group_features(np.eye(3), k)
    for shape in ((0, 0), (3,), (2, 3), (2, 2, 2)):
        with pytest.raises(ParameterError, match="square matrix"):
            group_features(np.zeros(shape), 2)


# --- Algorithm 2 ---------------------------------------------------------------------------------

NAMES = [f"x{i}" for i in range(20)]


def wire(relevance, clusters, **settings):
    return wire_hierarchy(relevance, clusters, NAMES[: len(relevance)], **settings)


@st.composite
def clustered(draw):
    """Draw relevances and clusters of all features."""
    n = draw(st.integers(1, 12))
    relevance = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1))) if n > 1 else ())
    bounds = [0, *cuts, n]
    return relevance, [order[a:b] for a, b in pairwise(bounds)]


GAPS = st.one_of(st.just("auto"), st.floats(0.01, 1))
TOPS = st.sampled_from(["fuse", "merge"])


class TestByHand:
    """Means .1 .15 | .4 .45 .5 | .9 with a gap of .2: three levels of two, three and one."""

    RELEVANCE = (0.9, 0.4, 0.1, 0.5, 0.15, 0.45)
    CLUSTERS = ((0,), (1,), (2,), (3,), (4,), (5,))

    def test_a_single_tree_on_the_last_level_is_the_root(self):
        hierarchy = wire(self.RELEVANCE, self.CLUSTERS, level_gap=0.2)
        assert str(hierarchy) == (
            "z1 <- x2; z2 <- x4; z3 <- z1, z2, x1; z4 <- x5; z5 <- x3; y <- z3, z4, z5, x0"
        )

    def test_several_are_fused_by_a_tree_over_their_outputs(self):
        hierarchy = wire(self.RELEVANCE[1:], [(i,) for i in range(5)], level_gap=0.2)
        assert str(hierarchy) == (
            "z1 <- x1; z2 <- x3; z3 <- z1, z2, x0; z4 <- x4; z5 <- x2; y <- z3, z4, z5"
        )

    def test_or_merged_into_one_tree(self):
        clusters = [(i,) for i in range(5)]
        hierarchy = wire(self.RELEVANCE[1:], clusters, level_gap=0.2, top="merge")
        assert str(hierarchy) == "z1 <- x1; z2 <- x3; y <- z1, z2, x0, x4, x2"

    def test_the_gap_counts_from_the_first_cluster_of_a_level(self):
        """Steps of .1 and a gap of .2: every second cluster starts a level."""
        hierarchy = wire([0.1, 0.2, 0.3, 0.4, 0.5], [(i,) for i in range(5)], level_gap=0.2)
        assert str(hierarchy) == "z1 <- x0; z2 <- x1; z3 <- z1, z2, x2; z4 <- x3; y <- z3, z4, x4"

    def test_means_decide_and_a_cluster_keeps_its_order(self):
        hierarchy = wire([0.9, 0.1, 0.6, 0.6], [(3, 2), (1, 0)], level_gap=0.1)
        assert str(hierarchy) == "z1 <- x1, x0; y <- z1, x3, x2"


def test_one_level_is_fused_or_merged():
    clusters = [(0, 1), (2,)]
    assert str(wire([0.3] * 3, clusters)) == "z1 <- x0, x1; z2 <- x2; y <- z1, z2"
    assert str(wire([0.3] * 3, clusters, top="merge")) == "y <- x0, x1, x2"
    assert str(wire([0.1, 0.1, 0.9], clusters, level_gap=np.inf)) == str(wire([0.3] * 3, clusters))


def test_equally_relevant_clusters_come_by_their_smallest_index():
    hierarchy = wire([0.3] * 4, [(3, 1), (2, 0)])
    assert str(hierarchy) == "z1 <- x2, x0; z2 <- x3, x1; y <- z1, z2"


def test_the_order_in_a_cluster_does_not_round_its_mean():
    """.1 + .2 + .3 is above .3 + .2 + .1 in floats; the two clusters are equally relevant."""
    hierarchy = wire([0.1, 0.2, 0.3, 0.3, 0.2, 0.1], [(3, 4, 5), (0, 1, 2)])
    assert hierarchy.node("z1").inputs == ("x0", "x1", "x2")


def test_what_is_not_known_to_be_relevant_is_not():
    hierarchy = wire([np.nan, 0.5, 0.01], [(0,), (1,), (2,)], level_gap=0.1)
    assert str(hierarchy) == "z1 <- x0; z2 <- x2; y <- z1, z2, x1"


def test_names_that_features_have_get_underscores():
    hierarchy = wire_hierarchy([0.1, 0.1, 0.9], [(0,), (1,), (2,)], ["z1", "z1_", "y"])
    assert str(hierarchy) == "z1__ <- z1; z2 <- z1_; y_ <- z1__, z2, y"


@given(clustered(), GAPS, TOPS)
def test_every_feature_feeds_one_tree(drawn, gap, top):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap, top=top)
    assert sorted(hierarchy.features) == sorted(NAMES[: len(relevance)])
    assert hierarchy.root == "y"


@given(clustered(), GAPS)
def test_every_cluster_has_its_tree(drawn, gap):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap)
    own = [features_of(hierarchy, node.name) for node in hierarchy.nodes]
    assert sorted(filter(None, own)) == sorted([NAMES[i] for i in c] for c in clusters)
    assert len(hierarchy.nodes) - len(clusters) in (0, 1)


@given(clustered(), GAPS)
def test_a_tree_is_more_relevant_than_those_that_feed_it(drawn, gap):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap)
    by_name = dict(zip(NAMES, relevance, strict=False))

    def mean(name):
        own = features_of(hierarchy, name)
        return fmean(by_name[a] for a in own) if own else None

    for node in hierarchy.nodes:
        for child in hierarchy.children(node.name):
            if mean(node.name) is not None:
                assert mean(child) <= mean(node.name) + 1e-9


@given(clustered(), GAPS, TOPS, st.randoms())
def test_the_order_of_clusters_does_not_matter(drawn, gap, top, random):
    relevance, clusters = drawn
    shuffled = random.sample(clusters, len(clusters))
    settings = {"level_gap": gap, "top": top}
    assert wire(relevance, clusters, **settings) == wire(relevance, shuffled, **settings)


def features_of(hierarchy, name):
    return [i for i in hierarchy.node(name).inputs if i not in hierarchy.children(name)]


def test_the_automatic_gap_divides_the_span_by_the_root_of_the_clusters():
    for relevance, clusters, gap in (
        ([0.0, 0.75, 0.25], [(0,), (1,), (2,)], 0.25),
        ([0.0, 0.8, *[0.4] * 7], [(j,) for j in range(9)], 0.2),
        ([0.3, 0.315], [(0,), (1,)], 0.02),
    ):
        assert wire(relevance, clusters) == wire(relevance, clusters, level_gap=gap)


def test_wrong_wirings_are_named():
    for gap in (0, -0.1, np.nan, "wide", None):
        with pytest.raises(ParameterError, match=f"level_gap must be .* Got {gap!r} instead"):
            wire([0.1], [(0,)], level_gap=gap)
    with pytest.raises(ParameterError, match="top must be 'fuse' or 'merge'. Got 'mix' instead"):
        wire([0.1], [(0,)], top="mix")
    for clusters, problem in (
        ([], "at least one cluster"),
        ([(0,), ()], "no empty ones"),
        ([(0, 2)], "the feature 2; there are 2, counted from 0"),
        ([(-1,)], "the feature -1"),
        ([(0,), (1, 0)], "the feature 0 twice"),
    ):
        with pytest.raises(ParameterError, match=problem):
            wire([0.1, 0.2], clusters)
    with pytest.raises(ParameterError, match="each of the 1 names. Got 2 instead"):
        wire_hierarchy([0.1, 0.2], [(0,)], ["x"])
