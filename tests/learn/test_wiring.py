from itertools import pairwise
from math import ceil, sqrt
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import ParameterError
from solah.learn.organisation import choose_level_gap, group_attributes, wire_hierarchy
from solah.model.structure import Hierarchy

NAMES = [f"x{i}" for i in range(20)]


def wire(relevance, clusters, **settings):
    return wire_hierarchy(relevance, clusters, NAMES[: len(relevance)], **settings)


@st.composite
def clustered(draw):
    """Draw relevances and clusters of all attributes."""
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


def test_one_cluster_makes_a_single_tree():
    for top in ("fuse", "merge"):
        assert str(wire([0.3, 0.2], [(1, 0)], top=top)) == "y <- x1, x0"


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


def test_names_that_attributes_have_get_underscores():
    hierarchy = wire_hierarchy([0.1, 0.1, 0.9], [(0,), (1,), (2,)], ["z1", "z1_", "y"])
    assert str(hierarchy) == "z1__ <- z1; z2 <- z1_; y_ <- z1__, z2, y"


def test_the_goal_may_be_called_like_a_tree():
    hierarchy = wire([0.1, 0.9], [(0,), (1,)], goal="z1")
    assert str(hierarchy) == "z1_ <- x0; z1 <- z1_, x1"


def test_clusters_may_leave_attributes_out():
    assert wire([0.1, 0.5, 0.9], [(2,), (0,)], level_gap=0.1).attributes == ("x0", "x2")


class TestAutomaticGap:
    def test_divides_the_span_by_the_root_of_the_clusters(self):
        assert choose_level_gap([0.0, 0.75, 0.25], [(0,), (1,), (2,)]) == 0.25
        nine = [(j,) for j in range(9)]
        assert choose_level_gap([0.0, 0.8, *[0.4] * 7], nine) == 0.2

    def test_is_at_least_a_fiftieth(self):
        assert choose_level_gap([0.3, 0.3], [(0,), (1,)]) == 0.02
        assert choose_level_gap([0.3, 0.4], [(0, 1)]) == 0.02

    @given(clustered())
    def test_bounds_the_levels(self, drawn):
        n_levels = 2 + ceil(sqrt(len(drawn[1])))
        assert wire(*drawn).n_levels <= n_levels + 2
        assert wire(*drawn, top="merge").n_levels <= n_levels + 1

    @given(clustered(), TOPS)
    def test_is_what_wire_hierarchy_takes(self, drawn, top):
        assert wire(*drawn, top=top) == wire(*drawn, level_gap=choose_level_gap(*drawn), top=top)


@given(clustered(), GAPS, TOPS)
def test_every_attribute_appears_exactly_once(drawn, gap, top):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap, top=top)
    assert sorted(hierarchy.attributes) == sorted(NAMES[: len(relevance)])
    assert hierarchy.root == "y"


@given(clustered(), GAPS)
def test_every_cluster_has_its_tree(drawn, gap):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap)
    own = [attributes_of(hierarchy, node.name) for node in hierarchy.nodes]
    assert sorted(filter(None, own)) == sorted([NAMES[i] for i in c] for c in clusters)
    assert len(hierarchy.nodes) - len(clusters) in (0, 1)


@given(clustered(), GAPS)
def test_a_tree_is_more_relevant_than_those_that_feed_it(drawn, gap):
    relevance, clusters = drawn
    hierarchy = wire(relevance, clusters, level_gap=gap)
    by_name = dict(zip(NAMES, relevance, strict=False))

    def mean(name):
        own = attributes_of(hierarchy, name)
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


def test_grouped_attributes_can_be_wired():
    """From a matrix to a hierarchy: k is 2, K is 3, and all three have a tree."""
    dcorr = np.full((5, 5), 0.1)
    dcorr[0, 1] = dcorr[1, 0] = 0.9
    dcorr[2, 3] = dcorr[3, 2] = 0.5
    clusters = group_attributes(dcorr, 2)
    assert len(clusters) == 3
    hierarchy = wire([0.7, 0.9, 0.2, 0.2, 0.3], clusters, level_gap=0.4)
    assert hierarchy == Hierarchy.parse("z1 <- x2, x3; z2 <- x4; y <- z1, z2, x0, x1")


def attributes_of(hierarchy, name):
    return [i for i in hierarchy.node(name).inputs if i not in hierarchy.children(name)]


@pytest.mark.parametrize("gap", [0, -0.1, np.nan, "wide", None])
def test_a_wrong_gap_is_named(gap):
    with pytest.raises(ParameterError, match=f"level_gap must be .* Got {gap!r} instead"):
        wire([0.1], [(0,)], level_gap=gap)


def test_a_wrong_top_is_named():
    with pytest.raises(ParameterError, match="top must be 'fuse' or 'merge'. Got 'mix' instead"):
        wire([0.1], [(0,)], top="mix")


@pytest.mark.parametrize(
    ("clusters", "problem"),
    [
        ([], "one at least"),
        ([(0,), ()], "none of them empty"),
        ([(0, 2)], "the attribute 2; there are 2, counted from 0"),
        ([(-1,)], "the attribute -1"),
        ([(0,), (1, 0)], "the attribute 0 twice"),
    ],
)
def test_wrong_clusters_are_named(clusters, problem):
    with pytest.raises(ParameterError, match=problem):
        wire([0.1, 0.2], clusters)
    with pytest.raises(ParameterError, match=problem):
        choose_level_gap([0.1, 0.2], clusters)


def test_relevances_that_do_not_fit_the_names_are_named():
    with pytest.raises(ParameterError, match="each of the 1 names. Got 2 instead"):
        wire_hierarchy([0.1, 0.2], [(0,)], ["x"])
