"""Compiles a model to the program that machines run: the one place that knows its meaning."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model import program as programs
from solah.model.document import AdditiveNode, Model
from solah.model.program import Axis, AxisKind, Grid, Group, Link, Program, Stage
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Node, Term, TreeNode
    from solah.model.features import Feature


def compile_model(model: Model) -> Program:
    """Compile a model.

    Parameters
    ----------
    model : Model

    Returns
    -------
    program : Program
        With a stage for each node of the model.
    """
    return _Compiler(model).program()


class _Compiler:
    def __init__(self, model: Model) -> None:
        self._model, self._target = model, model.target
        self._features = {one.name: j for j, one in enumerate(model.features)}
        self._taken = {*self._features, *(node.name for node in model.nodes)}
        self._taken |= {group.name for node in model.sums for group in node.groups}
        self._stage_numbers: dict[str, int] = {}
        self._axes: list[Axis] = []
        self._axis_numbers: dict[tuple[object, ...], int] = {}

    def program(self) -> Program:
        stages: list[Stage] = []
        for node in self._model.nodes:
            stage = self._sum(node) if isinstance(node, AdditiveNode) else self._tree(node)
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

    def _tree(self, tree: TreeNode) -> Stage:
        """Compile a linguistic tree, which averages the beliefs of its branches."""
        axes = tuple(map(self._axis, tree.inputs))
        beliefs = np.array([branch.belief for branch in tree.branches])
        term = programs.Term(tree.name, axes, tree.walk, beliefs)
        baseline, whole = np.zeros(self._target.size), Group(tree.name, (0,))
        return Stage(tree.name, Link.SHARES, baseline, None, (term,), (whole,))

    def _sum(self, node: AdditiveNode) -> Stage:
        """Compile a sum: its groups first, then the terms in no group."""
        spreads = [math.sqrt(term.variance) for term in node.terms]
        total = math.fsum(spreads)
        terms = tuple(
            self._term(term, spread / total if spread else 0.0)
            for term, spread in zip(node.terms, spreads, strict=True)
        )
        groups = [Group(group.name, group.terms) for group in node.groups]
        numbers = range(len(terms), len(terms) + len(groups))
        log_prior = self._target.log_prior
        return Stage(
            name=node.name,
            link=self._target.additive_link,
            baseline=np.array(node.baseline),
            log_prior=log_prior if len(log_prior) else None,
            terms=terms,
            groups=(*groups, Group(node.name, (*numbers, *node.ungrouped))),
        )

    def _term(self, term: Term, share: float) -> programs.Term:
        axes = tuple(self._axis(one.asked) for one in term.inputs)
        lines = np.ix_(*(one.part_of_set for one in term.inputs))
        rules = np.arange(term.counts.size, dtype=np.int32).reshape(term.shape)[lines]
        weights = term.weights.reshape(term.counts.size, -1)
        missing = None if term.missing is None else np.array(term.missing.scores)
        table = weights[rules]
        for j, axis in enumerate(axes):
            line = _average(table, j, self._axes[axis].missing)
            table = np.concatenate([table, line], axis=j)
        if missing is not None:
            table[-1] = missing
        name = fresh_name(f"rules on {' and '.join(term.features)}", self._taken)
        self._taken.add(name)
        cells = Grid(np.ascontiguousarray(rules), np.ascontiguousarray(table))
        return programs.Term(name, axes, cells, weights, missing, share, term.variance)

    def _axis(self, one: Feature) -> int:
        kind, source = self._input(one)
        key = kind, source, one.place, one.peaks, one.mean_masses
        if key not in self._axis_numbers:
            peaks, missing = np.array(one.peaks), np.array(one.mean_masses)
            self._axis_numbers[key] = len(self._axes)
            self._axes.append(Axis(kind, source, peaks, missing, one.place))
        return self._axis_numbers[key]

    def _input(self, one: Feature) -> tuple[AxisKind, int]:
        if one.tree is not None:
            return AxisKind.ONE_BELIEF, self._stage_numbers[one.tree]
        if one.name in self._features:
            kind = AxisKind.CATEGORY if one.is_coded else AxisKind.READING
            return kind, self._features[one.name]
        return AxisKind.ALL_BELIEFS, self._stage_numbers[one.name]


def _average(table: NDArray[np.float64], axis: int, memberships: Float) -> Float:
    """Average a table along an axis, from first to last: a matrix product may add otherwise."""
    total = np.zeros_like(table.take([0], axis=axis))
    for index, membership in enumerate(memberships.tolist()):
        total += membership * table.take([index], axis=axis)
    return total


def part_of(model: Model, name: str) -> Model:
    """Take a node, a group or a term with all that is below it as a model.

    Parameters
    ----------
    model : Model
    name : str
        The part's name, as in ``model.parts``.

    Returns
    -------
    part : Model
        Its output is that of the part. Of a term or a group, its probabilities are the softmax of
        the weights that the part adds, so that their logarithms, less their mean, are these
        weights, whatever is missing: its terms have no variance. Of a number, the part estimates
        what it adds. It has no policy, whose limits are for the probabilities of the whole.
    """
    parts = {part.name: part for part in model.parts}
    if name not in parts:
        raise ParameterError(f"the model has no part {shorten(name)}{did_you_mean(name, parts)}")
    nodes = {node.name: node for node in model.nodes}
    last: Node = nodes[parts[name].node]
    if name != last.name:
        assert isinstance(last, AdditiveNode)
        names = model.program.stages[model.nodes.index(last)].part_names
        number = names.index(name)
        of_part = [number]
        if number >= len(last.terms):
            of_part = list(last.groups[number - len(last.terms)].terms)
        terms = tuple(replace(last.terms[one], variance=0.0) for one in of_part)
        taken = {one.name for one in model.features} | nodes.keys()
        root = fresh_name(model.target.name, taken - {last.name})
        last = AdditiveNode(root, (0.0,) * model.target.size, terms)
    wanted = {last.name, *last.origins}
    below = []
    for node in reversed(model.nodes[: model.nodes.index(nodes[parts[name].node])]):
        if node.name in wanted:
            wanted.update(node.origins)
            below.append(node)
    features = tuple(one for one in model.features if one.name in wanted)
    features = features or model.features  # a constant keeps the feature that it was given
    constraints = tuple(one for one in model.monotonic if one.feature in wanted)
    names_left = [one.name for one in features]
    return Model(
        model.target,
        features,
        (*reversed(below), last),
        model.generator,
        monotonic=constraints,
        signals=model.signals and model.signals.only(names_left),
        domain=model.domain and model.domain.only(names_left),
    )
