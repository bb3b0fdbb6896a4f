"""Models put together again from trees with joined branches."""

from dataclasses import replace

import numpy as np
import pytest
from export_shapes import ALL_SHAPES

from random_models import coded, random_model, random_rows
from solah.export.reassembly import joined_means, reassemble
from solah.model.beliefs import signals_of
from solah.model.format import from_json, to_json
from solah.model.joining import JoinedTree, count_cost, join_branches


def as_one_branch(tree):
    (joined,) = join_branches([tree], [tree.belief], count_cost, max_rules=1)
    return joined


def with_one_joined(model, name):
    return [
        as_one_branch(tree) if tree.name == name else JoinedTree.unchanged(tree)
        for tree in model.trees
    ]


def signals(model, rows):
    return signals_of(model, rows)[model.root.name]


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_what_is_not_joined_decides_as_before(shape):
    rng = np.random.default_rng(2)
    model = random_model(rng, shape, 3)
    rows = coded(model, random_rows(rng, model, 50))
    same = reassemble(model, [JoinedTree.unchanged(tree) for tree in model.trees])
    np.testing.assert_allclose(signals(same, rows), signals(model, rows), atol=1e-12)


@pytest.mark.parametrize("shape", ["flat fusion", "nested fusions"])
def test_a_voice_that_says_always_the_same_goes_into_the_bias(shape):
    rng = np.random.default_rng(7)
    model = random_model(rng, shape, 3)
    voice = model.trees[0]
    scores = voice.scores.copy()
    scores[voice.leaves] = [0.7, -0.2, -0.5]
    nodes = tuple(replace(n, scores=scores) if n is voice else n for n in model.nodes)
    model = replace(model, nodes=nodes)
    small = reassemble(model, with_one_joined(model, voice.name))
    assert voice.name not in [node.name for node in small.nodes]
    assert not {one.name for one in voice.inputs} & {one.name for one in small.attributes}
    rows = coded(model, random_rows(rng, model, 50))
    np.testing.assert_allclose(signals(small, rows), signals(model, rows), atol=1e-12)
    assert from_json(to_json(small).encode()) == small


def test_a_tree_that_nobody_asks_is_left_out_with_its_attributes():
    model = random_model(np.random.default_rng(4), "masses", 2)
    small = reassemble(model, with_one_joined(model, "y"))
    assert [node.name for node in small.nodes] == ["y"]
    assert len(small.attributes) == 1
    assert from_json(to_json(small).encode()) == small


def test_what_is_assumed_of_a_belief_follows_the_tree_below():
    model = random_model(np.random.default_rng(4), "masses", 2)
    small = reassemble(model, with_one_joined(model, "z0"))
    (heard,) = [one for one in small.root.inputs if one.name == "z0"]
    assert heard.ignorance == tuple(small.trees[0].belief[0])


def test_joined_branches_say_the_mean_by_support():
    tree = random_model(np.random.default_rng(0), "tree", 2).root
    leaves = tree.leaves
    (mean,) = joined_means(tree, as_one_branch(tree), tree.belief)
    expected = np.average(tree.belief[leaves], axis=0, weights=tree.support[leaves])
    np.testing.assert_allclose(mean, expected)
