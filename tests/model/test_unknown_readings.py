"""Unknown readings: nothing known is the shares of the classes, everything known is as trained."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    random_model,
    random_number_model,
    random_rows,
)
from solah.explain.traversal import TracedRows
from solah.kernels.reference import softmax
from solah.model.evaluate import Rows, missing_share, run, stage_outputs, stage_scores, trace

seeds = st.integers(0, 2**32 - 1)


def by_hand(model, row):
    """Compute the scores of one row as the definition has it."""
    terms, baseline = model.root.terms, np.array(model.root.baseline)
    added = trace(model.program, row[None, :])[-1].parts
    spread = sum(np.sqrt(term.variance) for term in terms)
    value = dict(zip((one.name for one in model.attributes), row, strict=True))
    missing = [
        term
        for term in terms
        if term.missing is None and any(np.isnan(value[name]) for name in term.features)
    ]
    weights = sum(part.weights[0] for part in added[: len(terms)])
    if not model.goal.states:
        return baseline + weights
    start = np.log(model.goal.prior) - np.mean(np.log(model.goal.prior))
    k = 1 / np.sqrt(1 + np.pi / 8 * sum(term.variance for term in missing))
    known = 1 - sum(np.sqrt(term.variance) for term in missing) / spread
    return start + k * ((baseline - start) * known + weights)


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@given(seed=seeds, n_classes=st.integers(2, 4))
def test_scores_are_what_is_defined(shape, seed, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    rows = random_rows(rng, model, 8, missing=0.3)
    found = run(model.program, rows)
    expected = softmax(np.array([by_hand(model, row) for row in rows]))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seed=seeds, n_classes=st.integers(2, 4))
def test_nothing_known_is_the_shares_of_the_classes(seed, n_classes):
    model = random_model(np.random.default_rng(seed), "words and pairs", n_classes)
    rows = np.full((1, len(model.attributes)), np.nan)
    found = run(model.program, rows)[0]
    np.testing.assert_allclose(found, model.goal.prior, atol=1e-12)
    assert missing_share(model.program, rows)[0] == pytest.approx(1.0)


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@given(seed=seeds)
def test_everything_known_is_bias_and_evidence_to_the_bit(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 3)
    rows = random_rows(rng, model, 8, missing=0.0)
    # A row with unknown readings beside them changes nothing.
    rows = np.vstack([rows, random_rows(rng, model, 1, missing=1.0)])
    parts = traced_parts(model, rows)
    stage = model.program.stages[-1]
    weights = np.zeros((len(rows), 3))
    for number in stage.groups[-1].parts:
        weights += parts[stage.part_names[number]].weights
    expected = softmax(weights + np.array(model.root.baseline))
    np.testing.assert_array_equal(run(model.program, rows)[:-1], expected[:-1])


@given(seed=seeds)
def test_a_missing_reading_with_a_rule_says_what_the_rule_says(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "groups", 2)
    rows = np.full((1, len(model.attributes)), np.nan)
    parts = traced_parts(model, rows)
    for term, compiled in zip(model.terms, model.program.stages[-1].terms, strict=True):
        if term.missing is not None:
            part = parts[compiled.name]
            assert tuple(part.weights[0]) == term.missing.scores
            assert part.variance[0] == part.share[0] == 0.0


@given(seed=seeds)
def test_groups_pass_on_how_much_is_unknown(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "groups", 3)
    rows = random_rows(rng, model, 8, missing=0.4)
    parts = traced_parts(model, rows)
    groups = [part for part in model.parts if part.kind in ("group", "sum")]
    assert [group.name for group in groups] == ["first", "second", "y"]
    for group in groups:
        for figure in ("share", "variance"):
            total = sum(getattr(parts[name], figure) for name in group.origins)
            np.testing.assert_allclose(getattr(parts[group.name], figure), total)
    # The node that decides needs no more than what goes up from those below it.
    program, stage = model.program, model.program.stages[-1]
    below = {program.part_numbers[name][1]: parts[name] for name in groups[-1].origins}
    number, part = program.part_numbers["y"]
    total = Rows(program, np.full_like(rows, np.nan)).part(number, part, below)
    found = stage_outputs(stage, stage_scores(stage, total))
    np.testing.assert_array_equal(found, run(program, rows))


def traced_parts(model, rows):
    """Return what the parts of the last stage add, by their names."""
    names, steps = model.program.stages[-1].part_names, trace(model.program, rows)[-1]
    return dict(zip(names, steps.parts, strict=True))


@given(seed=seeds)
def test_numbers_are_added_up(seed):
    rng = np.random.default_rng(seed)
    model = random_number_model(rng)
    rows = random_rows(rng, model, 8, missing=0.3)
    found = run(model.program, rows)
    expected = np.array([by_hand(model, row) for row in rows])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seed=seeds)
def test_a_node_alone_moves_the_shares_of_the_classes(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "groups", 3)
    nothing = np.full((1, len(model.attributes)), np.nan)
    rows = TracedRows(model.program, nothing)
    for term, compiled in zip(model.terms, model.program.stages[-1].terms, strict=True):
        expected = model.goal.prior
        if term.missing is not None:
            expected = softmax((np.log(expected) + np.array(term.missing.scores))[None, :])[0]
        np.testing.assert_allclose(rows.outputs(compiled.name)[0], expected, atol=1e-9)
