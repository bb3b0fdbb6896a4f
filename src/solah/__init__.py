"""solah: classifiers that a person can read and a sensor can run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah import datasets
    from solah.exceptions import UnseenStateWarning
    from solah.hierarchy import (
        GeneticHierarchyClassifier,
        LinguisticHierarchyClassifier,
        SelfOrganisedHierarchyClassifier,
        distance_correlation,
        distance_correlation_matrix,
    )
    from solah.labels import LinguisticLabeller
    from solah.model.structure import Hierarchy
    from solah.paper import PAPER
    from solah.runtime import load_model
    from solah.scale import scan
    from solah.tree import LinguisticTreeClassifier, LinguisticTreeRegressor

    __version__: str

__all__ = [
    "PAPER",
    "GeneticHierarchyClassifier",
    "Hierarchy",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "SelfOrganisedHierarchyClassifier",
    "UnseenStateWarning",
    "datasets",
    "distance_correlation",
    "distance_correlation_matrix",
    "load_model",
    "scan",
]

# Names are imported when they are first used: scikit-learn alone takes longer than a decision.
_ROOM_OF = {
    "PAPER": "solah.paper",
    "GeneticHierarchyClassifier": "solah.hierarchy",
    "Hierarchy": "solah.model.structure",
    "LinguisticHierarchyClassifier": "solah.hierarchy",
    "LinguisticLabeller": "solah.labels",
    "LinguisticTreeClassifier": "solah.tree",
    "LinguisticTreeRegressor": "solah.tree",
    "SelfOrganisedHierarchyClassifier": "solah.hierarchy",
    "UnseenStateWarning": "solah.exceptions",
    "distance_correlation": "solah.hierarchy",
    "distance_correlation_matrix": "solah.hierarchy",
    "load_model": "solah.runtime",
    "scan": "solah.scale",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("solah.datasets")
    if name == "__version__":
        return import_module("importlib.metadata").version("solah")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'solah' has no attribute {name!r}")
    return getattr(import_module(_ROOM_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
