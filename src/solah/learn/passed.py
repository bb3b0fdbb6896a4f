"""Rows in files, frames or on a cluster: read again for each pass, never all in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.dependence import dependence_of, relevance_of
from solah.dependence.passed import PassedColumns
from solah.exceptions import ParameterError
from solah.kernels.arrays import TreeShape
from solah.labels.describe import (
    Description,
    label_table,
    with_mean_masses,
)
from solah.labels.goals import ClassGoal, GoalFacts, integer_weights
from solah.learn.growth import Question
from solah.learn.memory import MemoryRows
from solah.learn.passes import CountLeaves, TablePass
from solah.learn.rows import Rows
from solah.learn.tree import Tree
from solah.model.attributes import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.dependence import Dependence
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.drawing import Limits
    from solah.learn.levels import NodeModel
    from solah.learn.passes import BlockPass
    from solah.model import Attribute
    from solah.scale.passes import Statistics
    from solah.scale.profile import Profile


@dataclass(frozen=True, eq=False)
class PassedRows(Rows):
    """Rows that are passed over, described with words.

    Attributes
    ----------
    profile : what is known of the columns
    described : the columns, described
    root : (n_bins, n_classes) the counts of all rows by word and class; None where the words are
        not chosen yet
    n_threads : how many threads work on what passes find
    trees : the trees below, each after those it is fed by
    """

    profile: Profile
    described: tuple[Attribute, ...]
    root: Int64 | None
    n_threads: int = 1
    trees: tuple[Tree, ...] = ()

    is_many = True

    @classmethod
    def describe(cls, profile: Profile, settings: LabelSettings, n_threads: int = 1) -> PassedRows:
        """Describe each column with words, in a pass or two."""
        if settings.n_words is None:
            return cls(profile, profile.attributes(settings), None, n_threads)
        return cls._counted(profile, profile.attributes(settings), n_threads)

    @classmethod
    def _counted(
        cls, profile: Profile, attributes: tuple[Attribute, ...], n_threads: int
    ) -> PassedRows:
        """Count the rows of each word and class in a pass."""
        root = Question(TreeShape.stump(), np.zeros(1, dtype=np.int32))
        one = CountLeaves([attributes], [root], len(profile.goal.classes), "counting words")
        (counts,) = profile.engine.run(TablePass(one, profile.reader, attributes))["0"]
        described = with_mean_masses(attributes, counts.sum(axis=1))
        return cls(profile, described, counts, n_threads)

    @property
    def limits(self) -> Limits:  # type: ignore[override]
        """How many rows are many."""
        return self.profile.limits

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, described."""
        return self.described

    @property
    def facts(self) -> GoalFacts:
        """The goal, and what all rows weigh together."""
        return self.profile.goal

    @property
    def below(self) -> frozenset[str]:
        """The names of the trees below."""
        return frozenset(tree.name for tree in self.trees)

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""
        origins = {attribute.origin for each in one.inputs for attribute in each}
        trees = self.trees if origins & self.below else ()
        origins |= {attribute.origin for tree in trees for attribute in tree.inputs}
        reader = self.profile.reader.only(tuple(origins))
        described = {attribute.name: attribute for attribute in self.attributes}
        attributes = tuple(described[attribute.name] for attribute in reader.attributes)
        return self.profile.engine.run(TablePass(one, reader, attributes, trees))

    def count(
        self, inputs: Sequence[tuple[Attribute, ...]], questions: Sequence[Question]
    ) -> list[Int64]:
        """Count rows at the leaves of growing trees; at their roots they are counted already."""
        at_root = all(len(question.tree.attribute) == 1 for question in questions)
        if at_root and not any(one.origin in self.below for each in inputs for one in each):
            return [self._counts(of_tree)[None] for of_tree in inputs]
        return super().count(inputs, questions)

    def draw(self, n_rows: int | None = None) -> MemoryRows:
        """Return the sample, or so many rows of it."""
        sample, goal, table = self.profile.sample.rows, self.facts, self.profile.sample_table()
        integers, unit = integer_weights(sample.weights.astype(np.float64) * goal.weight_unit)
        labels = None if self.root is None else label_table(table, self.attributes)
        drawn = MemoryRows(
            Description(table, self.attributes, labels),
            ClassGoal(goal.goal, goal.classes, sample.codes, integers, unit),
            self.n_threads,
            digests=self.profile.sample.digests,
            counts=self.profile.sample.counts,
            groups=sample.groups,
            limits=self.limits,
        )
        return drawn if n_rows is None or n_rows >= table.n_rows else drawn.draw(n_rows)

    def only(self, names: Sequence[str]) -> PassedRows:
        """Return the same rows with some of their columns."""
        described = {attribute.name: attribute for attribute in self.attributes}
        attributes = tuple(described[name] for name in names)
        return replace(
            self,
            profile=self.profile.only(names),
            described=attributes,
            root=None if self.root is None else self._counts(attributes),
        )

    def described_by(self, attributes: Sequence[Attribute]) -> PassedRows:
        """Return the same rows with these columns only, described as these attributes are."""
        profile = self.profile.only([attribute.name for attribute in attributes])
        return PassedRows._counted(profile, tuple(attributes), self.n_threads)

    def dependence(self, *, bias_corrected: bool = False) -> Dependence:
        """Measure how far attributes depend on each other and on the goal."""
        columns = PassedColumns.of(self.profile, self.n_threads)
        return dependence_of(columns, bias_corrected=bias_corrected)

    def relevance(self, *, bias_corrected: bool = False) -> Float:
        """Measure how far attributes depend on the goal."""
        columns = PassedColumns.of(self.profile, self.n_threads)
        return relevance_of(columns, bias_corrected=bias_corrected)

    def with_folds(self, n_folds: int) -> PassedRows:
        """Refuse: what a fold believes would have to be kept of every row."""
        raise ParameterError(
            "'cross_fit' is for rows in memory; leave it out, or read the rows into memory"
        )

    def above(
        self, models: Sequence[NodeModel], train: Callable[[PassedRows], Sequence[NodeModel]]
    ) -> PassedRows:
        """Return the same rows; passes walk them through the trees of these models."""
        trees = tuple(model for model in models if isinstance(model, Tree))
        return replace(self, trees=(*self.trees, *trees))

    def _counts(self, inputs: Sequence[Attribute]) -> Int64:
        """Return the counts of all rows by the words of some attributes and by class."""
        assert self.root is not None, "words are chosen before rows are counted"
        return np.concatenate([self.root[self._bins[attribute.name]] for attribute in inputs])

    @cached_property
    def _bins(self) -> dict[str, slice]:
        bins = flatten(self.attributes).bins.tolist()
        return {
            attribute.name: slice(*ends)
            for attribute, ends in zip(self.attributes, pairwise(bins), strict=True)
        }
