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
    made = estimator.with_settings(PAPER, max_depth=3)
    for name, value in made.get_params(deep=False).items():
        if name in PAPER and name != "max_depth":
            assert value == PAPER[name]
    assert made.max_depth == 3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_setting_that_no_estimator_has_is_refused(estimator):
    with pytest.raises(
        ParameterError,
        match=r"no estimator of solah has a parameter 'max_dept'; did you mean 'max_depth'\?",
    ):
        estimator.with_settings({**PAPER, "max_dept": 1})


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_parameter_that_the_estimator_does_not_have_is_refused(estimator):
    message = rf"{estimator.__name__} does not have a parameter 'max_dept'; did you mean 'max_depth"
    with pytest.raises(ParameterError, match=message):
        estimator.with_settings({}, max_dept=1)


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
