"""Why a model decided as it did: readings, what they added, rules, what would change it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.explain.adding import numbers_of
from solah.explain.changing.rounding import spell_reading
from solah.model.document import Task

if TYPE_CHECKING:
    from solah.data import State
    from solah.explain.changing import Changes
    from solah.explain.explanation.explainer import ExplainedRows
    from solah.explain.novelty import RowDoubts
    from solah.explain.semantics import Semantics, Step
    from solah.model.document import Goal


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


class Explanation:
    """Why a model decided on a row as it did.

    Attributes
    ----------
    goal : what is decided
    decision : the class that was decided for, or the expected number
    belief, start : the belief in each state, and what it is when nothing is known
    changes : what would change the decision, if that was asked for
    """

    def __init__(self, rows: ExplainedRows, place: int, changes: Changes | None = None) -> None:
        self._rows, self._place = rows, place
        self.goal: Goal = rows.goal
        self.decision: State = rows.decisions[place]
        self.belief: tuple[float, ...] = rows.beliefs[place]
        self.start: tuple[float, ...] = rows.start
        self.changes = changes

    @property
    def certainty(self) -> float:
        """The belief in the decision; for words of a number, the largest; for a sum, 1."""
        if self.goal.is_additive_number:
            return 1.0
        if self.goal.task is Task.REGRESSION:
            return max(self.belief)
        return self.belief[self.goal.states.index(self.decision)]

    @property
    def known(self) -> float:
        """The share of the model's knowledge that the known readings can reach."""
        return self._rows.known_shares[self._place]

    @property
    def adds_up(self) -> bool:
        """Whether evidence is added up, and it is known how much of it is unknown."""
        return self._rows.adds_up

    @property
    def damping(self) -> float:
        """How much what is known counts beside what is not: 1 if nothing is lost."""
        return self._rows.dampings[self._place]

    @property
    def untold(self) -> tuple[str, ...]:
        """Of the missing attributes, those that have no rule for a missing reading alone."""
        return self._rows.untold(self._place)

    @property
    def missing(self) -> tuple[str, ...]:
        """The attributes whose reading is not known."""
        return tuple(one.attribute for one in self.readings if not one.is_known)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """What was read of each attribute, in the model's order."""
        return self._rows.readings(self._place)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each attribute added, the most first; together the way from start to belief."""
        return self._rows.contributions(self._place)

    @cached_property
    def semantics(self) -> Semantics:
        """The rules that fired in each tree, from bottom to top."""
        return self._rows.semantics(self._place)

    def telling_steps(self, top: int | None = None) -> tuple[Step, ...]:
        """Return the steps of the trees whose attributes added most, and of all nodes above trees.

        Parameters
        ----------
        top : int or None, default=None
            How many trees to choose at the most, of those with no tree below; None takes all.
        """
        return self._rows.telling_steps(self._place, top)

    @cached_property
    def doubts(self) -> RowDoubts:
        """Why the decision is held back or might be, the row taken by itself."""
        return self._rows.doubts(self._place)

    def reading_dicts(self) -> list[dict[str, Any]]:
        """Return each attribute's reading and what it added as plain values."""
        return self._rows.reading_dicts(self._place)

    @property
    def n_nodes(self) -> int:
        """How many nodes the decision went through."""
        return self._rows.n_nodes

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
        return belief[self.goal.states.index(self.decision)]

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
        from solah.explain.explanation.as_dict import as_dict

        return as_dict(self, top)

    def to_json(self, top: int | None = None) -> str:
        """Return the same as one line of JSON."""
        from solah.explain.explanation.as_dict import as_json

        return as_json(self, top)

    def __str__(self) -> str:
        from solah.explain.explanation.as_text import lines_of

        return "\n".join(line.text for line in lines_of(self))

    def __repr__(self) -> str:
        return f"<Explanation: {self.conclusion}>"

    def _repr_html_(self) -> str:
        from solah.explain.explanation.as_html import as_html

        return as_html(self)
