"""Programs give the same bits in C and NumPy, as a whole, part by part, with values missing."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    any_model,
    as_table,
    odd_rows,
    random_model,
    random_number_model,
    random_rows,
)
from solah.explain.traversal import TracedRows
from solah.kernels import native
from solah.kernels.native import ENVIRONMENT_VARIABLE
from solah.kernels.reference import softmax
from solah.model import evaluate
from solah.model.evaluate import (
    Rows,
    completeness,
    missing_share,
    predict,
    run,
    stage_outputs,
    stage_scores,
    trace,
)
from solah.model.program import Link

needs_native = pytest.mark.skipif(
    native.load() is None, reason="solah was built without a compiler"
)


def on_kernel(name, call):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENVIRONMENT_VARIABLE, name)
        return call()


def steps_of(stages):
    """List all arrays of a trace."""
    sums = [part for stage in stages for part in stage.parts]
    arrays = [one for part in sums for one in (part.weights, part.share, part.variance)]
    return [*arrays, *(one for stage in stages for one in (stage.scores, stage.outputs))]


@needs_native
@given(st.integers(0, 2**16))
def test_c_and_numpy_are_equal_to_the_bit(seed):
    model = any_model(seed)
    rows = odd_rows(np.random.default_rng(seed), model, 40)
    found = [
        on_kernel(
            name,
            lambda: [
                run(model.program, rows),
                run(model.program, rows, scores=True),
                *steps_of(trace(model.program, rows)),
            ],
        )
        for name in ("native", "reference")
    ]
    for ours, oracle in zip(*found, strict=True):
        assert ours.tobytes() == oracle.tobytes()


@given(st.integers(0, 2**16))
def test_a_trace_ends_with_the_prediction(seed):
    model = any_model(seed)
    rows = odd_rows(np.random.default_rng(seed), model, 20)
    last, link = trace(model.program, rows)[-1], model.program.stages[-1].link
    assert run(model.program, rows).tobytes() == last.outputs.tobytes()
    compared = last.scores if link is Link.SOFTMAX else last.outputs
    assert run(model.program, rows, scores=True).tobytes() == compared.tobytes()


@given(st.integers(0, 2**16), st.integers(1, 5))
def test_rows_do_not_depend_on_each_other(seed, n_threads):
    model = any_model(seed)
    rows = odd_rows(np.random.default_rng(seed), model, 7)
    whole = run(model.program, rows)
    one_by_one = np.concatenate([run(model.program, rows[i : i + 1]) for i in range(7)])
    assert whole.tobytes() == one_by_one.tobytes()
    assert whole.tobytes() == run(model.program, rows, n_threads).tobytes()


@pytest.mark.parametrize("kernel", ["native", "reference"])
def test_readings_may_lie_apart(kernel):
    if kernel == "native" and native.load() is None:
        pytest.skip("solah was built without a compiler")
    model = any_model(7)
    rows = odd_rows(np.random.default_rng(0), model, 30)
    wide = np.repeat(np.repeat(rows, 2, axis=0), 3, axis=1)
    shifted = np.frombuffer(b"." + rows.tobytes(), offset=1).reshape(rows.shape)
    assert not shifted.flags.aligned
    for apart in (np.asfortranarray(rows), wide[::2, ::3], rows[::-1][::-1], shifted):
        found = on_kernel(kernel, lambda apart=apart: run(model.program, apart))
        np.testing.assert_array_equal(found, run(model.program, rows))


def test_a_group_that_is_added_up_elsewhere_gives_the_same_bits():
    """Nodes of a network add up groups, and the one that decides adds up what they send."""
    model = random_model(np.random.default_rng(3), "groups", n_classes=3)
    rows = odd_rows(np.random.default_rng(4), model, 200)
    program, (stage,) = model.program, model.program.stages
    received = {}
    for part, term in enumerate(stage.terms):
        own = np.full_like(rows, np.nan)
        read = [program.axes[axis].source for axis in term.axes]
        own[:, read] = rows[:, read]  # a node has its own readings only
        received[part] = Rows(program, own).part(0, part, {})
    nothing = Rows(program, np.full_like(rows, np.nan))
    first = len(stage.terms)
    received[first] = nothing.part(0, first, received)
    total = nothing.part(0, len(stage.part_names) - 1, received)
    assert stage_scores(stage, total).tobytes() == run(program, rows, scores=True).tobytes()


def test_no_rows_have_no_outputs():
    model = any_model(6)
    assert run(model.program, np.empty((0, len(model.features)))).shape == (0, model.target.size)


def test_a_program_runs_on_many_threads_at_once():
    model = any_model(0)
    rows = odd_rows(np.random.default_rng(0), model, 2_000)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: run(model.program, rows).tobytes(), range(16)))
    assert set(found) == {run(model.program, rows).tobytes()}


def test_a_model_that_predicted_can_be_pickled():
    model = any_model(5)
    rows = odd_rows(np.random.default_rng(0), model, 10)
    before = run(model.program, rows)
    copy = pickle.loads(pickle.dumps(model))
    assert not set(copy.program.flat.addresses) & set(model.program.flat.addresses)
    np.testing.assert_array_equal(run(copy.program, rows), before)


def test_completeness_is_0_if_all_is_missing():
    shares = np.array([0.0, 0.25, 1.0 - 1e-16, 1.0, 1.0 + 1e-15])
    np.testing.assert_array_equal(completeness(shares), [1.0, 0.75, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_tables_are_predicted_in_blocks(monkeypatch, n_threads):
    model = any_model(7)
    rows = random_rows(np.random.default_rng(0), model, 50)
    monkeypatch.setattr(evaluate, "_BLOCK_ROWS", 7)
    for scores in (False, True):
        found = predict(model, as_table(model, rows), n_threads, scores=scores)
        np.testing.assert_array_equal(found, run(model.program, rows, scores=scores))


def test_many_rows_take_little_memory_beside_them(traced_peak):
    peak = traced_peak(
        """
        import numpy as np
        from random_models import random_model, random_rows
        from solah.data import Column, Table
        from solah.model.evaluate import predict

        model = random_model(np.random.default_rng(0), "words and pairs")
        rows = random_rows(np.random.default_rng(0), model, 1_000)
        columns = [np.tile(values, 300).astype(np.float32) for values in rows.T]
        names = [one.name for one in model.features]
        read = zip(names, columns, strict=True)
        table = Table(tuple(Column(name, values) for name, values in read), 300_000)
        """,
        "outputs = predict(model, table)",
    )
    model = random_model(np.random.default_rng(0), "words and pairs")
    n_outputs = predict(
        model, as_table(model, random_rows(np.random.default_rng(0), model, 1))
    ).shape[1]
    assert peak < 8 * 300_000 * (n_outputs + len(model.features) / 2)


seeds = st.integers(0, 2**32 - 1)


def by_hand(model, row):
    """Compute the scores of one row as the definition has it."""
    terms, baseline = model.root.terms, np.array(model.root.baseline)
    added = trace(model.program, row[None, :])[-1].parts
    spread = sum(np.sqrt(term.variance) for term in terms)
    value = dict(zip((one.name for one in model.features), row, strict=True))
    missing = [
        term
        for term in terms
        if term.missing is None and any(np.isnan(value[name]) for name in term.features)
    ]
    weights = sum(part.weights[0] for part in added[: len(terms)])
    if not model.target.classes:
        return baseline + weights
    start = np.log(model.target.shares) - np.mean(np.log(model.target.shares))
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
    rows = np.full((1, len(model.features)), np.nan)
    found = run(model.program, rows)[0]
    np.testing.assert_allclose(found, model.target.shares, atol=1e-12)
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
    rows = np.full((1, len(model.features)), np.nan)
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
    by_logarithm = replace(model, target=replace(model.target, link="log")).program
    np.testing.assert_allclose(run(by_logarithm, rows), np.exp(expected), rtol=1e-12)
    np.testing.assert_array_equal(run(by_logarithm, rows, scores=True), found)
    np.testing.assert_array_equal(run(by_logarithm, rows), trace(by_logarithm, rows)[-1].outputs)


def test_scores_of_a_logarithm_are_bounded():
    scores = np.array([[-np.inf], [-1e6], [-80.0], [0.0], [80.0], [1e6], [np.inf]])
    stage = random_number_model(np.random.default_rng(0), link="log").program.stages[-1]
    found = stage_outputs(stage, scores)[:, 0]
    expected = np.exp(np.clip(scores[:, 0], -80.0, 80.0))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@given(seed=seeds)
def test_a_node_alone_moves_the_shares_of_the_classes(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "groups", 3)
    nothing = np.full((1, len(model.features)), np.nan)
    rows = TracedRows(model.program, nothing)
    for term, compiled in zip(model.terms, model.program.stages[-1].terms, strict=True):
        expected = model.target.shares
        if term.missing is not None:
            expected = softmax((np.log(expected) + np.array(term.missing.scores))[None, :])[0]
        np.testing.assert_allclose(rows.outputs(compiled.name)[0], expected, atol=1e-9)
