"""Hierarchies whose junctions weigh evidence."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression

from solah import (
    Hierarchy,
    LinguisticHierarchyClassifier,
    SelfOrganisedHierarchyClassifier,
    load_model,
)
from solah.exceptions import ParameterError
from solah.explain import FusionStep
from solah.kernels.reference import softmax
from solah.learn.fusion import with_fusions
from solah.model import Fusion, Tree
from solah.model.beliefs import all_signals
from solah.model.format import to_json

FLAT = "a <- ash, hue; b <- alcohol, proline; c <- flavanoids; y <- a, b, c"
NESTED = "a <- ash, hue; b <- alcohol, proline; c <- flavanoids; z <- a, b; y <- z, c"


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def weighed(wiring, wine, **parameters):
    return LinguisticHierarchyClassifier(wiring, fusion="weigh", **parameters).fit(*wine)


@pytest.fixture(scope="module")
def nested(wine):
    return weighed(NESTED, wine)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z <- a; y <- z", "z <- a; y <- z"),
        ("y <- a, b", "y_own <- a, b; y <- y_own"),
        ("z <- a, b; y <- z, c", "z <- a, b; y_own <- c; y <- z, y_own"),
        ("z <- a; y <- z, b, y_own", "z <- a; y_own_ <- b, y_own; y <- z, y_own_"),
    ],
)
def test_junctions_are_fed_by_nodes_only(before, after):
    hierarchy = Hierarchy.parse(before)
    assert str(with_fusions(hierarchy, hierarchy.attributes)) == after


def test_trees_are_below_and_fusions_above(nested):
    kinds = {node.name: type(node) for node in nested.model_.nodes}
    assert kinds == {"a": Tree, "b": Tree, "c": Tree, "z": Fusion, "y": Fusion}
    assert str(nested.hierarchy_) == NESTED


def test_levels_change_who_speaks_but_not_what_is_decided(wine, nested):
    X, _ = wine
    flat = weighed(FLAT, wine)
    np.testing.assert_allclose(flat.predict_proba(X), nested.predict_proba(X), atol=1e-9)


def test_beliefs_are_the_bias_and_the_weighed_evidence(wine, nested):
    X, _ = wine
    table = nested._evaluator()._table(X)
    signals = all_signals(nested.model_.nodes, table)
    root = nested.model_.root
    total = np.array(root.bias) + sum(
        weight * signals[name] for name, weight in zip(root.origins, root.weights, strict=True)
    )
    np.testing.assert_allclose(nested.predict_proba(X), softmax(total), atol=1e-12)


def test_a_tree_alone_believes_what_its_branches_say(wine, nested):
    """A row that takes one branch only is believed what the branch believes."""
    X, _ = wine
    tree = nested.model_.trees[2]
    peak = tree.inputs[0].peaks[0]
    row = X[:1].assign(flavanoids=peak)
    leaf = int(tree.first_child[0])
    np.testing.assert_allclose(nested.node_beliefs(row)["c"][0], tree.belief[leaf], atol=1e-9)


def test_a_tree_of_one_attribute_says_nothing_of_a_missing_reading(wine, nested):
    X, _ = wine
    row = X[:1].assign(flavanoids=np.nan)
    evidence = all_signals(nested.model_.nodes, nested._evaluator()._table(row))["c"]
    np.testing.assert_allclose(evidence, 0.0, atol=1e-6)


def test_weights_are_short_numbers(nested):
    for fusion in nested.model_.fusions:
        assert all(weight == round(weight, 2) > 0 for weight in fusion.weights)


def test_saved_models_decide_alike(wine, nested, tmp_path):
    X, _ = wine
    nested.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.model_ == nested.model_
    np.testing.assert_array_equal(loaded.predict_proba(X), nested.predict_proba(X))
    assert loaded.node_beliefs(X).keys() == {"a", "b", "c", "z", "y"}


def test_the_way_of_a_decision_goes_through_the_fusions(wine, nested):
    X, _ = wine
    (way,) = nested.semantics(X[:1])
    top = way.steps[-1]
    assert isinstance(top, FusionStep)
    total = np.array(top.bias) + np.sum([one.evidence for one in top.trees], axis=0)
    np.testing.assert_allclose(softmax(total[None])[0], top.belief, atol=1e-12)
    assert [one.strength for one in top.trees] == sorted(
        (one.strength for one in top.trees), reverse=True
    )
    assert ", weight " in str(way)
    assert str(way.composed()).endswith(f"=> {top.conclusion}")


def test_importances_are_shares(nested):
    shares = nested.feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares[[nested.feature_names_in_.tolist().index("flavanoids")]] > 0.1


def test_trees_that_say_nothing_are_left_out(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    noisy = X.assign(noise=rng.random(len(X)), fixed=1.0)
    model = SelfOrganisedHierarchyClassifier("each", n_labels=3, rule_cost=2.0).fit(noisy, y)
    assert {"noise", "fixed"} <= set(model.left_out_)
    assert set(model.left_out_).isdisjoint(model.hierarchy_.attributes)
    assert all(relevance >= 0 for relevance in model.left_out_.values())
    assert model.score(noisy, y) > 0.95


@pytest.mark.parametrize("max_rules", [1, 2, 5, 12])
def test_rules_are_as_few_as_asked_for(wine, max_rules):
    model = weighed(NESTED, wine, max_rules=max_rules)
    assert model.n_rules_ <= max(max_rules, 1)
    assert len(model.rules()) == model.n_rules_


def test_without_a_rule_the_shares_of_the_classes_are_believed(wine):
    X, y = wine
    model = weighed(NESTED, wine, max_rules=1)
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:3]), np.tile(shares, (3, 1)), atol=1e-3)


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_order_threads_and_kernels_leave_no_trace(n_jobs, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    order = np.random.default_rng(1).permutation(len(y))
    wiring = "z <- x0, x1, x2; w <- x3, x4; y <- z, w, x5, x6, x7"

    def document(X, y, **parameters):
        model = LinguisticHierarchyClassifier(wiring, fusion="weigh", max_rules=30, **parameters)
        return to_json(model.fit(X, y).model_)

    one = document(X, y)
    assert document(X[order], y[order], n_jobs=n_jobs) == one
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert document(X, y) == one


def test_other_models_cannot_speak(wine):
    with pytest.raises(ParameterError, match="node 'y' is a LogisticRegression; use fusion='tree'"):
        weighed("z <- ash, hue; y <- z", wine, node={"y": LogisticRegression()})


@pytest.mark.parametrize(
    ("name", "value"),
    [("belief_labels", 3), ("cross_fit", 3), ("leaves", "refitted"), ("shrinkage", 2.0)],
)
def test_what_nothing_would_come_of_is_refused(wine, name, value):
    with pytest.raises(ParameterError, match=f"{name!r} is for .*; leave it out"):
        weighed(NESTED, wine, **{name: value})


def test_one_level_cannot_be_merged(wine):
    with pytest.raises(ParameterError, match="top='merge' is for levels"):
        SelfOrganisedHierarchyClassifier(top="merge").fit(*wine)


def test_tables_of_all_words_may_speak(wine):
    model = weighed("z <- ash, hue; y <- z, alcohol", wine, node={"z": "cmac"}, n_labels=2)
    assert model.model_.trees[0].n_branches == 9


def test_own_trees_are_of_the_kind_of_their_junction(wine):
    wiring = "z <- ash, hue; y <- z, alcohol, proline"
    model = weighed(wiring, wine, node={"y": "cmac"}, n_labels=2, min_support=0.9)
    assert [tree.n_branches for tree in model.model_.trees] == [3, 9]


def test_a_tree_that_is_alone_is_heard_as_it_is(wine):
    for penalty in (0.5, 500.0):
        model = weighed("z <- ash, hue, proline; y <- z", wine, penalty=penalty)
        assert model.model_.root.weights == (1.0,)


def test_a_tree_says_less_where_another_says_it_too(wine):
    X, y = wine
    twins = X[["flavanoids"]].assign(twin=X["flavanoids"])
    model = LinguisticHierarchyClassifier("a <- flavanoids; b <- twin; y <- a, b", fusion="weigh")
    weights = model.fit(twins, y).model_.root.weights
    assert weights[0] == weights[1] < 0.7


def test_thresholds_decide_what_the_way_of_a_decision_ends_in(wine):
    X, _ = wine
    model = weighed(FLAT, wine, thresholds={2: 0.02})
    for way, decision in zip(model.semantics(X), model.predict(X), strict=True):
        assert way.steps[-1].conclusion.startswith(f"target {decision} (")


def test_one_class_and_one_row_stand():
    one = LinguisticHierarchyClassifier(fusion="weigh").fit([[1.5, 2.5], [3.5, 1.5]], ["a", "a"])
    assert one.predict([[1.5, 1.5]]).tolist() == ["a"]
    assert one.predict_proba([[1.5, 1.5]]).tolist() == [[1.0]]


def test_weights_stay_readable_where_rows_can_be_told_apart_for_sure(wine):
    model = SelfOrganisedHierarchyClassifier(penalty=0.05, n_labels=3, min_support=0.03).fit(*wine)
    assert model.score(*wine) == 1.0, "there would be no end of louder voices"
    assert max(model.model_.root.weights) < 5
    assert max(rule.certainty for rule in model.rules()) > 0.7
