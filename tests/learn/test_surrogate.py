"""Scores that are fitted on a sample, and corrected by all rows, are those of all rows."""

from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import pytest

from solah import LinguisticHierarchyClassifier, SelfOrganisedHierarchyClassifier
from solah.estimators.goals import read_class_goal
from solah.estimators.inputs import read_features
from solah.labels.describe import LabelSettings, describe_table
from solah.labels.limits import Limits
from solah.learn import fusion, surrogate
from solah.learn.evidence import EvidenceModel
from solah.learn.fusion import routed_rows
from solah.learn.memory import MemoryRows
from solah.learn.surrogate import MAX_ROUNDS, NEAR_ENOUGH, refine
from solah.model.format import to_json
from solah.model.structure import Hierarchy

N_ROWS, N_SAMPLE, PENALTY = 4_000, 1_200, 2.0
NODES = ("a", "b", "c")
WIRING = "a <- x0; b <- x1; c <- x2, x3; y <- a, b, c"


def some_rows(n_rows, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] += X[:, 0]
    noisy = X[:, 0] + X[:, 2] * X[:, 3] + rng.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


@cache
def trained(n_classes=2, weighted=False):
    """Return rows to learn from, and the trees that speak to them."""
    X, y = some_rows(N_ROWS, n_classes)
    weights = np.random.default_rng(1).integers(1, 5, N_ROWS) if weighted else None
    estimator = LinguisticHierarchyClassifier(WIRING, n_labels=2, max_depth=2, fusion="weigh").fit(
        X, y
    )
    table = read_features(estimator, X, reset=False)
    goal = read_class_goal(estimator, y, weights, N_ROWS)
    described = describe_table(table, LabelSettings(2, "quantile", None, None), goal.weights)
    data = MemoryRows(described, goal)
    trees = fusion.grow_trees(
        Hierarchy.parse(WIRING),
        data,
        dict.fromkeys(NODES, "tree"),
        estimator._tree_settings(goal.weights, goal.weight_unit),
    )
    return data, trees


class Counting(MemoryRows):
    """Rows in memory that remember the scores of each pass over them."""

    def run(self, one):
        self.scores.append(one.scores)
        return super().run(one)

    @cached_property
    def scores(self):
        return []


def refined(data, trees, n_sample=N_SAMPLE, n_threads=1, **limits):
    rows = Counting(data.described, data.goal, n_threads)
    few = routed_rows(trees, rows.draw(n_sample))
    model, parameters = refine(
        EvidenceModel.of(trees), few, rows, data.goal.goal.size, PENALTY, **limits
    )
    return model, model.scores(parameters), rows


def centred(scores):
    """Return what scores say for each class over the others."""
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (3, False), (2, True)])
def test_voices_are_those_fitted_to_all_rows(n_classes, weighted):
    data, trees = trained(n_classes, weighted)
    model, scores, rows = refined(data, trees)
    everything = routed_rows(trees, data)
    fitted = model.scores(model.fit(everything, n_classes, PENALTY))
    of_sample = model.fit(routed_rows(trees, data.draw(N_SAMPLE)), n_classes, PENALTY)
    error = np.abs(centred(scores) - centred(fitted)).max()
    assert error < 1e-3
    assert np.abs(centred(model.scores(of_sample)) - centred(fitted)).max() > 50 * error
    assert len(rows.scores) <= MAX_ROUNDS


def test_every_round_comes_nearer():
    data, trees = trained()
    _, scores, rows = refined(data, trees)
    away = [np.abs(centred(one) - centred(scores)).max() for one in rows.scores]
    assert all(after < before / 2 for before, after in pairwise(away))
    assert away[-1] < 10 * NEAR_ENOUGH


def test_a_sample_of_all_rows_takes_no_corrections():
    data, trees = trained()
    _, _, rows = refined(data, trees, N_ROWS)
    assert len(rows.scores) <= 2


@pytest.mark.parametrize("limits", [{"max_rules": 6}, {"rule_cost": 20.0}])
def test_few_rules_stay_where_few_are_wanted(limits):
    data, trees = trained()
    every, _, _ = refined(data, trees)
    model, scores, _ = refined(data, trees, **limits)
    assert model.n_rules < every.n_rules
    assert model.n_rules <= limits.get("max_rules", every.n_rules)
    fitted = model.scores(model.fit(routed_rows(trees, data), 2, PENALTY))
    np.testing.assert_allclose(centred(scores), centred(fitted), atol=1e-3)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_leave_no_trace(n_threads):
    data, trees = trained()
    _, alone, _ = refined(data, trees)
    _, together, _ = refined(data, trees, n_threads=n_threads)
    np.testing.assert_array_equal(alone, together)


def test_a_scale_changes_the_way_and_not_the_end(monkeypatch):
    data, trees = trained()
    _, scaled, _ = refined(data, trees)
    monkeypatch.setattr(surrogate, "_MOST_PARAMETERS", 0)
    monkeypatch.setattr(surrogate, "_MAX_STEPS", 2_000)
    _, plain, _ = refined(data, trees)
    np.testing.assert_allclose(centred(scaled), centred(plain), atol=1e-3)
    assert (scaled != plain).any()


def test_a_poor_sample_does_no_harm():
    data, trees = trained()
    everything = routed_rows(trees, data)
    model, scores, rows = refined(data, trees, n_sample=8)
    routed = everything.through(model.places)
    losses = [int(routed.loss(one)[0][0]) for one in rows.scores]
    assert max(losses) > losses[0]  # for such a sample leads far astray
    assert int(routed.loss(scores)[0][0]) == min(losses)
    assert len(rows.scores) == MAX_ROUNDS


def test_weight_counts_as_rows_do():
    data, trees = trained()
    goal = data.goal
    doubled = MemoryRows(data.described, replace(goal, weight_unit=2 * goal.weight_unit))
    _, once, _ = refined(data, trees)
    _, twice, _ = refined(doubled, trees)
    spread = [np.abs(centred(one)).mean() for one in (once, twice)]
    assert spread[1] > spread[0]  # of more rows, less is held back by the penalty


class Limited(SelfOrganisedHierarchyClassifier):
    """The same, with smaller samples of fewer rows."""

    _limits = Limits(many_rows=1_000, sample_rows=512, gauge_rows=64)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_of_many_rows_is_as_good_as_one_of_few(n_jobs):
    X, y = some_rows(3_000, 2)
    settings = {"n_labels": 3, "penalty": 2.0, "n_jobs": n_jobs}
    few = SelfOrganisedHierarchyClassifier("each", **settings).fit(X, y)
    many = Limited("each", **settings).fit(X, y)
    assert to_json(many.model_) != to_json(few.model_)
    np.testing.assert_allclose(many.predict_proba(X), few.predict_proba(X), atol=0.01)
