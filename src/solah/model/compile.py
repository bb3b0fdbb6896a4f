"""Compiles a model to the program that machines run: the one place that knows its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import deciding_fusions, evidence_shares, fusion_inputs
from solah.model.document import Fusion
from solah.model.program import Axis, AxisKind, Grid, Group, Link, Program, Stage, Term, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int32
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Tree

# A tree over two axes with more cells is a walk, which is as small as the tree.
_MAX_CELLS_PER_NODE = 8


def compile_model(model: Model) -> Program:
    """Compile a model.

    Parameters
    ----------
    model : Model

    Returns
    -------
    program : Program
        With a stage for each node of the model that has an output of its own: those whose scores
        no other node adds up.
    """
    return _Compiler(model).program()


class _Compiler:
    def __init__(self, model: Model) -> None:
        self._model, self._target = model, model.goal
        self._nodes = {node.name: node for node in model.nodes}
        self._features = {one.name: j for j, one in enumerate(model.attributes)}
        self._added = fusion_inputs(model.nodes)
        self._tops = deciding_fusions(model.nodes)
        self._shares = evidence_shares(model.nodes)
        self._stage_numbers: dict[str, int] = {}
        self._axes: list[Axis] = []
        self._axis_numbers: dict[tuple[object, ...], int] = {}

    def program(self) -> Program:
        stages: list[Stage] = []
        for node in self._model.nodes:
            if node.name in self._added:
                continue
            stage = self._sum(node) if isinstance(node, Fusion) else self._tree(node)
            self._stage_numbers[node.name] = len(stages)
            stages.append(stage)
        target = self._target
        return Program(
            features=tuple(self._features),
            axes=tuple(self._axes),
            stages=tuple(stages),
            thresholds=np.array(target.thresholds) if target.thresholds else None,
            centres=np.array(target.centres) if target.centres else None,
        )

    def _tree(self, tree: Tree) -> Stage:
        """Compile a linguistic tree, which averages the shares of its branches."""
        term = self._term(tree, tree.belief)
        baseline, whole = np.zeros(self._target.size), Group(tree.name, (0,))
        return Stage(tree.name, Link.SHARES, baseline, None, (term,), (whole,))

    def _sum(self, top: Fusion) -> Stage:
        """Compile a sum of terms, and the groups below it."""
        below = [self._nodes[name] for name in self._nodes if self._tops.get(name) is top]
        trees = [node for node in below if not isinstance(node, Fusion)]
        fusions = [node for node in below if isinstance(node, Fusion)]
        names = [node.name for node in trees] + [node.name for node in fusions]
        numbers = {name: number for number, name in enumerate(names)}
        terms = tuple(self._term(tree, tree.evidence) for tree in trees)
        is_number, log_prior = self._target.is_additive_number, self._target.log_prior
        return Stage(
            name=top.name,
            link=Link.NUMBER if is_number else Link.SOFTMAX,
            baseline=np.array(top.bias),
            log_prior=log_prior if len(log_prior) else None,
            terms=terms,
            groups=tuple(
                Group(fusion.name, tuple(numbers[name] for name in fusion.origins))
                for fusion in fusions
            ),
        )

    def _term(self, tree: Tree, weights: Float) -> Term:
        axes = tuple(self._axis(one) for one in tree.inputs)
        rules, rule_of_leaf = np.unique(tree.heads[tree.leaves], return_inverse=True)
        rule_of_node = np.full(len(tree.split), -1, dtype=np.int32)
        rule_of_node[tree.leaves] = rule_of_leaf
        weights = weights[rules]
        missing = None if tree.missing is None else np.array(tree.missing.scores)
        cells: Grid | Walk
        if tree.name in self._added and self._is_grid(tree, axes):
            cells = self._grid(tree, axes, rule_of_node, weights, missing)
        else:
            child = np.where(tree.split < 0, rule_of_node, tree.first_child).astype(np.int32)
            cells = Walk(tree.split, child, tree.shape.depth)
        share = self._shares.get(tree.name, 0.0)
        return Term(tree.name, axes, cells, weights, missing, share, tree.variance)

    def _axis(self, one: Attribute) -> int:
        kind, source = self._input(one)
        key = kind, source, one.place, one.peaks, one.ignorance
        if key not in self._axis_numbers:
            peaks, missing = np.array(one.peaks), np.array(one.ignorance)
            self._axis_numbers[key] = len(self._axes)
            self._axes.append(Axis(kind, source, peaks, missing, one.place))
        return self._axis_numbers[key]

    def _input(self, one: Attribute) -> tuple[AxisKind, int]:
        if one.tree is not None:
            return AxisKind.ONE_BELIEF, self._stage_numbers[one.tree]
        if one.name in self._features:
            kind = AxisKind.CATEGORY if one.is_coded else AxisKind.READING
            return kind, self._features[one.name]
        return AxisKind.ALL_BELIEFS, self._stage_numbers[one.name]

    def _is_grid(self, tree: Tree, axes: tuple[int, ...]) -> bool:
        """Whether a term has one axis, or two without many more cells than its tree has nodes."""
        if any(self._axes[axis].kind is AxisKind.ALL_BELIEFS for axis in axes):
            return False
        n_cells = np.prod([self._axes[axis].size for axis in axes])
        is_small = bool(n_cells <= _MAX_CELLS_PER_NODE * len(tree.split))
        return len(axes) == 1 or (len(axes) == 2 and is_small)

    def _grid(
        self,
        tree: Tree,
        axes: tuple[int, ...],
        rule_of_node: Int32,
        weights: Float,
        missing: Float | None,
    ) -> Grid:
        inputs = [self._axes[axis] for axis in axes]
        cells = np.indices([axis.size for axis in inputs])
        nodes = np.zeros(cells.shape[1:], dtype=np.intp)
        for _ in range(tree.shape.depth):
            split = tree.split[nodes]
            index = np.take_along_axis(cells, np.maximum(split, 0)[None], axis=0)[0]
            nodes = np.where(split < 0, nodes, tree.first_child[nodes] + index)
        rules = rule_of_node[nodes]
        table = weights[rules]
        for j, axis in enumerate(inputs):
            table = np.concatenate([table, _average(table, j, axis.missing)], axis=j)
        if missing is not None:
            table[-1] = missing
        return Grid(rules, np.ascontiguousarray(table))


def _average(table: NDArray[np.float64], axis: int, memberships: Float) -> Float:
    """Average a table along an axis, from first to last: a matrix product may add otherwise."""
    total = np.zeros_like(table.take([0], axis=axis))
    for index, membership in enumerate(memberships.tolist()):
        total += membership * table.take([index], axis=axis)
    return total
