"""Genomes: whatever is drawn, crossed or mutated is a valid hierarchy of all features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import Hierarchy
from solah.learn.evolution import ROOT, Genome, Variation, mend

NAMES = tuple(f"x{i}" for i in range(12))


@st.composite
def variations(draw):
    return Variation(
        n_features=draw(st.integers(1, 12)),
        max_inputs=draw(st.integers(2, 6)),
        cascade=draw(st.booleans()),
    )


def assert_sound(genome, variation):
    hierarchy = genome.hierarchy(NAMES[: variation.n_features], "y")
    assert sorted(hierarchy.features) == sorted(NAMES[: variation.n_features])
    assert max(len(node.inputs) for node in hierarchy.nodes) <= variation.max_inputs
    for node in hierarchy.nodes:
        assert len(node.inputs) > 1 or not hierarchy.children(node.name), "a tree passes one on"
    if variation.cascade:
        assert all(len(hierarchy.children(node.name)) < 2 for node in hierarchy.nodes)
    return hierarchy


@given(variations(), st.integers(0, 2**32 - 1))
def test_what_is_drawn_crossed_and_mutated_is_sound(variation, seed):
    rng = np.random.default_rng(seed)
    mother, father = variation.draw(rng), variation.draw(rng)
    assert_sound(mother, variation)
    child = variation.cross(mother, father, rng)
    assert_sound(child, variation)
    for _ in range(10):
        child = variation.mutate(child, rng)
        assert_sound(child, variation)


@given(variations(), st.integers(0, 2**32 - 1))
def test_a_genome_is_read_back_from_its_hierarchy(variation, seed):
    names = NAMES[: variation.n_features]
    hierarchy = variation.draw(np.random.default_rng(seed)).hierarchy(names, "y")
    assert Genome.of(hierarchy, names).hierarchy(names, "y") == hierarchy


@given(st.integers(0, 2**32 - 1))
def test_crossing_a_genome_with_itself_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    variation = Variation(10, max_inputs=20)
    genome = variation.draw(rng)
    if all(genome.clusters[:-1]):  # of trees that only hear others, the top is inherited
        child = variation.cross(genome, genome, rng)
        assert child.hierarchy(NAMES[:10], "y") == genome.hierarchy(NAMES[:10], "y")


@pytest.mark.parametrize(
    ("clusters", "parents", "expected"),
    [
        pytest.param([[], [0, 1]], [1, ROOT], "y <- x0, x1", id="an empty tree goes"),
        pytest.param(
            [[0], [], [1]], [1, 2, ROOT], "z1 <- x0; y <- z1, x1", id="one that passes on goes"
        ),
        pytest.param([[0, 1], []], [1, ROOT], "y <- x0, x1", id="a root that passes on goes"),
        pytest.param(
            [[0], [1], []], [2, 2, ROOT], "z1 <- x0; z2 <- x1; y <- z1, z2", id="a fuser stays"
        ),
        pytest.param(
            [[0, 1, 2, 3, 4]],
            [ROOT],
            "z1 <- x2, x3, x4; y <- z1, x0, x1",
            id="a wide tree gives to a new one",
        ),
        pytest.param(
            [[0], [1], [2], [3], []],
            [4, 4, 4, 4, ROOT],
            "z1 <- x0; z2 <- x1; z3 <- z1, z2; z4 <- x2; z5 <- x3; y <- z3, z4, z5",
            id="many children get a tree between",
        ),
    ],
)
def test_mending(clusters, parents, expected):
    genome = mend(clusters, parents, max_inputs=3)
    assert genome.hierarchy(NAMES, "y") == Hierarchy.parse(expected)


def test_a_cascade_chains_clusters_and_cuts_wide_ones():
    genome = mend([[0, 1, 2, 3], [4, 5, 6]], [1, ROOT], max_inputs=3, cascade=True)
    expected = "z1 <- x0, x1, x2; z2 <- z1, x3; z3 <- z2, x4, x5; y <- z3, x6"
    assert genome.hierarchy(NAMES, "y") == Hierarchy.parse(expected)
