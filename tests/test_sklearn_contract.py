"""Every estimator keeps scikit-learn's contract: no check is expected to fail, none is skipped."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from solah import (
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticHierarchyClassifier,
    LinguisticLabeller,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    RuleRegressor,
    SelfOrganisedHierarchyClassifier,
)

ESTIMATORS = [
    LinguisticLabeller(),
    LinguisticTreeClassifier(),
    LinguisticTreeRegressor(),
    LinguisticHierarchyClassifier(),
    RuleClassifier(),
    SelfOrganisedHierarchyClassifier(cross_fit=2),
    RuleRegressor(),
    GeneticHierarchyClassifier(GeneticSearch(4, n_generations=2), random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_keeps_the_contract(estimator, check):
    check(estimator)
