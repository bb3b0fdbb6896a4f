"""Hierarchies wired by hand: training, what goes up, and what stands at the nodes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression

from solah import (
    Hierarchy,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    load_model,
)
from solah.exceptions import ColumnError, ParameterError, SolahError
from solah.model.format import to_json

WIRING = "z1 <- alcohol, hue, proline; z2 <- flavanoids, ash; cultivar <- z1, z2, color_intensity"


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y.rename("cultivar")


@pytest.fixture(scope="module")
def fitted(wine):
    return LinguisticHierarchyClassifier(WIRING).fit(*wine)


def test_a_hierarchy_of_one_node_is_the_tree(wine):
    X, y = wine
    tree = LinguisticTreeClassifier().fit(X, y)
    single = LinguisticHierarchyClassifier().fit(X, y)
    np.testing.assert_array_equal(single.predict_proba(X), tree.predict_proba(X))
    assert single.n_branches_ == tree.n_branches_
    assert single.n_levels_ == 2


def test_what_goes_up_is_the_whole_distribution(wine):
    """By hand: train the lower tree, put its beliefs in as masses, and follow Jeffrey's rule."""
    X, y = wine
    tree = LinguisticTreeClassifier(max_depth=1)
    model = LinguisticHierarchyClassifier("z <- flavanoids, hue; y <- z", tree=tree).fit(X, y)
    lower = tree.fit(X[["flavanoids", "hue"]], y)
    z = lower.predict_proba(X[["flavanoids", "hue"]])
    np.testing.assert_allclose(model.node_outputs(X)["z"], z, atol=1e-12)
    classes = np.eye(3)[y]
    branches = (z.T @ classes) / z.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(X), z @ branches, atol=1e-6)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer], ids=["3 classes", "2 classes"])
def test_threads_rows_and_kernels_do_not_change_a_bit(load, monkeypatch):
    X, y = load(return_X_y=True)
    wiring = "z1 <- x0, x1, x2; z2 <- x3, x4; z3 <- z1, x5; y <- z2, z3, x6, x7"
    order = np.random.default_rng(0).permutation(len(y))

    def document(X, y, n_jobs=None):
        tree = LinguisticTreeClassifier(min_support=0.02)
        model = LinguisticHierarchyClassifier(wiring, tree=tree, n_jobs=n_jobs)
        return to_json(model.fit(X[:, :8], y).model_)

    one = document(X, y)
    assert document(X, y, n_jobs=3) == one
    assert document(X[order], y[order]) == one
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert document(X, y) == one


def test_the_document_holds_the_hierarchy_and_predicts_the_same(fitted, wine, tmp_path):
    X, _ = wine
    fitted.save(tmp_path / "wine.json")
    loaded = load_model(tmp_path / "wine.json")
    assert loaded.model_ == fitted.model_
    assert loaded.model_.hierarchy == fitted.hierarchy_
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    only_used = X[list(fitted.hierarchy_.features)]
    np.testing.assert_array_equal(loaded.predict(only_used), fitted.predict(X))


def test_a_dead_sensor_spreads_ignorance_and_the_evidence_says_so(fitted, wine):
    X, y = wine
    blind = X.assign(flavanoids=np.nan, ash=np.nan)
    beliefs = fitted.node_outputs(blind)
    assert (beliefs["z2"] == beliefs["z2"][0]).all()
    np.testing.assert_allclose(fitted.predict_proba(blind).sum(axis=1), 1.0)
    assert fitted.score(blind, y) > 0.8
    assert (fitted.completeness(X) > 0.999).all()
    assert (fitted.completeness(blind) < 0.9).all()
    assert fitted.completeness(X * np.nan) == pytest.approx(np.zeros(len(X)))


def test_the_semantics_are_the_decision(fitted, wine):
    X, _ = wine
    row = fitted.semantics(X[60:61])[0]
    assert [step.part for step in row.steps] == ["z1", "z2", "cultivar"]
    assert row.steps[2].inputs == ("z1", "z2")
    for step in row.steps:
        assert sum(fired.membership for fired in step.fired) == pytest.approx(1.0)
        spoken = sum(fired.membership * np.array(fired.rule.shares) for fired in step.fired)
        np.testing.assert_allclose(spoken, step.outputs, atol=1e-12)
    np.testing.assert_allclose(row.steps[2].outputs, fitted.predict_proba(X[60:61])[0])
    assert "cultivar (inputs: z1, z2):" in str(row)
    composed = row.composed()
    assert composed.weight == pytest.approx(
        np.prod([step.fired[0].membership for step in row.steps])
    )
    z1, z2, top = (step.fired[0].rule for step in row.steps)
    assert str(composed) == f"({z1.premise}) and ({z2.premise}) => {top.premise} => {top.result}"
    assert any("z1 is " in str(rule) for rule in fitted.rules())


