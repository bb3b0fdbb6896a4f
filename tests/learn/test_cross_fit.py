"""Cross-fitting: trees learn from what trees below believe of rows they have not learned from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
)
from solah.learn.sample import stratified_folds

WIRING = "z <- x0, x1, x2, x3; y <- z, x4"


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_a_fold_follows_from_what_a_row_says(seed, n_folds):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2**32, size=(60, 3), dtype=np.uint32)
    labels[30:] = labels[:30]
    codes = np.tile(rng.integers(0, 2, 30), 2)
    folds = stratified_folds(labels, codes, n_folds)
    np.testing.assert_array_equal(folds[:30], folds[30:])
    assert set(folds) <= set(range(n_folds))
    order = rng.permutation(60)
    np.testing.assert_array_equal(
        stratified_folds(labels[order], codes[order], n_folds), folds[order]
    )


@pytest.fixture(scope="module")
def noise():
    """Return features that tell nothing, and one that tells a little."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    return X, (X[:, 4] + 0.5 * rng.standard_normal(400) > 0).astype(int)


def test_a_tree_that_learned_noise_is_not_trusted(noise):
    """Its beliefs are right only for the rows it has learned; cross-fitting sees that."""
    X, y = noise
    rng = np.random.default_rng(1)
    unseen = rng.standard_normal((2000, 5))
    truth = (unseen[:, 4] + 0.5 * rng.standard_normal(2000) > 0).astype(int)

    def loss(cross_fit):
        sharp = LinguisticTreeClassifier(4, min_support=0, leaves="refitted", prior_weight=0.01)
        model = LinguisticHierarchyClassifier(WIRING, tree=sharp, cross_fit=cross_fit).fit(X, y)
        return -np.log(model.predict_proba(unseen)[np.arange(2000), truth].clip(1e-3)).mean()

    assert loss(5) < 0.9 * loss(None)


def test_the_trees_below_are_the_same_and_those_above_learn_from_other_beliefs(noise):
    X, y = noise
    tree = LinguisticTreeClassifier(min_support=0.05, max_depth=2)
    model = LinguisticHierarchyClassifier(WIRING, tree=tree, cross_fit=3).fit(X, y).model_
    plain = LinguisticHierarchyClassifier(WIRING, tree=tree).fit(X, y).model_
    assert model.trees[0] == plain.trees[0]
    assert model.trees[1].branches != plain.trees[1].branches


def test_a_row_of_weight_two_is_two_rows(noise):
    X, y = noise
    weights = np.arange(len(y)) % 3
    settings = {"tree": LinguisticTreeClassifier(min_support=10), "cross_fit": 3}
    weighted = LinguisticHierarchyClassifier(WIRING, **settings).fit(X, y, weights)
    repeated = LinguisticHierarchyClassifier(WIRING, **settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("node", ["cmac", "rules"])
def test_other_nodes_are_cross_fitted_too(noise, node):
    X, y = noise
    wiring = "z <- x0, x1; y <- z, x4"
    model = LinguisticHierarchyClassifier(wiring, node=node, cross_fit=3).fit(X, y)
    assert model.score(X, y) > 0.7


def test_few_rows_and_one_class():
    model = LinguisticHierarchyClassifier("z <- x0; y <- z, x1", cross_fit=5)
    assert model.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.0, 1.0]]).shape == (1,)
    assert model.fit([[0.0, 1.0]], [1]).predict([[0.0, 1.0]]) == [1]
