"""Explains why a model decided on rows as it did: readings, what they added, rules, changes."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.explain.attribution import Attributor
from solah.explain.counterfactuals import ChangeFinder
from solah.explain.counterfactuals.ways import Ways
from solah.explain.fired_rules import FusionStep, RuleFinder, Semantics
from solah.explain.importance import known_of
from solah.explain.novelty import RowDoubts, name_doubts, novelty_of, row_doubts
from solah.explain.rules import spell_set
from solah.explain.traversal import TracedRows, rows_at_once
from solah.explain.weights import numbers_of, spell_reading
from solah.kernels.reference import masses
from solah.model.attributes import flatten
from solah.model.document import Task
from solah.model.encode import encode, warn_of_unseen
from solah.model.evaluate import damping
from solah.model.program import Link

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from solah.data import State, Table
    from solah.explain.counterfactuals import Changes
    from solah.explain.fired_rules import FusionSteps, Step, TreeSteps
    from solah.explain.novelty import Novelty
    from solah.model.document import Model

_MOST_ROWS_AT_ONCE = 1024
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Plain values leave out rules that less of a row took; one is always listed.
_WORTH_LISTING = 0.1


class Reading(NamedTuple):
    """What was read of an attribute, and the words for it.

    Attributes
    ----------
    attribute : the attribute's name
    value : what was read; None if nothing was
    masses : the focal sets that describe it, as text, with their masses; what the model assumes
        of an unknown value, if it is not known
    is_known : whether the model could make something of the value
    """

    attribute: str
    value: State | None
    masses: tuple[tuple[str, float], ...]
    is_known: bool

    @property
    def words(self) -> str:
        """The words as text, with their masses where there are several."""
        if not self.is_known:
            return "unknown"
        if len(self.masses) == 1:
            return self.masses[0][0]
        return ", ".join(f"{words} {mass:.2f}" for words, mass in self.masses)

    def __str__(self) -> str:
        return f"{self.attribute} {spell_reading(self.value)} ({self.words})"


class Contribution(NamedTuple):
    """What a reading added to the decision.

    Attributes
    ----------
    attribute : the attribute's name
    tree : the tree that looks at it
    belief : what it added to the belief in each goal state (for a number: in each focal set)
    towards : what it added to the belief in the decision; to the expected number, for a number
    evidence : what it added as evidence for each state, where the model weighs evidence
    """

    attribute: str
    tree: str
    belief: tuple[float, ...]
    towards: float
    evidence: tuple[float, ...] | None = None


class Explainer:
    """Explains decisions; what holds for all rows is worked out once.

    Parameters
    ----------
    model : Model
    changes : bool, default=False
        Whether to find what would change a decision too.
    ranges : mapping of attribute name to (low, high), default=None
        Where measured readings may go; by default as far as the training rows went.
    fixed : collection of str, default=()
        Attributes that cannot change.
    columns : collection of str, default=()
        What else the rows have, and the model does not ask for: it may be named as well.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.explain import Explainer
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.goal).model_
    >>> explanation = next(Explainer(model).of_table(wine.table))
    >>> explanation
    <Explanation: class class_0 (1.00)>
    >>> explanation.contributions[0].attribute
    'proline'
    """

    def __init__(
        self,
        model: Model,
        *,
        changes: bool = False,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
        columns: Collection[str] = (),
    ) -> None:
        self.model = model
        self.attributor = Attributor(model.program)
        self.rule_finder = RuleFinder(model)
        # Which refuses what makes no sense, asked for changes or not.
        Ways(model, ranges, fixed, columns)
        self._changes = ChangeFinder(model, ranges, fixed, columns) if changes else None

    def of_table(self, table: Table) -> Iterator[Explanation]:
        """Explain the decision on each row of a table, in order."""
        warn_of_unseen(table, self.model.attributes)
        size = min(_MOST_ROWS_AT_ONCE, rows_at_once(self.model.program))
        for start in range(0, table.n_rows, size):
            rows = ExplainedRows(self, table.rows(start, start + size))
            for place, readings in enumerate(rows.readings):
                changes = self._changes.of_row(readings) if self._changes else None
                yield Explanation(rows, place, changes)

    @cached_property
    def focal_names(self) -> list[list[str]]:
        """How the focal sets of each attribute are called."""
        return [[spell_set(words) for words in one.focal_sets] for one in self.model.attributes]

    @cached_property
    def homes(self) -> dict[int, str]:
        """The term that reads each feature: it alone, if several do."""
        homes: dict[int, str] = {}
        program = self.model.program
        terms = [term for stage in program.stages for term in stage.terms]
        for term in sorted(terms, key=lambda term: len(term.axes)):
            for axis in (program.axes[a] for a in term.axes):
                if axis.is_read:
                    homes.setdefault(axis.source, term.name)
        return homes

    @cached_property
    def without_rule(self) -> frozenset[int]:
        """The features that some term reads that has no rule for a missing reading."""
        program = self.model.program
        terms = (term for stage in program.stages for term in stage.terms if term.missing is None)
        axes = (program.axes[a] for term in terms for a in term.axes)
        return frozenset(axis.source for axis in axes if axis.is_read)


class ExplainedRows:
    """Some rows that were decided on together: arrays as lists, made when they are asked for.

    Parameters
    ----------
    explainer : what knows the model
    table : the rows
    """

    def __init__(self, explainer: Explainer, table: Table) -> None:
        self.explainer, self.model, self._table = explainer, explainer.model, table
        self.goal = self.model.goal
        self.readings = encode(table, self.model.attributes)
        self.traced = TracedRows(self.model.program, self.readings)
        added = explainer.attributor.of_rows(self.traced)
        self.start: tuple[float, ...] = tuple(added.start.tolist())
        self.beliefs: list[tuple[float, ...]] = list(map(tuple, added.belief.tolist()))
        self.effects: list[list[list[float]]] = added.effects.tolist()
        nothing = [None] * table.n_rows
        self.evidence: list[Any] = nothing if added.evidence is None else added.evidence.tolist()
        self.places: list[int] = self.goal.decide(added.belief).tolist()
        if self.goal.task is Task.REGRESSION:
            towards = numbers_of(self.goal, added.effects)
            self.decisions: list[State] = numbers_of(self.goal, added.belief).tolist()
        else:
            towards = added.effects[np.arange(table.n_rows), :, self.places]
            self.decisions = [self.goal.states[place] for place in self.places]
        # What each reading added to the belief in the decision, or to the expected number.
        self.towards: list[list[float]] = towards.tolist()

    @cached_property
    def known(self) -> list[float]:
        """The share of the model's knowledge that the known readings of each row can reach."""
        known: list[float] = known_of(self.model, self.readings).tolist()
        return known

    @cached_property
    def dampings(self) -> list[float]:
        """How much what is known of each row counts beside what is not."""
        if not self.model.program.has_variances or self.goal.is_additive_number:
            return [1.0] * len(self.readings)
        dampings: list[float] = damping(self.traced.steps[-1].parts[-1].variance).tolist()
        return dampings

    @cached_property
    def steps(self) -> dict[str, TreeSteps | FusionSteps]:
        """What makes the steps of each node, from bottom to top."""
        return self.explainer.rule_finder.steps(self.traced)

    @cached_property
    def lowest_trees(self) -> list[str]:
        """The nodes that no other feeds."""
        return [name for name, of_node in self.steps.items() if not of_node.inputs]

    @cached_property
    def novelty(self) -> Novelty:
        """How far the rows are from those that the model was learnt from."""
        return novelty_of(self.model, self._table)

    @cached_property
    def values(self) -> list[list[Any]]:
        """What was read of each attribute: numbers, states as they are written, or None."""
        values = []
        for attribute, numbers in zip(self.model.attributes, self.readings.T, strict=True):
            if not attribute.is_coded:
                values.append([_as_number(number) for number in numbers.tolist()])
                continue
            column = self._table.column(attribute.name)
            cells = zip(column.values.tolist(), column.missing().tolist(), strict=True)
            values.append([None if is_missing else value for value, is_missing in cells])
        return values

    @cached_property
    def is_known(self) -> list[list[bool]]:
        """Whether each reading is known, row by row."""
        known: list[list[bool]] = (~np.isnan(self.readings)).tolist()
        return known

    @cached_property
    def _memberships(self) -> list[list[list[float]]]:
        return [
            masses(self.readings[:, j], flatten([attribute]), 0).tolist()
            for j, attribute in enumerate(self.model.attributes)
        ]

    def words(self, j: int, row: int) -> dict[str, float]:
        """Return the focal sets that describe a reading, as text, with their masses."""
        named: dict[str, float] = {}
        described = zip(self.explainer.focal_names[j], self._memberships[j][row], strict=True)
        for name, mass in described:
            if mass > 0:  # a word with a core may have two focal sets
                named[name] = named.get(name, 0.0) + mass
        return named


