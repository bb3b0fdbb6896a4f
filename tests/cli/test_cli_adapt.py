"""``solah adapt``: a model learns from labelled rows, or takes home what a device learned."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from solah.export.online import Learner
from solah.model import load_document


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", "12", "-o", path, "-q").code == 0
    return path


def wine_with_other_classes(folder):
    """Write the rows of wine with the classes in another order, as if everything had drifted."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    turned = X.assign(**{"class": [f"class_{(one + 1) % 3}" for one in y]})
    turned.sample(frac=1, random_state=0).to_csv(folder / "turned.csv", index=False)
    return folder / "turned.csv"


def test_a_model_learns_and_is_written(run, model, tmp_path):
    adapted = tmp_path / "adapted.json"
    outcome = run("adapt", model, "wine", "--times", "2", "-o", adapted)
    assert "accuracy after" in outcome.out
    assert "kept the old weights" in outcome.err
    before = load_document(model)
    assert load_document(adapted) == before
    moved = wine_with_other_classes(tmp_path)
    found = run("adapt", model, moved, "--times", "2", "-o", adapted, "--json").document
    assert (found["rows"], found["times"], found["is_kept"]) == (178, 2, False)
    after = load_document(adapted)
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
