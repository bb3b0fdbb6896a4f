"""``solah adapt``: a model learns from labelled rows, or takes home what a device learned."""

import numpy as np
import pytest

from solah.learn.online import Learner
from solah.model import load_document


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", "12", "-o", path, "-q").code == 0
    return path


def test_a_model_learns_and_is_written(run, model, tmp_path):
    adapted = tmp_path / "adapted.json"
    outcome = run("adapt", model, "wine", "--times", "2", "-o", adapted)
    assert "accuracy after" in outcome.out
    found = run("adapt", model, "wine", "--times", "2", "-o", adapted, "--json").document
    assert (found["rows"], found["times"]) == (178, 2)
    before, after = load_document(model), load_document(adapted)
    assert after.n_rules == before.n_rules
    assert after != before


def test_what_a_device_learned_comes_home(run, model, tmp_path):
    document = load_document(model)
    device = Learner(document)
    device.learn(np.full((5, len(document.features)), np.nan), [0] * 5)
    memory, adapted = tmp_path / "memory.bin", tmp_path / "adapted.json"
    memory.write_bytes(device.save())
    assert run("adapt", model, "--device-state", memory, "-o", adapted).code == 0
    assert load_document(adapted) == device.model()
    memory.write_bytes(b"junk")
    run("adapt", model, "--device-state", memory, "-o", adapted).check_error("bytes for this model")


def test_wrong_words_are_one_line(run, model, tmp_path):
    output = ("-o", tmp_path / "a.json")
    run("adapt", model, *output).check_error("pass DATA, --device-state, or both")
    run("adapt", model, "wine", "--pace", "0", *output).check_error("'pace' must be")
    run("adapt", model, "wine", "-t", "hue", *output).check_error("none of the model's classes")
