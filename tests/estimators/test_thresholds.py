"""Decisions that do not wait for the largest belief."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    load_model,
)
from solah.data import from_array
from solah.estimators.inputs import complete_thresholds
from solah.evaluation import Plan, cross_validate
from solah.exceptions import DataError, ParameterError


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 0, "malignant", "benign")


def test_a_class_is_decided_for_above_its_threshold(cancer):
    X, y = cancer
    model = LinguisticTreeClassifier(max_rules=9, thresholds={"malignant": 0.1}).fit(X, y)
    belief = model.predict_proba(X)[:, 1]
    assert ((model.predict(X) == "malignant") == (belief > 0.1)).all()
    usual = LinguisticTreeClassifier(max_rules=9).fit(X, y)
    assert (model.predict(X) == "malignant").sum() > (usual.predict(X) == "malignant").sum()


def test_an_evaluation_counts_what_is_decided(cancer):
    X, y = cancer
    hasty = LinguisticTreeClassifier(max_rules=5, thresholds={"malignant": 1e-9})
    result = cross_validate({"hasty": hasty}, X, y, Plan(folds=3))
    assert result.spreads("hasty")["accuracy"].mean < 0.6


def test_thresholds_are_completed_or_refused():
    assert complete_thresholds(None, ["a", "b"]) == complete_thresholds({}, ["a", "b"]) == ()
    assert complete_thresholds({1: 0.2}, [0.0, 1.0]) == (0.8, 0.2)
    assert complete_thresholds({2: 0.1}, [0, 1, 2]) == (0.45, 0.45, 0.1)
    for thresholds, message in (
        ({"c": 0.5}, "the class 'c', which the rows do not have"),
        ({"a": 0.0}, "must be above 0 and below 1. Got 0.0"),
        ({"a": "much"}, "must be above 0 and below 1. Got 'much'"),
        ({"a": 0.5, "b": 0.6, "": 0.1}, "must sum to 1"),
        ({"a": 0.7, "b": 0.6}, "sum to less than 1, .* Got 1.3"),
    ):
        with pytest.raises(ParameterError, match=message):
            complete_thresholds(thresholds, ["a", "b", ""])
    with pytest.raises(ParameterError, match="names the class '1' twice"):
        complete_thresholds({1: 0.2, "1": 0.7}, [0, 1])


def test_costs_of_errors_are_lowest(cancer):
    """Where probabilities are as they say, the class with the lowest expected cost is predicted."""
    rng = np.random.default_rng(0)
    for costs in (
        rng.uniform(1, 9, (2, 2)) + np.array([[-9, 0], [0, -9]]),
        np.array([[0, 1, 1], [5, 1, 5], [2.5, 2.5, 0]]),
    ):
        shares = rng.dirichlet(np.ones(len(costs)), 500)
        thresholds = complete_thresholds(costs, range(len(costs)))
        decided = (shares / np.array(thresholds)).argmax(axis=1)
        np.testing.assert_array_equal(decided, (shares @ costs).argmin(axis=1))
    assert complete_thresholds(1 - np.eye(3), "abc") == ()
    for costs, message in (
        ([[0, 1]], "a row for each of 2 true classes"),
        ([[0, np.nan], [1, 0]], "a row for each of 2 true classes"),
        ("much", "a row for each of 2 true classes"),
        ([[0, 1], [0, 0]], "an error must cost more"),
        ([[0, 1e-13], [1, 0]], "may differ by a factor of up to"),
    ):
        with pytest.raises(ParameterError, match=message):
            complete_thresholds(costs, ["a", "b"])
    with pytest.raises(ParameterError, match="must be equal in each row"):
        complete_thresholds([[0, 1, 2], [1, 0, 1], [1, 1, 0]], "abc")
    X, y = cancer
    by_costs = LinguisticTreeClassifier(max_rules=9, thresholds=[[0, 1], [9, 0]]).fit(X, y)
    named = LinguisticTreeClassifier(max_rules=9, thresholds={"malignant": 0.1}).fit(X, y)
    np.testing.assert_allclose(by_costs.model_.target.thresholds, named.model_.target.thresholds)
    np.testing.assert_array_equal(by_costs.predict(X), named.predict(X))


def test_thresholds_hold_from_when_they_are_set(cancer, tmp_path):
    X, y = cancer
    for estimator in (LinguisticTreeClassifier(max_rules=5), RuleClassifier(max_rules=5)):
        usual, other = estimator.fit(X, y).predict(X), {"malignant": 1e-6}
        expected = clone(estimator).set_params(thresholds=other).fit(X, y).predict(X)
        assert (expected != usual).any()
        assert (estimator.set_params(thresholds=other).predict(X) == expected).all()
        estimator.save(tmp_path / "m.json")
        table = from_array(X, [f"x{j}" for j in range(X.shape[1])])
        assert (load_model(tmp_path / "m.json").predict(table) == expected).all()
        assert estimator.explain(X[:1])[0].decision == expected[0]
        assert (estimator.set_params(thresholds=None).predict(X) == usual).all()


def test_wrong_thresholds_leave_a_fitted_model_as_it_is(cancer):
    X, y = cancer
    model = LinguisticTreeClassifier(max_rules=5, thresholds={"benign": 0.3}).fit(X, y)
    before = model.predict(X)
    for wrong in ({"ill": 0.2}, {"benign": 2.0}, [0.2, 0.8]):
        with pytest.raises(ParameterError, match="threshold"):
            model.set_params(thresholds=wrong, purity=0.5)
    assert (model.thresholds, model.purity) == ({"benign": 0.3}, 1.0)
    assert (model.predict(X) == before).all()


def test_an_unknown_class_is_named_with_its_row_counted_from_one(cancer):
    X, y = cancer
    model = LinguisticTreeClassifier(max_rules=5).fit(X, y)
    with pytest.raises(DataError, match="row 3 of 'class' is 'unclear', which is not a class"):
        model.partial_fit(X[:3], ["benign", "malignant", "unclear"])
