"""The model document in memory: all that a decision needs, and nothing of how it was learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import TreeShape
from solah.model.attributes import flatten
from solah.model.structure import Hierarchy, HierarchyNode

# Beliefs below count as this when evidence is made of them: what was never seen is not impossible.
LEAST_BELIEF = 1e-30

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data import State
    from solah.kernels.arrays import Float, FocalSets
    from solah.model.attributes import Attribute
    from solah.model.edits import Comment, Edit
    from solah.model.policy import Domain, Policy
    from solah.model.program import Program
    from solah.model.provenance import Provenance
    from solah.model.signals import Signals


class Task(StrEnum):
    """What the goal is: one of several classes, or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@dataclass(frozen=True)
class Goal:
    """What is decided.

    Attributes
    ----------
    name : the goal's name
    states : the classes, for classification
    words, peaks : the goal's words and where its focal sets peak, for regression
    centres : the mean goal value of each focal set, for regression
    thresholds : the belief at which each class is as good a decision as any other; they sum to 1,
        and none stands for equal ones
    prior : the shares of the classes among the training rows, where evidence is added up

    A goal with neither classes nor centres is a number that trees add up to.
    """

    name: str
    states: tuple[State, ...] = ()
    words: tuple[str, ...] = ()
    peaks: tuple[float, ...] = ()
    centres: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()
    prior: tuple[float, ...] = ()

    def decide(self, beliefs: Float) -> NDArray[np.intp]:
        """Return the place of the class to decide for, of beliefs ``(n_rows, n_classes)``."""
        by_threshold = beliefs / np.array(self.thresholds) if self.thresholds else beliefs
        return np.asarray(np.argmax(by_threshold, axis=1))

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return Task.CLASSIFICATION if self.states else Task.REGRESSION

    @property
    def size(self) -> int:
        """How many numbers a belief about the goal has."""
        return len(self.states) or len(self.centres) or 1

    @property
    def is_additive_number(self) -> bool:
        """Whether the goal is a number that trees add up to, rather than one of its words."""
        return not self.states and not self.centres

    @property
    def log_prior(self) -> Float:
        """The logarithms of the classes' shares, 0 on average: none for a number."""
        logs = np.log(np.maximum(np.array(self.prior), LEAST_BELIEF))
        return np.asarray(logs - logs.mean()) if len(logs) else logs


@dataclass(frozen=True)
class MissingRule:
    """What it tells by itself that a reading is missing.

    Attributes
    ----------
    support : the training weight of the rows whose reading is missing
    belief : their distribution over the goal; for a number that is added up, its mean
    scores : the evidence for each class
    is_pinned : whether learning again is to keep it
    """

    support: float
    belief: tuple[float, ...]
    scores: tuple[float, ...]
    is_pinned: bool = False


