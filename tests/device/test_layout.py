"""The layout of a program, as devices compute it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import any_model, random_model
from solah.device.layout import lay_out, leaf_rules
from solah.model.document import Tree


def with_level_pair():
    """Make a model whose first pair of features adds the same in all cells; return its name too."""
    model = random_model(np.random.default_rng(0), "words and pairs", 3)
    pair = next(tree for tree in model.trees if len(tree.inputs) == 2)
    level = replace(pair, scores=np.full_like(pair.scores, [0.5, -0.25, -0.25]), variance=0.0)
    nodes = tuple(level if node is pair else node for node in model.nodes)
    return replace(model, nodes=nodes), pair.name


def test_a_term_with_constant_weights_adds_to_the_start():
    model, name = with_level_pair()
    layout = lay_out(model)
    (stage,), (of_program,) = layout.stages, model.program.stages
    assert name not in [walk.name for walk in stage.walks]
    assert name not in [term for term, _ in layout.rules]
    baseline = of_program.baseline[1:] - of_program.baseline[0]
    assert stage.start == pytest.approx(baseline - 0.75)


@given(seed=st.integers(0, 200))
def test_walks_have_the_rules_of_the_program(seed):
    model = any_model(seed)
    layout = lay_out(model, only_walks=True)
    trees = {node.name: node for node in model.nodes if isinstance(node, Tree)}
    for stage, of_program in zip(layout.stages, model.program.stages, strict=True):
        for walk, term in zip(stage.walks, of_program.terms, strict=True):
            assert walk.name == term.name
            n_missing = int(term.missing is not None)
            assert len(walk.values) == len(term.weights) + n_missing
            reached = set(walk.child[walk.split < 0].tolist())
            assert reached == set(range(len(walk.values)))
            tree = trees[walk.name]
            assert set(leaf_rules(tree)[tree.leaves].tolist()) == set(range(len(term.weights)))
