"""Lower a model to what a device computes: broken lines, tables of states and trees.

Weights are multiplied into the scores of branches, evidence is taken against the first class, and
a tree that asks one attribute becomes a broken line over its readings, without idle knots.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.explain.effects import tree_weights
from solah.explain.rules import tree_rules
from solah.model.beliefs import fusion_inputs
from solah.model.document import Fusion, Task, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.explain.rules import Rule
    from solah.kernels.arrays import Float, Int32
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model


@dataclass(frozen=True, eq=False)
class Curve:
    """The scores of one measured attribute: straight between knots, level beyond the last ones.

    Attributes
    ----------
    attribute : the attribute's place among the model's
    knots : (n_knots,) readings, increasing, at least two
    values : (n_knots, n_values) the scores at each
    unknown : (n_values,) the scores when nothing is read
    rules : (n_knots,) the rules that give them, by their numbers
    """

    attribute: int
    knots: Float
    values: Float
    unknown: Float
    rules: Int32


@dataclass(frozen=True, eq=False)
class StateTable:
    """The scores of one attribute with states: a line per state, and one for none of them."""

    attribute: int
    values: Float
    unknown: Float
    rules: Int32


@dataclass(frozen=True, eq=False)
class TreeInput:
    """What a tree asks: a reading, or what an earlier stage believes.

    Attributes
    ----------
    attribute : the attribute's place; None for a belief
    stage : the stage whose belief it is; None for a reading
    place : the class that the belief is in; None where all beliefs are the masses themselves
    peaks : where the focal sets peak
    ignorance : the masses of an unknown reading
    is_coded : whether the reading is the place of a state
    """

    attribute: int | None
    stage: int | None
    place: int | None
    peaks: tuple[float, ...]
    ignorance: tuple[float, ...]
    is_coded: bool


@dataclass(frozen=True, eq=False)
class LoweredTree:
    """A tree over several inputs.

    Attributes
    ----------
    name : its node's name
    inputs : what it asks
    split : (n_nodes,) the input that a node asks; -1 for a leaf
    first_child : (n_nodes,) the first of a node's children
    values : (n_nodes, n_values) the scores of leaves
    rules : (n_nodes,) the rules of leaves, by their numbers
    """

    name: str
    inputs: tuple[TreeInput, ...]
    split: Int32
    first_child: Int32
    values: Float
    rules: Int32


@dataclass(frozen=True, eq=False)
class Stage:
    """What leads to one belief.

    Attributes
    ----------
    name : the node's name
    is_weighed : whether scores are evidence, which is added up; else they are one tree's belief
    start : (n_values,) the evidence to begin with
    curves, tables, trees : what is added up
    """

    name: str
    is_weighed: bool
    start: Float
    curves: tuple[Curve, ...]
    tables: tuple[StateTable, ...]
    trees: tuple[LoweredTree, ...]


@dataclass(frozen=True, eq=False)
class Lowered:
    """All that a device has to compute.

    Attributes
    ----------
    goal : what is decided
    attributes : what is read
    stages : from bottom to top; the last one decides
    rules : those of the last stage, by their numbers; in other stages each tree has its own
    """

    goal: Goal
    attributes: tuple[Attribute, ...]
    stages: tuple[Stage, ...]
    rules: tuple[Rule, ...]

    @property
    def is_number(self) -> bool:
        """Whether a number is estimated, rather than a class chosen."""
        return self.goal.task is Task.REGRESSION

    @property
    def n_values(self) -> int:
        """How many scores a branch has: one per class but the first, or the number itself."""
        return 1 if self.is_number else len(self.goal.states) - 1


def lower(model: Model, *, only_trees: bool = False) -> Lowered:
    """Bring a model into the form that a device computes.

    Parameters
    ----------
    model : Model
    only_trees : bool, default=False
        Whether trees that ask one attribute stay trees.
    """
    return _Lowering(model, only_trees).lowered()


class _Lowering:
    def __init__(self, model: Model, only_trees: bool) -> None:
        self._model, self._only_trees = model, only_trees
        self._weighed_nodes = fusion_inputs(model.nodes)
        self._weights = tree_weights(model)
        self._places = {attribute.name: j for j, attribute in enumerate(model.attributes)}
        self._stage_of: dict[str, int] = {}
        self._rules: list[Rule] = []
        self._rules_of: dict[str, Int32] = {}

    def lowered(self) -> Lowered:
        self._number_rules()
        stages = []
        for node in self._model.nodes:
            if node.name in self._weighed_nodes:
                continue
            stages.append(self._weighed(node) if isinstance(node, Fusion) else self._alone(node))
            self._stage_of[node.name] = len(stages) - 1
        rules = tuple(self._rules)
        return Lowered(self._model.goal, self._model.attributes, tuple(stages), rules)

    def _number_rules(self) -> None:
        """Give numbers to the rules of the trees in the last stage, tree by tree."""
        root = self._model.root
        for tree in self._trees_below(root) if isinstance(root, Fusion) else [root]:
            rules = tree_rules(tree, self._model.goal, self._weights.get(tree.name))
            numbers = np.zeros(len(tree.split), dtype=np.int32)
            numbers[list(rules)] = len(self._rules) + np.arange(len(rules))
            self._rules_of[tree.name] = numbers[tree.heads]
            self._rules += rules.values()

    def _weighed(self, fusion: Fusion) -> Stage:
        bias = np.array(fusion.bias)
        members = [(tree, self._evidence(tree)) for tree in self._trees_below(fusion)]
        return self._stage(fusion.name, bias[1:] - bias[0], members, is_weighed=True)

    def _alone(self, tree: Tree) -> Stage:
        goal = self._model.goal
        if goal.task is not Task.REGRESSION:
            scores, start = tree.belief[:, 1:], np.zeros(len(goal.states) - 1)
        else:  # from the middle on, so that the scores of leaves are small and their unit fine
            numbers = tree.belief @ np.array([goal.centres]).T
            start = (numbers.min(axis=0) + numbers.max(axis=0)) / 2
            scores = numbers - start
        return self._stage(tree.name, start, [(tree, scores)], is_weighed=False)

    def _trees_below(self, fusion: Fusion) -> list[Tree]:
        """List the trees whose evidence reaches a fusion, through others or not."""
        below = {fusion.name}
        trees: list[Tree] = []
        for node in reversed(self._model.nodes):
            if isinstance(node, Fusion) and node.name in below:
                below.update(node.origins)
            elif isinstance(node, Tree) and node.name in below:
                trees.append(node)
        return trees[::-1]

    def _evidence(self, tree: Tree) -> Float:
        evidence = self._weights[tree.name] * tree.evidence
        return np.asarray(evidence[:, 1:] - evidence[:, :1])

    def _stage(
        self, name: str, start: Float, members: Sequence[tuple[Tree, Float]], *, is_weighed: bool
    ) -> Stage:
        curves: list[Curve] = []
        tables: list[StateTable] = []
        trees: list[LoweredTree] = []
        for tree, scores in members:
            asks_beliefs = tree.inputs[0].origin not in self._places
            if self._only_trees or (tree.split[0] >= 0 and (len(tree.inputs) > 1 or asks_beliefs)):
                trees.append(self._tree(tree, scores))
            elif tree.split[0] < 0:
                start = start + scores[0]
            elif tree.inputs[0].is_coded:
                tables.append(self._table(tree, scores))
            else:
                curve = self._curve(tree, scores)
                if len(curve.knots) > 1:
                    curves.append(curve)
                else:
                    start = start + curve.values[0]
        return Stage(name, is_weighed, start, tuple(curves), tuple(tables), tuple(trees))

    def _curve(self, tree: Tree, scores: Float) -> Curve:
        attribute, values = tree.inputs[0], _of_sets(tree, scores)
        bends = _bending(values)
        return Curve(
            attribute=self._places[attribute.name],
            knots=np.array(attribute.peaks)[bends],
            values=values[bends],
            unknown=np.array(attribute.ignorance) @ values,
            rules=_of_sets(tree, self._numbers(tree))[bends],
        )

    def _table(self, tree: Tree, scores: Float) -> StateTable:
        attribute, values = tree.inputs[0], _of_sets(tree, scores)
        unknown = np.array(attribute.ignorance) @ values
        rules = _of_sets(tree, self._numbers(tree))
        return StateTable(self._places[attribute.name], values, unknown, rules)

    def _tree(self, tree: Tree, scores: Float) -> LoweredTree:
        inputs = tuple(self._input(attribute) for attribute in tree.inputs)
        rules = self._numbers(tree)
        return LoweredTree(tree.name, inputs, tree.split, tree.first_child, scores, rules)

    def _numbers(self, tree: Tree) -> Int32:
        if tree.name in self._rules_of:
            return self._rules_of[tree.name]
        return np.searchsorted(np.unique(tree.heads[tree.leaves]), tree.heads).astype(np.int32)

    def _input(self, attribute: Attribute) -> TreeInput:
        is_read = attribute.origin in self._places
        return TreeInput(
            attribute=self._places[attribute.name] if is_read else None,
            stage=None if is_read else self._stage_of[attribute.origin],
            place=None if is_read or attribute.tree is None else attribute.place,
            peaks=attribute.peaks,
            ignorance=attribute.ignorance,
            is_coded=is_read and attribute.is_coded,
        )


def _of_sets(tree: Tree, of_nodes: NDArray[Any]) -> NDArray[Any]:
    """Return what a tree that asks once has for each focal set, given what its nodes have."""
    children = tree.children(0)
    return of_nodes[children.start : children.stop]


def _bending(values: Float) -> list[int]:
    """Name the knots at which a broken line bends; one alone if it never does."""
    level = [bool((a == b).all()) for a, b in pairwise(values)]
    before, after = [True, *level], [*level, True]
    kept = [k for k in range(len(values)) if not (before[k] and after[k])]
    return kept or [0]
