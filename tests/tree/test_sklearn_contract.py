"""Every estimator keeps scikit-learn's contract; what it does not keep is listed with a reason."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from solah import LinguisticLabeller, LinguisticTreeClassifier, LinguisticTreeRegressor

ESTIMATORS = [LinguisticLabeller(), LinguisticTreeClassifier(), LinguisticTreeRegressor()]


def expected_failures(estimator):
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_keeps_the_contract(estimator, check):
    check(estimator)
