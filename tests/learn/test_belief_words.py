"""Words over what trees believe: unlikely, open, likely."""

import json

import jsonschema
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from model_schema import model_schema
from organised_trees import organised
from solah import (
    LinguisticHierarchyClassifier,
    load_model,
)
from solah.exceptions import ModelFormatError
from solah.kernels.reference import masses
from solah.model.features import BELIEF_WORDS, flatten
from solah.model.format import from_json, to_json

WIRING = "z <- x0, x1; y <- z, x2, x3"


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def two():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :4], np.array(["ill", "well"])[y]


def fit(data, **parameters):
    return LinguisticHierarchyClassifier(WIRING, **{"belief_words": 3} | parameters).fit(*data)


def test_two_classes_share_one_feature(two):
    feature = fit(two).model_.root.inputs[0]
    assert (feature.name, feature.tree, feature.place) == ("z(well)", "z", 1)
    assert feature.words == ("unlikely", "open", "likely")
    assert feature.peaks == (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.mark.parametrize("n_words", BELIEF_WORDS)
def test_there_are_two_to_five_words(two, n_words):
    model = fit(two, belief_words=n_words)
    assert model.model_.root.inputs[0].n_focal_sets == 2 * n_words - 1
    assert model.score(*two) > 0.85


def test_the_root_is_the_average_over_its_words_by_hand(two):
    """A root that splits on the belief alone: its beliefs, mixed by the masses of that belief."""
    X, y = two
    model = LinguisticHierarchyClassifier("z <- x0, x1; y <- z", belief_words=3).fit(X, y)
    root = model.model_.root
    (feature,) = root.inputs
    belief = model.node_outputs(X)["z"][:, 1]
    shares = masses(belief, flatten([feature]), 0)
    children = np.array([root.branches[rule].belief for rule in root.walk.child[1:]])
    assert root.walk.split.tolist() == [0, *[-1] * len(children)]
    np.testing.assert_allclose(model.predict_proba(X), shares @ children, atol=1e-9)


def test_an_unknown_belief_is_the_mean_of_the_training_rows(two):
    X, _ = two
    model = fit(two)
    feature = model.model_.root.inputs[0]
    belief = model.node_outputs(X)["z"][:, 1]
    mean = masses(belief, flatten([feature]), 0).mean(axis=0)
    np.testing.assert_allclose(feature.mean_masses, mean, atol=1e-6)


def test_it_is_saved_loaded_and_fits_the_schema(iris, tmp_path):
    model = fit(iris)
    jsonschema.validate(json.loads(to_json(model.model_)), model_schema())
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.model_ == model.model_
    np.testing.assert_array_equal(loaded.predict_proba(iris[0]), model.predict_proba(iris[0]))


def test_order_and_threads_leave_no_trace():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    order = np.random.default_rng(0).permutation(len(y))

    def document(X, y, n_jobs=None):
        settings = {"belief_words": 3, "cross_fit": 3, "n_jobs": n_jobs}
        return to_json(organised(**settings).fit(X, y).model_)

    assert document(X[order], y[order]) == document(X, y) == document(X, y, n_jobs=3)


def test_a_column_may_have_the_name_of_a_belief(two):
    pandas = pytest.importorskip("pandas")
    X, y = two
    frame = pandas.DataFrame(X, columns=["x0", "x1", "z(well)", "x3"])
    wiring = 'z <- x0, x1; y <- z, "z(well)", x3'
    model = LinguisticHierarchyClassifier(wiring, belief_words=2).fit(frame, y)
    assert [a.name for a in model.model_.root.inputs] == ["z(well)_", "z(well)", "x3"]
    assert from_json(to_json(model.model_).encode()) == model.model_


def test_a_cmac_hears_words(two):
    assert fit(two, node="cmac").model_.root.inputs[0].tree == "z"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node": "x0"}, "the name of a node before this one"),
        ({"node": "elsewhere"}, "the name of a node before this one"),
        ({"class": 2}, "an integer from 0 to 1"),
        ({"words": ["likely"]}, "peaks"),
        ({"peaks": [0.0, 0.5, 0.25, 0.75, 1.0]}, "increasing"),
        ({"missing": [1.0, 0.0, 0.0, 0.0, 0.5]}, "sum to 1"),
        ({"colour": "red"}, "colour"),
        ({"name": "x2"}, "names 'z\\(well\\)', which is neither a feature nor a node"),
    ],
)
def test_a_broken_belief_is_refused(two, change, message):
    document = json.loads(to_json(fit(two).model_))
    document["nodes"][1]["beliefs"][0].update(change)
    with pytest.raises(ModelFormatError, match=message):
        from_json(json.dumps(document).encode())
