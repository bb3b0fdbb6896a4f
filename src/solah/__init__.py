"""solah: classifiers that a person can read and a sensor can run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah import datasets
    from solah.dependence import distance_correlation, distance_correlation_matrix
    from solah.edit.diff import diff
    from solah.estimators import (
        PAPER,
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
    from solah.exceptions import (
        IdentifierWarning,
        RareCategoriesWarning,
        UnseenCategoryWarning,
    )
    from solah.learn.recipe import FixedRule
    from solah.model.predictor import load_model
    from solah.model.structure import Hierarchy
    from solah.scale import scan

    __version__: str

__all__ = [
    "PAPER",
    "FixedRule",
    "GeneticHierarchyClassifier",
    "GeneticSearch",
    "Hierarchy",
    "IdentifierWarning",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "RareCategoriesWarning",
    "RuleClassifier",
    "RuleRegressor",
    "SelfOrganisedHierarchyClassifier",
    "UnseenCategoryWarning",
    "datasets",
    "diff",
    "distance_correlation",
    "distance_correlation_matrix",
    "load_model",
    "scan",
]

# Names are imported when they are first used: scikit-learn alone takes longer than a decision.
_HOME_OF = {
    "PAPER": "solah.estimators",
    "FixedRule": "solah.learn.recipe",
    "GeneticHierarchyClassifier": "solah.estimators",
    "GeneticSearch": "solah.estimators",
    "Hierarchy": "solah.model.structure",
    "IdentifierWarning": "solah.exceptions",
    "LinguisticHierarchyClassifier": "solah.estimators",
    "LinguisticLabeller": "solah.estimators",
    "LinguisticTreeClassifier": "solah.estimators",
    "LinguisticTreeRegressor": "solah.estimators",
    "RareCategoriesWarning": "solah.exceptions",
    "RuleClassifier": "solah.estimators",
    "RuleRegressor": "solah.estimators",
    "SelfOrganisedHierarchyClassifier": "solah.estimators",
    "UnseenCategoryWarning": "solah.exceptions",
    "diff": "solah.edit.diff",
    "distance_correlation": "solah.dependence",
    "distance_correlation_matrix": "solah.dependence",
    "load_model": "solah.model.predictor",
    "scan": "solah.scale",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("solah.datasets")
    if name == "__version__":
        return import_module("importlib.metadata").version("solah")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'solah' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
