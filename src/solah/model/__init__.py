"""The model: training writes it, and everything else reads it."""

from solah.model.document import (
    AdditiveNode,
    Branch,
    FeatureGroup,
    MissingRule,
    Model,
    Monotonic,
    Node,
    Part,
    Target,
    Task,
    Term,
    TermInput,
    TreeNode,
)
from solah.model.features import Feature, WordRange
from solah.model.format import load_document, save_document
from solah.model.policy import AbstainReason, Cells, Domain, Policy, SeenTogether
from solah.model.provenance import CrossValidated, Provenance

__all__ = [
    "AbstainReason",
    "AdditiveNode",
    "Branch",
    "Cells",
    "CrossValidated",
    "Domain",
    "Feature",
    "FeatureGroup",
    "MissingRule",
    "Model",
    "Monotonic",
    "Node",
    "Part",
    "Policy",
    "Provenance",
    "SeenTogether",
    "Target",
    "Task",
    "Term",
    "TermInput",
    "TreeNode",
    "WordRange",
    "load_document",
    "save_document",
]
