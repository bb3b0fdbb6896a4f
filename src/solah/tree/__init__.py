"""Labelled rows in, linguistic decision trees out."""

from solah.tree.classifier import LinguisticTreeClassifier
from solah.tree.regressor import LinguisticTreeRegressor

__all__ = ["LinguisticTreeClassifier", "LinguisticTreeRegressor"]
