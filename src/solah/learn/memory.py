"""Rows in memory: one part, described once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from solah.dependence import TableColumns, dependence_of, relevance_of
from solah.kernels.choose import map_slices
from solah.labels.describe import describe_by
from solah.labels.drawing import (
    LIMITS,
    digest_rows,
    digest_within,
    draw_rows,
    keep_smallest,
    sample_bound,
)
from solah.learn.blocks import RowBlock
from solah.learn.rows import Rows
from solah.learn.sample import content_folds, group_folds
from solah.scale.passes import add_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.dependence import Dependence
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.describe import Description
    from solah.labels.drawing import Limits
    from solah.labels.goals import ClassGoal, GoalFacts
    from solah.learn.levels import NodeModel
    from solah.learn.passes import BlockPass
    from solah.model import Attribute
    from solah.scale.passes import Statistics

_LARGE = 100_000


@dataclass(frozen=True, eq=False)
class MemoryRows(Rows):
    """Rows in memory.

    Attributes
    ----------
    described : the columns, and each reading described
    goal : each row's goal and weight
    n_threads : how many threads sum up
    digests : (n_rows,) numbers by which rows are drawn, where they speak of columns that were
        left out, too
    counts : (n_rows,) how often each row occurred, where equal ones were joined; else None
    folds : (n_rows,) with cross-fitting, the fold of each row
    groups : (n_rows,) digests of what rows belong to, where folds are to keep that together
    outputs : the beliefs of the nodes below, by name
    limits : how many rows are many
    """

    described: Description
    goal: ClassGoal
    n_threads: int = 1
    digests: UInt64 | None = None
    counts: Int64 | None = None
    folds: Int64 | None = None
    groups: UInt64 | None = None
    outputs: Mapping[str, Float] = field(default_factory=dict)
    limits: Limits = LIMITS

    @property
    def table(self) -> Table:
        """The rows as numbers and states."""
        return self.described.table

    @property
    def labels(self) -> Labels:
        """Each reading described."""
        assert self.described.labels is not None, "words are chosen before rows are described"
        return self.described.labels

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, described."""
        return self.described.attributes

    @property
    def facts(self) -> GoalFacts:
        """The goal, and what all rows weigh together."""
        return self.goal.facts

    @property
    def is_many(self) -> bool:
        """Whether a sample stands in for the rows where they would be walked through often."""
        return self.table.n_rows > self.limits.many_rows

    @property
    def below(self) -> frozenset[str]:
        """The names of the nodes below."""
        return frozenset(self.outputs)

    @cached_property
    def blocks(self) -> list[RowBlock]:
        """The rows, one block for each thread."""
        goals = self.goal.labels

        def block(rows: slice) -> RowBlock:
            below = {name: beliefs[rows] for name, beliefs in self.outputs.items()}
            weights = self.goal.weights[rows]
            return RowBlock(self.attributes, self.labels[rows], goals[rows], weights, below, {})

        return map_slices(block, len(goals), self.n_threads)

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""

        def summed(block: RowBlock) -> Statistics:
            sums = one.begin()
            one.add(sums, block)
            return sums

        if len(self.blocks) == 1:
            return summed(self.blocks[0])
        with ThreadPoolExecutor(len(self.blocks)) as pool:
            return reduce(add_up, pool.map(summed, self.blocks))

    def draw(self, n_rows: int | None = None) -> MemoryRows:
        """Draw different rows by their content; each has the weight of all that are equal to it.

        Without a number, about ``limits.sample_rows`` are drawn.
        """
        digests = self._digests()
        weights = self.goal.weights
        if n_rows is None:
            smallest = keep_smallest(digests[weights > 0], self.limits)
            bound = sample_bound(smallest, self.limits)
            weights = np.where(digests <= np.uint64(bound), weights, 0)
            n_rows = len(weights)
        drawn = draw_rows(digests, weights, n_rows, self.counts)
        return replace(
            self,
            described=self.described.take(drawn.rows),
            goal=self.goal.take(drawn.rows, drawn.weights),
            digests=drawn.digests,
            counts=drawn.counts,
            folds=None,
            groups=None if self.groups is None else self.groups[drawn.rows],
            outputs={},
        )

    def used(self) -> MemoryRows:
        """Return the rows that have weight."""
        used = np.flatnonzero(self.goal.weights)
        if len(used) == len(self.goal.weights):
            return self
        goal = replace(self.goal, codes=self.goal.codes[used], weights=self.goal.weights[used])
        return replace(
            self,
            described=self.described.take(used),
            goal=goal,
            digests=None,
            counts=None if self.counts is None else self.counts[used],
            folds=None,
            groups=None if self.groups is None else self.groups[used],
            outputs={},
        )

    def only(self, names: Sequence[str]) -> MemoryRows:
        """Return the same rows with some of their columns."""
        described = self.described.only(names)
        return replace(self, described=described, digests=self._digests() if self.is_many else None)

    def described_by(self, attributes: Sequence[Attribute]) -> MemoryRows:
        """Return the same rows with these columns only, described as these attributes are."""
        table = self.table.select([attribute.name for attribute in attributes])
        described = describe_by(table, tuple(attributes), self.goal.weights, self.n_threads)
        return replace(self, described=described, digests=None)

    def dependence(self, *, bias_corrected: bool = False) -> Dependence:
        """Measure how far attributes depend on each other and on the goal."""
        return dependence_of(self._columns(), bias_corrected=bias_corrected)

    def relevance(self, *, bias_corrected: bool = False) -> Float:
        """Measure how far attributes depend on the goal."""
        return relevance_of(self._columns(), bias_corrected=bias_corrected)

    def with_folds(self, n_folds: int) -> MemoryRows:
        """Let the nodes above learn from beliefs about rows that were not learnt from."""
        codes, weights = self.goal.codes, self.goal.weights
        if self.groups is None:
            return replace(self, folds=content_folds(self.labels, codes, n_folds))
        return replace(self, folds=group_folds(self.groups, codes, weights, n_folds))

    def above(
        self, models: Sequence[NodeModel], train: Callable[[MemoryRows], Sequence[NodeModel]]
    ) -> MemoryRows:
        """Return the same rows with what these models believe of them."""
        return replace(self, outputs={**self.outputs, **self.beliefs_of(models, train)})

    def beliefs_of(
        self, models: Sequence[NodeModel], train: Callable[[MemoryRows], Sequence[NodeModel]]
    ) -> dict[str, Float]:
        """Return what models believe of each row, for the nodes above to learn from.

        With folds, the rows of a fold are judged by models that were trained on the others; rows
        without weight are judged by the models themselves, as in use.
        """
        beliefs = {
            model.name: model.beliefs(self.table, self.outputs, self.n_threads) for model in models
        }
        weights = self.goal.weights
        for fold in [] if self.folds is None else np.unique(self.folds):
            rows = np.flatnonzero((self.folds == fold) & (weights > 0))
            others = weights.copy()
            others[rows] = 0
            if len(rows) and others.any():
                unseen = self.table.take(rows)
                below = {name: output[rows] for name, output in self.outputs.items()}
                for model in train(replace(self, goal=replace(self.goal, weights=others))):
                    beliefs[model.name][rows] = model.beliefs(unseen, below, self.n_threads)
        return beliefs

    def _digests(self) -> UInt64:
        if self.digests is not None:
            return self.digests
        return digest_within(digest_rows(self.table, self.goal.digests), self.groups)

    def _columns(self) -> TableColumns:
        """Return the columns and the goal, with weights where rows have some."""
        weights = self.goal.weights.astype(np.float64) * self.goal.weight_unit
        return TableColumns.of(
            self.table,
            [attribute.kind for attribute in self.attributes],
            self.goal.codes,
            nominal_goal=True,
            sample_weight=None if (weights == 1.0).all() else weights,
            n_jobs=self.n_threads,
            limits=self.limits,
        )


def is_large(n_rows: int, n_attributes: int) -> bool:
    """Whether there is enough to do for threads to pay."""
    return n_rows * n_attributes >= _LARGE
