"""A part of a model is a model that believes what the part says."""

import numpy as np
import pytest

from random_models import SHAPES, coded, random_model, random_rows
from solah.exceptions import ParameterError
from solah.model.beliefs import heard_by_fusions, signals_of
from solah.model.format import from_json, to_json
from solah.model.parting import part_of


@pytest.mark.parametrize("shape", SHAPES)
def test_a_part_says_what_it_says_in_the_model(shape):
    rng = np.random.default_rng(0)
    model = random_model(rng, shape, 3)
    rows = coded(model, random_rows(rng, model, 50))
    whole, heard = signals_of(model.nodes, rows), heard_by_fusions(model.nodes)
    for node in model.nodes:
        part = part_of(model, node.name)
        assert from_json(to_json(part).encode()) == part
        believed = signals_of(part.nodes, rows)[part.root.name]
        if node.name in heard:
            logs = np.log(believed)
            believed = logs - logs.mean(axis=1, keepdims=True)
        assert believed == pytest.approx(whole[node.name], abs=1e-9)


def test_a_part_that_is_not_there_is_named():
    model = random_model(np.random.default_rng(0), "flat fusion")
    with pytest.raises(ParameterError, match="no part 'z9'"):
        part_of(model, "z9")
