"""Names of settings, columns and classes that nobody knows are refused, with a suggestion."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from solah import (
    PAPER,
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.exceptions import ParameterError, SolahError

ESTIMATORS = [
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
]


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["alpha", "beta", "gamma"])
    return X, np.where(X["alpha"] + X["beta"] > 0, "sick", "well")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_settings_of_the_paper_are_for_all_estimators(estimator):
    of_paper = PAPER["fusion"].flat(with_choice="fusion" in estimator._get_param_names())
    made = estimator.with_settings(PAPER, max_depth=3)
    found = made.get_params(deep=False)
    if "fusion" in found:
        found = made.fusion.flat()
        assert found.keys() == of_paper.keys()
    for name in of_paper.keys() & found.keys() - {"max_depth"}:
        assert found[name] == of_paper[name]
    assert found["max_depth"] == 3
    assert PAPER["fusion"].tree.max_depth is None


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_setting_that_no_estimator_has_is_refused(estimator):
    with pytest.raises(
        ParameterError,
        match=r"no estimator of solah has a parameter 'max_dept'; did you mean 'max_depth'\?",
    ):
        estimator.with_settings({**PAPER, "max_dept": 1})


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_parameter_that_the_estimator_does_not_have_is_refused(estimator):
    meant = "max_depth" if "max_depth" in estimator._get_param_names() else "max_rules"
    wrong = meant[:-1]
    message = rf"{estimator.__name__} does not have a parameter '{wrong}'; did you mean '{meant}"
    with pytest.raises(ParameterError, match=message):
        estimator.with_settings({}, **{wrong: 1})


def test_parameters_of_stacked_trees_are_told_apart_by_what_has_them():
    made = SelfOrganisedHierarchyClassifier.with_settings(
        PAPER, n_clusters=3, level_gap=0.1, max_rules=7, words={"alpha": ["low", "high"]}
    )
    assert (made.n_clusters, made.max_rules, made.words) == (3, "auto", "auto")
    assert (made.fusion.level_gap, made.fusion.tree.max_rules) == (0.1, 7)
    assert made.fusion.tree.words == {"alpha": ["low", "high"]}
    with pytest.raises(ParameterError, match="does not have a parameter 'penalty'"):
        SelfOrganisedHierarchyClassifier.with_settings(PAPER, penalty=1.0)


def test_how_hierarchies_are_chosen_is_no_setting_of_the_paper_for_other_estimators():
    made = GeneticHierarchyClassifier.with_settings(PAPER)
    usual = GeneticHierarchyClassifier()
    assert (made.max_inputs, made.scoring) == (usual.max_inputs, usual.scoring)


@pytest.mark.parametrize("parameter", ["kinds", "attribute_costs", "words", "interactions"])
def test_columns_that_screening_left_out_may_be_named(patients, parameter):
    X, y = patients
    X = X.assign(noise=np.random.default_rng(1).normal(size=len(y)))
    given = {
        "kinds": {"noise": "continuous"},
        "attribute_costs": {"noise": 2.0},
        "words": {"noise": {"low": -1.0, "high": 1.0}},
        "interactions": [("noise", "alpha")],
    }[parameter]
    model = SelfOrganisedHierarchyClassifier(screen=2, **{parameter: given}).fit(X, y)
    assert "noise" not in model.hierarchy_.attributes


def test_a_parameter_of_another_estimator_is_a_setting_but_no_parameter():
    assert LinguisticTreeRegressor.with_settings({"n_clusters": 2, "purity": 0.9}).purity == 0.9
    with pytest.raises(ParameterError, match="does not have a parameter 'n_clusters'"):
        LinguisticTreeRegressor.with_settings({}, n_clusters=2)


UNKNOWN = {
    "words": ({"alfa": ["cold", "hot"]}, "did you mean 'alpha'?"),
    "kinds": ({"alfa": "binary"}, "did you mean 'alpha'?"),
    "n_labels": ({"alfa": 3}, "did you mean 'alpha'?"),
    "thresholds": ({"sik": 0.2}, "did you mean 'sick'?"),
    "class_weight": ({"sik": 2.0}, "did you mean 'sick'?"),
    "node": ({"zeta": "cmac"}, "which is no node"),
}


TRAINED = [
    LinguisticTreeClassifier(),
    LinguisticHierarchyClassifier("z <- alpha, beta; y <- z, gamma"),
    SelfOrganisedHierarchyClassifier(),
    SelfOrganisedHierarchyClassifier(screen=2),
]


@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [(one, name) for one in TRAINED for name in UNKNOWN if name in one.get_params()],
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