@pytest.mark.parametrize(
    "wiring",
    [WIRING, Hierarchy.parse(WIRING), Hierarchy.parse(WIRING).to_dict()],
    ids=["text", "value", "mapping"],
)
def test_the_wiring_comes_in_several_forms(wiring, fitted, wine):
    model = LinguisticHierarchyClassifier(wiring).fit(*wine)
    assert model.hierarchy_ == fitted.hierarchy_


@pytest.mark.parametrize(
    ("wiring", "error", "message"),
    [
        ("y <- alcohl", ColumnError, "no column 'alcohl'; did you mean 'alcohol'"),
        ("hue <- alcohol", ParameterError, "'hue' has the name of a column"),
        ("z <- alcohol; y <- hue", ParameterError, "root"),
    ],
)
def test_a_wrong_wiring_is_named(wiring, error, message, wine):
    with pytest.raises(error, match=message):
        LinguisticHierarchyClassifier(wiring).fit(*wine)


def test_a_cmac_is_saved_and_takes_few_inputs(wine, tmp_path):
    X, y = wine
    model = LinguisticHierarchyClassifier(WIRING, node="cmac").fit(X, y)
    assert model.score(X, y) > 0.95
    model.save(tmp_path / "cmac.json")
    loaded = load_model(tmp_path / "cmac.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ParameterError, match="has 13 inputs whose words make 1,220,703,125"):
        LinguisticHierarchyClassifier(node="cmac").fit(X, y)


@pytest.mark.parametrize("node", ["tree", "cmac"])
def test_a_weight_of_two_is_two_rows_at_every_node(node, wine):
    X, y = wine
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = LinguisticHierarchyClassifier(WIRING, node=node).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = LinguisticHierarchyClassifier(WIRING, node=node).fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_rules_are_shared_by_the_trees_and_never_too_many():
    X, y = load_wine(return_X_y=True)
    wiring = "z <- x0, x1; y <- z, x2, x3"
    model = LinguisticHierarchyClassifier(wiring, tree=LinguisticTreeClassifier(max_rules=6))
    assert model.fit(X, y).n_rules_ <= 6
    with pytest.raises(ParameterError, match="max_rules=1 is less than the 2 trees"):
        model.set_params(tree__max_rules=1).fit(X, y)


def test_any_classifier_may_stand_at_a_node(wine, tmp_path):
    X, y = wine
    holed = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    node = {"z1": LogisticRegression(max_iter=5000), "z2": "cmac"}
    mixed = LinguisticHierarchyClassifier(WIRING, node=node).fit(holed, y)
    assert mixed.score(X, y) > 0.9
    assert mixed.node_outputs(X)["z1"].shape == (178, 3)
    assert not hasattr(mixed, "feature_importances_")
    with pytest.raises(SolahError, match="other models: z1; train with node='tree'"):
        mixed.save(tmp_path / "mixed.json")
    assert (
        LinguisticHierarchyClassifier(WIRING, node=LogisticRegression(max_iter=5000))
        .fit(X, y)
        .score(X, y)
        > 0.9
    )


def test_an_estimator_sees_states_and_missing_ones():
    frame = pd.DataFrame({"c": ["a", "b", None, "a"] * 10, "n": [1.5, np.nan, 3.5, 1.0] * 10})
    y = ["p", "q", "q", "p"] * 10
    model = LinguisticHierarchyClassifier(node=LogisticRegression()).fit(frame, y)
    assert model.score(frame, y) == 1.0


def test_other_classifiers_follow_thresholds(wine):
    X, y = wine
    model = LinguisticHierarchyClassifier(WIRING, node=LogisticRegression(max_iter=5000)).fit(X, y)
    model.set_params(thresholds={0: 1e-6})
    assert set(model.predict(X)) == {model.classes_[0]}
