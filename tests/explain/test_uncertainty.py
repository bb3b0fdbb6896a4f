"""Bands of weights, what comes back in resamples, and that a model file keeps both."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax as softmax_of
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

from model_schema import model_schema
from solah import RuleClassifier, RuleRegressor
from solah.data import Kind, from_frame
from solah.exceptions import ModelFormatError, ParameterError
from solah.explain import rules_of
from solah.explain.html import model_summary
from solah.explain.importance import importance_intervals
from solah.explain.legend import spell_recurrences
from solah.explain.uncertainty import recurrences, weight_errors
from solah.model import AdditiveNode, Model, Target, Term, TermInput
from solah.model.features import cored_feature, discrete_feature
from solah.model.format import from_json, to_json

RIDGE = 2.0


def letters(name, n):
    return discrete_feature(name, Kind.CATEGORICAL, tuple("abcdefgh"[:n]), (1 / n,) * n)


def model_on(features, weights, baseline, target):
    """Make a sum of single terms, with counts that nobody asks for."""
    terms = tuple(
        Term((TermInput.whole(one),), w, np.full(w.shape, 1 / w.shape[1]), np.ones(len(w)))
        for one, w in zip(features, weights, strict=True)
    )
    return Model(target, tuple(features), (AdditiveNode("y", baseline, terms),))


def fitted(columns, codes, ridge):
    """Fit penalised log-odds by Newton's method; the last column is not penalised."""
    price, odds = (
        np.diag(np.append(np.full(columns.shape[1] - 1, ridge / 2), 0)),
        np.zeros(columns.shape[1]),
    )
    for _ in range(30):
        p = 1 / (1 + np.exp(-columns @ odds))
        bend = (columns * (p * (1 - p))[:, None]).T @ columns + price
        odds = odds - np.linalg.solve(bend, columns.T @ (p - codes) + price @ odds)
    return odds


def test_bands_cover_the_truth_nine_times_in_ten():
    """Parametric resamples of a known truth, each fitted again: 90 % of the bands hold it."""
    rng = np.random.default_rng(7)
    features = [letters("u", 3), letters("v", 4)]
    rows = np.column_stack([rng.integers(3, size=900), rng.integers(4, size=900)]).astype(float)
    truths = [np.array([-1.0, 0.2, 0.8]), np.array([0.6, -0.5, 0.4, -0.5])]
    shares = [np.bincount(rows[:, j].astype(int)) / len(rows) for j in (0, 1)]
    truths = [w - s @ w for w, s in zip(truths, shares, strict=True)]
    design = np.hstack([np.eye(len(w))[rows[:, j].astype(int)] for j, w in enumerate(truths)])
    columns = np.column_stack([design, np.ones(len(rows))])
    chance = 1 / (1 + np.exp(-(columns @ np.concatenate([*truths, [-0.3]]))))
    target = Target("y", ("no", "yes"), shares=(0.6, 0.4))
    held = []
    for _ in range(250):
        odds = fitted(columns, rng.random(len(rows)) < chance, RIDGE)
        parts = np.split(odds[:-1], [3])
        start = odds[-1] + sum(s @ w for s, w in zip(shares, parts, strict=True))
        centred = [w - s @ w for s, w in zip(shares, parts, strict=True)]
        weights = [np.column_stack([-w, w]) / 2 for w in centred]
        model = model_on(features, weights, (-start / 2, start / 2), target)
        errors = weight_errors(model, rows, np.ones(len(rows)), RIDGE)
        for w, error, truth in zip(centred, errors, truths, strict=True):
            held.extend(np.abs(w - truth) <= 1.645 * np.array(error)[:, 0])
    assert np.mean(held) == pytest.approx(0.9, abs=0.03)


def test_bands_of_several_classes_cover_the_truth():
    rng = np.random.default_rng(3)
    feature, places = letters("u", 3), rng.integers(3, size=600)
    rows, shares = places[:, None].astype(float), np.bincount(places) / len(places)
    truth = np.array([[0.8, -0.3, -0.5], [-0.6, 0.5, 0.1], [-0.2, -0.2, 0.4]])
    truth = truth - shares @ truth
    start = np.array([0.2, 0.1, -0.3])
    chances = softmax_of(truth[places] + start, axis=1)
    target = Target("y", ("a", "b", "c"), shares=tuple(chances.mean(axis=0)))
    learner = LogisticRegression(C=1 / RIDGE, tol=1e-8, max_iter=500)
    held = []
    for _ in range(120):
        codes = (rng.random(len(rows))[:, None] > chances.cumsum(axis=1)).sum(axis=1)
        fit = learner.fit(np.eye(3)[places], codes)
        weights = fit.coef_.T - fit.coef_.T.mean(axis=1, keepdims=True)
        middle = shares @ weights
        baseline = fit.intercept_ - fit.intercept_.mean() + middle
        model = model_on([feature], [weights - middle], tuple(baseline), target)
        errors = np.array(weight_errors(model, rows, np.ones(len(rows)), RIDGE)[0])
        held.extend((np.abs(weights - middle - truth) <= 1.645 * errors).ravel())
    assert np.mean(held) == pytest.approx(0.9, abs=0.03)


