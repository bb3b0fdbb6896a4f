"""Lower a model to what a device computes: broken lines, tables of states and trees.

Evidence is taken against the first class, and
a tree that asks one attribute becomes a broken line over its readings, without idle knots. Below a
fusion, each of them has a share: what is lost when it is unknown (see ``model/program.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.model.beliefs import evidence_shares, fusion_inputs
from solah.model.document import Fusion, Task, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int32
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model

NO_RULE = 2**16 - 1
"""The number of a leaf that is never named as a reason."""


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
    share : the share that is lost with an unknown reading
    """

    attribute: int
    knots: Float
    values: Float
    unknown: Float
    rules: Int32
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class StateTable:
    """The scores of one attribute with states: a line per state, and one for none of them."""

    attribute: int
    values: Float
    unknown: Float
    rules: Int32
    share: float = 0.0


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
    lines : (n_nodes,) the lines in which a device that learns has the scores of leaves: one for
        leaves that are joined
    share : the share that is lost if a reading is unknown
    """

    name: str
    inputs: tuple[TreeInput, ...]
    split: Int32
    first_child: Int32
    values: Float
    rules: Int32
    lines: Int32
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class Lost:
    """What becomes of evidence if parts of a stage are unknown.

    With S the sum of the shares of these parts, Q that of their squares, and E the evidence of all
    parts, the scores are ``prior + k * (lean * (1 - S) + E)``, where ``k = 1 / sqrt(1 + factor *
    Q)``: the variances of parts are their squared shares, times one number for all of them.

    Attributes
    ----------
    prior : (n_values,) the logarithms of the classes' shares
    lean : (n_values,) what the bias adds to them
    factor : pi / 8 times the variance of a part that would have all shares
    """

    prior: Float
    lean: Float
    factor: float


@dataclass(frozen=True, eq=False)
class Stage:
    """What leads to one belief.

    Attributes
    ----------
    name : the node's name
    is_weighed : whether scores are evidence, or numbers, that are added up; else they are one
        tree's belief
    start : (n_values,) the evidence to begin with
    curves, tables, trees : what is added up
    lost : what becomes of evidence if some is unknown; None if that changes nothing else
    """

    name: str
    is_weighed: bool
    start: Float
    curves: tuple[Curve, ...]
    tables: tuple[StateTable, ...]
    trees: tuple[LoweredTree, ...]
    lost: Lost | None = None

    @property
    def shares(self) -> Float:
        """What is lost with each part: of curves, tables and trees, in this order."""
        parts: tuple[Curve | StateTable | LoweredTree, ...]
        parts = (*self.curves, *self.tables, *self.trees)
        return np.array([part.share for part in parts])


@dataclass(frozen=True, eq=False)
class Lowered:
    """All that a device has to compute.

    Attributes
    ----------
    goal : what is decided
    attributes : what is read
    stages : from bottom to top; the last one decides
    rules : those of the last stage, by their numbers: the tree, and the first leaf of the branch;
        in other stages each tree has its own numbers
    """

    goal: Goal
    attributes: tuple[Attribute, ...]
    stages: tuple[Stage, ...]
    rules: tuple[tuple[Tree, int], ...]

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
        self._shares = evidence_shares(model.nodes)
        self._places = {attribute.name: j for j, attribute in enumerate(model.attributes)}
        self._stage_of: dict[str, int] = {}
        self._rules: list[tuple[Tree, int]] = []
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
            heads, places = _heads_of_reasons(tree), _depth_first(tree)[tree.heads]
            named = sorted(set(heads[tree.leaves].tolist()), key=lambda leaf: (places[leaf], leaf))
            numbers = np.zeros(len(tree.split), dtype=np.int32)
            numbers[named] = len(self._rules) + np.arange(len(named))
            self._rules_of[tree.name] = np.where(tree.split < 0, numbers[heads], 0)
            self._rules += [(tree, int(tree.heads[head])) for head in named]

    def _weighed(self, fusion: Fusion) -> Stage:
        trees = self._trees_below(fusion)
        bias = self._against_first(np.array(fusion.bias))
        members = [(tree, self._against_first(tree.evidence)) for tree in trees]
        stage = self._stage(fusion.name, bias, members, is_weighed=True)
        if self._model.goal.is_additive_number or not stage.shares.any():
            return stage
        prior = self._against_first(self._model.goal.log_prior)
        spread = sum(np.sqrt(tree.variance) for tree in trees)
        return replace(stage, lost=Lost(prior, bias - prior, float(np.pi / 8 * spread**2)))

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

    def _against_first(self, scores: Float) -> Float:
        """Return the scores of all classes but the first, less those of the first."""
        if self._model.goal.is_additive_number:
            return scores
        return np.asarray(scores[..., 1:] - scores[..., :1])

    def _stage(
        self, name: str, start: Float, members: Sequence[tuple[Tree, Float]], *, is_weighed: bool
    ) -> Stage:
        curves: list[Curve] = []
        tables: list[StateTable] = []
        trees: list[LoweredTree] = []
        for tree, scores in members:
            is_alone = len(tree.inputs) == 1 and tree.inputs[0].origin in self._places
            is_level = not self._share(tree) and tree.missing is None
            if self._only_trees:
                trees.append(self._tree(tree, scores))
            elif tree.split[0] < 0 and is_level:
                start = start + scores[0]
            elif not is_alone:
                trees.append(self._tree(tree, scores))
            elif tree.inputs[0].is_coded:
                tables.append(self._table(tree, scores))
            else:
                curve = self._curve(tree, scores)
                if is_level and (curve.values == curve.values[0]).all():
                    start = start + curve.values[0]
                else:
                    curves.append(curve)
        return Stage(name, is_weighed, start, tuple(curves), tuple(tables), tuple(trees))

    def _share(self, tree: Tree) -> float:
        """Return what is lost if a tree is unknown; one with a rule for that never is."""
        if tree.missing is not None or self._model.goal.is_additive_number:
            return 0.0
        return self._shares.get(tree.name, 0.0)

    def _curve(self, tree: Tree, scores: Float) -> Curve:
        attribute, values = tree.inputs[0], _of_sets(tree, scores)
        bends, knots = _bending(values), np.array(attribute.peaks)
        if len(bends) == 1:  # level, and it only matters whether the reading is known
            bends, knots = [0, 0], np.array([knots[0], knots[0] + 1.0])
        else:
            knots = knots[bends]
        return Curve(
            attribute=self._places[attribute.name],
            knots=knots,
            values=values[bends],
            unknown=self._unknown(tree, values),
            rules=_of_sets(tree, self._numbers(tree))[bends],
            share=self._share(tree),
        )

    def _table(self, tree: Tree, scores: Float) -> StateTable:
        values = _of_sets(tree, scores)
        return StateTable(
            attribute=self._places[tree.inputs[0].name],
            values=values,
            unknown=self._unknown(tree, values),
            rules=_of_sets(tree, self._numbers(tree)),
            share=self._share(tree),
        )

    def _unknown(self, tree: Tree, values: Float) -> Float:
        """Return the scores of a missing reading: those of a rule for that, or the average."""
        if tree.missing is not None:
            return self._against_first(np.array(tree.missing.scores))
        return np.asarray(np.array(tree.inputs[0].ignorance) @ values)

    def _tree(self, tree: Tree, scores: Float) -> LoweredTree:
        inputs = tuple(self._input(attribute) for attribute in tree.inputs)
        rules = self._numbers(tree)
        lines = _lines(tree)
        if tree.missing is None:
            shape = tree.split, tree.first_child
            return LoweredTree(tree.name, inputs, *shape, scores, rules, lines, self._share(tree))
        # A focal set of its own, which no reading reaches, has all the mass of a missing one.
        one = inputs[0]
        n_sets = len(one.peaks)
        masses = (*[0.0] * n_sets, 1.0)
        own = replace(one, peaks=(*one.peaks, _beyond(one)), ignorance=masses)
        missing = self._against_first(np.array([tree.missing.scores]))
        leaves = [0, *np.repeat(0, n_sets)] if tree.split[0] < 0 else np.arange(n_sets + 1)
        return LoweredTree(
            name=tree.name,
            inputs=(own,),
            split=np.array([0, *[-1] * (n_sets + 1)], dtype=np.int32),
            first_child=np.array([1, *[0] * (n_sets + 1)], dtype=np.int32),
            values=np.vstack([scores[leaves], missing]),
            rules=np.array([*rules[leaves], NO_RULE], dtype=np.int32),
            lines=np.array([*lines[leaves], lines[tree.leaves].max() + 1], dtype=np.int32),
        )

    def _numbers(self, tree: Tree) -> Int32:
        if tree.name in self._rules_of:
            return self._rules_of[tree.name]
        return _lines(tree)

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


def _lines(tree: Tree) -> Int32:
    """Give the leaves of a tree numbers; those that are joined have one."""
    return np.searchsorted(np.unique(tree.heads[tree.leaves]), tree.heads).astype(np.int32)


def _heads_of_reasons(tree: Tree) -> NDArray[np.intp]:
    """Return the first of the leaves that are one reason: of those joined, the ones of one node.

    The leaves of different nodes are one reason only if a reading never takes both: those below
    different states of an attribute.
    """
    like = np.arange(len(tree.split))  # an earlier node with the same branches
    heads = np.arange(len(tree.split))
    for node in np.flatnonzero(tree.split >= 0).tolist():
        children = tree.children(node)
        if like[node] != node:
            like[children] = like[tree.children(like[node])]
            heads[children] = heads[tree.children(like[node])]
            continue
        for child in children:
            if tree.split[child] < 0:
                heads[child] = next(c for c in children if tree.heads[c] == tree.heads[child])
            elif tree.inputs[tree.split[node]].is_coded and tree.heads[child] in children:
                like[child] = tree.heads[child]
    return heads


def _depth_first(tree: Tree) -> NDArray[np.intp]:
    """Return the place of each node in the order in which rules are read."""
    places, stack = np.zeros(len(tree.split), dtype=np.intp), [0]
    for place in range(len(tree.split)):
        node = stack.pop()
        places[node] = place
        if tree.split[node] >= 0:
            stack.extend(reversed(tree.children(node)))
    return places


def _beyond(one: TreeInput) -> float:
    """Return where a focal set peaks that no reading reaches."""
    return float(len(one.peaks)) if one.is_coded else np.inf


def _of_sets(tree: Tree, of_nodes: NDArray[Any]) -> NDArray[Any]:
    """Return what a tree that asks once has for each focal set, given what its nodes have."""
    if tree.split[0] < 0:
        return np.repeat(of_nodes[:1], tree.inputs[0].n_focal_sets, axis=0)
    children = tree.children(0)
    return of_nodes[children.start : children.stop]


def _bending(values: Float) -> list[int]:
    """Name the knots at which a broken line bends; one alone if it never does."""
    level = [bool((a == b).all()) for a, b in pairwise(values)]
    before, after = [True, *level], [*level, True]
    kept = [k for k in range(len(values)) if not (before[k] and after[k])]
    return kept or [0]
