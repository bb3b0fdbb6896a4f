"""The ONNX graph: inputs, outputs and metadata as others write them."""

from dataclasses import replace

import numpy as np
import pytest

from random_models import any_model, random_number_model, with_features
from small_models import room_model
from solah.exceptions import ParameterError
from solah.export import export_onnx
from solah.model.format import model_hash

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def session_of(model):
    return onnxruntime.InferenceSession(export_onnx(model, name="room").files["room.onnx"])


def described(arguments):
    return [(one.name, one.type, one.shape[1:]) for one in arguments]


def test_inputs_and_outputs_have_names():
    session = session_of(room_model())
    assert described(session.get_inputs()) == [
        ("CO2", "tensor(double)", [1]),
        ("door", "tensor(string)", [1]),
    ]
    assert described(session.get_outputs()) == [
        ("label", "tensor(string)", []),
        ("probabilities", "tensor(double)", [2]),
    ]
    number = session_of(random_number_model(np.random.default_rng(0)))
    assert described(number.get_outputs()) == [("variable", "tensor(double)", [1])]


def test_it_says_of_which_model_it_is():
    model = room_model()
    about = session_of(model).get_modelmeta()
    assert (about.producer_name, about.graph_name) == ("solah", "room")
    assert about.custom_metadata_map == {"target": "occupied", "model_hash": model_hash(model)}


def test_only_standard_operators_are_used():
    found = set()
    for place in range(12):
        graph = onnx.load_from_string(export_onnx(any_model(place)).files["model.onnx"]).graph
        found |= {(node.domain, node.op_type) for node in graph.node}
    assert {domain for domain, _ in found} == {"", "ai.onnx.ml"}
    assert {name for domain, name in found if domain} == {"LabelEncoder"}


def test_an_output_makes_way_for_an_feature_of_its_name():
    model = room_model()
    air = replace(model.features[0], name="label")
    features = {"CO2": air, "door": model.features[1]}
    root = with_features(model.root, features)
    model = replace(model, features=tuple(features.values()), nodes=(root,))
    assert [one.name for one in session_of(model).get_outputs()] == ["label_", "probabilities"]


def test_a_model_that_asks_nothing_is_refused():
    model = room_model()
    constant = replace(model.root, terms=())
    with pytest.raises(ParameterError, match="asks for no reading"):
        export_onnx(replace(model, nodes=(constant,)))
