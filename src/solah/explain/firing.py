"""Finds the rules that fired on the way to each decision (Definition 2)."""

from __future__ import annotations

from functools import cached_property, partial
from math import isnan
from typing import TYPE_CHECKING, Protocol

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.explain.adding import gain_of
from solah.explain.rules import missing_rule, tree_rules
from solah.explain.semantics import FiredRule, FusionStep, Semantics, TreeEvidence, TreeStep
from solah.explain.walking import in_blocks, shares, walk
from solah.model.beliefs import NodeEvaluator, fusion_inputs, measured_by
from solah.model.document import Fusion
from solah.model.encode import code

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from solah.data import Table
    from solah.explain.rules import Rule
    from solah.explain.semantics import Step
    from solah.explain.walking import Walk
    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model, Node, Tree


def semantics_of(model: Model, table: Table) -> list[Semantics]:
    """Find, for each row, the rules that fired in each tree.

    Parameters
    ----------
    model : Model
    table : Table

    Returns
    -------
    semantics : list of Semantics
        One per row.
    """
    rows = code(table, measured_by(model.nodes))
    find = SemanticsFinder(model)
    return [
        semantics
        for block in in_blocks(rows, model)
        for semantics in find.of_rows(walk(model, block))
    ]


class SemanticsFinder:
    """Finds the rules that fired; it reads the rules of a model once.

    Parameters
    ----------
    model : what decides
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._evaluate = NodeEvaluator(model)
        self._rules = {tree.name: tree_rules(tree, model.goal) for tree in model.trees}
        self._missing = {tree.name: missing_rule(tree, model.goal) for tree in model.trees}
        self._nodes = _by_group(model)

    def of_rows(self, way: Walk) -> list[Semantics]:
        """Find, for each of the rows that went through the model, the steps of all nodes."""
        steps = self.steps(way).values()
        return [
            Semantics(tuple(of_node.at(i) for of_node in steps)) for i in range(way.rows.n_rows)
        ]

    def steps(self, way: Walk) -> dict[str, Steps]:
        """Return what makes the step of each node, from bottom to top, by the nodes' names."""
        return {
            node.name: _FusionSteps(node, way.signals, self._beliefs(node, way), self._model.goal)
            if isinstance(node, Fusion)
            else self._tree_steps(node, way)
            for node in self._nodes
        }

    def _tree_steps(self, tree: Tree, way: Walk) -> _TreeSteps:
        rules, missing = self._rules[tree.name], self._missing[tree.name]
        return _TreeSteps(tree, rules, missing, way, partial(self._beliefs, tree, way))

    def _beliefs(self, node: Node, way: Walk) -> Float:
        return self._evaluate.belief(node.name, way.signals[node.name])


def _by_group(model: Model) -> list[Node]:
    """List nodes from bottom to top, what a group adds up right below it."""
    groups = {one.name for one in model.fusions} & fusion_inputs(model.nodes)
    if not groups:
        return list(model.nodes)
    nodes = {node.name: node for node in model.nodes}
    listed: list[Node] = []
    waiting: list[Node] = [model.root]
    while waiting:
        node = waiting.pop()
        listed.append(node)
        waiting += [nodes[name] for name in node.origins if name in nodes]
    return listed[::-1]


class Steps(Protocol):
    """Makes the step of one node for any row."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the nodes that feed it."""

    def at(self, row: int, of: Collection[str] | None = None) -> Step:
        """Make the step for a row; of a fusion with the evidence of these nodes, or of all."""


class _TreeSteps:
    """Makes the steps of a tree; what they are made of is computed when the first is asked for."""

    def __init__(
        self,
        tree: Tree,
        rules: Mapping[int, Rule],
        missing: Rule | None,
        way: Walk,
        find_beliefs: Callable[[], Float],
    ) -> None:
        self._tree, self._heads, self._rules = tree, list(rules), list(rules.values())
        self._described, self._find_beliefs = way.described[tree.name], find_beliefs
        self.inputs = tuple(name for name in tree.origins if name in way.signals)
        self._missing = missing
        self._readings = way.rows.columns[tree.inputs[0].name] if missing else None

    def at(self, row: int, of: Collection[str] | None = None) -> TreeStep:
        fired = self._fired(row)
        belief: list[float] = self._beliefs[row].tolist()
        return TreeStep(self._tree.name, self.inputs, tuple(fired), tuple(belief))

    def _fired(self, row: int) -> list[FiredRule]:
        if self._missing is not None and self._readings is not None and isnan(self._readings[row]):
            return [FiredRule(self._missing, 1.0)]
        weights: list[float] = self._weights[row].tolist()
        fired = [
            FiredRule(self._rules[k], weight) for k, weight in enumerate(weights) if weight > 0
        ]
        fired.sort(key=_heaviest_first)
        return fired

    @cached_property
    def _weights(self) -> Float:
        return _rule_weights(self._tree, self._heads, self._described)

    @cached_property
    def _beliefs(self) -> Float:
        return self._find_beliefs()


def _heaviest_first(fired: FiredRule) -> float:
    return -fired.weight


def _rule_weights(tree: Tree, heads: list[int], described: list[Float]) -> Float:
    """Return how much of each row takes each rule: ``(n_rows, n_rules)``."""
    reached = shares(tree, described)
    of_head = np.zeros_like(reached)
    np.add.at(of_head, tree.heads[tree.leaves], reached[tree.leaves])
    return np.ascontiguousarray(of_head[heads].T)


class _FusionSteps:
    """Makes the steps of a fusion."""

    def __init__(
        self, fusion: Fusion, signals: Mapping[str, Float], beliefs: Float, goal: Goal
    ) -> None:
        evidence = np.stack([signals[name] for name in fusion.origins], axis=1)
        self._fusion, self._goal = fusion, goal
        self._evidence: list[list[list[float]]] = evidence.tolist()
        size = np.abs(evidence) if goal.is_additive_number else evidence
        self._order = np.argsort(-size.max(axis=2), axis=1, kind="stable").tolist()
        self._beliefs, self._decided = beliefs.tolist(), goal.decide(beliefs).tolist()
        self.inputs = fusion.origins

    def at(self, row: int, of: Collection[str] | None = None) -> FusionStep:
        fusion, belief = self._fusion, self._beliefs[row]
        trees = [
            self._added(fusion.origins[j], self._evidence[row][j])
            for j in self._order[row]
            if of is None or fusion.origins[j] in of
        ]
        return FusionStep(
            tree=fusion.name,
            inputs=fusion.origins,
            trees=tuple(trees),
            bias=fusion.bias,
            belief=tuple(belief),
            conclusion=self._conclusion(belief, self._decided[row]),
        )

    def _added(self, name: str, evidence: list[float]) -> TreeEvidence:
        gain = gain_of(evidence, self._goal.states)
        return TreeEvidence(name, tuple(evidence), gain.state, gain.size)

    def _conclusion(self, belief: list[float], place: int) -> str:
        if self._goal.is_additive_number:
            return f"{self._goal.name} about {spell_number(belief[0])}"
        return f"{self._goal.name} {spell(self._goal.states[place])} ({belief[place]:.2f})"
