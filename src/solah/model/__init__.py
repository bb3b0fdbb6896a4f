"""The model document: what training writes and all that comes after reads."""

from solah.model.attributes import Attribute
from solah.model.document import Fusion, Goal, MissingRule, Model, Monotonic, Node, Task, Tree
from solah.model.files import load_document, save_document
from solah.model.policy import Cells, Domain, Doubt, Policy, SeenTogether
from solah.model.provenance import OutOfFold, Provenance
from solah.model.word_ranges import WordRange

__all__ = [
    "Attribute",
    "Cells",
    "Domain",
    "Doubt",
    "Fusion",
    "Goal",
    "MissingRule",
    "Model",
    "Monotonic",
    "Node",
    "OutOfFold",
    "Policy",
    "Provenance",
    "SeenTogether",
    "Task",
    "Tree",
    "WordRange",
    "load_document",
    "save_document",
]
