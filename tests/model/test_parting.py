"""A part of a model is a model that believes what the part believes."""

import numpy as np
import pytest

from random_models import SHAPES, coded, random_model, random_rows
from solah.exceptions import ParameterError
from solah.model.beliefs import fusion_inputs, signals_of
from solah.model.format import from_json, to_json
from solah.model.parting import part_of


@pytest.mark.parametrize("shape", SHAPES)
def test_a_part_gives_what_it_gives_in_the_model(shape):
    rng = np.random.default_rng(0)
    model = random_model(rng, shape, 3)
    rows = coded(model, random_rows(rng, model, 50))
    whole, weighed = signals_of(model, rows), fusion_inputs(model.nodes)
    for node in model.nodes:
        part = part_of(model, node.name)
        assert from_json(to_json(part).encode()) == part
        believed = signals_of(part, rows)[part.root.name]
        if node.name in weighed:
            logs = np.log(believed)
            believed = logs - logs.mean(axis=1, keepdims=True)
        assert believed == pytest.approx(whole[node.name], abs=1e-9)


def test_a_part_that_is_not_there_is_named():
    model = random_model(np.random.default_rng(0), "flat fusion")
    with pytest.raises(ParameterError, match="no part 'z9'"):
        part_of(model, "z9")
