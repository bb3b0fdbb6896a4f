"""Finds the rules that fired on the way to each decision (Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.explain.rules import MISSING, part_rules
from solah.explain.traversal import traced_blocks
from solah.explain.weights import Gain, gain_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from solah.data import State, Table
    from solah.explain.rules import Rule
    from solah.explain.traversal import TracedRows
    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model, Part
    from solah.model.program import Term

# Text leaves out rules that less of a row took, and evidence that moves beliefs less; the objects
# have them all.
_WORTH_SHOWING = 0.1


class FiredRule(NamedTuple):
    """A rule, and how much of the row took it."""

    rule: Rule
    weight: float

    def __str__(self) -> str:
        return f"{self.weight:.2f}  {self.rule}"


class TreeStep(NamedTuple):
    """The rules of one tree that fired on a row, and its belief.

    Attributes
    ----------
    tree : the tree's name
    inputs : the names of the trees below that feed it
    fired : the rules that fired, the heaviest first; their weights sum to 1
    belief : the tree's belief about the goal
    """

    tree: str
    inputs: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    belief: tuple[float, ...]


class TreeEvidence(NamedTuple):
    """The evidence of a tree about a row, as a fusion adds it up.

    Attributes
    ----------
    tree : the name of the tree (or fusion)
    evidence : what it adds for each goal state; positive is in favour. For a number, what it adds
    decision : the state that it adds most for; None if there is none, and for a number
    strength : what it adds for that state: of two states, more than for the other
    """

    tree: str
    evidence: tuple[float, ...]
    decision: State | None
    strength: float

    @property
    def added(self) -> str:
        """What it adds, as text."""
        return str(Gain(self.strength, self.decision))

    def __str__(self) -> str:
        return f"{self.added} from {self.tree}"


@dataclass(frozen=True)
class FusionStep:
    """What a fusion made of the evidence of a row.

    Attributes
    ----------
    tree : the fusion's name
    inputs : the names of the nodes below whose evidence it adds up
    trees : the evidence of each of them, the strongest first
    bias : the evidence for each goal state to begin with
    belief : the fusion's belief about the goal
    conclusion : the decision as text
    """

    tree: str
    inputs: tuple[str, ...]
    trees: tuple[TreeEvidence, ...]
    bias: tuple[float, ...]
    belief: tuple[float, ...]
    conclusion: str


Step = TreeStep | FusionStep


@dataclass(frozen=True)
class ComposedRule:
    """One rule of every tree, the lower ones leading to the upper ones (Definition 2).

    Attributes
    ----------
    steps : the nodes' steps, from bottom to top
    rules : the rule of each tree, in the same order
    weight : the product of the rules' weights
    """

    steps: tuple[Step, ...]
    rules: tuple[Rule, ...]
    weight: float

    def __str__(self) -> str:
        rule_of_tree = {rule.tree: rule for rule in self.rules}
        texts: dict[str, str] = {}
        for step in self.steps:
            below = " and ".join(f"({texts[name]})" for name in step.inputs)
            if isinstance(step, FusionStep):
                texts[step.tree] = below
                conclusion = step.conclusion
                continue
            premise = rule_of_tree[step.tree].premise or "always"
            texts[step.tree] = f"{below} => {premise}" if below else premise
            conclusion = rule_of_tree[step.tree].conclusion
        return f"{texts[self.steps[-1].tree]} => {conclusion}"


@dataclass(frozen=True)
class Semantics:
    """How a decision came about: the nodes' steps, from bottom to top."""

    steps: tuple[Step, ...]

    def composed(self) -> ComposedRule:
        """Compose the heaviest rule of every tree, those below leading to those above."""
        heaviest = [step.fired[0] for step in self.steps if isinstance(step, TreeStep)]
        return ComposedRule(
            steps=self.steps,
            rules=tuple(fired.rule for fired in heaviest),
            weight=math.prod(fired.weight for fired in heaviest),
        )

    def __str__(self) -> str:
        lines = []
        for step in self.steps:
            below = f" (inputs: {', '.join(step.inputs)})" if step.inputs else ""
            parts = step.fired if isinstance(step, TreeStep) else step.trees
            worth = [one for one in parts if _is_worth_showing(one)]
            lines.append(f"{step.tree}{below}:")
            lines += [f"  {one}" for one in worth]
            if len(worth) < len(parts):
                lines.append(f"  … and {len(parts) - len(worth)} lighter")
        return "\n".join(lines)


