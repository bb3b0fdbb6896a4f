"""Explains the decisions of a model on a table, block by block."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.explain.adding import numbers_of
from solah.explain.attribution import Attributor
from solah.explain.changing import ChangeFinder
from solah.explain.changing.ways import Ways
from solah.explain.explanation.values import Contribution, Explanation, Reading
from solah.explain.firing import SemanticsFinder
from solah.explain.importance import attribute_importances, known_shares
from solah.explain.novelty import RowDoubts, novelty_of, row_doubts
from solah.explain.rules import spell_set
from solah.explain.semantics import Semantics
from solah.explain.walking import rows_at_once, walk
from solah.kernels.reference import masses
from solah.model.attributes import flatten
from solah.model.beliefs import measured_by, unknown_of
from solah.model.document import Fusion, Task
from solah.model.encode import code, encode, warn_of_unseen
from solah.model.evaluate import damping

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from solah.data import State, Table
    from solah.explain.attribution import Attribution
    from solah.explain.changing import Changes
    from solah.explain.firing import Steps
    from solah.explain.novelty import Novelty
    from solah.explain.semantics import Step
    from solah.explain.walking import Walk
    from solah.kernels.arrays import Float
    from solah.model.beliefs import Unknown
    from solah.model.document import Goal, Model

_MOST_ROWS_AT_ONCE = 1024


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
    >>> from solah import SelfOrganisedHierarchyClassifier, datasets
    >>> from solah.explain import Explainer
    >>> wine = datasets.load("wine")
    >>> model = SelfOrganisedHierarchyClassifier(max_rules=12).fit(wine.table, wine.goal).model_
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
        self.attributor = Attributor(model)
        self.semantics_finder = SemanticsFinder(model)
        # Which refuses what makes no sense, asked for changes or not.
        Ways(model, ranges, fixed, columns)
        self._finder = ChangeFinder(model, ranges, fixed, columns) if changes else None

    @cached_property
    def focal_names(self) -> list[list[str]]:
        """How the focal sets of each attribute are called."""
        return [[spell_set(words) for words in one.focal_sets] for one in self.model.attributes]

    @cached_property
    def homes(self) -> list[str | None]:
        """The tree that looks at each attribute: at it alone, where several do."""
        homes: dict[str, str] = {}
        for tree in sorted(self.model.trees, key=lambda tree: len(tree.inputs)):
            for attribute in tree.inputs:
                if attribute.tree is None:
                    homes.setdefault(attribute.name, tree.name)
        return [homes.get(attribute.name) for attribute in self.model.attributes]

    @cached_property
    def damps(self) -> bool:
        """Whether what is unknown makes the rest count less."""
        is_added = isinstance(self.model.root, Fusion)
        return is_added and any(tree.variance for tree in self.model.trees)

    @cached_property
    def importances(self) -> Float:
        """The attributes' shares of what was learnt."""
        return attribute_importances(self.model)

    def of_table(self, table: Table) -> Iterator[Explanation]:
        """Explain the decision on each row of a table, in order."""
        warn_of_unseen(table, self.model.attributes)
        size = min(_MOST_ROWS_AT_ONCE, rows_at_once(self.model))
        for start in range(0, table.n_rows, size):
            yield from self._of_block(table.rows(start, start + size))

    def _of_block(self, table: Table) -> Iterator[Explanation]:
        rows = ExplainedRows(self, table)
        for place in range(table.n_rows):
            yield Explanation(rows, place, self._changes(rows, place))

    def _changes(self, rows: ExplainedRows, place: int) -> Changes | None:
        return self._finder.of_row(rows.matrix[place]) if self._finder else None


