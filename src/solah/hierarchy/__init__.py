"""A table and a goal in, hierarchies of trees out: wired by hand, by themselves or by search."""

from solah.hierarchy.classifier import LinguisticHierarchyClassifier
from solah.hierarchy.dependence import distance_correlation, distance_correlation_matrix
from solah.hierarchy.genetic import GeneticHierarchyClassifier
from solah.hierarchy.organised import SelfOrganisedHierarchyClassifier

__all__ = [
    "GeneticHierarchyClassifier",
    "LinguisticHierarchyClassifier",
    "SelfOrganisedHierarchyClassifier",
    "distance_correlation",
    "distance_correlation_matrix",
]
