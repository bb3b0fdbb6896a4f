"""Finds the rules that fired on the way to each decision (Definition 2)."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from solah.data.spelling import spell
from solah.explain.effects import tree_weights
from solah.explain.rules import tree_rules
from solah.explain.semantics import FiredRule, FusionStep, Semantics, TreeEvidence, TreeStep
from solah.explain.walking import in_blocks, shares, walk
from solah.model.beliefs import alone, fusion_inputs, measured_by
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
        self._fusion_inputs = fusion_inputs(model.nodes)
        weights = tree_weights(model)
        self._rules = {
            tree.name: tree_rules(tree, model.goal, weights.get(tree.name)) for tree in model.trees
        }

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
            else _TreeSteps(node, self._rules[node.name], way, partial(self._beliefs, node, way))
            for node in self._model.nodes
        }

    def _beliefs(self, node: Node, way: Walk) -> Float:
        signal = way.signals[node.name]
        return alone(node, signal) if node.name in self._fusion_inputs else signal


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
        way: Walk,
        find_beliefs: Callable[[], Float],
    ) -> None:
        self._tree, self._heads, self._rules = tree, list(rules), list(rules.values())
        self._described, self._find_beliefs = way.described[tree.name], find_beliefs
        self.inputs = tuple(name for name in tree.origins if name in way.signals)

    def at(self, row: int, of: Collection[str] | None = None) -> TreeStep:
        weights: list[float] = self._weights[row].tolist()
        fired = [
            FiredRule(self._rules[k], weight) for k, weight in enumerate(weights) if weight > 0
        ]
        fired.sort(key=_heaviest_first)
        belief: list[float] = self._beliefs[row].tolist()
        return TreeStep(self._tree.name, self.inputs, tuple(fired), tuple(belief))

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
        below = zip(fusion.origins, fusion.weights, strict=True)
        evidence = np.stack([weight * signals[name] for name, weight in below], axis=1)
        self._fusion, self._states, self._goal_name = fusion, goal.states, goal.name
        self._evidence: list[list[list[float]]] = evidence.tolist()
        self._order = np.argsort(-evidence.max(axis=2), axis=1, kind="stable").tolist()
        self._favoured = evidence.argmax(axis=2).tolist()
        self._beliefs, self._decided = beliefs.tolist(), goal.decide(beliefs).tolist()
        self.inputs = fusion.origins

    def at(self, row: int, of: Collection[str] | None = None) -> FusionStep:
        fusion, belief, place = self._fusion, self._beliefs[row], self._decided[row]
        evidence, favoured = self._evidence[row], self._favoured[row]
        trees = [
            TreeEvidence(
                fusion.origins[j],
                fusion.weights[j],
                tuple(evidence[j]),
                self._states[favoured[j]],
            )
            for j in self._order[row]
            if of is None or fusion.origins[j] in of
        ]
        return FusionStep(
            tree=fusion.name,
            inputs=fusion.origins,
            trees=tuple(trees),
            bias=fusion.bias,
            belief=tuple(belief),
            conclusion=f"{self._goal_name} {spell(self._states[place])} ({belief[place]:.2f})",
        )
