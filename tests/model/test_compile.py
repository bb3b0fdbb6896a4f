"""A compiled program means what the model says."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import any_model, odd_rows, random_model, random_number_model
from solah.data import Kind
from solah.model import Fusion, Goal, MissingRule, Model, Tree
from solah.model.attributes import discrete_attribute
from solah.model.evaluate import run, trace
from solah.model.program import AxisKind, Grid, Link, Walk


def memberships(attribute, value):
    """Return how well each focal set fits a value."""
    if math.isnan(value):
        return list(attribute.ignorance)
    found = [0.0] * attribute.n_focal_sets
    if value <= attribute.peaks[0]:
        found[0] = 1.0
    elif value >= attribute.peaks[-1]:
        found[-1] = 1.0
    for place, (low, high) in enumerate(pairwise(attribute.peaks)):
        if low <= value < high:
            found[place + 1] = (value - low) / (high - low)
            found[place] = 1.0 - found[place + 1]
    return found


class Oracle:
    """Evaluates one row of a model as its documentation says, slowly."""

    def __init__(self, model, row):
        self.model = model
        self.values = dict(zip((one.name for one in model.attributes), row, strict=True))
        self.nodes = {node.name: node for node in model.nodes}
        self.fused = {o for node in model.nodes if isinstance(node, Fusion) for o in node.origins}

    def output(self, name):
        node = self.nodes[name]
        if isinstance(node, Tree):
            return self.average(node, node.belief, 0)
        trees = self.trees_below(node)
        added = sum(self.evidence(tree) for tree in trees)
        bias, goal = np.array(node.bias), self.model.goal
        if goal.is_additive_number:
            return bias + added
        lost = [tree for tree in trees if self.is_lost(tree)]
        variance = sum(tree.variance for tree in lost)
        scores = bias + added
        if variance > 0:
            spread = sum(math.sqrt(tree.variance) for tree in trees)
            share = sum(math.sqrt(tree.variance) for tree in lost) / spread
            k = 1.0 / math.sqrt(1.0 + math.pi / 8.0 * variance)
            scores = goal.log_prior + k * ((bias - goal.log_prior) * (1.0 - share) + added)
        shares = np.exp(scores - scores.max())
        return shares / shares.sum()

    def trees_below(self, fusion):
        below = [self.nodes[name] for name in fusion.origins]
        parts = [[one] if isinstance(one, Tree) else self.trees_below(one) for one in below]
        return [tree for part in parts for tree in part]

    def is_lost(self, tree):
        read = [self.values[one.name] for one in tree.inputs if one.name in self.values]
        return tree.missing is None and any(map(math.isnan, read))

    def evidence(self, tree):
        if tree.missing is not None and math.isnan(self.values[tree.inputs[0].name]):
            return np.array(tree.missing.scores)
        return self.average(tree, tree.evidence, 0)

    def average(self, tree, leaves, node):
        if tree.split[node] < 0:
            return leaves[node]
        one = tree.inputs[tree.split[node]]
        if one.tree is not None:
            masses = memberships(one, self.output(one.tree)[one.place])
        elif one.name in self.nodes:
            masses = self.output(one.name)
        else:
            masses = memberships(one, self.values[one.name])
        return sum(
            mass * self.average(tree, leaves, child)
            for mass, child in zip(masses, tree.children(node), strict=True)
            if mass
        )


@given(st.integers(0, 2**16))
def test_programs_predict_as_models_say(seed):
    model = any_model(seed)
    rows = odd_rows(np.random.default_rng(seed), model, 20)
    expected = [Oracle(model, row).output(model.root.name) for row in rows.tolist()]
    np.testing.assert_allclose(run(model.program, rows), expected, rtol=1e-13, atol=1e-13)


@given(st.integers(0, 2**16))
def test_groups_add_their_parts_in_order(seed):
    model = random_model(np.random.default_rng(seed), "groups", n_classes=3)
    rows = odd_rows(np.random.default_rng(seed), model, 20)
    (stage,), (steps,) = model.program.stages, trace(model.program, rows)
    sums = dict(zip(stage.part_names, steps.parts, strict=True))
    for fusion in model.fusions:
        for field in ("weights", "share", "variance"):
            total = 0.0
            for name in fusion.origins:
                total = total + getattr(sums[name], field)
            np.testing.assert_array_equal(getattr(sums[fusion.name], field), total)


def test_terms_of_a_sum_are_grids_and_trees_are_walks():
    rng = np.random.default_rng(0)
    (stage,) = random_model(rng, "words and pairs").program.stages
    assert all(isinstance(term.cells, Grid) for term in stage.terms)
    assert stage.link is Link.SOFTMAX
    (stage,) = random_number_model(rng).program.stages
    assert stage.link is Link.NUMBER
    assert stage.log_prior is None
    (stage,) = random_model(rng, "tree").program.stages
    assert isinstance(stage.terms[0].cells, Walk)
    assert stage.link is Link.SHARES


@pytest.mark.parametrize(
    ("shape", "kind"), [("masses", AxisKind.ALL_BELIEFS), ("words", AxisKind.ONE_BELIEF)]
)
def test_trees_above_trees_read_their_beliefs(shape, kind):
    program = random_model(np.random.default_rng(0), shape, n_classes=3).program
    top = program.stages[-1]
    read = [program.axes[axis] for axis in top.axes]
    assert {axis.source for axis in read if axis.kind is kind} == {0, 1}
    assert not any(axis.is_read for axis in read if axis.kind is kind)


def test_the_last_line_of_a_grid_is_a_missing_reading():
    program = random_model(np.random.default_rng(1), "groups").program
    for term in program.stages[0].terms:
        table, weights = term.cells.table, term.weights[term.cells.rules]
        axis = program.axes[term.axes[0]]
        assert table.shape[0] == axis.size + 1
        if term.missing is not None:
            np.testing.assert_array_equal(table[-1], term.missing)
        elif len(term.axes) == 1:
            np.testing.assert_allclose(table[-1], axis.missing @ weights, atol=1e-15)


def stump(inputs, missing=None):
    """Make a model of one rule over some inputs."""
    tree = Tree(
        "z",
        inputs,
        np.full(1, -1, np.int32),
        np.zeros(1, np.int32),
        np.ones(1),
        np.full((1, 2), 0.5),
        np.zeros((1, 2)),
        missing=missing,
    )
    goal = Goal("y", ("a", "b"), prior=(0.5, 0.5))
    return Model(goal, inputs, (tree, Fusion("y", ("z",), (0.0, 0.0))))


def wide(name):
    states = tuple(f"s{i}" for i in range(200))
    return discrete_attribute(name, Kind.CATEGORICAL, states, (1 / 200,) * 200)


def test_a_small_tree_of_many_categories_is_not_spread_over_a_grid():
    program = stump((wide("x"), wide("z"))).program
    assert isinstance(program.stages[0].terms[0].cells, Walk)


def test_a_rule_for_missing_readings_holds_in_the_smallest_tree():
    model = stump((wide("x"),), MissingRule(1.0, (0.5, 0.5), (1.0, -1.0)))
    rows = np.array([[np.nan], [3.0]])
    np.testing.assert_array_equal(run(model.program, rows, scores=True), [[1.0, -1.0], [0.0, 0.0]])