@dataclass(frozen=True, eq=False)
class Tree:
    """A linguistic decision tree over some of the attributes.

    Attributes
    ----------
    name : the name of what the tree decides
    inputs : the attributes, in the order of ``split``'s numbers
    split : (n_nodes,) the input that a node splits on; -1 for a leaf
    first_child : (n_nodes,) the child of the input's first focal set; the others follow it
    support : (n_nodes,) the training weight that reached the node
    belief : (n_nodes, goal.size) the distribution over the goal; for a number that trees add up
        to, its mean among the node's rows
    scores : (n_nodes, goal.size) of a tree below a fusion, the evidence of each leaf for each
        class (log-odds), 0 on average over the classes; for a number, what the leaf adds to it
    variance : of a tree below a fusion, the variance of its evidence over the training rows, the
        mean over the classes, or more: what is lost when it is unknown
    missing : what a missing reading tells, of a tree with one input; None if nothing
    pinned : the leaves, by number, that learning again is to keep
    """

    name: str
    inputs: tuple[Attribute, ...]
    split: NDArray[np.int32]
    first_child: NDArray[np.int32]
    support: Float
    belief: Float
    scores: Float | None = None
    variance: float = 0.0
    missing: MissingRule | None = None
    pinned: frozenset[int] = frozenset()

    @cached_property
    def sets(self) -> FocalSets:
        """The inputs' focal sets, for the kernels."""
        return flatten(self.inputs)

    @cached_property
    def shape(self) -> TreeShape:
        """The node table, for the kernels."""
        return TreeShape.of(self.split, self.first_child, self.sets)

    @property
    def origins(self) -> tuple[str, ...]:
        """The attributes and nodes that feed the tree, each once."""
        return tuple(dict.fromkeys(attribute.origin for attribute in self.inputs))

    @cached_property
    def evidence(self) -> Float:
        """The evidence of branches, ``(n_nodes, goal.size)``: the tree's ``scores``.

        Where it has none, the logarithms of belief over the root's belief; 0 on average over the
        goal's states.
        """
        if self.scores is not None:
            return self.scores
        logs = np.log(np.maximum(self.belief, LEAST_BELIEF))
        moved = logs - logs[0]
        return np.asarray(moved - moved.mean(axis=1, keepdims=True))

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that end a branch."""
        return np.flatnonzero(self.split < 0)

    @property
    def n_branches(self) -> int:
        """The paper's branch number (beta): all edges counted, empty ones included."""
        splits: list[int] = self.split[self.split >= 0].tolist()
        unseen = (self.inputs[a].n_paper_edges - self.inputs[a].n_focal_sets for a in splits)
        return len(self.leaves) + sum(unseen)

    @property
    def n_rules(self) -> int:
        """The branches that carry weight, joined ones once, and the rule of a missing reading."""
        branches = set(self.heads[self.leaves][self.support[self.leaves] > 0].tolist())
        return len(branches) + (self.missing is not None and self.missing.support > 0)

    @cached_property
    def heads(self) -> NDArray[np.intp]:
        """(n_nodes,) the first leaf of the branch that a leaf is joined to; else the node itself.

        Leaves below one node are joined where their beliefs and scores are the same, and all or
        none are pinned: neighbours, if the focal sets have an order, and any others, if they have
        none. In a tree with scores, so are inner nodes with the same branches below them.
        """
        told = self.belief if self.scores is None else np.hstack([self.belief, self.scores])
        content: list[object] = [None] * len(self.split)
        for node in range(len(self.split) - 1, -1, -1):  # children stand behind their parents
            if self.split[node] < 0:
                content[node] = told[node].tobytes(), node in self.pinned
            elif self.scores is not None:
                below = (content[child] for child in self.children(node))
                content[node] = (int(self.split[node]), *below)
        heads = np.arange(len(self.split))
        for node in np.flatnonzero(self.split >= 0).tolist():
            if heads[node] != node:
                heads[self.children(node)] = heads[self.children(heads[node])]
                continue
            is_ordered = self.inputs[self.split[node]].is_ordered
            first_with: dict[object, int] = {}
            for child in self.children(node):
                if is_ordered and content[child] not in first_with:
                    first_with.clear()
                if content[child] is not None:
                    heads[child] = first_with.setdefault(content[child], child)
        return heads

    def children(self, node: int) -> range:
        """Return the children of an inner node, in the order of their focal sets."""
        first = int(self.first_child[node])
        return range(first, first + self.inputs[self.split[node]].n_focal_sets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.name == other.name
            and self.inputs == other.inputs
            and np.array_equal(self.split, other.split)
            and np.array_equal(self.first_child, other.first_child)
            and np.array_equal(self.support, other.support)
            and np.array_equal(self.belief, other.belief)
            and _are_equal(self.scores, other.scores)
            and self.variance == other.variance
            and self.missing == other.missing
            and self.pinned == other.pinned
        )

    __hash__ = None  # type: ignore[assignment]


def _are_equal(first: Float | None, second: Float | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


@dataclass(frozen=True)
class Fusion:
    """A node that adds up the evidence of the nodes below it.

    Attributes
    ----------
    name : the name of what the node decides
    origins : the trees and fusions below, by name
    bias : the evidence to begin with, one number per goal state; none for a group, which is a
        fusion below another
    """

    name: str
    origins: tuple[str, ...]
    bias: tuple[float, ...] = ()


Node = Tree | Fusion


@dataclass(frozen=True)
class Monotonic:
    """A promise: at equal other readings, a rising reading moves the goal one way only.

    Attributes
    ----------
    attribute : the attribute's name
    direction : 1 if the belief in the class, or the number, never falls; -1 if it never rises
    state : the place of the class; 0 for a number
    """

    attribute: str
    direction: int
    state: int = 0


@dataclass(frozen=True)
class Model:
    """A goal, the attributes it is decided on, and the nodes that decide, from bottom to top.

    Models are compared by what they decide, and not by how they were made: what wrote the document,
    what it was learnt from, the edits of people since, and the comments of its rules file.

    What it promises of single attributes (``monotonic``) is kept by each of its trees.

    Where the readings of the attributes are made of samples, ``signals`` says how.

    ``domain`` is what the training rows held, and ``policy`` when a decision is held back, and when
    one that was taken changes; without it, each row is decided by itself.
    """

    goal: Goal
    attributes: tuple[Attribute, ...]
    nodes: tuple[Node, ...]
    generator: str = field(default="", compare=False)
    provenance: Provenance | None = field(default=None, compare=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False)
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    monotonic: tuple[Monotonic, ...] = ()
    signals: Signals | None = None
    domain: Domain | None = None
    policy: Policy | None = None

    @property
    def root(self) -> Node:
        """The node that decides."""
        return self.nodes[-1]

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The nodes that are trees."""
        return tuple(node for node in self.nodes if isinstance(node, Tree))

    @cached_property
    def fusions(self) -> tuple[Fusion, ...]:
        """The nodes that add up the evidence of others."""
        return tuple(node for node in self.nodes if isinstance(node, Fusion))

    @cached_property
    def program(self) -> Program:
        """The program that machines run."""
        from solah.model.compile import compile_model  # compiles documents, and so imports this

        return compile_model(self)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """How the trees are wired."""
        return Hierarchy(tuple(HierarchyNode(node.name, node.origins) for node in self.nodes))

    @property
    def n_branches(self) -> int:
        """The paper's branch number (beta), summed over the trees."""
        return sum(tree.n_branches for tree in self.trees)

    @property
    def n_rules(self) -> int:
        """The branches that carry weight, summed over the trees."""
        return sum(tree.n_rules for tree in self.trees)
