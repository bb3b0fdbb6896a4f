"""Unknown readings weaken what is known on a device as they do in the model; numbers add up."""

from dataclasses import replace

import numpy as np
import pytest
from c_programs import ESTIMATE, WHY, build, decide, estimate, why
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    additive_tree,
    coded,
    odd_rows,
    random_fusion,
    random_model,
    random_number_model,
    random_rows,
    random_starts,
)
from solah.device.fixed_twin import _inverse_root as integer_root
from solah.device.float_twin import _inverse_root as float_root
from solah.device.layout import lay_out
from solah.export import export_c, export_micropython
from solah.export.agreement import agreement_on, drawn_rows
from solah.export.blob import export_blob
from solah.export.shrinking import shrink
from solah.learn.online import Learner
from solah.model.attributes import parted_attribute
from solah.model.beliefs import signals_of
from solah.model.document import Tree
from solah.model.format import from_json, to_json

SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(params=["float", "q15"])
def numbers(request):
    return request.param


def module_of(export):
    module = {"__name__": export.name}
    exec(compile(export.files[f"{export.name}.py"], "model.py", "exec"), module)
    return module


def parted_model(rng, n_classes):
    """Make a model whose pairs ask in which part an attribute is."""
    model = random_model(rng, "words and pairs", n_classes)
    continuous = [one for one in model.attributes if one.cores and len(one.words) > 1]
    states = [one for one in model.attributes if not one.cores]
    asked = [parted_attribute(one, random_starts(rng, one)) for one in continuous]
    pairs = [
        additive_tree(rng, f"{one.name} and {other.name}", [one, other], n_classes)
        for one, other in zip([*asked, *states], [*asked[1:], *states], strict=False)
        if one.name != other.name
    ]
    single = [tree for tree in model.trees if len(tree.inputs) == 1]
    below = [*single, *pairs]
    fusion = random_fusion(rng, "y", [tree.name for tree in below], n_classes)
    return replace(model, nodes=(*below, fusion))


def without_variances(model):
    nodes = (replace(n, variance=0.0) if isinstance(n, Tree) else n for n in model.nodes)
    return replace(model, nodes=tuple(nodes))


def made(rng, shape, n_classes):
    if shape == "parted":
        return parted_model(rng, n_classes)
    return random_model(rng, shape, n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("shape", [*ADDITIVE_SHAPES, "parted"])
def test_a_device_weakens_as_its_twin(shape, n_classes, numbers, tmp_path, find_tool):
    rng = np.random.default_rng(n_classes)
    model = made(rng, shape, n_classes)
    export = export_c(model, name="m", numbers=numbers)
    program = build(export, tmp_path, find_tool("cc"), flags=SANITIZED)
    drawn = [random_rows(rng, model, 1_000, missing=share) for share in (0.1, 0.3, 0.6, 1.0)]
    rows = np.vstack([*drawn, odd_rows(rng, model, 1_000)])
    places, beliefs = decide(program, export, rows, n_classes)
    expected = export.twin.decide(rows)
    np.testing.assert_array_equal(places, expected[0])
    assert beliefs.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize(("numbers", "near"), [("float", 2e-5), ("q15", 5e-3)])
@given(
    st.integers(0, 2**32),
    st.sampled_from([*ADDITIVE_SHAPES, "parted"]),
    st.integers(2, 5),
    st.floats(0.1, 0.6),
)
def test_twins_believe_what_the_model_believes(numbers, near, seed, shape, n_classes, missing):
    rng = np.random.default_rng(seed)
    model = made(rng, shape, n_classes)
    rows = random_rows(rng, model, 50, missing=missing)
    expected = signals_of(model, coded(model, rows))[model.root.name]
    twin = export_c(model, numbers=numbers).twin
    _, beliefs = twin.decide(rows)
    assert beliefs * twin.belief_unit == pytest.approx(expected, abs=near)


@pytest.mark.parametrize(("numbers", "near"), [("float", 1e-4), ("q15", 2e-3)])
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(["words and pairs", "parted"]))
def test_nothing_known_gives_the_shares_of_the_classes(numbers, near, seed, n_classes, shape):
    model = made(np.random.default_rng(seed), shape, n_classes)
    twin = export_c(model, numbers=numbers).twin
    _, beliefs = twin.decide(np.full((1, len(model.attributes)), np.nan))
    assert beliefs[0] * twin.belief_unit == pytest.approx(model.goal.prior, abs=near)


@given(st.integers(0, 2**32), st.sampled_from([*ADDITIVE_SHAPES, "parted"]), st.integers(2, 4))
def test_everything_known_is_decided_as_without_variances(seed, shape, n_classes):
    rng = np.random.default_rng(seed)
    model = made(rng, shape, n_classes)
    rows = random_rows(rng, model, 30, missing=0.0)
    _, beliefs = export_c(model).twin.decide(rows)
    _, without = export_c(without_variances(model)).twin.decide(rows)
    assert beliefs == pytest.approx(without, abs=1e-6)


