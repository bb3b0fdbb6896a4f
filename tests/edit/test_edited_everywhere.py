"""Edited models go everywhere that others go."""

import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_edits import edited

from model_schema import model_schema
from random_models import any_model, as_table, random_model, random_rows
from solah.explain import Explainer, feature_importances, rules_of
from solah.export import export_c, export_micropython
from solah.export.blob import export_blob
from solah.export.online import Learner
from solah.model.compile import part_of
from solah.model.evaluate import run, trace
from solah.model.format import from_json, to_json
from solah.report import render_markdown, render_page, summarise, summarise_page
from solah.site.bundle import Bundle, read_bundle
from solah.site.plan import make_plan

SEEDS = st.integers(0, 2**20)


def edited_model(seed):
    rng = np.random.default_rng(seed)
    model = edited(rng, any_model(seed), n_edits=8)
    return rng, model


def beliefs_of(model, rows):
    return run(model.program, rows)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_an_edited_model_file_keeps_to_the_schema(seed):
    _, model = edited_model(seed)
    jsonschema.validate(json.loads(to_json(model)), model_schema())


@settings(max_examples=12, deadline=None)
@given(SEEDS)
def test_twins_of_devices_decide_as_the_edited_model(seed):
    rng, model = edited_model(seed)
    rows = random_rows(rng, model, 40, missing=0.2)
    expected = beliefs_of(model, rows)
    for numbers, near in (("float", 1e-4), ("q15", 2e-2)):
        simulator = export_c(model, numbers=numbers).simulator
        if model.target.is_additive_number:
            spread = np.ptp(expected) + 1.0
            estimates = simulator.estimate(rows) * simulator.unit
            assert estimates == pytest.approx(expected[:, 0], abs=near * spread)
        else:
            assert simulator.decide(rows)[1] * simulator.belief_unit == pytest.approx(
                expected, abs=near
            )


@settings(max_examples=6, deadline=None)
@given(SEEDS)
def test_boards_decide_as_the_edited_model(seed):
    rng, model = edited_model(seed)
    rows = random_rows(rng, model, 10, missing=0.2)
    export = export_micropython(model)
    module = {"__name__": export.name}
    exec(compile(export.files[f"{export.name}.py"], "model.py", "exec"), module)
    blob = export_blob(model)
    prepared = export.simulator.prepare(rows).tolist()
    if model.target.is_additive_number:
        found = [module["estimate_prepared"](row) for row in prepared]
        assert found == blob.simulator.estimate(rows).tolist()
        return
    places, beliefs = blob.simulator.decide(rows)
    found = [module["decide_prepared"](row) for row in prepared]
    assert [place for place, _ in found] == places.tolist()
    assert [list(belief) for _, belief in found] == beliefs.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_compiled_c_of_an_edited_model_decides_as_its_simulator(
    seed, numbers, tmp_path, find_tool
):
    from export.c_programs import build, decide

    rng = np.random.default_rng(seed)
    model = edited(rng, random_model(rng, "groups", 3), n_edits=10)
    export = export_c(model, name="m", numbers=numbers)
    program = build(export, tmp_path, find_tool("cc"))
    rows = random_rows(rng, model, 500, missing=0.2)
    places, beliefs = decide(program, export, rows, 3)
    expected = export.simulator.decide(rows)
    np.testing.assert_array_equal(places, expected[0])
    assert beliefs.tobytes() == expected[1].tobytes()


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_an_edited_model_is_explained_reported_and_adapted(seed):
    rng, model = edited_model(seed)
    rows = random_rows(rng, model, 8, missing=0.2)
    table = as_table(model, rows)
    rules = rules_of(model)
    assert all(str(rule) for rule in rules)
    assert rules.to_csv()
    assert rules.to_markdown()
    assert np.isfinite(feature_importances(model)).all()
    for explanation in Explainer(model).of_table(table):
        assert str(explanation)
    text = render_markdown(summarise(model))
    page = render_page(summarise_page(model, table))
    assert ("What people edited" in text) == bool(model.edits)
    assert ("Constraints and edits" in page) == bool(model.edits)
    if model.target.classes:
        learner = Learner(model)
        learner.learn(rows, rng.integers(0, len(model.target.classes), len(rows)))
        adapted = from_json(to_json(learner.model()).encode())
        assert adapted.edits == model.edits
        assert [term.pinned for term in adapted.terms] == [term.pinned for term in model.terms]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**20))
def test_the_nodes_of_an_edited_model_make_the_same_decisions(seed):
    rng = np.random.default_rng(seed)
    model = edited(rng, random_model(rng, "groups", 3), n_edits=8)
    rows = random_rows(rng, model, 10, missing=0.0)
    bundle = Bundle(make_plan(model), model)
    assert read_bundle(bundle.to_bytes()).model == model
    names = [part.name for part in model.parts if part.kind != "sum"]
    (stage,) = trace(model.program, rows)
    for name, whole in zip(names, stage.parts, strict=False):
        part = part_of(model, name)
        readings = rows[:, [model.features.index(one) for one in part.features]]
        logs = np.log(run(part.program, readings))
        logs -= logs.mean(axis=1, keepdims=True)
        weights = whole.weights - whole.weights.mean(axis=1, keepdims=True)
        assert logs == pytest.approx(weights, abs=1e-6)
