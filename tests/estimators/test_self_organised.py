"""Hierarchies that organise themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from organised_trees import organised
from solah import PAPER, RuleClassifier, SelfOrganisedHierarchyClassifier, load_model
from solah.exceptions import ColumnError, ParameterError
from solah.model.format import to_json


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(wine):
    return organised().fit(*wine)


def test_every_attribute_is_in_one_cluster_and_one_tree(fitted, wine):
    X, _ = wine
    in_clusters = [name for cluster in fitted.clusters_ for name in cluster]
    assert sorted(in_clusters) == sorted(fitted.hierarchy_.attributes) == sorted(X.columns)
    assert fitted.n_clusters_ == len(fitted.clusters_)
    assert fitted.n_levels_ == fitted.hierarchy_.n_levels


def test_dependence_and_relevance_are_kept(fitted):
    assert fitted.dependence_.shape == (13, 13)
    np.testing.assert_array_equal(fitted.dependence_, fitted.dependence_.T)
    np.testing.assert_array_equal(np.diag(fitted.dependence_), 1.0)
    assert fitted.relevance_.shape == (13,)
    assert fitted.relevance_.min() >= 0


def test_learns(wine):
    X, y = wine
    assert cross_val_score(RuleClassifier(), X, y, cv=5).mean() > 0.9


def test_saves_and_loads(fitted, wine, tmp_path):
    X, _ = wine
    fitted.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_threads_and_the_order_of_rows_do_not_change_a_bit():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :12].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    order = np.random.default_rng(1).permutation(len(y))

    def document(X, y, n_jobs=None):
        return to_json(RuleClassifier(n_jobs=n_jobs).fit(X, y).model_)

    assert document(X, y) == document(X, y, n_jobs=3) == document(X[order], y[order])


@pytest.mark.parametrize(
    ("parameters", "n_trees"),
    [
        ({"n_clusters": 1}, 1),
        ({"level_gap": 5.0}, "one more than clusters"),
        ({"level_gap": 5.0, "top": "merge"}, 1),
    ],
)
def test_k_theta_and_top_shape_the_hierarchy(parameters, n_trees, wine):
    X, y = wine
    model = organised(**parameters).fit(X, y)
    if n_trees == "one more than clusters":
        n_trees = model.n_clusters_ + 1
    assert len(model.nodes_) == n_trees


def test_clusters_by_hand_are_kept(wine):
    X, y = wine
    clusters = [["flavanoids", "proline"], ["ash", "hue", "alcohol"]]
    model = organised(clusters=clusters, level_gap=0.01).fit(X, y)
    assert model.clusters_ == (("flavanoids", "proline"), ("ash", "hue", "alcohol"))
    assert set(model.hierarchy_.attributes) == {"flavanoids", "proline", "ash", "hue", "alcohol"}
    groups = {"colour": ["hue", "color_intensity"], "taste": ["alcohol", "proline"]}
    added = RuleClassifier(feature_groups=groups, max_rules=None).fit(X, y)
    assert added.feature_groups_ == (("hue", "color_intensity"), ("alcohol", "proline"))
    assert {group.name for group in added.model_.root.groups} == {"colour", "taste"}


@pytest.mark.parametrize(
    ("clusters", "error", "message"),
    [
        ([["hue"], ["hue"]], ParameterError, "'hue' is in the clusters twice"),
        ([["hu"]], ColumnError, "no column 'hu'; did you mean 'hue'"),
        (["hue"], ParameterError, "must be a list of column names. Got 'hue'"),
        ([[]], ParameterError, "must be a list of column names"),
        ([{"hue", "ash"}], ParameterError, "must be a list of column names"),
        ([3], ParameterError, "must be a list of column names. Got 3"),
        ([[["hue"]]], ColumnError, "no column"),
    ],
)
def test_wrong_clusters_are_named(clusters, error, message, wine):
    for estimator in (
        RuleClassifier(feature_groups=clusters),
        SelfOrganisedHierarchyClassifier(clusters=clusters),
    ):
        with pytest.raises(error, match=message):
            estimator.fit(*wine)


def test_clusters_may_be_arrays_of_names(wine):
    X, y = wine
    groups = [X.columns[:6], X.columns[6:]]
    assert len(RuleClassifier(feature_groups=groups).fit(X, y).feature_groups_) == 2
    assert SelfOrganisedHierarchyClassifier(clusters=groups).fit(X, y).n_clusters_ == 2


def test_constant_weights_count_as_rows(wine):
    X, y = wine
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    thrice = organised(bias_corrected=True)
    thrice.fit(X, y, sample_weight=np.full(len(y), 3.0))
    rows = np.repeat(np.arange(len(y)), 3)
    repeated = organised(bias_corrected=True).fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(thrice.dependence_, repeated.dependence_, atol=1e-9)
    assert thrice.hierarchy_ == repeated.hierarchy_


def test_takes_everything_that_a_tree_takes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "Farbe": rng.choice(["rot", "blau", None], 200),
            "Wärme": np.where(rng.random(200) < 0.2, np.nan, rng.normal(20, 5, 200)),
            "leer": [None] * 200,
            "fest": [3.5] * 200,
            "an": rng.random(200) < 0.5,
        }
    )
    y = np.where((frame["Farbe"] == "rot") | (frame["Wärme"] > 22), "warm", "kalt")
    weights = rng.integers(1, 4, 200)
    model = RuleClassifier().fit(frame, y, sample_weight=weights)
    assert model.score(frame, y) > 0.75
    assert {*model.hierarchy_.attributes, *model.dropped_features_} == set(frame.columns)
    assert {"leer", "fest"} <= set(model.dropped_features_)
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame}
    polars = pl.DataFrame({name: column.to_list() for name, column in columns.items()})
    assert (model.predict(polars) == model.predict(frame)).all()


def test_one_attribute_one_row_and_one_class_stand():
    assert len(RuleClassifier().fit([[1.5], [2.5], [9.5]], [0, 0, 1]).feature_groups_) == 1
    assert RuleClassifier().fit([[1.5, 2.5]], ["a"]).predict([[1, 1]]) == ["a"]
    one_class = RuleClassifier().fit([[1.5, 2.5], [3.5, 1.5]], ["a", "a"])
    assert one_class.predict([[1.5, 1.5]]) == ["a"]


def test_a_goal_named_like_a_column_gets_a_name_of_its_own(wine):
    X, y = wine
    model = RuleClassifier().fit(X, y.rename("hue"))
    assert model.hierarchy_.root == "hue_"
    assert {rule.goal for rule in model.rules()} == {"hue"}


def test_other_models_may_stand_at_the_nodes(wine):
    X, y = wine
    model = organised(node=LogisticRegression(max_iter=10_000)).fit(X, y)
    assert model.score(X, y) > 0.9


def test_the_paper_settings_give_a_hierarchy(wine):
    model = SelfOrganisedHierarchyClassifier.with_settings(PAPER, n_clusters=4).fit(*wine)
    assert model.n_branches_ >= model.n_rules_