class ExplainedRows:
    """Some rows that were decided on together, and all that is known of the decisions.

    Parameters
    ----------
    explainer : what knows the model
    table : the rows
    """

    def __init__(self, explainer: Explainer, table: Table) -> None:
        self._explainer, self._table = explainer, table
        self._model = explainer.model
        self._way: Walk = walk(self._model, code(table, measured_by(self._model.nodes)))
        self._added: Attribution = explainer.attributor.of_rows(self._way)

    @property
    def goal(self) -> Goal:
        """What is decided."""
        return self._model.goal

    @cached_property
    def matrix(self) -> Float:
        """The rows as numbers, one column per attribute."""
        return encode(self._table, self._model.attributes)

    @cached_property
    def start(self) -> tuple[float, ...]:
        """What is believed when nothing is known."""
        return tuple(self._added.start.tolist())

    @cached_property
    def beliefs(self) -> list[tuple[float, ...]]:
        """What is believed of each row."""
        return [tuple(belief) for belief in self._added.belief.tolist()]

    @cached_property
    def decisions(self) -> list[State]:
        """What is decided on each row."""
        if self.goal.task is Task.REGRESSION:
            numbers: list[State] = numbers_of(self.goal, self._added.belief).tolist()
            return numbers
        return [self.goal.states[place] for place in self._decided]

    @cached_property
    def known_shares(self) -> list[float]:
        """The share of the model's knowledge that the known readings of each row can reach."""
        if self._unknown is not None:
            known: list[float] = self._unknown.known.tolist()
            return known
        reached: list[float] = known_shares(self.matrix, self._explainer.importances).tolist()
        return reached

    @property
    def adds_up(self) -> bool:
        """Whether evidence is added up, and it is known how much of it is unknown."""
        return self._explainer.damps

    @cached_property
    def dampings(self) -> list[float]:
        """How much what is known of each row counts beside what is not."""
        if self._unknown is None or self.goal.is_additive_number:
            return [1.0] * self._table.n_rows
        left: list[float] = damping(self._unknown.variance).tolist()
        return left

    @cached_property
    def _unknown(self) -> Unknown | None:
        """How much of the evidence is unknown; None where it is not told."""
        if not self._explainer.damps:
            return None
        return unknown_of(self._model, self._way.rows)[self._model.root.name]

    def untold(self, place: int) -> tuple[str, ...]:
        """Name the unknown attributes of a row that a tree needs to know."""
        names = {
            attribute.name
            for tree in self._model.trees
            if tree.missing is None
            for attribute in tree.inputs
        }
        return tuple(
            attribute.name
            for attribute, known in zip(self._model.attributes, self._known, strict=True)
            if not known[place] and attribute.name in names
        )

    def readings(self, place: int) -> tuple[Reading, ...]:
        """Return what was read of each attribute of a row."""
        return tuple(
            Reading(attribute.name, values[place], self._masses(j, place), known[place])
            for j, (attribute, values, known) in enumerate(
                zip(self._model.attributes, self._values, self._known, strict=True)
            )
        )

    def contributions(self, place: int) -> tuple[Contribution, ...]:
        """Return what each attribute of a row added, the most first."""
        effects, evidence = self._effects[place], self._evidence[place]
        towards = self._towards[place]
        order = sorted(range(len(effects)), key=lambda j: -abs(towards[j]))
        return tuple(
            Contribution(
                attribute=self._model.attributes[j].name,
                tree=home,
                belief=tuple(effects[j]),
                towards=towards[j],
                evidence=tuple(evidence[j]) if evidence else None,
            )
            for j in order
            if (home := self._explainer.homes[j])
        )

    def semantics(self, place: int) -> Semantics:
        """Return the rules that fired on a row, tree by tree."""
        return Semantics(tuple(of_node.at(place) for of_node in self._steps.values()))

    def telling_steps(self, place: int, top: int | None) -> tuple[Step, ...]:
        """Return the steps of nodes above others, and of the trees that added most to a row.

        Fusions list the evidence of these trees alone, unless all are asked for.
        """
        if top is None:
            return self.semantics(place).steps
        added = self._added_by_trees(place)
        strongest = sorted(added, key=lambda tree: -added[tree])[:top]
        told = {tree for tree in strongest if added[tree] > 0} or set(strongest)
        above = {name for name, of_node in self._steps.items() if of_node.inputs}
        return tuple(
            of_node.at(place, told | above)
            for name, of_node in self._steps.items()
            if of_node.inputs or name in told
        )

    def _added_by_trees(self, place: int) -> dict[str, float]:
        """Return how much the lowest trees added to a row: as evidence, where that decides."""
        if isinstance(self._model.root, Fusion):
            states = self._decided[place] if self.goal.states else 0
            signals = self._way.signals
            return {name: abs(float(signals[name][place, states])) for name in self._lowest_trees}
        added = dict.fromkeys(self._lowest_trees, 0.0)
        for home, towards in zip(self._explainer.homes, self._towards[place], strict=True):
            if home in added:
                added[home] += abs(towards)
        return added

    def doubts(self, place: int) -> RowDoubts:
        """Say why the decision on a row is held back, or might be."""
        if self._model.policy is None and self._model.domain is None:
            return RowDoubts()
        readings = [values[place] for values in self._values]
        return row_doubts(self._model, self._novelty, place, self.beliefs[place], readings)

    @cached_property
    def _novelty(self) -> Novelty:
        return novelty_of(self._model, self._table)

    def reading_dicts(self, place: int) -> list[dict[str, Any]]:
        """Return each attribute's reading and what it added to a row as plain values."""
        unit, added = self._added_to(place)
        towards = self._towards[place]
        return [
            {
                "attribute": attribute.name,
                "value": values[place],
                "words": dict(self._masses(j, place)) if known[place] else None,
                "tree": home,
                "towards": towards[j],
                unit: added[j],
            }
            for j, (attribute, values, known, home) in enumerate(self._columns)
        ]

    def _added_to(self, place: int) -> tuple[str, list[list[float]]]:
        """Return what each reading added, as evidence where the model weighs, else to beliefs."""
        evidence: list[list[float]] | None = self._evidence[place]
        return ("belief", self._effects[place]) if evidence is None else ("evidence", evidence)

    @cached_property
    def _lowest_trees(self) -> list[str]:
        return [name for name, of_node in self._steps.items() if not of_node.inputs]

    @cached_property
    def _columns(self) -> list[tuple[Any, list[Any], list[bool], str | None]]:
        homes = self._explainer.homes
        return list(zip(self._model.attributes, self._values, self._known, homes, strict=True))

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self._model.nodes)

    @cached_property
    def _decided(self) -> list[int]:
        places: list[int] = self.goal.decide(self._added.belief).tolist()
        return places

    @cached_property
    def _steps(self) -> dict[str, Steps]:
        return self._explainer.semantics_finder.steps(self._way)

    @cached_property
    def _effects(self) -> list[list[list[float]]]:
        effects: list[list[list[float]]] = self._added.effects.tolist()
        return effects

    @cached_property
    def _evidence(self) -> list[Any]:
        evidence = self._added.evidence
        return [None] * self._table.n_rows if evidence is None else evidence.tolist()

    @cached_property
    def _towards(self) -> list[list[float]]:
        """What each reading added to the belief in the decision, or to the expected number."""
        if self.goal.task is Task.REGRESSION:
            towards = numbers_of(self.goal, self._added.effects)
        else:
            rows = np.arange(self._table.n_rows)
            towards = self._added.effects[rows, :, self._decided]
        listed: list[list[float]] = towards.tolist()
        return listed

    @cached_property
    def _values(self) -> list[list[Any]]:
        """What was read of each attribute: numbers, states as they are written, or None."""
        values = []
        for attribute, numbers in zip(self._model.attributes, self.matrix.T, strict=True):
            column = self._table.column(attribute.name)
            if not attribute.is_coded:
                values.append([_as_number(number) for number in numbers.tolist()])
                continue
            cells = zip(column.values.tolist(), column.missing().tolist(), strict=True)
            values.append([None if is_missing else value for value, is_missing in cells])
        return values

    @cached_property
    def _known(self) -> list[list[bool]]:
        known: list[list[bool]] = (~np.isnan(self.matrix)).T.tolist()
        return known

    @cached_property
    def _described(self) -> list[list[list[float]]]:
        """The masses of each attribute, row by row."""
        return [
            masses(self.matrix[:, j], flatten([attribute]), 0).tolist()
            for j, attribute in enumerate(self._model.attributes)
        ]

    def _masses(self, j: int, place: int) -> tuple[tuple[str, float], ...]:
        named: dict[str, float] = {}
        for name, mass in zip(
            self._explainer.focal_names[j], self._described[j][place], strict=True
        ):
            if mass > 0:  # a word with a core may have two focal sets
                named[name] = named.get(name, 0.0) + mass
        return tuple(named.items())


def _as_number(number: float) -> State | None:
    """Return a reading as JSON can have it: an infinite one as text."""
    if math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)
