"""A compiled program means what the model says, and so does a part of a model."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    any_model,
    odd_rows,
    random_model,
    random_number_model,
    random_rows,
)
from solah.exceptions import ParameterError
from solah.model import TreeNode
from solah.model.compile import part_of
from solah.model.evaluate import run, trace
from solah.model.format import from_json, to_json
from solah.model.program import AxisKind, Grid, Link, Walk


def memberships(feature, value):
    """Return how well each focal set fits a value."""
    if math.isnan(value):
        return list(feature.mean_masses)
    found = [0.0] * feature.n_focal_sets
    if value <= feature.peaks[0]:
        found[0] = 1.0
    elif value >= feature.peaks[-1]:
        found[-1] = 1.0
    for place, (low, high) in enumerate(pairwise(feature.peaks)):
        if low <= value < high:
            found[place + 1] = (value - low) / (high - low)
            found[place] = 1.0 - found[place + 1]
    return found


class Oracle:
    """Evaluates one row of a model as its documentation says, slowly."""

    def __init__(self, model, row):
        self.model = model
        self.values = dict(zip((one.name for one in model.features), row, strict=True))
        self.nodes = {node.name: node for node in model.nodes}

    def output(self, name):
        node = self.nodes[name]
        if isinstance(node, TreeNode):
            reached = ((self.branch_share(node, branch), branch) for branch in node.branches)
            return sum(share * np.array(branch.belief) for share, branch in reached)
        added = sum((self.weights(term) for term in node.terms), np.zeros(self.model.target.size))
        baseline, target = np.array(node.baseline), self.model.target
        if target.is_additive_number:
            return baseline + added
        lost = [term for term in node.terms if self.is_lost(term)]
        variance = sum(term.variance for term in lost)
        scores = baseline + added
        if variance > 0:
            spread = sum(math.sqrt(term.variance) for term in node.terms)
            share = sum(math.sqrt(term.variance) for term in lost) / spread
            k = 1.0 / math.sqrt(1.0 + math.pi / 8.0 * variance)
            scores = target.log_prior + k * ((baseline - target.log_prior) * (1.0 - share) + added)
        shares = np.exp(scores - scores.max())
        return shares / shares.sum()

    def value(self, one):
        return self.values[one.name] if one.tree is None else self.output(one.tree)[one.place]

    def is_lost(self, term):
        read = [self.values[name] for name in term.features if name in self.values]
        return term.missing is None and any(map(math.isnan, read))

    def weights(self, term):
        if term.missing is not None and math.isnan(self.values[term.features[0]]):
            return np.array(term.missing.scores)
        found = term.weights
        for one in term.inputs:
            of_sets = memberships(one.asked, self.value(one.feature))
            lines = np.bincount(one.part_of_set, of_sets, len(one.parts))
            found = np.tensordot(lines, found, 1)
        return found

    def branch_share(self, tree, branch):
        share = 1.0
        for place, sets in branch.conditions:
            one = tree.inputs[place]
            if one.name in self.nodes:
                masses = self.output(one.name)
            else:
                masses = memberships(one, self.value(one))
            share *= sum(masses[index] for index in sets)
        return share


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
    groups = [part for part in model.parts if part.kind in ("group", "sum")]
    assert len(groups) == 3
    for group in groups:
        for field in ("weights", "share", "variance"):
            total = 0.0
            for name in group.origins:
                total = total + getattr(sums[name], field)
            np.testing.assert_array_equal(getattr(sums[group.name], field), total)


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


def made(shape):
    rng = np.random.default_rng(0)
    return random_number_model(rng) if shape == "number" else random_model(rng, shape, 3)


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES, "number"])
def test_a_part_gives_what_it_gives_in_the_model(shape):
    model = made(shape)
    rows = random_rows(np.random.default_rng(1), model, 50)
    steps, program = trace(model.program, rows), model.program
    names = [one.name for one in model.features]
    for part in model.parts:
        alone = part_of(model, part.name)
        assert from_json(to_json(alone).encode()) == alone
        columns = [names.index(one.name) for one in alone.features]
        found = run(alone.program, rows[:, columns])
        stage, number = program.part_numbers[part.name]
        if part.kind in ("sum", "tree"):
            np.testing.assert_array_equal(found, steps[stage].outputs)
            continue
        if model.target.classes:
            found = np.log(found) - np.log(found).mean(axis=1, keepdims=True)
        np.testing.assert_allclose(found, steps[stage].parts[number].weights, atol=1e-9)


def test_the_only_part_of_a_constant_is_the_constant():
    model = random_model(np.random.default_rng(0), "words and pairs")
    model = replace(model, nodes=(replace(model.root, terms=()),))
    assert part_of(model, "y") == model


def test_a_part_that_is_not_there_is_named():
    model = random_model(np.random.default_rng(0), "words and pairs")
    with pytest.raises(ParameterError, match="no part 'rules on x9'; did you mean 'rules on x"):
        part_of(model, "rules on x9")
