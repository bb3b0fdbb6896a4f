"""A part of a model is a model with the output of the part."""

from dataclasses import replace

import numpy as np
import pytest

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_number_model, random_rows
from solah.exceptions import ParameterError
from solah.model.compile import part_of
from solah.model.evaluate import run, trace
from solah.model.format import from_json, to_json


def made(shape):
    rng = np.random.default_rng(0)
    return random_number_model(rng) if shape == "number" else random_model(rng, shape, 3)


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES, "number"])
def test_a_part_gives_what_it_gives_in_the_model(shape):
    model = made(shape)
    rows = random_rows(np.random.default_rng(1), model, 50)
    steps, program = trace(model.program, rows), model.program
    names = [one.name for one in model.attributes]
    for part in model.parts:
        alone = part_of(model, part.name)
        assert from_json(to_json(alone).encode()) == alone
        columns = [names.index(one.name) for one in alone.attributes]
        found = run(alone.program, rows[:, columns])
        stage, number = program.part_numbers[part.name]
        if part.kind in ("sum", "tree"):
            np.testing.assert_array_equal(found, steps[stage].outputs)
            continue
        if model.goal.states:
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