def test_more_rows_make_bands_narrower_as_their_root():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = RuleRegressor(max_rules=8).fit(X, y).model_
    readings = X[[one.name for one in model.features]].to_numpy(float)
    once, often = (
        weight_errors(model, readings, np.full(len(X), weight), 0.0, y.to_numpy(float))
        for weight in (1.0, 9.0)
    )
    for one, other in zip(once, often, strict=True):
        assert np.array(one) == pytest.approx(3 * np.array(other), rel=1e-3)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RuleClassifier(max_rules=8).fit(X, y)
    return model.estimate_uncertainty(X, y, n_resamples=3), X, y


def test_rules_tables_and_json_show_bands(iris):
    model, _, _ = iris
    for rule in model.rules():
        assert set(rule.bands) == set(rule.weights)
        for state, (low, high) in rule.bands.items():
            assert low <= rule.weights[state] <= high
        assert rule.to_dict()["bands"].keys() == rule.to_dict()["weights"].keys()
    page = model.rules().to_markdown()
    assert " ± " in page
    assert "within its band (±) with a probability of 90%" in page


def test_rules_and_summaries_show_importances_with_intervals(iris):
    model, _, _ = iris
    intervals = importance_intervals(model.model_)
    shares = dict(zip(iris[1].columns, model.feature_importances_, strict=True))
    largest = max(intervals, key=shares.__getitem__)
    low, high = intervals[largest]
    text = f"{largest} {shares[largest]:.0%} ({low:.0%} to {high:.0%})"
    assert f"Importance (in nine of ten resamples): {text}" in model.rules().to_markdown().replace(
        "\\", ""
    )
    cell = f"{100 * shares[largest]:.1f}% ({100 * low:.0f} to {100 * high:.0f}%)"
    assert cell in model_summary(model.model_)
    assert "in nine of ten" not in rules_of(replace(model.model_, uncertainty=None)).to_markdown()


def test_a_model_file_keeps_uncertainty_and_an_edit_drops_it(iris):
    model, _, _ = iris
    text = to_json(model.model_)
    jsonschema.validate(json.loads(text), model_schema())
    again = from_json(text.encode())
    assert again.uncertainty == model.model_.uncertainty
    assert again.uncertainty.resamples == 3
    short = replace(model.model_.uncertainty, errors=model.model_.uncertainty.errors[1:])
    broken = to_json(replace(model.model_, uncertainty=short))
    with pytest.raises(ModelFormatError, match="uncertainty.errors must be an error for each wei"):
        from_json(broken.encode())
    editor = model.edit().rename_class("setosa", "silky")
    assert editor.model.uncertainty is None


def test_what_comes_back_in_resamples(iris):
    model, X, _ = iris
    lines = spell_recurrences(model.model_)
    assert lines
    assert all(" of 3 resamples" in line for line in lines)
    assert any(", importance " in line for line in lines)
    same = recurrences(model.model_, [model.model_] * 2, from_frame(X))
    assert {one.share for one in same} == {1.0}
    features = {one.features[0]: one for one in same if not one.word and len(one.features) == 1}
    for name, share in zip(X.columns, model.feature_importances_, strict=True):
        if name in features:
            assert features[name].low == pytest.approx(features[name].high) == pytest.approx(share)


def test_wrong_rows_and_resamples_are_refused_and_leave_the_model_as_it_is(iris):
    model, X, y = iris
    before = model.model_
    for wrong in (-1, 1.5, "many"):
        with pytest.raises(ParameterError, match="'n_resamples' must be an int of at least 0"):
            model.estimate_uncertainty(X, y, n_resamples=wrong)
    for rows in ({"y": y[:-1]}, {"y": y, "sample_weight": np.ones(3)}):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.estimate_uncertainty(X, **rows)
    assert model.model_ is before


def test_a_word_comes_back_if_it_fits_the_same_rows():
    target = Target("y", ("no", "yes"), shares=(0.5, 0.5))

    def cut_at(edge):
        cores = [(-np.inf, edge - 0.5), (edge + 0.5, np.inf)]
        size = cored_feature("size", ("low", "high"), cores, (0.5, 0.5), 0.0, 10.0)
        weights = np.array([[0.5, -0.5], [-0.5, 0.5]])
        return model_on([size], [weights], (0.0, 0.0), target)

    table = from_frame(pd.DataFrame({"size": np.linspace(0, 10, 101)}))
    found = recurrences(cut_at(5.0), [cut_at(5.5), cut_at(9.0)], table)
    shares = {one.word: one.share for one in found}
    assert shares == {"": 1.0, "low": 1.0, "high": 0.5}
    assert not rules_of(cut_at(5.0))[0].bands
