"""Hierarchies that organise themselves."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from organised_trees import organised
from solah import RuleClassifier, SelfOrganisedHierarchyClassifier
from solah.exceptions import ColumnError, ParameterError


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(wine):
    return organised().fit(*wine)


def test_every_feature_is_in_one_cluster_and_one_tree(fitted, wine):
    X, _ = wine
    in_clusters = [name for cluster in fitted.clusters_ for name in cluster]
    assert sorted(in_clusters) == sorted(fitted.hierarchy_.features) == sorted(X.columns)
    assert fitted.n_clusters_ == len(fitted.clusters_)
    assert fitted.n_levels_ == fitted.hierarchy_.n_levels
    assert len(organised(n_clusters=1).fit(*wine).nodes_) == 1
    assert len(organised(level_gap=5.0, top="merge").fit(*wine).nodes_) == 1
    apart = organised(level_gap=5.0).fit(*wine)
    assert len(apart.nodes_) == apart.n_clusters_ + 1
    np.testing.assert_array_equal(fitted.dependence_, fitted.dependence_.T)
    np.testing.assert_array_equal(np.diag(fitted.dependence_), 1.0)
    assert fitted.relevance_.shape == (13,)
    assert fitted.relevance_.min() >= 0


def test_clusters_by_hand_are_kept(wine):
    X, y = wine
    clusters = [["flavanoids", "proline"], ["ash", "hue", "alcohol"]]
    model = organised(clusters=clusters, level_gap=0.01).fit(X, y)
    assert model.clusters_ == (("flavanoids", "proline"), ("ash", "hue", "alcohol"))
    assert set(model.hierarchy_.features) == {"flavanoids", "proline", "ash", "hue", "alcohol"}


def test_wrong_clusters_are_named(wine):
    for clusters, error, message in (
        ([["hue"], ["hue"]], ParameterError, "'hue' is in the clusters twice"),
        ([["hu"]], ColumnError, "no column 'hu'; did you mean 'hue'"),
        (["hue"], ParameterError, "must be a list of column names. Got 'hue'"),
        ([[]], ParameterError, "must be a list of column names"),
        ([{"hue", "ash"}], ParameterError, "must be a list of column names"),
        ([[["hue"]]], ColumnError, "no column"),
    ):
        for estimator in (
            RuleClassifier(feature_groups=clusters),
            SelfOrganisedHierarchyClassifier(clusters=clusters),
        ):
            with pytest.raises(error, match=message):
                estimator.fit(*wine)
    with pytest.raises(ParameterError, match="'n_clusters' is an empty list"):
        SelfOrganisedHierarchyClassifier([]).fit(*wine)


def test_constant_weights_count_as_rows(wine):
    X, y = wine
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    thrice = organised(bias_corrected=True)
    thrice.fit(X, y, sample_weight=np.full(len(y), 3.0))
    rows = np.repeat(np.arange(len(y)), 3)
    repeated = organised(bias_corrected=True).fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(thrice.dependence_, repeated.dependence_, atol=1e-9)
    assert thrice.hierarchy_ == repeated.hierarchy_


def test_a_target_named_like_a_column_gets_a_name_of_its_own(wine):
    X, y = wine
    model = RuleClassifier().fit(X, y.rename("hue"))
    assert model.hierarchy_.root == "hue_"
    assert {rule.target for rule in model.rules()} == {"hue"}
