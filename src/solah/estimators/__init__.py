"""The estimators: scikit-learn's interface to learning, explaining and running models."""

from solah.estimators.genetic import GeneticHierarchyClassifier
from solah.estimators.genetic_search import GeneticSearch
from solah.estimators.hierarchy import LinguisticHierarchyClassifier
from solah.estimators.labeller import LinguisticLabeller
from solah.estimators.policies import fit_policy
from solah.estimators.self_organised import SelfOrganisedHierarchyClassifier
from solah.estimators.self_organised_regressor import SelfOrganisedHierarchyRegressor
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.estimators.tree_fusion import TreeFusion
from solah.estimators.tree_regressor import LinguisticTreeRegressor

__all__ = [
    "GeneticHierarchyClassifier",
    "GeneticSearch",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "SelfOrganisedHierarchyClassifier",
    "SelfOrganisedHierarchyRegressor",
    "TreeFusion",
    "fit_policy",
]