def test_models_without_variances_carry_no_code_for_it(numbers):
    model = random_model(np.random.default_rng(0), "groups", 2)
    with_them = export_c(model, name="m", numbers=numbers).files["m.c"]
    without = export_c(without_variances(model), name="m", numbers=numbers).files["m.c"]
    assert "#define SOLAH_LOSES" in with_them
    assert "SOLAH_LOSES" not in without
    assert "_weaken(stage" in export_micropython(model).files["model.py"]
    assert "def _weaken" not in export_micropython(without_variances(model)).files["model.py"]


def test_roots_are_near():
    values = np.concatenate([np.linspace(1, 20, 1_000), np.geomspace(20, 800, 100)])
    exact = 1 / np.sqrt(values)
    assert float_root(values.astype(np.float32)) == pytest.approx(exact, rel=1e-5)
    fixed = np.round(values * 4096).astype(np.int64)
    assert integer_root(fixed) / 32768 == pytest.approx(exact, rel=1e-3)


def test_a_rule_for_missing_readings_speaks_where_nothing_else_does():
    """A tree of one leaf may still tell by itself that a reading is missing."""
    rng = np.random.default_rng(3)
    model = random_model(rng, "groups", 3)
    for place in (1, 3):
        tree = model.trees[place]
        leaf = replace(
            tree,
            split=np.array([-1], np.int32),
            first_child=np.array([0], np.int32),
            support=tree.support[:1],
            belief=tree.belief[:1],
            scores=tree.scores[tree.leaves[:1]],
        )
        model = replace(model, nodes=tuple(leaf if n is tree else n for n in model.nodes))
    rows = random_rows(rng, model, 300, missing=0.4)
    expected = signals_of(model, coded(model, rows))[model.root.name]
    assert export_c(model).twin.decide(rows)[1] == pytest.approx(expected, abs=2e-5)
    for twin in (export_c(model, numbers="q15").twin, Learner(model).twin):
        assert twin.decide(rows)[1] / 32768 == pytest.approx(expected, abs=0.01)
    learner = Learner(model)
    learner.learn(rows, rng.integers(0, 3, len(rows)))
    learnt = learner.model()
    assert from_json(to_json(learnt).encode()) == learnt
    assert [tree.variance for tree in learnt.trees] == [tree.variance for tree in model.trees]
    assert all(
        one.missing.scores != other.missing.scores
        for one, other in zip(learnt.trees, model.trees, strict=True)
        if other.missing is not None
    )
    believed = signals_of(learnt, coded(learnt, rows))[learnt.root.name]
    assert learner.twin.decide(rows)[1] / 32768 == pytest.approx(believed, abs=0.02)


@given(st.integers(0, 2**32), st.integers(2, 3))
def test_what_is_left_of_a_tree_varies_no_more(seed, n_classes):
    model = made(np.random.default_rng(seed), "parted", n_classes)
    small = shrink(model, 1_500, "q15")
    before = {tree.name: tree.variance for tree in model.trees}
    assert all(0 <= tree.variance <= before[tree.name] for tree in small.trees)
    assert from_json(to_json(small).encode()) == small


# --- numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
def test_a_number_is_added_up(shape, numbers, tmp_path, find_tool):
    rng = np.random.default_rng(2)
    model = random_number_model(rng, shape)
    export = export_c(model, name="m", numbers=numbers)
    rows = np.vstack([odd_rows(rng, model, 500), random_rows(rng, model, 500, missing=0.4)])
    program = build(export, tmp_path, find_tool("cc"), ESTIMATE, SANITIZED)
    found = estimate(program, export, rows)
    assert found.tobytes() == export.twin.estimate(rows).astype(found.dtype).tobytes()
    expected = signals_of(model, coded(model, rows[500:]))[model.root.name][:, 0]
    near = 1e-5 if numbers == "float" else 0.02
    assert found[500:] * export.unit == pytest.approx(expected, abs=near)
    assert agreement_on(model, export.twin, drawn_rows(model)).share == 1.0


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
def test_the_reasons_of_a_number_move_it_most(shape, numbers, tmp_path, find_tool):
    rng = np.random.default_rng(4)
    model = random_number_model(rng, shape)
    export = export_c(model, name="m", numbers=numbers)
    rows = random_rows(rng, model, 200, missing=0.2)
    program = build(export, tmp_path, find_tool("cc"), WHY, SANITIZED, n_most=3)
    expected = export.twin.why(rows, 3)
    assert why(program, export, rows, 3) == expected
    largest = max(float(np.abs(tree.scores).max()) for tree in model.trees)
    amounts = [export.unit * one.amount for reasons in expected for one in reasons]
    assert 0 < min(amounts) <= max(amounts) <= 1.01 * largest


def test_boards_add_up_a_number():
    rng = np.random.default_rng(5)
    model = random_number_model(rng)
    export, blob = export_micropython(model), export_blob(model)
    rows = random_rows(rng, model, 200, missing=0.3)
    module = module_of(export)
    prepared = export.twin.prepare(rows).tolist()
    expected = blob.twin.estimate(rows).tolist()
    assert [module["estimate_prepared"](row) for row in prepared] == expected
    assert [module["why_prepared"](row, 3) for row in prepared] == blob.twin.why(rows, 3)


def test_a_number_shrinks_too():
    model = random_number_model(np.random.default_rng(6))
    small = shrink(model, 900, "q15")
    assert small.n_rules < model.n_rules
    assert from_json(to_json(small).encode()) == small
    assert lay_out(small).is_number
