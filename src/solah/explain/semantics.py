"""The way of a decision as values: the rules that fired in each tree (Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from solah.data.spelling import spell

if TYPE_CHECKING:
    from solah.data import State
    from solah.explain.rules import Rule

# Text leaves out rules that less of a row took, and evidence that moves beliefs less; the objects
# have them all.
_WORTH_SAYING = 0.1


class FiredRule(NamedTuple):
    """A rule, and how much of the row took it."""

    rule: Rule
    weight: float

    def __str__(self) -> str:
        return f"{self.weight:.2f}  {self.rule}"


class TreeStep(NamedTuple):
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


class Voice(NamedTuple):
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
