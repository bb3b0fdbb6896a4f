"""Unknown readings weaken what is known on a device as they do in the model; numbers add up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, random_model, random_rows
from solah.export import export_c, export_micropython
from solah.export.fixed_simulator import _inverse_root as integer_root
from solah.export.float_simulator import _inverse_root as float_root
from solah.export.online import Learner
from solah.model.evaluate import run
from solah.model.format import from_json, to_json


@pytest.fixture(params=["float", "q15"])
def numbers(request):
    return request.param


def without_variances(model):
    return model.with_terms(replace(term, variance=0.0) for term in model.terms)


@pytest.mark.parametrize(("numbers", "near"), [("float", 1e-4), ("q15", 2e-3)])
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_nothing_known_gives_the_shares_of_the_classes(numbers, near, seed, n_classes):
    model = random_model(np.random.default_rng(seed), "words and pairs", n_classes)
    simulator = export_c(model, numbers=numbers).simulator
    _, beliefs = simulator.decide(np.full((1, len(model.features)), np.nan))
    assert beliefs[0] * simulator.belief_unit == pytest.approx(model.target.shares, abs=near)


@given(st.integers(0, 2**32), st.sampled_from(ADDITIVE_SHAPES), st.integers(2, 4))
def test_everything_known_is_decided_as_without_variances(seed, shape, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    rows = random_rows(rng, model, 30, missing=0.0)
    _, beliefs = export_c(model).simulator.decide(rows)
    _, without = export_c(without_variances(model)).simulator.decide(rows)
    assert beliefs == pytest.approx(without, abs=1e-6)


def test_models_without_variances_carry_no_code_for_it(numbers):
    model = random_model(np.random.default_rng(0), "groups", 2)
    with_them = export_c(model, name="m", numbers=numbers, style="tables").files["m.c"]
    without = export_c(without_variances(model), name="m", numbers=numbers, style="tables").files[
        "m.c"
    ]
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


def test_a_device_learns_the_rule_for_missing_readings():
    rng = np.random.default_rng(3)
    model = random_model(rng, "groups", 3)
    rows = random_rows(rng, model, 300, missing=0.4)
    learner = Learner(model, is_guarded=False)
    assert learner.simulator.decide(rows)[1] / 32768 == pytest.approx(
        run(model.program, rows), abs=0.01
    )
    learner.learn(rows, rng.integers(0, 3, len(rows)))
    learned = learner.model()
    assert from_json(to_json(learned).encode()) == learned
    assert [term.variance for term in learned.terms] == [term.variance for term in model.terms]
    assert all(
        one.missing.scores != other.missing.scores
        for one, other in zip(learned.terms, model.terms, strict=True)
        if other.missing is not None
    )
    believed = run(learned.program, rows)
    assert learner.simulator.decide(rows)[1] / 32768 == pytest.approx(believed, abs=0.02)


# --- numbers ---------------------------------------------------------------------------------
