"""A table and a goal in, hierarchies of linguistic trees out: wired by hand or by themselves."""

from solah.hierarchy.classifier import LinguisticHierarchyClassifier
from solah.hierarchy.dependence import distance_correlation, distance_correlation_matrix
from solah.hierarchy.organised import SelfOrganisedHierarchyClassifier

__all__ = [
    "LinguisticHierarchyClassifier",
    "SelfOrganisedHierarchyClassifier",
    "distance_correlation",
    "distance_correlation_matrix",
]
