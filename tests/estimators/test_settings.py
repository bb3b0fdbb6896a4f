"""Names of settings, columns and classes that nobody knows are refused, with a suggestion."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from solah import (
    PAPER,
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    RuleRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.exceptions import ParameterError, SolahError

HIERARCHIES = [
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    SelfOrganisedHierarchyClassifier,
]
ESTIMATORS = [*HIERARCHIES, LinguisticTreeClassifier, LinguisticTreeRegressor]


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["alpha", "beta", "gamma"])
    return X, np.where(X["alpha"] + X["beta"] > 0, "sick", "well")


def test_settings_of_the_paper_are_given_flat(patients):
    for estimator in ESTIMATORS:
        made = estimator.with_settings(PAPER, max_depth=3, words={"alpha": ["low", "high"]})
        tree = made.tree if estimator in HIERARCHIES else made
        of_paper, found = PAPER["tree"].get_params(), tree.get_params()
        for name in of_paper.keys() & found.keys() - {"max_depth", "words"}:
            assert found[name] == of_paper[name]
        assert (tree.max_depth, tree.words) == (3, {"alpha": ["low", "high"]})
        message = f"{estimator.__name__} does not have a parameter 'max_dept'; did you mean 'max_d"
        with pytest.raises(ParameterError, match=message):
            estimator.with_settings({}, max_dept=1)
    assert PAPER["tree"].max_depth is None
    assert LinguisticTreeRegressor.with_settings({"n_clusters": 2, "purity": 0.9}).purity == 0.9
    with pytest.raises(TypeError, match="item assignment"):
        PAPER["purity"] = 0.5


@pytest.mark.parametrize("estimator", HIERARCHIES)
def test_hierarchies_take_nested_settings(estimator, patients):
    made = estimator(**PAPER).fit(*patients)
    assert {tree.name for tree in made.model_.trees} == {node.name for node in made.nodes_}
    assert made.set_params(tree__max_depth=1).tree.max_depth == 1
    assert PAPER["tree"].max_depth is None
    grid = GridSearchCV(estimator(), {"tree__max_depth": [1, 2]}, cv=2).fit(*patients)
    depth = grid.best_params_["tree__max_depth"]
    assert max(len(rule.conditions) for rule in grid.best_estimator_.rules()) <= depth
    tree = LinguisticTreeClassifier(class_weight="balanced")
    with pytest.raises(ParameterError, match=f"pass it to {estimator.__name__}"):
        estimator(tree=tree).fit(*patients)


def test_nested_settings_are_checked(patients):
    for estimator, message in (
        (LinguisticHierarchyClassifier(tree=LinguisticTreeClassifier(purity=2)), "'purity'"),
        (GeneticHierarchyClassifier(GeneticSearch(1)), "'population_size'"),
        (GeneticHierarchyClassifier(GeneticSearch(3, n_elite=3)), "must be less than 'population_"),
        (GeneticHierarchyClassifier(4), "'search'"),
        (SelfOrganisedHierarchyClassifier(top="cut"), "'top'"),
        (SelfOrganisedHierarchyClassifier(tree=RuleClassifier()), "'tree'"),
        (SelfOrganisedHierarchyClassifier(node=RuleRegressor()), "'node'"),
        (LinguisticHierarchyClassifier("y <- alpha", node={"y": "wood"}), "Got 'wood'"),
    ):
        with pytest.raises(ValueError, match=message):
            estimator.fit(*patients)


def test_objects_that_do_not_stand_yet_are_made_with_their_defaults():
    made = GeneticHierarchyClassifier().set_params(search__n_folds=4, tree__purity=0.9)
    assert (made.search.n_folds, made.search.population_size) == (4, 20)
    assert (made.tree.purity, made.tree.min_support) == (0.9, 0.01)
    with pytest.raises(ValueError, match="Invalid parameter 'max_dept'"):
        made.set_params(tree__max_dept=1)


UNKNOWN = {
    "words": ({"alfa": ["cold", "hot"]}, "did you mean 'alpha'?"),
    "feature_types": ({"alfa": "binary"}, "did you mean 'alpha'?"),
    "n_words": ({"alfa": 3}, "did you mean 'alpha'?"),
    "tree__words": ({"alfa": ["cold", "hot"]}, "did you mean 'alpha'?"),
    "tree__n_words": ({"alfa": 3}, "did you mean 'alpha'?"),
    "thresholds": ({"sik": 0.2}, "did you mean 'sick'?"),
    "class_weight": ({"sik": 2.0}, "did you mean 'sick'?"),
    "node": ({"zeta": "cmac"}, "but there is no such node"),
}


TRAINED = [
    LinguisticTreeClassifier(),
    LinguisticHierarchyClassifier("z <- alpha, beta; y <- z, gamma", **PAPER),
    RuleClassifier(),
]
ORGANISED = SelfOrganisedHierarchyClassifier(screen=2, tree=LinguisticTreeClassifier())


@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [(one, name) for one in TRAINED for name in UNKNOWN if name in one.get_params()]
    + [(ORGANISED, name) for name in ("tree__words", "tree__n_words", "feature_types")],
)
def test_a_column_class_or_node_that_is_not_there_is_refused(patients, estimator, parameter):
    given, suggestion = UNKNOWN[parameter]
    with pytest.raises(SolahError) as error:
        clone(estimator).set_params(**{parameter: given}).fit(*patients)
    assert suggestion in str(error.value)


def test_a_weight_of_a_class_that_no_row_has_does_no_harm_where_all_others_are_named(patients):
    weights = {"sick": 2.0, "well": 1.0}
    named = LinguisticTreeClassifier(class_weight=weights).fit(*patients)
    more = LinguisticTreeClassifier(class_weight={**weights, "dead": 3.0}).fit(*patients)
    assert more.model_ == named.model_
    with pytest.raises(ParameterError, match="'class_weight' names the class 'wel', which the row"):
        LinguisticTreeClassifier(class_weight={"sick": 2.0, "wel": 3.0}).fit(*patients)


def test_class_weights_find_classes_by_how_they_are_spelt(patients):
    X, y = patients
    codes = (y == "sick").astype(int)
    by_value = LinguisticTreeClassifier(class_weight={1: 5.0}).fit(X, codes)
    by_text = LinguisticTreeClassifier(class_weight={"1": 5.0}).fit(X, codes)
    assert by_text.model_ == by_value.model_
    with pytest.raises(ParameterError, match="'class_weight' names the class '1' twice"):
        LinguisticTreeClassifier(class_weight={1: 5.0, "1": 2.0}).fit(X, codes)
