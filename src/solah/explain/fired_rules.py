"""Finds the rules that fired on the way to each prediction (the paper's Definition 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.explain.rule_text import Rule, spell_largest, spell_result
from solah.explain.rules import part_rules
from solah.explain.traversal import numbers_of, traced_blocks
from solah.model.document import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data import State, Table
    from solah.explain.traversal import TracedRows
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Part

# Text drops rules with less weight, and parts that add less; the objects have them all.
WORTH_SHOWING = 0.1
_ROUNDING = 1e-9


class FiredRule(NamedTuple):
    """A rule, and the share of the row that took it."""

    rule: Rule
    membership: float

    def __str__(self) -> str:
        return f"{self.membership:4.0%}  {self.rule.short}"


class Step(NamedTuple):
    """One part of a model (a term, a group, a sum or a tree) on the way to a prediction.

    Attributes
    ----------
    part : the part's name
    inputs : the names of the parts that feed it
    fired : the rules that fired, the heaviest first; their weights sum to 1. Groups and sums
        have no rules
    adds : the weights that it adds for each class, or to a number; of a tree that is not below a
        sum, its belief
    outputs : the probabilities of the classes by this part alone, or a number's outputs
    result : the prediction by this part alone, as text
    text : the largest weight that it adds, as text
    """

    part: str
    inputs: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    adds: tuple[float, ...]
    outputs: tuple[float, ...]
    result: str
    text: str


@dataclass(frozen=True)
class ComposedRule:
    """One rule of every tree, the lower ones leading to the upper ones (Definition 2).

    Attributes
    ----------
    steps : the parts' steps, from bottom to top
    rules : the rule of each term or tree, in the same order
    weight : the product of the rules' weights
    """

    steps: tuple[Step, ...]
    rules: tuple[Rule, ...]
    weight: float

    def __str__(self) -> str:
        rule_of_part = {rule.part: rule for rule in self.rules}
        texts: dict[str, str] = {}
        for step in self.steps:
            below, rule = " and ".join(f"({texts[name]})" for name in step.inputs), None
            if step.fired:
                rule = rule_of_part[step.part]
                premise = rule.premise or "always"
                below = f"{below} => {premise}" if below else premise
            texts[step.part] = below
        top = self.steps[-1]
        return f"{texts[top.part]} => {top.result if rule is None else rule.result}"


@dataclass(frozen=True)
class Semantics:
    """How a prediction came about: the parts' steps, from bottom to top."""

    steps: tuple[Step, ...]

    def composed(self) -> ComposedRule:
        """Compose the heaviest rule of every tree, those below leading to those above."""
        heaviest = [step.fired[0] for step in self.steps if step.fired]
        return ComposedRule(
            steps=self.steps,
            rules=tuple(fired.rule for fired in heaviest),
            weight=math.prod(fired.membership for fired in heaviest),
        )

    def __str__(self) -> str:
        lines, by_name = [], {step.part: step for step in self.steps}
        for step in self.steps:
            below = f" (inputs: {', '.join(step.inputs)})" if step.inputs else ""
            lines.append(f"{step.part}{below}:")
            parts = [(one.membership, f"  {one}") for one in step.fired]
            if not parts:
                parts = [
                    (max(map(abs, by_name[name].adds)), f"  {by_name[name].text} from {name}")
                    for name in step.inputs
                ]
                parts.sort(key=lambda one: -one[0])
            worth = [text for size, text in parts if size >= WORTH_SHOWING]
            lines += worth
            if len(worth) < len(parts):
                lines.append(f"  … and {len(parts) - len(worth)} with less weight")
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
        One per row.
    """
    finder = RuleFinder(model)
    return [
        found.semantics(row)
        for rows in traced_blocks(model, table)
        for found in (FiredRows(finder, rows),)
        for row in range(len(rows))
    ]


class RuleFinder:
    """The rules and parts of a model, read once for all rows.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    target, parts : the target, and the parts from bottom to top
    rules : the rules of all terms and trees
    effects : (n_rules,) the size of their effects
    places : mapping of a term's name to its rules among all
    """

    def __init__(self, model: Model) -> None:
        self.target, self.parts = model.target, _by_group(model)
        self.terms = [term for stage in model.program.stages for term in stage.terms]
        self.rules: list[Rule] = []
        self.places: dict[str, slice] = {}
        for part in part_rules(model):
            n_before = len(self.rules)
            self.rules += part.rules.values()  # the one for a missing value is the last
            self.places[part.name] = slice(n_before, len(self.rules))
        self.has_missing_rule = [term.missing is not None for term in self.terms]
        self.effects = np.array([rule.effect for rule in self.rules])


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


class FiredRows:
    """The rules that fired on some rows.

    Parameters
    ----------
    finder : RuleFinder
    rows : TracedRows
    """

    def __init__(self, finder: RuleFinder, rows: TracedRows) -> None:
        self._finder, self._rows = finder, rows

    @cached_property
    def weights(self) -> Float:
        """How much of each row takes each rule: ``(n_rows, n_rules)``."""
        finder, rows = self._finder, self._rows
        weights = np.zeros((len(rows), len(finder.rules)))
        for term, has_missing_rule in zip(finder.terms, finder.has_missing_rule, strict=True):
            own = weights[:, finder.places[term.name]]
            n_rules = own.shape[1] - has_missing_rule
            own[:, :n_rules] = rows.rule_weights(term)[:, :n_rules]
            if has_missing_rule:
                source = rows.program.axes[term.axes[0]].source
                own[np.isnan(rows.readings[:, source])] = np.eye(n_rules + 1)[-1]
        return weights

    @cached_property
    def _outputs(self) -> dict[str, Float]:
        return {part.name: self._rows.outputs(part.name) for part in self._finder.parts}

    def strongest(self, row: int, top: int | None = None) -> tuple[list[FiredRule], int]:
        """Return the rules that apply to a row, by their effect on it, and how many there are."""
        weights = self._applying[row]
        order = np.argsort(-weights * self._finder.effects, kind="stable")
        order = order[weights[order] > 0]
        return self._fired(order[:top], weights), len(order)

    @cached_property
    def _applying(self) -> Float:
        """The same weights, without the rules of terms that add nothing, as a value is missing."""
        weights = self.weights.copy()
        for term in self._finder.terms:
            least = _ROUNDING * np.abs(term.weights).max(initial=0.0)
            adds_nothing = np.abs(self._rows.added[term.name]).max(axis=1) <= least
            weights[adds_nothing, self._finder.places[term.name]] = 0.0
        return weights

    def _fired(self, numbers: NDArray[np.intp], weights: Float) -> list[FiredRule]:
        pairs = zip(numbers.tolist(), weights[numbers].tolist(), strict=True)
        return [FiredRule(self._finder.rules[number], weight) for number, weight in pairs]

    def semantics(self, row: int) -> Semantics:
        """Return the steps of a row."""
        return Semantics(tuple(self._step(part, row) for part in self._finder.parts))

    def _step(self, part: Part, row: int) -> Step:
        target, added, weights = self._finder.target, self._rows.added, self.weights[row]
        outputs, adds = self._outputs[part.name][row], added[part.name][row].tolist()
        decided: State = (
            float(numbers_of(target, outputs))
            if target.task is Task.REGRESSION
            else target.classes[int(target.decide(outputs[None])[0])]
        )
        fired: list[FiredRule] = []
        if part.name in self._finder.places:
            places = self._finder.places[part.name]
            numbers = np.arange(places.start, places.stop)[
                np.argsort(-weights[places], kind="stable")
            ]
            fired = self._fired(numbers[weights[numbers] > 0], weights)
        own = outputs.tolist()
        return Step(
            part=part.name,
            inputs=tuple(name for name in part.origins if name in added),
            fired=tuple(fired),
            adds=tuple(adds),
            outputs=tuple(own),
            result=spell_result(target, own, decided),
            text=spell_largest(adds, target),
        )
