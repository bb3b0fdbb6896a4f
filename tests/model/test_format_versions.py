"""Documents of all versions are read; what they decide stays the same."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_number_model
from solah.exceptions import ModelFormatError
from solah.model import Fusion, load_document
from solah.model.format import FORMAT_VERSION, from_json, to_json
from solah.model.schema import model_schema
from solah.runtime import load_model

VERSION_1 = Path(__file__).parent / "documents_v1"
DECISIONS = json.loads((VERSION_1 / "decisions.json").read_text())


@pytest.mark.parametrize("name", sorted(DECISIONS))
def test_documents_of_version_1_decide_as_before(name, tmp_path):
    path = VERSION_1 / f"{name}.json"
    assert json.loads(path.read_text())["version"] == 1
    decided = DECISIONS[name]
    evaluator = load_model(path)
    rows = np.array(decided["rows"], dtype=float)
    assert [one.name for one in evaluator.model_.attributes] == decided["columns"]
    np.testing.assert_allclose(evaluator.beliefs(rows), decided["beliefs"], atol=1e-12)
    np.testing.assert_allclose(evaluator.predict(rows), decided["decisions"], atol=1e-9)
    written = to_json(evaluator.model_)
    assert json.loads(written)["version"] == FORMAT_VERSION
    assert from_json(written.encode()) == evaluator.model_
    jsonschema.validate(json.loads(written), model_schema())


def test_weights_of_version_1_are_scores_now():
    model = load_document(VERSION_1 / "nested_fusion.json")
    group, root = model.fusions
    assert (group.bias, len(root.bias)) == ((), 3)
    assert sum(model.goal.prior) == pytest.approx(1.0)
    for tree in model.trees:
        assert tree.variance == 0.0
        np.testing.assert_allclose(tree.scores.mean(axis=1), 0.0, atol=1e-12)
        assert not tree.scores[tree.split >= 0].any()


def test_weights_of_version_1_have_bounds():
    document = json.loads((VERSION_1 / "nested_fusion.json").read_text())
    group, root = (tree for tree in document["trees"] if "weighs" in tree)
    group["weighs"][0]["weight"] = root["weighs"][0]["weight"] = 1e5
    with pytest.raises(ModelFormatError, match=r"come to 1e\+10, and may come to 1e\+06"):
        from_json(json.dumps(document).encode())
    root["weighs"][0]["weight"] = 1e7
    with pytest.raises(ModelFormatError, match="weight must be"):
        from_json(json.dumps(document).encode())


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 4))
def test_models_survive_the_round_trip_and_fit_the_schema(shape, seed, n_classes):
    check_round_trip(random_model(np.random.default_rng(seed), shape, n_classes))


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@given(seed=st.integers(0, 2**32 - 1))
def test_numbers_survive_the_round_trip_and_fit_the_schema(shape, seed):
    check_round_trip(random_number_model(np.random.default_rng(seed), shape))


def check_round_trip(model):
    written = to_json(model)
    assert from_json(written.encode()) == model
    assert to_json(from_json(written.encode())) == to_json(model)
    jsonschema.validate(json.loads(written), model_schema())


def broken(change, model=None):
    model = model or random_model(np.random.default_rng(3), "groups", 2)
    document = json.loads(to_json(model))
    change(document, {tree["name"]: tree for tree in document["trees"]})
    return json.dumps(document).encode()


def first_leaf(tree):
    return next(node for node in tree["nodes"] if "scores" in node)


def on_attribute(place, **changes):
    return lambda document, _: document["attributes"][place].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, _: d["goal"].pop("prior"), "needs a prior"),
        (lambda d, _: d["goal"].update(prior=[0.5, 0.6]), "sum to 1"),
        (lambda _, t: t["y"].pop("bias"), "must have a bias"),
        (lambda _, t: t["first"].update(bias=[0.0, 0.0]), "must have no bias"),
        (lambda _, t: first_leaf(t["of x0"]).update(scores=[1e7, 0.0]), r"from -1e\+06 to 1e\+06"),
        (lambda _, t: first_leaf(t["of x0"]).update(scores=[1.0]), "must have 2 items"),
        (lambda _, t: first_leaf(t["of x0"]).pop("scores"), "has no 'scores'|scores"),
        (
            lambda _, t: (
                [n.pop("scores", 0) for n in t["of x2"]["nodes"]] and t["of x2"].pop("variance")
            ),
            "must have scores",
        ),
        (lambda _, t: t["of x0"].update(variance=-1.0), "variance must be"),
        (lambda _, t: t["of x0"].update(variance=1e13), "variance must be"),
        (
            lambda _, t: t["x0 and x1"].update(missing=t["of x1"]["missing"]),
            "needs a tree with one attribute",
        ),
        (lambda _, t: t["of x1"]["missing"].pop("scores"), "scores"),
        (on_attribute(0, cores=[[None, None], [1, None]]), "cores"),
        (on_attribute(0, peaks=[1.0]), "has 'peaks'"),
        (lambda _, t: t["y"].update(adds=["both", "of x4", "of x5", "first"]), "as another tree"),
    ],
)
def test_what_is_wrong_with_scores_is_refused(change, message):
    with pytest.raises(ModelFormatError, match=message):
        from_json(broken(change))


def test_the_scores_of_all_trees_together_have_a_bound():
    def change(_, trees):
        for name in ("of x0", "of x2"):
            first_leaf(trees[name])["scores"] = [6e5, -6e5]

    with pytest.raises(ModelFormatError, match=r"come to 1.2e\+06, and may come to 1e\+06"):
        from_json(broken(change))


def test_a_tree_that_no_fusion_adds_up_has_no_scores():
    def change(_, trees):
        for node in trees["y"]["nodes"]:
            if "split" not in node:
                node["scores"] = [0.0, 0.0]

    model = random_model(np.random.default_rng(0), "tree", 2)
    with pytest.raises(ModelFormatError, match="must have no scores"):
        from_json(broken(change, model))
    with pytest.raises(ModelFormatError, match="stands at a tree without scores"):
        from_json(broken(lambda _, t: t["y"].update(variance=1.0), model))


def test_a_number_is_added_up_by_a_fusion():
    model = random_number_model(np.random.default_rng(0))
    with pytest.raises(ModelFormatError, match="which feeds no tree|must end with a fusion"):
        from_json(broken(lambda d, _: d["trees"].pop(), model))
    assert isinstance(model.root, Fusion)
