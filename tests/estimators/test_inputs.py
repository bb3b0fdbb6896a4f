"""Sparse arrays and dates as features."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array
from sklearn.datasets import load_wine

from solah import LinguisticTreeClassifier, RuleClassifier, load_model
from solah.exceptions import ColumnError, DataError


def test_sparse_arrays_are_arrays(tmp_path):
    X, y = load_wine(return_X_y=True)
    X[X < 1] = 0
    for estimator in (RuleClassifier(max_rules=6), LinguisticTreeClassifier(max_depth=2)):
        dense = estimator.fit(X, y).model_
        model = estimator.fit(csr_array(X), y)
        assert model.model_ == dense
        found = model.predict_proba(coo_matrix(X))
        np.testing.assert_array_equal(found, model.predict_proba(X))
        model.save(tmp_path / "wine.json")
        used = [int(feature.name[1:]) for feature in model.model_.features]
        loaded = load_model(tmp_path / "wine.json").predict_proba(csr_array(X[:, used]))
        np.testing.assert_array_equal(loaded, found)


@pytest.fixture(scope="module")
def shifts():
    """Return rows whose class is the hour of a date."""
    times = pd.date_range("2024-01-01", periods=300, freq="7h")
    noise = np.random.default_rng(0).normal(size=300)
    return pd.DataFrame({"time": times, "noise": noise}), np.where(times.hour > 12, "pm", "am")


def test_dates_are_their_parts(shifts, tmp_path):
    X, y = shifts
    model = RuleClassifier(max_features=1).fit(X, y)
    assert {one.name for one in model.model_.features} == {"hour of time"}
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.feature_names_in_, ["time", "noise"])
    np.testing.assert_array_equal(model.feature_importances_, [1.0, 0.0])
    found = model.predict_proba(X)
    texts = X.assign(time=X["time"].astype(str))
    np.testing.assert_array_equal(model.predict_proba(texts), found)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), found)
    assert RuleClassifier(max_features=1).fit(texts, y).model_ == model.model_
    model.save(tmp_path / "shifts.json")
    np.testing.assert_array_equal(load_model(tmp_path / "shifts.json").predict_proba(X), found)
    with pytest.raises((ColumnError, ValueError), match="time"):
        model.predict(X[["noise"]])


def test_dates_in_which_nothing_repeats_are_refused(shifts):
    X, y = shifts
    once = X.assign(time=pd.Timestamp("2024-01-01"))[["time"]]
    with pytest.raises(
        DataError,
        match="the dates in 'time' give no features, as no hour, weekday or month repeats",
    ):
        RuleClassifier().fit(once, y)
