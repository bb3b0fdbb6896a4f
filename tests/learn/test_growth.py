"""Growth against the formulas, and what must not change the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_trees import learned_trees
from naive_lid3 import lid3, masses
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from solah import PAPER, LinguisticTreeClassifier
from solah.kernels import native
from solah.learn import growth
from solah.model.format import to_json


def assert_same_tree(tree, node, oracle):
    assert tree.support[node] == pytest.approx(oracle["weight"], abs=1e-5)
    if oracle["weight"] > 1e-4:
        np.testing.assert_allclose(tree.belief[node], oracle["belief"], atol=1e-4)
        assert int(tree.split[node]) == oracle.get("split", -1)
    if "children" in oracle and tree.split[node] >= 0:
        for child, below in zip(tree.children(node), oracle["children"], strict=True):
            assert_same_tree(tree, child, below)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_growth_follows_the_formulas(load):
    X, y = load(return_X_y=True)
    (tree,) = learned_trees(LinguisticTreeClassifier.with_settings(PAPER, max_depth=3), X, y)
    described = [
        np.array([masses(x, feature.peaks) for x in column])
        for feature, column in zip(tree.inputs, X.T, strict=True)
    ]
    features = list(range(X.shape[1]))
    oracle = lid3(np.ones(len(y)), features, described, y, 3, max_depth=3)
    assert_same_tree(tree, 0, oracle)


def document(X, y, **parameters):
    sample_weight = parameters.pop("sample_weight", None)
    fitted = LinguisticTreeClassifier(**parameters).fit(X, y, sample_weight)
    return to_json(fitted.model_)


@pytest.fixture(scope="module")
def holed():
    """Return real data with missing values, so that mean_masses takes part."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")
def test_the_kernel_does_not_change_a_bit(holed, monkeypatch):
    monkeypatch.setenv("SOLAH_KERNEL", "native")
    compiled = document(*holed)
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert document(*holed) == compiled


def test_the_order_of_rows_does_not_change_a_bit(holed):
    X, y = holed
    order = np.random.default_rng(1).permutation(len(y))
    assert document(X[order], y[order]) == document(X, y)


def test_small_batches_do_not_change_a_bit(holed, monkeypatch):
    whole = document(*holed)
    monkeypatch.setattr(growth, "_BATCH_BYTES", 1)
    assert document(*holed) == whole


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_a_weight_of_three_is_three_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    repeats = rng.integers(0, 4, len(y))
    weighted = LinguisticTreeClassifier().fit(X, y, sample_weight=repeats)
    repeated = LinguisticTreeClassifier().fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)
    assert weighted.n_rules_ == repeated.n_rules_


def test_equal_columns_tie_and_the_first_one_wins():
    X, y = load_iris(return_X_y=True)
    doubled = np.column_stack([X[:, 0], X[:, 2], X[:, 2]])
    assert LinguisticTreeClassifier().fit(doubled, y).model_.trees[0].walk.split[0] == 1


@pytest.mark.parametrize(
    ("parameter", "value", "larger"),
    [("max_depth", 1, 2), ("min_support", 0.2, 0.01), ("purity", 0.7, 1.0), ("min_gain", 0.3, 0.0)],
)
def test_each_stop_makes_the_tree_smaller(parameter, value, larger):
    X, y = load_wine(return_X_y=True)
    small = LinguisticTreeClassifier(**{parameter: value}).fit(X, y)
    large = LinguisticTreeClassifier(**{parameter: larger}).fit(X, y)
    assert small.n_rules_ < large.n_rules_


def test_a_branch_without_rows_believes_its_parent_or_nothing():
    X = np.array([[0.5], [0.6], [9.5], [9.6]])
    y = np.array([0, 0, 1, 0])
    cautious = LinguisticTreeClassifier(placement="uniform").fit(X, y)
    naive = LinguisticTreeClassifier(placement="uniform", null_branch="uniform").fit(X, y)
    np.testing.assert_allclose(cautious.predict_proba([[5.05]]), [[0.75, 0.25]], atol=1e-6)
    np.testing.assert_allclose(naive.predict_proba([[5.05]]), [[0.5, 0.5]], atol=1e-6)


def test_the_paper_counts_the_empty_pairs_of_states():
    X, y = [[0], [1], [0], [1]], [0, 1, 0, 0]
    tree = LinguisticTreeClassifier.with_settings(PAPER).fit(X, y)
    assert (tree.n_branches_, tree.n_rules_) == (3, 2)


def test_gain_ratio_distrusts_an_feature_with_many_states():
    y = np.arange(200) % 2
    many = np.arange(200) % 50  # 50 states, each of one class: 1 bit for log2(50) bits
    few = np.where(np.arange(200) % 20 == 0, 1 - y, y)  # 2 states, right 19 times in 20
    X = np.column_stack([many, few]).astype(float)
    chosen = {
        criterion: LinguisticTreeClassifier(
            feature_types={"x0": "categorical"}, criterion=criterion
        )
        .fit(X, y)
        .model_.trees[0]
        .walk.split[0]
        for criterion in ("information_gain", "gain_ratio")
    }
    assert chosen == {"information_gain": 0, "gain_ratio": 1}
