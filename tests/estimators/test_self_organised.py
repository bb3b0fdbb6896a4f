"""Hierarchies that organise themselves."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from organised_trees import organised
from solah import (
    PAPER,
    LinguisticTreeClassifier,
    RuleClassifier,
    SelfOrganisedHierarchyClassifier,
    load_model,
)
from solah.exceptions import ColumnError, ParameterError
from solah.model import AdditiveNode, TreeNode
from solah.report import render_page, summarise, summarise_page


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(wine):
    return organised().fit(*wine)


@pytest.fixture(scope="module")
def of_rules(wine):
    X, y = wine
    return SelfOrganisedHierarchyClassifier().fit(X[::2], y[::2])


def test_nodes_are_rule_models_unless_trees_are_asked_for(of_rules, wine):
    X, y = wine
    assert all(isinstance(node, AdditiveNode) for node in of_rules.model_.nodes)
    assert of_rules.score(X[1::2], y[1::2]) > 0.93
    for settings in (PAPER, {"node": "tree"}, {"tree": LinguisticTreeClassifier(max_depth=2)}):
        trees = SelfOrganisedHierarchyClassifier(**settings).fit(X.iloc[:, :4], y).model_
        assert all(isinstance(node, TreeNode) for node in trees.nodes)


def test_a_hierarchy_of_rules_is_one_model(of_rules, wine, tmp_path):
    """Its probabilities, rules, explanations, report and wiring come from the saved file."""
    X, _ = wine
    of_rules.save(tmp_path / "wine.json")
    loaded = load_model(tmp_path / "wine.json")
    found = of_rules.predict_proba(X)
    np.testing.assert_array_equal(loaded.predict_proba(X), found)
    believed = [rule for rule in loaded.rules() if "likely" in str(rule)]
    assert {rule.part.partition("(")[0] for rule in believed} > {"rules on z1"}
    for row, explanation in enumerate(loaded.explain(X[:3])):
        assert explanation.probabilities == pytest.approx(found[row])
        added = sum(np.array(one.effects) for one in explanation.contributions)
        assert explanation.start + added == pytest.approx(found[row])
    assert loaded.model_.hierarchy.root == "target"
    assert "z1(" in render_page(summarise_page(loaded.model_))
    assert summarise(loaded.model_)["size"]["rules"] == of_rules.n_rules_


def test_a_row_is_never_judged_by_a_model_that_learned_from_it():
    """Noise that was learned by heart would be trusted, and so would what folds lack of a class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = (X[:, 2] + 0.3 * rng.standard_normal(120) > 0).astype(int)
    clusters = [["x0"], ["x1"], ["x2"]]
    model = SelfOrganisedHierarchyClassifier(clusters=clusters).fit(X, y)
    assert set(model.dropped_features_) == {"x0", "x1"}


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
