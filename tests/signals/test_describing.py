"""Signals as people write them."""

from dataclasses import replace

import numpy as np
import pytest

from machines import machine_model, recordings, window_features
from solah import RuleClassifier
from solah.exceptions import ParameterError
from solah.signals import (
    Channel,
    FeatureKind,
    Signals,
    WindowFeature,
    describe_signals,
    with_signals,
)


def described(**changes):
    parameters = {"rate": 50, "window": "2s", "features": ["mean"], **changes}
    return describe_signals(parameters.pop("channels", ["x", "y"]), **parameters)


def test_times_become_samples():
    signals = described(window="2s", overlap="75%", max_gap="100ms")
    assert (signals.window, signals.step, signals.max_gap) == (100, 25, 5)
    assert described(window=30, overlap=0).step == 30
    assert described(window="500 ms").window == 25
    assert described(window="40").max_gap == 4


def test_slower_channels_come_with_some_ticks_only():
    signals = described(rate={"x": 100, "y": 25}, window="1s")
    assert [one.every for one in signals.channels] == [1, 4]
    assert (signals.length("x"), signals.length("y")) == (100, 25)
    assert signals.step == 48  # a multiple of 4 near to half of the window


def test_features_have_names_for_rules_and_units():
    signals = described(
        channels=["vibration", "sound"],
        features=["rms", "p90", "energy 2-5", "pitch", "slope", "peaks", "correlation"],
        units={"vibration": "g"},
    )
    units = {one.name: signals.unit(one) for one in signals.features}
    assert units == {
        "vibration RMS over 2 s": "g",
        "vibration 90 % quantile over 2 s": "g",
        "vibration energy from 2 to 5 Hz": "g²",
        "pitch of vibration": "Hz",
        "vibration slope over 2 s": "g/s",
        "vibration peaks in 2 s": "",
        "sound RMS over 2 s": "",
        "sound 90 % quantile over 2 s": "",
        "sound energy from 2 to 5 Hz": "",
        "pitch of sound": "Hz",
        "sound slope over 2 s": "",
        "sound peaks in 2 s": "",
        "correlation of vibration and sound": "",
    }


def test_a_magnitude_is_a_channel_that_needs_its_axes():
    signals = described(magnitudes={"size": ["x", "y"]}, features=["mean", "correlation"])
    assert signals.channels[-1] == Channel("size", axes=("x", "y"))
    assert "size mean over 2 s" in signals.names
    kept = signals.only(["size mean over 2 s"])
    assert kept.channel_names == ("x", "y", "size")
    assert signals.only(["y mean over 2 s"]).channel_names == ("y",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"channels": []}, "'channels' must be a list of names; got []"),
        ({"channels": "x"}, "'channels' must be a list of names; got 'x'"),
        ({"channels": ["x", "x"]}, "two channels have one name"),
        ({"rate": 0}, "'rate' must be from 1e-06 to 1e+06 samples per second; got 0 for 'x'"),
        ({"rate": {"x": 50}}, "'rate' has no value for the channel 'y'"),
        ({"rate": {"x": 50, "y": 20}}, "the rate of channel 'y' (20) must divide the fastest (50)"),
        ({"rate": {"x": 50, "y": 1}, "window": "1s", "overlap": 0}, "'y': a window has one"),
        ({"rate": {"x": 50, "y": 10}, "window": 42}, "the window of 42 samples of the fastest"),
        ({"window": "2 minutes"}, "'window' must be a number of samples, or a time such as '2s'"),
        ({"window": 2.5}, "'window' must be a number of samples, or a time such as '2s'"),
        ({"window": "7ms"}, "'7ms' at 50 per second is 0.35"),
        ({"window": 20_000}, "from 2 to 16,384"),
        ({"overlap": "100%"}, "'overlap' must be a share of the window"),
        ({"overlap": -0.5}, "'overlap' must be a share of the window"),
        ({"max_gap": "9s"}, "'max_gap' must be a whole number of samples from 0 to 100"),
        ({"features": ["rsm"]}, "unknown feature 'rsm'; did you mean 'rms'?"),
        ({"features": ["p101"]}, "unknown feature 'p101'"),
        ({"features": ["energy 5-2"]}, "has no frequency in this band"),
        ({"features": ["energy 2.1-2.4"]}, "has no frequency in this band"),
        ({"features": ["pitch"], "window": 2}, "has no frequency in this band"),
        ({"magnitudes": {"m": ["x", "z"]}}, "the magnitude 'm' has no axis 'z'"),
        ({"magnitudes": {"m": ["x"]}}, "needs two axes at least"),
        (
            {"rate": {"x": 50, "y": 25}, "magnitudes": {"m": ["x", "y"]}},
            "channel 'm': the axes of a magnitude are measured channels of its own rate",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ParameterError) as error:
        described(**changes)
    assert message in str(error.value)


def test_channels_of_different_rates_have_no_correlation():
    signals = described(rate={"x": 50, "y": 25}, features=["mean", "correlation"])
    assert signals.names == ("x mean over 2 s", "y mean over 2 s")
    feature = WindowFeature("r", FeatureKind.CORRELATION, ("x", "y"))
    with pytest.raises(ParameterError, match="its channels must have one rate"):
        replace(signals, features=(feature,))
    with pytest.raises(ParameterError, match="'r' must have 2 of the channels"):
        Signals(50.0, 10, 5, 0, (Channel("x"),), (replace(feature, channels=("x",)),))


def test_a_model_carries_only_what_its_rules_speak_of():
    features = window_features()
    model = machine_model(np.random.default_rng(0), features)
    asked = {name for term in model.terms for name in term.features}
    assert asked < set(features.signals_.names)
    assert model.signals.names == tuple(one.name for one in model.features)
    assert set(model.signals.names) == asked
    needed = {name for one in model.signals.features for name in one.channels}
    assert needed <= set(model.signals.channel_names) <= {"x", "y", "z", "vibration"}


def test_a_model_of_something_else_carries_no_signals():
    model = machine_model(np.random.default_rng(0))
    with pytest.raises(ParameterError, match="which is not a feature of the signals"):
        with_signals(model, described())


def test_a_feature_that_is_taken_for_states_is_refused():
    features = window_features(features=["peaks"], magnitudes=None)
    windows = features.windows(recordings(np.random.default_rng(0)))
    two = replace(windows, readings=(windows.readings > 5).astype(float))
    model = RuleClassifier().fit(two.table, two.labels).model_
    with pytest.raises(ParameterError, match="as binary, since few values occur"):
        with_signals(model, features.signals_)
