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
    """

    name: str
    states: tuple[State, ...] = ()
    words: tuple[str, ...] = ()
    peaks: tuple[float, ...] = ()
    centres: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()

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
        return len(self.states) or len(self.centres)


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
    belief : (n_nodes, goal.size) the distribution over the goal
    """

    name: str
    inputs: tuple[Attribute, ...]
    split: NDArray[np.int32]
    first_child: NDArray[np.int32]
    support: Float
    belief: Float

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
        """The evidence of branches (log-odds): how far they move beliefs from the tree's root.

        ``(n_nodes, goal.size)`` logarithms of belief over the root's belief; 0 on average over
        the goal's states.
        """
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
        """The branches that carry weight; those that are joined count once."""
        return len(set(self.heads[self.leaves][self.support[self.leaves] > 0].tolist()))

    @cached_property
    def heads(self) -> NDArray[np.intp]:
        """(n_nodes,) the first leaf of the branch that a leaf is joined to; else the node itself.

        Leaves below one node are joined where they believe the same: neighbours, if the focal
        sets have an order, and any others, if they have none.
        """
        heads = np.arange(len(self.split))
        leaf = self.split < 0
        for node in np.flatnonzero(~leaf).tolist():
            attribute, children = self.inputs[self.split[node]], self.children(node)
            first_with: dict[bytes, int] = {}
            for child in children:
                belief = self.belief[child].tobytes() if leaf[child] else None
                if attribute.is_ordered and belief not in first_with:
                    first_with.clear()
                if belief is not None:
                    heads[child] = first_with.setdefault(belief, child)
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
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Fusion:
    """A node that adds up the evidence of the nodes below it, each with a weight.

    Attributes
    ----------
    name : the name of what the node decides
    origins : the trees and fusions below, by name
    weights : the weight of each of them
    bias : the evidence to begin with, one number per goal state
    """

    name: str
    origins: tuple[str, ...]
    weights: tuple[float, ...]
    bias: tuple[float, ...]


Node = Tree | Fusion


@dataclass(frozen=True)
class Model:
    """A goal, the attributes it is decided on, and the nodes that decide, from bottom to top."""

    goal: Goal
    attributes: tuple[Attribute, ...]
    nodes: tuple[Node, ...]
    generator: str = field(default="", compare=False)

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
        """The nodes that weigh the evidence of others."""
        return tuple(node for node in self.nodes if isinstance(node, Fusion))

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
