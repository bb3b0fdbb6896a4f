"""Signals in the model document: written, read back, and every value checked."""

import json

import jsonschema
import numpy as np
import pytest

from machines import machine_model
from model_schema import model_schema
from solah.data.json_reader import Reader
from solah.exceptions import ModelFormatError
from solah.model.compile import part_of
from solah.model.format import from_json, to_json
from solah.model.json_fields import read_record, record_of
from solah.model.signals import Signals
from solah.signals import describe_signals


@pytest.fixture(scope="module")
def model():
    return machine_model(np.random.default_rng(0))


def test_signals_survive_the_round_trip(model):
    text = to_json(model)
    assert from_json(text.encode()) == model
    assert to_json(from_json(text.encode())) == text
    jsonschema.validate(json.loads(text), model_schema())


def test_every_kind_of_feature_survives_the_round_trip(model):
    kinds = [
        *("mean", "min", "max", "range", "rms", "deviation", "change", "slope", "zero crossings"),
        *("mean crossings", "peaks", "p12.5", "energy 0.5-9.25", "pitch", "correlation"),
    ]
    signals = describe_signals(
        ["x", "y", "t"],
        rate={"x": 100, "y": 100, "t": 25},
        window="1s",
        features=kinds,
        magnitudes={"m": ["x", "y"]},
        units={"x": "m/s²"},
    )
    record = json.loads(json.dumps(record_of(signals)))
    reader = Reader(record, "the signals", ModelFormatError)
    assert read_record(reader, Signals) == signals
    jsonschema.validate(record, {"$ref": "#/$defs/signals", "$defs": model_schema()["$defs"]})


def test_a_part_of_a_model_carries_its_part_of_the_signals(model):
    part = part_of(model, model.parts[0].name)
    assert part.signals.names == tuple(one.name for one in part.features)
    assert from_json(to_json(part).encode()) == part


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 0}, "the model.signals.rate must be a finite number from 1e-06 to 1e+06"),
        ({"window": 1}, "the model.signals.window must be an integer from 2 to 16384"),
        ({"window": 50.0}, "the model.signals.window must be an integer"),
        ({"step": 0}, "the model.signals.step must be an integer from 1"),
        ({"max_gap": 51}, "the model.signals: 'max_gap' must be up to the window. Got 51"),
        ({"channels": []}, "the model.signals.channels must have between 1 and 255 items"),
        ({"channels": [{"name": "w"}]}, "the model.signals: there is no channel"),
        ({"features": []}, "the model.signals.features must have between 1"),
        ({"speed": 1}, "the model.signals has 'speed'"),
        ({"channels": [{"name": "x", "every": 7}] * 2}, "two channels have one name"),
        ({"channels": [{"name": "x", "axes": ["y"]}]}, "axes must have between 2"),
    ],
)
def test_wrong_signals_are_refused(model, change, message):
    document = json.loads(to_json(model))
    document["signals"] |= change
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "loudness"}, "kind must be one of 'mean', 'min'"),
        ({"kind": ["mean"]}, "kind must be a text"),
        ({"at": 5}, "has numbers of another kind"),
        ({"kind": "percentile", "at": 101}, "at must be a finite number from 0 to 100"),
        ({"kind": "energy", "low": 5, "high": 2}, "has no frequency in this band"),
        ({"kind": "energy", "low": 2.1, "high": 2.4}, "has no frequency in this band"),
        ({"kind": "correlation"}, "must have 2 of the channels"),
        ({"channels": ["nowhere"]}, "there is no channel 'nowhere'"),
        ({"name": "something else"}, "no feature of windows for"),
    ],
)
def test_wrong_features_are_refused(model, change, message):
    document = json.loads(to_json(model))
    plain = {"kind": "mean", "channels": document["signals"]["features"][0]["channels"][:1]}
    name = document["signals"]["features"][0]["name"]
    document["signals"]["features"][0] = {"name": name} | plain | change
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert message in str(error.value)
