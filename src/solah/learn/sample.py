"""The rows that words, pairs and the number of rules are settled on: all of them, or a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.labels.drawing import digest_rows
from solah.learn.folds import group_folds
from solah.learn.objective import ClassObjective
from solah.model.encode import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float
    from solah.learn.memory import MemoryRows
    from solah.learn.objective import Objective
    from solah.learn.rows import Rows
    from solah.model import Attribute


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows in an order that depends on what they say alone.

    Attributes
    ----------
    attributes : the columns, described; by name
    readings : (n_rows, n_attributes) numbers, or the places of states; NaN for unknown ones
    objective : the goal of each row
    weights : (n_rows,) how many rows each stands for
    digests : (n_rows,) a number that looks random, from what a row says
    one_row : what a row without a weight of its own weighs
    is_part : whether there are more rows than these
    groups : (n_rows,) digests of the groups that are kept together; None where there are none
    """

    attributes: tuple[Attribute, ...]
    readings: Float
    objective: Objective
    weights: Float
    digests: UInt64
    one_row: float
    is_part: bool = False
    groups: UInt64 | None = None

    @classmethod
    def draw(cls, rows: Rows, max_rows: int) -> Sample:
        """Draw different rows of classes by their content."""
        drawn = rows.draw(max_rows)
        goal = drawn.goal
        weights = goal.weights.astype(np.float64) * goal.weight_unit
        all_rows = float(rows.facts.sums.sum()) * rows.facts.weight_unit
        share = float(weights.sum()) / all_rows
        objective = ClassObjective(goal.codes.astype(np.intp), goal.goal.size)
        sample = cls.of(drawn, weights / share, objective)
        return replace(sample, is_part=share < 1 - 1e-6)

    @classmethod
    def of(cls, drawn: MemoryRows, weights: Float, objective: Objective) -> Sample:
        """Take rows in memory as they are."""
        digests = drawn.digests
        if digests is None:
            digests = digest_rows(drawn.table, drawn.goal.digests)
        readings = encode(drawn.table, drawn.attributes)
        one_row = float(np.median(drawn.goal.plain_weights))
        return cls(
            drawn.attributes,
            readings,
            objective,
            weights,
            digests,
            one_row,
            groups=drawn.groups,
        )

    @property
    def n_rows(self) -> int:
        """How many different rows there are."""
        return len(self.weights)

    def take(self, rows: NDArray[np.intp], weights: Float) -> Sample:
        """Return some of the rows, with other weights."""
        return replace(
            self,
            readings=self.readings[rows],
            objective=self.objective.take(rows),
            weights=weights,
            digests=self.digests[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def first(self, n_rows: int) -> Sample:
        """Return so many rows, or all if there are fewer; their order looks random."""
        if n_rows >= self.n_rows:
            return self
        rows = np.argsort(self.digests, kind="stable")[:n_rows]
        return self.take(np.sort(rows), self.weights[np.sort(rows)])

    def folds(self, n_folds: int) -> list[Fold]:
        """Deal the weight of each row out to folds, as its group or its digest says.

        Without groups, a row stays in its fold whatever rows come or go. One that stands for many
        is dealt out in pieces, so that a table of few different rows has every kind of row on both
        sides.
        """
        dealt = self._dealt(n_folds) if self.groups is None else self._dealt_by_group(n_folds)
        folds = [self._fold(tested) for tested in dealt]
        return [fold for fold in folds if fold.is_usable]

    def _dealt(self, n_folds: int) -> Float:
        """Return how much of each row's weight is in each fold: ``(n_folds, n_rows)``."""
        pieces = np.maximum(1, np.rint(self.weights / self.one_row)).astype(np.int64)
        first = (self.digests >> np.uint64(7)) % np.uint64(n_folds)
        place = (np.arange(n_folds)[:, None] - first.astype(np.int64)[None, :]) % n_folds
        counts = np.maximum(0, (pieces[None, :] - place + n_folds - 1) // n_folds)
        return np.asarray(counts * (self.weights / pieces)[None, :])

    def _dealt_by_group(self, n_folds: int) -> Float:
        """Return the same with each group in one fold."""
        assert self.groups is not None
        classes = getattr(self.objective, "codes", np.zeros(self.n_rows, dtype=np.int64))
        folds = group_folds(self.groups, classes, self.weights, n_folds)
        return np.where(np.arange(n_folds)[:, None] == folds[None, :], self.weights, 0.0)

    def _fold(self, tested: Float) -> Fold:
        left = self.weights - tested
        learnt, unseen = np.flatnonzero(left > 1e-9 * self.one_row), np.flatnonzero(tested)
        return Fold(self.take(learnt, left[learnt]), self.take(unseen, tested[unseen]))


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, and rows to test on."""

    learnt: Sample
    tested: Sample

    @property
    def is_usable(self) -> bool:
        """Whether there is something to learn and something to test."""
        if not self.learnt.n_rows or not self.tested.n_rows:
            return False
        objective = self.learnt.objective
        return not isinstance(objective, ClassObjective) or len(np.unique(objective.codes)) > 1