def _as_number(number: float) -> State | None:
    """Return a reading as JSON can have it: an infinite one as text."""
    if math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)


class Explanation:
    """Why a model decided on a row as it did.

    Attributes
    ----------
    goal : what is decided
    decision : the class that was decided for, or the expected number
    belief, start : the belief in each state, and what it is when nothing is known
    known : the share of the model's knowledge that the known readings can reach
    damping : how much what is known counts beside what is not: 1 if nothing is lost
    damps : whether evidence is added up, and it is known how much of it is unknown
    n_nodes : how many nodes the decision went through
    changes : what would change the decision, if that was asked for
    """

    def __init__(self, rows: ExplainedRows, place: int, changes: Changes | None = None) -> None:
        self._rows, self._place = rows, place
        self.goal = rows.goal
        self.decision = rows.decisions[place]
        self.belief = rows.beliefs[place]
        self.start = rows.start
        self.known = rows.known[place]
        self.damping = rows.dampings[place]
        self.damps = rows.model.program.has_variances
        self.n_nodes = len(rows.model.parts)
        self.changes = changes

    @property
    def certainty(self) -> float:
        """The belief in the decision; for words of a number, the largest; for a sum, 1."""
        if self.goal.is_additive_number:
            return 1.0
        if self.goal.task is Task.REGRESSION:
            return max(self.belief)
        return self.belief[self._rows.places[self._place]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The attributes whose reading is not known."""
        return tuple(one.attribute for one in self.readings if not one.is_known)

    @property
    def missing_without_rule(self) -> tuple[str, ...]:
        """Of the missing attributes, those that have no rule for a missing reading alone."""
        known, needed = self._rows.is_known[self._place], self._rows.explainer.without_rule
        names = enumerate(self._rows.model.attributes)
        return tuple(one.name for j, one in names if not known[j] and j in needed)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """What was read of each attribute, in the model's order."""
        rows, row = self._rows, self._place
        return tuple(
            Reading(
                attribute.name,
                rows.values[j][row],
                tuple(rows.words(j, row).items()),
                rows.is_known[row][j],
            )
            for j, attribute in enumerate(rows.model.attributes)
        )

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each attribute added, the most first; together the way from start to belief."""
        rows, towards = self._rows, self._rows.towards[self._place]
        effects, evidence = rows.effects[self._place], rows.evidence[self._place]
        homes = rows.explainer.homes
        return tuple(
            Contribution(
                attribute=rows.model.attributes[j].name,
                tree=homes[j],
                belief=tuple(effects[j]),
                towards=towards[j],
                evidence=tuple(evidence[j]) if evidence else None,
            )
            for j in sorted(range(len(effects)), key=lambda j: -abs(towards[j]))
            if j in homes
        )

    @cached_property
    def semantics(self) -> Semantics:
        """The rules that fired in each tree, from bottom to top."""
        steps = self._rows.steps.values()
        return Semantics(tuple(of_node.at(self._place) for of_node in steps))

    def telling_steps(self, top: int | None = None) -> tuple[Step, ...]:
        """Return the steps of the trees whose attributes added most, and of all nodes above trees.

        Fusions list the evidence of these trees alone, unless all are asked for.

        Parameters
        ----------
        top : int or None, default=None
            How many trees to choose at the most, of those with no tree below; None takes all.
        """
        if top is None:
            return self.semantics.steps
        added = self._added_by_trees()
        strongest = sorted(added, key=lambda tree: -added[tree])[:top]
        told = {tree for tree in strongest if added[tree] > 0} or set(strongest)
        above = {name for name, of_node in self._rows.steps.items() if of_node.inputs}
        return tuple(
            of_node.at(self._place, told | above)
            for name, of_node in self._rows.steps.items()
            if of_node.inputs or name in told
        )

    def _added_by_trees(self) -> dict[str, float]:
        """Return how much the lowest trees added: as evidence, where that decides."""
        rows, place = self._rows, self._place
        if rows.model.program.stages[-1].link is not Link.SHARES:
            state, added = rows.places[place] if self.goal.states else 0, rows.traced.added
            return {name: abs(float(added[name][place, state])) for name in rows.lowest_trees}
        of_trees = dict.fromkeys(rows.lowest_trees, 0.0)
        for j, home in rows.explainer.homes.items():
            if home in of_trees:
                of_trees[home] += abs(rows.towards[place][j])
        return of_trees

    @cached_property
    def doubts(self) -> RowDoubts:
        """Why the decision is held back or might be, the row taken by itself."""
        rows = self._rows
        if rows.model.policy is None and rows.model.domain is None:
            return RowDoubts()
        readings = [values[self._place] for values in rows.values]
        return row_doubts(rows.model, rows.novelty, self._place, self.belief, readings)

    @property
    def before(self) -> float:
        """The belief in the decision, or the number, when nothing is known."""
        return self._of_decision(self.start)

    @property
    def after(self) -> float:
        """The same now; ``before`` and all contributions sum to it."""
        return self._of_decision(self.belief)

    def _of_decision(self, belief: tuple[float, ...]) -> float:
        if self.goal.task is Task.REGRESSION:
            return float(numbers_of(self.goal, np.array(belief)))
        return belief[self._rows.places[self._place]]

    @property
    def conclusion(self) -> str:
        """The decision as text, with the belief in it."""
        if self.goal.task is Task.REGRESSION:
            return f"{self.goal.name} about {spell_number(float(self.decision))}"
        return f"{self.goal.name} {spell(self.decision)} ({self.certainty:.2f})"

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return plain values, ready for JSON.

        Parameters
        ----------
        top : int or None, default=None
            How many trees to include at the most; None includes all.
        """
        return {
            "goal": self.goal.name,
            "states": list(self.goal.states or self.goal.words),
            "thresholds": list(self.goal.thresholds),
            "decision": self.decision,
            "certainty": self.certainty,
            "belief": list(self.belief),
            "start": list(self.start),
            "before": self.before,
            "after": self.after,
            "known": self.known,
            "held_back": self.doubts.is_held_back,
            "doubts": name_doubts(self.doubts.doubts),
            "reasons_to_doubt": list(self.doubts.reasons),
            "damping": self.damping,
            "readings": self._reading_dicts(),
            "steps": [_step_dict(step) for step in self.telling_steps(top)],
            "changes": None if self.changes is None else self.changes.to_dict(),
        }

    def _reading_dicts(self) -> list[dict[str, Any]]:
        rows, row = self._rows, self._place
        evidence = rows.evidence[row]
        unit, added = ("belief", rows.effects[row]) if evidence is None else ("evidence", evidence)
        return [
            {
                "attribute": attribute.name,
                "value": rows.values[j][row],
                "words": rows.words(j, row) if rows.is_known[row][j] else None,
                "tree": rows.explainer.homes.get(j),
                "towards": rows.towards[row][j],
                unit: added[j],
            }
            for j, attribute in enumerate(rows.model.attributes)
        ]

    def to_json(self, top: int | None = None) -> str:
        """Return the same as one line of JSON."""
        return _ENCODER.encode(self.to_dict(top))

    def __str__(self) -> str:
        from solah.explain.explanation_text import lines_of

        return "\n".join(line.text for line in lines_of(self))

    def __repr__(self) -> str:
        return f"<Explanation: {self.conclusion}>"

    def _repr_html_(self) -> str:
        from solah.explain.html import as_html

        return as_html(self)


def _step_dict(step: Step) -> dict[str, Any]:
    if isinstance(step, FusionStep):
        return {
            "tree": step.tree,
            "n_inputs": len(step.inputs),
            "belief": step.belief,
            "bias": step.bias,
            "trees": [
                {"tree": one.tree, "evidence": one.evidence, "class": one.decision}
                for one in step.trees
            ],
        }
    listed = [one for one in step.fired if one.weight >= _WORTH_LISTING] or step.fired[:1]
    return {
        "tree": step.tree,
        "inputs": step.inputs,
        "belief": step.belief,
        "rules": [{"rule": one.rule.sentence, "weight": one.weight} for one in listed],
    }
