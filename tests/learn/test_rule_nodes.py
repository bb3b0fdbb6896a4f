"""Rule models at the nodes of a hierarchy."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from solah import Hierarchy, LinguisticHierarchyClassifier
from solah.model import AdditiveNode, TreeNode
from solah.model.format import from_json, to_json

WINE = "z <- alcohol, hue, ash; w <- magnesium, proline; y <- z, w, flavanoids"
CANCER = "z <- mean area, mean texture; y <- z, worst area"


@pytest.mark.parametrize(
    ("load", "hierarchy"),
    [
        (load_wine, WINE),
        (load_breast_cancer, CANCER.replace(" area", "_area").replace(" texture", "_texture")),
    ],
)
def test_one_program_runs_the_whole_hierarchy(load, hierarchy):
    X, y = load(return_X_y=True, as_frame=True)
    X.columns = [name.replace(" ", "_") for name in X.columns]
    model = LinguisticHierarchyClassifier(Hierarchy.parse(hierarchy), node="rules").fit(X, y)
    assert all(isinstance(node, AdditiveNode) for node in model.model_.nodes)
    gaps = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    probabilities = model.predict_proba(gaps)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    again = from_json(to_json(model.model_).encode())
    assert again == model.model_
    assert model.score(X, y) > 0.9


def test_rules_above_use_words_of_belief():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = LinguisticHierarchyClassifier(WINE, node="rules", cross_fit=5).fit(X, y).model_
    believed = [one for one in model.root.inputs if one.tree is not None]
    assert believed
    assert {one.tree for one in believed} <= {"z", "w"}
    assert {word for one in believed for word in one.words} <= {
        "very unlikely",
        "unlikely",
        "open",
        "likely",
        "very likely",
    }


def test_nodes_may_be_rules_and_trees():
    X, y = load_wine(return_X_y=True, as_frame=True)
    nodes = {"z": "rules", "w": "tree", "y": "tree"}
    model = LinguisticHierarchyClassifier(WINE, node=nodes).fit(X, y)
    kinds = {node.name: type(node) for node in model.model_.nodes}
    assert kinds == {"z": AdditiveNode, "w": TreeNode, "y": TreeNode}
    assert from_json(to_json(model.model_).encode()) == model.model_
    assert model.score(X, y) > 0.8
