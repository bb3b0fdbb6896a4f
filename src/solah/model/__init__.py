"""The model document: what training writes and all that comes after reads."""

from solah.model.attributes import Attribute, WordRange
from solah.model.document import (
    AdditiveNode,
    Branch,
    FeatureGroup,
    Goal,
    MissingRule,
    Model,
    Monotonic,
    Node,
    Part,
    Task,
    Term,
    TermInput,
    TreeNode,
)
from solah.model.format import load_document, save_document
from solah.model.policy import Cells, Domain, Doubt, Policy, SeenTogether
from solah.model.provenance import OutOfFold, Provenance

__all__ = [
    "AdditiveNode",
    "Attribute",
    "Branch",
    "Cells",
    "Domain",
    "Doubt",
    "FeatureGroup",
    "Goal",
    "MissingRule",
    "Model",
    "Monotonic",
    "Node",
    "OutOfFold",
    "Part",
    "Policy",
    "Provenance",
    "SeenTogether",
    "Task",
    "Term",
    "TermInput",
    "TreeNode",
    "WordRange",
    "load_document",
    "save_document",
]
