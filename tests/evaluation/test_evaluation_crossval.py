"""Cross-validation: the same folds for all, the same numbers every time."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.evaluation import CrossValidation, Plan, cross_validate


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


def test_scores_are_those_of_scikit_learn(iris):
    tree = LinguisticTreeClassifier(max_depth=2)
    result = cross_validate({"tree": tree}, iris.table, iris.target, Plan(5, seed=3))
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    expected = cross_val_score(tree, iris.X, iris.target, cv=folds)
    assert [fold.scores.accuracy for fold in result.folds] == expected.tolist()
    accuracy = result.spreads("tree")["accuracy"]
    assert accuracy.mean == pytest.approx(expected.mean())
    assert accuracy.deviation == pytest.approx(expected.std(ddof=1))


def test_estimators_stand_side_by_side_and_stay_unfitted(iris):
    estimators = {
        "tree": LinguisticTreeClassifier(),
        "solah": SelfOrganisedHierarchyClassifier(),
        "by hand": LinguisticHierarchyClassifier("z <- x0, x1; y <- z, x2, x3"),
        "theirs": DecisionTreeClassifier(),
    }
    told = []
    result = cross_validate(estimators, iris.X, iris.target, Plan(2, 2), on_fold=told.append)
    assert tuple(told) == result.folds
    assert result.estimators == tuple(estimators)
    assert [fold.estimator for fold in told] == list(estimators) * 4
    assert [(one.repeat, one.fold) for one in told[::4]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    sizes = {name: {*result.spreads(name)} & {"n_rules", "n_levels"} for name in estimators}
    assert sizes == {
        "tree": {"n_rules"},
        "solah": {"n_rules", "n_levels"},
        "by hand": {"n_rules", "n_levels"},
        "theirs": set(),
    }
    assert result.spreads("by hand")["n_levels"] == (3.0, 0.0)
    assert result.spreads("solah")["n_clusters"].mean >= 1
    assert not hasattr(estimators["tree"], "model_")


def test_numbers():
    x = np.linspace(0, 1, 80)[:, None]
    result = cross_validate({"tree": LinguisticTreeRegressor()}, x, x[:, 0] ** 2, Plan(4))
    assert set(result.spreads("tree")) == {"r2", "mae", "n_rules", "n_branches", "seconds"}
    assert result.spreads("tree")["r2"].mean > 0.9


def test_a_class_that_was_not_learned_is_not_believed():
    x = np.arange(30.0)[:, None]
    target = np.array(["a", "b"] * 14 + ["b", "lonely"])
    result = cross_validate({"tree": LinguisticTreeClassifier()}, x, target, Plan(5))
    assert np.isfinite(result.spreads("tree")["log_loss"].mean)
    assert result.notes


def test_folds_without_a_score_do_not_count():
    x = np.arange(12.0)[:, None]
    groups = np.repeat([0, 1, 2], 4)
    target = np.array(list("aaaabbbbabab"))
    result = cross_validate({"t": LinguisticTreeClassifier()}, x, target, Plan(3), groups=groups)
    assert sum(np.isnan(fold.scores.auc) for fold in result.folds) == 2
    assert np.isfinite(result.spreads("t")["auc"].mean)
    for fold in result.folds:
        alone = CrossValidation(result.task, result.plan, "", (fold,)).spreads("t")
        assert alone["accuracy"].deviation == 0.0
        assert np.isnan(alone["auc"].mean) == np.isnan(fold.scores.auc)


def test_a_search_that_was_interrupted_ends_the_evaluation():
    class Searched(LinguisticTreeClassifier):
        stop_reason_ = "interrupted"

    iris = datasets.load("iris")
    with pytest.raises(KeyboardInterrupt):
        cross_validate({"search": Searched()}, iris.table, iris.target, Plan(folds=2))
