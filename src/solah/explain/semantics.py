"""A model and rows in, the rules that fired on the way to each decision out (Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import spell
from solah.explain.rules import Rule, decide, tree_rules
from solah.kernels.reference import masses
from solah.model.beliefs import all_signals, beliefs_of, read_inputs
from solah.model.document import Fusion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from solah.data import State, Table
    from solah.kernels.arrays import Float, Readings
    from solah.model.document import Goal, Model, Tree

# Text leaves out rules that less of a row took, and evidence that moves beliefs less; the objects
# have them all.
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
class Voice:
    """What a tree said to a fusion of a row.

    Attributes
    ----------
    tree : the name of the tree (or fusion) that spoke
    weight : how loudly it is heard
    evidence : what it adds for each goal state, its weight included; positive is in favour
    decision : the state that it speaks for most
    """

    tree: str
    weight: float
    evidence: tuple[float, ...]
    decision: State

    @property
    def strength(self) -> float:
        """What it adds for the state that it speaks for most."""
        return max(self.evidence)

    def __str__(self) -> str:
        return (
            f"{self.strength:+.2f} for {spell(self.decision)} from {self.tree}, "
            f"heard with weight {self.weight:.3g}"
        )


@dataclass(frozen=True)
class FusionStep:
    """What a fusion made of the evidence of a row.

    Attributes
    ----------
    tree : the fusion's name
    inputs : the names of the nodes below that it listened to
    voices : what each of them said, the strongest first
    bias : the evidence for each goal state to begin with
    belief : the fusion's belief about the goal
    conclusion : the decision as text
    """

    tree: str
    inputs: tuple[str, ...]
    voices: tuple[Voice, ...]
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
    """The way of a decision: the nodes' steps, from bottom to top."""

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
            below = f" (hears {', '.join(step.inputs)})" if step.inputs else ""
            said = step.fired if isinstance(step, TreeStep) else step.voices
            worth = [one for one in said if _is_worth_saying(one)]
            lines.append(f"{step.tree}{below}:")
            lines += [f"  {one}" for one in worth]
            if len(worth) < len(said):
                lines.append(f"  … and {len(said) - len(worth)} lighter")
        return "\n".join(lines)


def _is_worth_saying(one: FiredRule | Voice) -> bool:
    size = one.weight if isinstance(one, FiredRule) else max(map(abs, one.evidence))
    return size >= _WORTH_SAYING


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
    signals = all_signals(model.nodes, table)
    beliefs = beliefs_of(model.nodes, signals)
    steps = [
        _fusion_steps(node, signals, beliefs, model.goal)
        if isinstance(node, Fusion)
        else _tree_steps(node, table, signals, beliefs, model.goal)
        for node in model.nodes
    ]
    return [Semantics(of_row) for of_row in zip(*steps, strict=True)]


def _fusion_steps(
    fusion: Fusion, signals: Mapping[str, Float], beliefs: Mapping[str, Float], goal: Goal
) -> Iterator[FusionStep]:
    for i, belief in enumerate(beliefs[fusion.name].tolist()):
        voices = []
        for name, weight in zip(fusion.origins, fusion.weights, strict=True):
            evidence: list[float] = (weight * signals[name][i]).tolist()
            voices.append(Voice(name, weight, tuple(evidence), decide(evidence, goal)))
        yield FusionStep(
            tree=fusion.name,
            inputs=fusion.origins,
            voices=tuple(sorted(voices, key=lambda voice: -voice.strength)),
            bias=fusion.bias,
            belief=tuple(belief),
            conclusion=_conclusion(belief, goal),
        )


def _conclusion(belief: list[float], goal: Goal) -> str:
    """Write what is decided, thresholds considered, and how much it is believed."""
    place = int(goal.decide(np.array([belief]))[0])
    return f"{goal.name} {spell(goal.states[place])} ({belief[place]:.2f})"


def _tree_steps(
    tree: Tree,
    table: Table,
    signals: Mapping[str, Float],
    beliefs: Mapping[str, Float],
    goal: Goal,
) -> Iterator[TreeStep]:
    rules = tree_rules(tree, goal)
    rows = read_inputs(tree, table, signals, slice(0, table.n_rows))
    inputs = tuple(name for name in tree.origins if name in signals)
    for i, belief in enumerate(beliefs[tree.name].tolist()):
        weights: dict[int, float] = {}
        for leaf, weight in _fire(tree, rows, i):
            head = int(tree.heads[leaf])
            weights[head] = weights.get(head, 0.0) + weight
        fired = [FiredRule(rules[head], weight) for head, weight in weights.items()]
        yield TreeStep(
            tree=tree.name,
            inputs=inputs,
            fired=tuple(sorted(fired, key=lambda one: -one.weight)),
            belief=tuple(belief),
        )


def _fire(tree: Tree, rows: Readings, i: int) -> Iterator[tuple[int, float]]:
    """Walk one row through a tree; yield the leaves it reaches and their weights."""
    stack = [(0, 1.0)]
    while stack:
        node, weight = stack.pop()
        a = int(tree.split[node])
        if a < 0:
            yield node, weight
            continue
        stack += [
            (child, weight * share)
            for child, share in zip(tree.children(node), _masses(tree, rows, i, a), strict=True)
            if weight * share > 0
        ]


def _masses(tree: Tree, rows: Readings, i: int, a: int) -> list[float]:
    start = int(rows.offsets[a])
    if start >= 0:
        given: list[float] = rows.given[i, start : start + tree.sets.sizes[a]].tolist()
        return given
    described: list[float] = masses(np.array([rows.values[i, a]]), tree.sets, a)[0].tolist()
    return described
