"""The compared numbers of rules, as text and in a notebook."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from solah import RuleClassifier, RuleRegressor, datasets
from solah.estimators.rules import RulePath
from solah.exceptions import ParameterError


@pytest.fixture(scope="module")
def model():
    wine = datasets.load("wine")
    return RuleClassifier(interactions=0).fit(wine.table, wine.target)


def test_the_path_is_a_table_with_the_chosen_number(model):
    head, *lines = str(model.path_).splitlines()
    assert head.split() == ["at", "most", "rules", "features", "accuracy", "log-loss"]
    assert len(lines) == len(model.path_)
    page = model.path_._repr_html_()
    assert (page.count("<tr>"), page.count("chosen")) == (len(model.path_) + 1, 1)
    assert [line.endswith("chosen") for line in lines] == [step.is_chosen for step in model.path_]


def test_the_metrics_have_intervals(model):
    """Of 178 rows, the standard error of an accuracy is that of a share."""
    for step in model.path_:
        expected = np.sqrt(step.quality * (1 - step.quality) / 178)
        assert step.quality_error == pytest.approx(expected, rel=0.2, abs=0.003)
        assert 0 < step.loss_error < 0.2
        assert f"± {1.96 * step.quality_error:.3f}" in str(model.path_)


def test_a_path_without_steps_says_so():
    path = RulePath()
    assert str(path) == "No numbers of rules were compared."
    assert str(path) in path._repr_html_()


def test_another_number_of_rules_is_a_fit_with_it(model):
    wine = datasets.load("wine")
    before, few = model.model_, model.with_rules(10)
    alone = RuleClassifier(interactions=0, max_rules=10).fit(wine.table, wine.target)
    assert few.model_ == alone.model_
    assert few.max_rules == 10
    assert [step.max_rules for step in few.path_ if step.is_chosen] == [10]
    assert few.with_rules(14).n_rules_ > few.n_rules_
    np.testing.assert_array_equal(few.relevance_, alone.relevance_)
    assert few.dropped_features_ == alone.dropped_features_
    assert model.model_ is before
    X, y = load_diabetes(return_X_y=True)
    number = RuleRegressor(interactions=0).fit(X, y).with_rules(7)
    assert number.model_ == RuleRegressor(interactions=0, max_rules=7).fit(X, y).model_


def test_another_number_of_rules_keeps_rules_by_hand_and_thresholds():
    wine = datasets.load("wine")
    words = {"proline": {"low": 500.0, "high": 1000.0}}
    model = RuleClassifier(words=words, interactions=0)
    model.fit(wine.table, wine.target, rules=["if proline is high then class_0 +2"])
    model.set_params(thresholds={"class_0": 0.1})
    few = model.with_rules(6)
    (fixed,) = [one for one in few.model_.terms if one.features == ("proline",)]
    np.testing.assert_allclose(np.ptp(fixed.weights[1]), 2.0)
    assert few.model_.target.thresholds == model.model_.target.thresholds


def test_the_rows_are_not_pickled(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.model_ == model.model_
    with pytest.raises(ParameterError, match="fit it again, with max_rules=10"):
        again.with_rules(10)
    for wrong in (None, 2.5, 0, -1):
        with pytest.raises(ParameterError, match=r"'max_rules' must be an integer of at least 1"):
            model.with_rules(wrong)
