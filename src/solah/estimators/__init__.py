"""Estimators with scikit-learn's interface to train, explain and run models."""

from solah.estimators.genetic import GeneticHierarchyClassifier, GeneticSearch
from solah.estimators.hierarchy import LinguisticHierarchyClassifier
from solah.estimators.labeller import LinguisticLabeller
from solah.estimators.policies import fit_policy
from solah.estimators.rules import RuleClassifier, RuleRegressor
from solah.estimators.self_organised import SelfOrganisedHierarchyClassifier
from solah.estimators.trees import PAPER, LinguisticTreeClassifier, LinguisticTreeRegressor

__all__ = [
    "PAPER",
    "GeneticHierarchyClassifier",
    "GeneticSearch",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "RuleClassifier",
    "RuleRegressor",
    "SelfOrganisedHierarchyClassifier",
    "fit_policy",
]
