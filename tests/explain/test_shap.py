"""Explanations for shap: equal to its own exact explainer where features vary independently."""

import sys

import numpy as np
import pandas as pd
import pytest

from solah import LinguisticTreeClassifier, RuleClassifier, RuleRegressor, load_model
from solah.exceptions import DataError, MissingExtraError
from solah.explain import Explanations

# Importing shap changes a colour map in a way that matplotlib will drop.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def crossed():
    """All combinations of three features, so that they vary independently of each other."""
    a, b, c = np.meshgrid(np.linspace(-2, 2, 7), np.linspace(-2, 2, 7), range(3), indexing="ij")
    X = pd.DataFrame({"a": a.ravel(), "b": b.ravel(), "c": c.ravel().astype(float)})
    rng = np.random.default_rng(0)
    return X, X.a * X.b + X.a + (X.c > 1) + rng.normal(0, 0.3, len(X))


def shap_values(score, X, rows):
    shap = pytest.importorskip("shap", reason="pip install shap")
    masker = shap.maskers.Independent(X.to_numpy(), max_samples=len(X))
    return shap.explainers.Exact(score, masker)(rows.to_numpy())


def check_equal(ours, theirs, score):
    assert ours.values == pytest.approx(theirs.values, abs=2e-3)
    assert ours.base_values == pytest.approx(theirs.base_values, abs=2e-3)
    assert ours.base_values + ours.values.sum(axis=1) == pytest.approx(score, abs=1e-9)


def test_numbers(crossed):
    X, y = crossed
    model = RuleRegressor(interactions=[("a", "b")], max_rules=20).fit(X, y)
    assert any(len(term.inputs) == 2 for term in model.model_.terms)
    rows = X.iloc[::49]
    ours = model.explain(rows).to_shap()
    columns = list(X.columns)
    theirs = shap_values(lambda x: model.predict(pd.DataFrame(x, columns=columns)), X, rows)
    check_equal(ours, theirs, model.predict(rows))
    assert list(ours.feature_names) == [one.name for one in model.model_.features]
    assert ours.data.shape == rows.shape


def test_two_classes_are_log_odds_of_the_rarer_one(crossed):
    X, y = crossed
    labels = np.where(y > 1, "many", "few")
    model = RuleClassifier(interactions=[("a", "b")], max_rules=20).fit(X, labels)

    def score(x):
        few, many = model.predict_proba(pd.DataFrame(x, columns=X.columns)).T
        return np.log(many / few)

    rows = X.iloc[::49]
    ours = model.explain(rows).to_shap()
    assert ours.output_names == ["many"]
    check_equal(ours, shap_values(score, X, rows), score(rows.to_numpy()))


def test_several_classes_missing_values_and_trees_sum_up(crossed, tmp_path):
    X, y = crossed
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.5, 1.5])]
    X = X.assign(c=X.c.astype(int).map("pqrs".__getitem__))
    X.loc[::3, "a"] = np.nan
    model = RuleClassifier(max_rules=12).fit(X, labels)
    model.save(tmp_path / "m.json")
    rows = X.iloc[:40]
    found = load_model(tmp_path / "m.json").explain(rows).to_shap()
    scores = np.log(model.predict_proba(rows))
    scores -= scores.mean(axis=1, keepdims=True)
    assert found.values.shape == (40, found.data.shape[1], 3)
    assert found.base_values + found.values.sum(axis=1) == pytest.approx(scores, abs=1e-9)
    tree = LinguisticTreeClassifier(max_depth=2).fit(X, labels)
    found = tree.explain(rows).to_shap()
    sums = found.base_values + found.values.sum(axis=1)
    assert sums == pytest.approx(tree.predict_proba(rows), abs=1e-9)


def test_without_shap_or_rows_an_error_says_what_to_do(crossed, monkeypatch):
    X, y = crossed
    model = RuleRegressor(max_rules=4).fit(X, y)
    with pytest.raises(DataError, match="there are no rows to explain"):
        Explanations().to_shap()
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(MissingExtraError, match="needs the package 'shap': pip install shap$"):
        model.explain(X[:1]).to_shap()
