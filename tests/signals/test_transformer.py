"""The transformer for scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from machines import CHANNELS, RATE, machine, recordings, window_features
from solah.exceptions import DataError, ParameterError
from solah.signals import WindowFeatures


def test_recordings_and_windows_give_the_same_readings():
    samples = machine(np.random.default_rng(0), False, 100)
    features = window_features()
    cut = np.stack([samples[start : start + RATE] for start in (0, 25, 50)])
    assert features.transform(samples).shape == (3, len(features.get_feature_names_out()))
    assert (features.transform(samples) == features.transform(cut)).all()
    assert (features.transform([samples]) == features.transform(cut)).all()


def test_windows_go_through_pipelines_with_groups():
    rng = np.random.default_rng(1)
    windows = np.stack([machine(rng, place % 2 == 1, RATE) for place in range(60)])
    classes, groups = np.arange(60) % 2, np.arange(60) // 6
    features = window_features(features=["rms", "deviation"])
    pipeline = make_pipeline(features, StandardScaler(), LogisticRegression())
    scores = cross_val_score(pipeline, windows, classes, groups=groups, cv=GroupKFold(5))
    assert scores.mean() > 0.9


def test_it_is_cloned_and_pickled_as_any_estimator():
    features = window_features()
    again = pickle.loads(pickle.dumps(clone(features).fit()))
    assert again.signals_ == features.signals_
    assert features.get_params()["window"] == "1s"


def test_windows_carry_times_labels_and_groups():
    parts = recordings(np.random.default_rng(2), 2, n_samples=75)
    windows = window_features().windows(parts)
    assert windows.recording.tolist() == ["r0", "r0", "r1", "r1", "r2", "r2", "r3", "r3"]
    assert windows.labels.tolist() == ["ok", "ok", "fault", "fault"] * 2
    assert windows.groups.tolist() == ["site 0"] * 6 + ["site 1"] * 2


def test_what_makes_no_sense_is_refused():
    with pytest.raises(NotFittedError):
        WindowFeatures(CHANNELS, RATE).transform(np.zeros((100, 3)))
    with pytest.raises(ParameterError, match="unknown feature 'loudness'"):
        WindowFeatures(CHANNELS, RATE, features=["loudness"]).fit()
    with pytest.raises(DataError, match=r"windows must have the shape \(50, 3\)"):
        window_features().transform(np.zeros((2, 40, 3)))
    with pytest.raises(DataError, match=r"recording 0 must have the shape \(samples, 3\)"):
        window_features().transform(np.zeros((200, 2)))