def _is_worth_showing(one: FiredRule | TreeEvidence) -> bool:
    size = one.weight if isinstance(one, FiredRule) else max(map(abs, one.evidence))
    return size >= _WORTH_SHOWING


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
    finder = RuleFinder(model)
    return [
        Semantics(tuple(of_node.at(row) for of_node in steps.values()))
        for rows in traced_blocks(model, table)
        for steps in (finder.steps(rows),)
        for row in range(len(rows))
    ]


class RuleFinder:
    """Finds the rules that fired; it reads the rules of a model once.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model) -> None:
        self._goal, self._parts = model.goal, _by_group(model)
        self._terms = {term.name: term for stage in model.program.stages for term in stage.terms}
        self._baselines = {stage.name: stage.baseline for stage in model.program.stages}
        self._rules = {part.name: part.rules for part in part_rules(model)}

    def steps(self, rows: TracedRows) -> dict[str, TreeSteps | FusionSteps]:
        """Return what makes the step of each part, from bottom to top, by the parts' names."""
        return {
            part.name: TreeSteps(part, rows, self._terms[part.name], self._rules[part.name])
            if part.kind in ("term", "tree")
            else FusionSteps(part, rows, self._goal, self._baselines.get(part.name))
            for part in self._parts
        }


def _by_group(model: Model) -> list[Part]:
    """List parts from bottom to top, each part of a group right below it."""
    if all(len(stage.groups) == 1 for stage in model.program.stages):
        return list(model.parts)
    parts = {part.name: part for part in model.parts}
    listed: list[Part] = []
    waiting: list[Part] = [parts[model.root.name]]
    while waiting:
        part = waiting.pop()
        listed.append(part)
        waiting += [parts[name] for name in part.origins if name in parts]
    return listed[::-1]


class TreeSteps:
    """Makes the steps of a tree; arrays are computed when the first step is asked for."""

    def __init__(self, part: Part, rows: TracedRows, term: Term, rules: dict[int, Rule]) -> None:
        self._rows, self._term, self._rules = rows, term, rules
        self.inputs = tuple(name for name in part.origins if name in rows.added)

    def at(self, row: int, only: Collection[str] | None = None) -> TreeStep:
        """Make the step for a row."""
        belief: list[float] = self._beliefs[row].tolist()
        return TreeStep(self._term.name, self.inputs, tuple(self._fired(row)), tuple(belief))

    def _fired(self, row: int) -> list[FiredRule]:
        if MISSING in self._rules:
            source = self._rows.program.axes[self._term.axes[0]].source
            if math.isnan(self._rows.readings[row, source]):
                return [FiredRule(self._rules[MISSING], 1.0)]
        weights = enumerate(self._weights[row].tolist())
        fired = [FiredRule(self._rules[number], weight) for number, weight in weights if weight > 0]
        fired.sort(key=lambda one: -one.weight)
        return fired

    @cached_property
    def _weights(self) -> Float:
        return self._rows.rule_weights(self._term)

    @cached_property
    def _beliefs(self) -> Float:
        return self._rows.outputs(self._term.name)


class FusionSteps:
    """Makes the steps of a fusion."""

    def __init__(self, part: Part, rows: TracedRows, goal: Goal, baseline: Float | None) -> None:
        self.inputs = tuple(name for name in part.origins if name in rows.added)
        evidence = np.zeros((len(rows), len(self.inputs), goal.size))
        for j, name in enumerate(self.inputs):
            evidence[:, j] = rows.added[name]
        self._part, self._goal = part, goal
        self._baseline = () if baseline is None else tuple(baseline.tolist())
        self._evidence: list[list[list[float]]] = evidence.tolist()
        size = np.abs(evidence) if goal.is_additive_number else evidence
        self._order = np.argsort(-size.max(axis=2), axis=1, kind="stable").tolist()
        beliefs = rows.outputs(part.name)
        self._beliefs, self._decided = beliefs.tolist(), goal.decide(beliefs).tolist()

    def at(self, row: int, only: Collection[str] | None = None) -> FusionStep:
        """Make the step for a row, with the evidence of these nodes only, or of all."""
        part, goal, belief = self._part, self._goal, self._beliefs[row]
        trees = []
        for j in self._order[row]:
            name, evidence = self.inputs[j], self._evidence[row][j]
            if only is None or name in only:
                gain = gain_of(evidence, goal.states)
                trees.append(TreeEvidence(name, tuple(evidence), gain.state, gain.size))
        conclusion = f"{goal.name} about {spell_number(belief[0])}"
        if not goal.is_additive_number:
            place = self._decided[row]
            conclusion = f"{goal.name} {spell(goal.states[place])} ({belief[place]:.2f})"
        return FusionStep(
            part.name, self.inputs, tuple(trees), self._baseline, tuple(belief), conclusion
        )
