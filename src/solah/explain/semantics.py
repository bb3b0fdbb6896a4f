"""The semantics of a decision: the rules that fired in each tree (Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from solah.explain.adding import Gain

if TYPE_CHECKING:
    from solah.data import State
    from solah.explain.rules import Rule

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
