"""Figures that a fit reports about itself hold on fresh rows, whatever rows weigh."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_info, threadpool_limits

from solah import RuleClassifier, RuleRegressor
from solah.model.format import to_json


def chosen(model):
    return next(step for step in model.path_ if step.is_chosen)


def used(model):
    """Return the numbers of the columns that rules ask for."""
    if model.n_rules_ <= 1:
        return set()
    return {int(feature.name[1:]) for feature in model.model_.features}


def two_of_six(rng, n_rows):
    """Return rows of six columns, of which two move the class, and their scores."""
    X = rng.normal(size=(n_rows, 6))
    return X, 1.2 * X[:, 0] - np.abs(X[:, 1])


def classes_of(rng, scores):
    return (scores + rng.logistic(size=len(scores)) > 0).astype(int)


@pytest.mark.parametrize("weight", [2.0, 3.0, 0.1])
@pytest.mark.parametrize("n_rows", [600, 25_000])
def test_the_same_weight_on_every_row_changes_nothing(n_rows, weight):
    rng = np.random.default_rng(0)
    X, scores = two_of_six(rng, n_rows)
    y = classes_of(rng, scores)
    plain = RuleClassifier().fit(X, y)
    weighed = RuleClassifier().fit(X, y, sample_weight=np.full(n_rows, weight))
    assert weighed.path_ == plain.path_
    np.testing.assert_array_equal(weighed.predict_proba(X), plain.predict_proba(X))
    scaled = [replace(term, counts=weight * term.counts) for term in plain.model_.terms]
    assert len(scaled) > 1
    for one, other in zip(weighed.model_.terms, scaled, strict=True):
        np.testing.assert_allclose(one.counts, other.counts, rtol=1e-12)
        assert replace(one, counts=other.counts) == other
    amounts = scores + rng.normal(size=n_rows)
    plain = RuleRegressor().fit(X, amounts)
    weighed = RuleRegressor().fit(X, amounts, np.full(n_rows, weight))
    assert weighed.path_ == plain.path_
    np.testing.assert_allclose(weighed.predict(X), plain.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_small_whole_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, scores = two_of_six(rng, 300)
    y, times = classes_of(rng, scores), rng.integers(0, 6, 300)
    weighed = RuleClassifier().fit(X, y, sample_weight=times)
    repeated = RuleClassifier().fit(X.repeat(times, axis=0), y.repeat(times))
    assert weighed.path_ == repeated.path_
    assert to_json(weighed.model_) == to_json(repeated.model_)
    weighed = RuleRegressor().fit(X, scores, sample_weight=times)
    repeated = RuleRegressor().fit(X.repeat(times, axis=0), scores.repeat(times))
    assert weighed.path_ == repeated.path_


def noise_used(n_rows, seed, spread):
    """Count the columns of noise that get rules: beside nothing, beside signals, of a number."""
    rng = np.random.default_rng(seed)
    X, scores = two_of_six(rng, n_rows)
    X = np.hstack([X, rng.normal(size=(n_rows, 16))])
    weights = rng.lognormal(0.0, spread, n_rows) if spread else None
    found = []
    for learner, y, informative in (
        (RuleClassifier(), rng.integers(0, 2, n_rows), set()),
        (RuleClassifier(), classes_of(rng, scores), {0, 1}),
        (RuleRegressor(), rng.normal(size=n_rows), set()),
        (RuleRegressor(), scores + rng.normal(size=n_rows), {0, 1}),
    ):
        columns = used(learner.fit(X, y, sample_weight=weights))
        assert weights is not None or informative <= columns
        found.append(len(columns - informative))
    return found


@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    ("n_rows", "n_seeds"),
    [
        (2_000, 10),
        pytest.param(30_000, 4, marks=pytest.mark.slow),
        pytest.param(200_000, 1, marks=pytest.mark.slow),
    ],
)
def test_columns_of_noise_get_no_rules(n_rows, n_seeds, spread):
    found = np.array([noise_used(n_rows, seed, spread) for seed in range(n_seeds)])
    assert (found.mean(axis=0) <= 1).all(), found


def test_rules_that_are_no_better_than_none_once_choosing_is_counted_are_none():
    rng = np.random.default_rng(515)  # of 40 seeds, one with which five rules seem to be good
    X, weights = rng.normal(size=(2_000, 4)), rng.lognormal(0.0, 1.2, 2_000)
    model = RuleClassifier()
    model.fit(X, rng.integers(0, 2, 2_000), sample_weight=weights)
    assert used(model) == set()
    assert chosen(model).loss == min(step.loss for step in model.path_)


def weights_of(rng, n_rows):
    return {"sample_weight": rng.lognormal(0.0, 1.0, n_rows)}


def groups_of(rng, n_rows):
    return {"groups": rng.integers(0, 40, n_rows)}


def is_not_flattered(differences):
    """Whether figures are not below those of fresh rows, by more than two standard errors."""
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    return np.mean(differences) > -2 * error


def log_losses(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y])


@pytest.mark.parametrize("more", [lambda *_: {}, weights_of, groups_of])
@pytest.mark.parametrize(
    ("n_rows", "n_seeds"), [(500, 20), pytest.param(30_000, 4, marks=pytest.mark.slow)]
)
def test_the_reported_loss_is_not_below_that_of_fresh_rows(n_rows, n_seeds, more):
    differences = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, scores = two_of_six(rng, n_rows + 20_000)
        y = classes_of(rng, scores)
        model = RuleClassifier()
        model.fit(X[:n_rows], y[:n_rows], **more(rng, n_rows))
        differences.append(chosen(model).log_loss - log_losses(model, X, y)[n_rows:].mean())
    assert is_not_flattered(differences), differences


@pytest.mark.parametrize("more", [lambda *_: {}, weights_of])
def test_few_different_rows_are_not_flattered(more):
    """Their occurrences lie in all folds, but not in equal parts, which would be no test."""
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (28_000, 4)).astype(float)
        y = classes_of(rng, X[:, 0] - 1)
        model = RuleClassifier().fit(X[:8_000], y[:8_000], **more(rng, 8_000))
        assert len(used(model)) == 1
        differences.append(chosen(model).loss - log_losses(model, X, y)[8_000:].mean())
    assert is_not_flattered(differences), differences


@pytest.mark.parametrize("tossed", ["rows", "groups"])
def test_the_toss_of_a_coin_is_not_flattered_by_groups(tossed):
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, _ = two_of_six(rng, 500)
        sides, groups = rng.integers(0, 2, 500), rng.integers(0, 42, 500)
        y = sides if tossed == "rows" else sides[groups]
        model = RuleClassifier().fit(X, y, groups=groups)
        fresh, _ = two_of_six(rng, 5_000)
        differences.append(chosen(model).loss + np.log(model.predict_proba(fresh)).mean())
    assert is_not_flattered(differences), differences


def test_the_reported_loss_of_balanced_classes_is_not_below_that_of_fresh_rows():
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, scores = two_of_six(rng, 20_500)
        y = classes_of(rng, scores - 2)  # about one row in eight
        model = RuleClassifier(class_weight="balanced").fit(X[:500], y[:500])
        weights = 1 / np.bincount(y[:500])[y[500:]]
        fresh = np.average(log_losses(model, X[500:], y[500:]), weights=weights)
        differences.append(chosen(model).log_loss - fresh)
    assert is_not_flattered(differences), differences


def test_a_file_reports_no_less_than_the_loss_of_fresh_rows(tmp_path, monkeypatch):
    passing = replace(RuleClassifier._limits, many_rows=400)
    monkeypatch.setattr(RuleClassifier, "_limits", passing)
    differences = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, scores = two_of_six(rng, 20_500)
        y = classes_of(rng, scores)
        frame = pd.DataFrame(X).add_prefix("x")
        columns = {"y": y, "w": rng.lognormal(0.0, 1.0, len(y))}
        frame[:500].assign(**{name: one[:500] for name, one in columns.items()}).to_csv(
            tmp_path / "rows.csv", index=False
        )
        model = RuleClassifier()
        model.fit(tmp_path / "rows.csv", "y", sample_weight="w")
        differences.append(chosen(model).log_loss - log_losses(model, frame[500:], y[500:]).mean())
    assert is_not_flattered(differences), differences


def test_the_reported_error_of_numbers_is_not_below_that_of_fresh_rows():
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, scores = two_of_six(rng, 10_500)
        amounts = 40 * (scores + rng.normal(size=len(scores)))
        model = RuleRegressor()
        model.fit(X[:500], amounts[:500], sample_weight=rng.lognormal(0.0, 1.0, 500))
        fresh = np.sqrt(np.mean((model.predict(X[500:]) - amounts[500:]) ** 2))
        differences.append(chosen(model).rmse / fresh - 1)
    assert is_not_flattered(differences), differences
    assert np.mean(differences) < 0.1


def test_numbers_report_errors_in_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    X, scores = two_of_six(rng, 400)
    amounts = 1000 * (scores + rng.normal(size=400))
    model = RuleRegressor().fit(X, amounts)
    for step in model.path_:
        assert step.loss == pytest.approx(amounts.std() * np.sqrt(1 - step.quality), rel=1e-9)
    assert f"RMSE ({chosen(model).loss:.4g})" in model.selection_reason_


def rare(seed, n_rows):
    """Return rows of which one in 150 is positive, with a category of noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    X["shop"] = [f"s{number}" for number in rng.integers(0, 200, n_rows)]
    return X, (X["a"] + 0.7 * X["b"] + rng.logistic(size=n_rows) > 6).to_numpy()


