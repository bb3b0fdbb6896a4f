"""A model and rows in, the rules that fired on the way to each decision out (Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.rules import Condition, Rule, rule_of
from solah.kernels.reference import masses
from solah.model.beliefs import all_beliefs, read_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from solah.data import Table
    from solah.kernels.arrays import Float, Readings
    from solah.model.document import Goal, Model, Tree

# Text leaves out rules that less of a row took; the objects have them all.
_WORTH_SAYING = 0.1


@dataclass(frozen=True)
class FiredRule:
    """A rule, and how much of the row took it."""

    rule: Rule
    weight: float

    def __str__(self) -> str:
        return f"{self.weight:.2f}  {self.rule}"


@dataclass(frozen=True)
class TreeStep:
    """What one tree said of a row.

    Attributes
    ----------
    tree : the tree's name
    inputs : the names of the trees below that it listened to
    fired : the rules that fired, the heaviest first; their weights sum to 1
    belief : the tree's belief about the goal
    """

    tree: str
    inputs: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    belief: tuple[float, ...]


@dataclass(frozen=True)
class ComposedRule:
    """One rule of every tree, the lower ones leading to the upper ones (Definition 2).

    Attributes
    ----------
    steps : the trees' steps, from bottom to top
    rules : the rule of each, in the same order
    weight : the product of the rules' weights
    """

    steps: tuple[TreeStep, ...]
    rules: tuple[Rule, ...]
    weight: float

    def __str__(self) -> str:
        rule_of_tree = {step.tree: rule for step, rule in zip(self.steps, self.rules, strict=True)}
        texts: dict[str, str] = {}
        for step in self.steps:
            premise = rule_of_tree[step.tree].premise or "always"
            below = " and ".join(f"({texts[name]})" for name in step.inputs)
            texts[step.tree] = f"{below} => {premise}" if below else premise
        top = self.rules[-1]
        return f"{texts[self.steps[-1].tree]} => {top.conclusion}"


@dataclass(frozen=True)
class Semantics:
    """The way of a decision: the trees' steps, from bottom to top."""

    steps: tuple[TreeStep, ...]

    def composed(self) -> ComposedRule:
        """Compose the heaviest rule of every tree, those below leading to those above."""
        heaviest = [step.fired[0] for step in self.steps]
        return ComposedRule(
            steps=self.steps,
            rules=tuple(fired.rule for fired in heaviest),
            weight=math.prod(fired.weight for fired in heaviest),
        )

    def __str__(self) -> str:
        lines = []
        for step in self.steps:
            below = f" (hears {', '.join(step.inputs)})" if step.inputs else ""
            heavy = [fired for fired in step.fired if fired.weight >= _WORTH_SAYING]
            lines.append(f"{step.tree}{below}:")
            lines += [f"  {fired}" for fired in heavy]
            if len(heavy) < len(step.fired):
                lines.append(f"  … and {len(step.fired) - len(heavy)} lighter")
        return "\n".join(lines)


def semantics_of(model: Model, table: Table) -> list[Semantics]:
    """Find, for each row, the rules that fired in each tree.

    Parameters
    ----------
    model : Model
    table : Table

    Returns
    -------
    semantics : list of Semantics
        One a row.
    """
    outputs = all_beliefs(model.trees, table)
    whole = slice(0, table.n_rows)
    inputs = [read_inputs(tree, table, outputs, whole) for tree in model.trees]
    return [
        Semantics(
            tuple(
                _step(tree, rows, i, outputs, model.goal)
                for tree, rows in zip(model.trees, inputs, strict=True)
            )
        )
        for i in range(table.n_rows)
    ]


def _step(tree: Tree, rows: Readings, i: int, outputs: Mapping[str, Float], goal: Goal) -> TreeStep:
    fired = [
        FiredRule(rule_of(tree, leaf, conditions, goal), weight)
        for leaf, conditions, weight in _fire(tree, rows, i)
    ]
    return TreeStep(
        tree=tree.name,
        inputs=tuple(dict.fromkeys(a.origin for a in tree.inputs if a.origin in outputs)),
        fired=tuple(sorted(fired, key=lambda one: -one.weight)),
        belief=tuple(outputs[tree.name][i].tolist()),
    )


def _fire(tree: Tree, rows: Readings, i: int) -> Iterator[tuple[int, tuple[Condition, ...], float]]:
    """Walk one row through a tree; yield the leaves it reaches, their conditions and weights."""
    stack: list[tuple[int, tuple[Condition, ...], float]] = [(0, (), 1.0)]
    while stack:
        node, conditions, weight = stack.pop()
        a = int(tree.split[node])
        if a < 0:
            yield node, conditions, weight
            continue
        attribute = tree.inputs[a]
        shares = _masses(tree, rows, i, a)
        stack += [
            (child, (*conditions, Condition(attribute.name, words)), weight * share)
            for child, words, share in zip(
                tree.children(node), attribute.focal_sets, shares, strict=True
            )
            if weight * share > 0
        ]


def _masses(tree: Tree, rows: Readings, i: int, a: int) -> list[float]:
    start = int(rows.offsets[a])
    if start >= 0:
        given: list[float] = rows.given[i, start : start + tree.sets.sizes[a]].tolist()
        return given
    described: list[float] = masses(np.array([rows.values[i, a]]), tree.sets, a)[0].tolist()
    return described
