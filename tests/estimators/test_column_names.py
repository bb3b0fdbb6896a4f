"""Columns keep their own names, whatever type these have."""

import pickle

import numpy as np
import pandas as pd
import pytest

from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    RuleRegressor,
    load_model,
)
from solah.exceptions import ColumnError
from solah.stream import StreamLearner

ESTIMATORS = [
    LinguisticTreeClassifier,
    RuleClassifier,
    RuleRegressor,
]


@pytest.fixture(scope="module")
def rows():
    """Return rows with names that are numbers and not in order, of which 3 decides."""
    numbers = np.random.default_rng(0).normal(size=(80, 3))
    return pd.DataFrame(numbers, columns=[11, 3, 5])


def target_of(rows, estimator):
    if estimator is RuleRegressor:
        return pd.Series(2 * rows[3], name=7)
    return pd.Series(np.where(rows[3] > 0, "high", "low"), name=7)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_names_that_are_numbers_reach_rules_and_the_model_file(rows, estimator, tmp_path):
    fitted = estimator().fit(rows, target_of(rows, estimator))
    assert not hasattr(fitted, "feature_names_in_")  # scikit-learn has it for text alone
    assert {one.name for one in fitted.model_.features} <= {"11", "3", "5"}
    assert fitted.model_.target.name == "7"
    assert "3 is" in str(fitted.rules())
    assert fitted.feature_importances_.argmax() == 1
    fitted.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(rows), fitted.predict(rows))
    np.testing.assert_array_equal(
        loaded.predict(rows.rename(columns=str)[["5", "3", "11"]]), fitted.predict(rows)
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_columns_are_found_by_names_that_are_numbers(rows, estimator):
    fitted = pickle.loads(pickle.dumps(estimator().fit(rows, target_of(rows, estimator))))
    expected = fitted.predict(rows)
    np.testing.assert_array_equal(fitted.predict(rows[[5, 11, 3]]), expected)
    np.testing.assert_array_equal(fitted.predict(rows.to_numpy()), expected)
    with pytest.raises(ColumnError, match="no column '11'; there are: '12', '3', '5'"):
        fitted.predict(rows.rename(columns={11: 12}))


def test_an_estimator_forgets_the_names_of_an_earlier_fit(rows):
    classes = target_of(rows, LinguisticTreeClassifier)
    tree = LinguisticTreeClassifier().fit(rows, classes)
    tree.fit(rows.to_numpy(), classes)
    assert {one.name for one in tree.model_.features} == {"x0", "x1", "x2"}
    np.testing.assert_array_equal(tree.predict(rows), tree.predict(rows.to_numpy()))


def test_other_names_are_refused(rows):
    levels = rows.set_axis(pd.MultiIndex.from_product([["a"], [1, 2, 3]]), axis=1)
    with pytest.raises(ColumnError, match="join the levels: frame.columns = "):
        LinguisticTreeClassifier().fit(levels, [0, 1] * 40)
    with pytest.raises(ColumnError, match="not text, such as 3; make all of them text"):
        LinguisticTreeClassifier().fit(rows.rename(columns={11: "a"}), [0, 1] * 40)


def test_a_stream_keeps_names_that_are_numbers(rows, tmp_path):
    classes = target_of(rows, LinguisticTreeClassifier)
    learner = StreamLearner(LinguisticTreeClassifier(), min_rows=60)
    learner.learn(rows, classes)
    learner.save(tmp_path / "state")
    again = StreamLearner.resume(tmp_path / "state", LinguisticTreeClassifier())
    again.learn(rows[[5, 11, 3]], classes)
    learner.learn(rows, classes)
    np.testing.assert_array_equal(again.predict_proba(rows), learner.predict_proba(rows))