def test_balanced_classes_are_not_memorised():
    X, y = rare(0, 30_000)
    fresh, truth = rare(1, 30_000)
    aucs = {}
    for class_weight in (None, "balanced"):
        model = RuleClassifier(class_weight=class_weight).fit(X, y)
        probabilities = model.predict_proba(fresh)[:, 1]
        assert (probabilities < 0.999).all()
        aucs[class_weight] = roc_auc_score(truth, probabilities)
    assert aucs["balanced"] > aucs[None] - 0.02
    assert aucs[None] > 0.75


def test_fits_in_threads_agree_and_leave_blas_alone():
    X, y = load_breast_cancer(return_X_y=True)
    before = [library["num_threads"] for library in threadpool_info()]

    def fitted(_):
        return to_json(RuleClassifier(interactions=0).fit(X, y).model_)

    with ThreadPoolExecutor(6) as pool:
        found = set(pool.map(fitted, range(12)))
    assert found == {fitted(0)}
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize("kind", [RuleClassifier, RuleRegressor])
def test_the_number_of_blas_threads_changes_nothing(kind):
    rng = np.random.default_rng(0)
    X, scores = two_of_six(rng, 25_000)  # sums of so many numbers are shared among threads
    is_number = kind is RuleRegressor
    y = scores + rng.normal(size=len(X)) if is_number else classes_of(rng, scores)
    weights, found = rng.lognormal(0.0, 1.0, len(X)), set()
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="blas"):
            found.add(to_json(kind().fit(X, y, weights).model_))
    assert len(found) == 1
