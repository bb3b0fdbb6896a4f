"""Every estimator keeps scikit-learn's contract: no check is expected to fail, none is skipped."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticLabeller,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)

ESTIMATORS = [
    LinguisticLabeller(),
    LinguisticTreeClassifier(),
    LinguisticTreeRegressor(),
    LinguisticHierarchyClassifier(),
    SelfOrganisedHierarchyClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_keeps_the_contract(estimator, check):
    check(estimator)
