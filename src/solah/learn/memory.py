"""Training rows in memory, described once, and the sums that trees need."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from solah.dependence import TableColumns, dependence_of, relevance_of
from solah.kernels.choose import kernel, map_slices
from solah.labels.describe import Description, label_table
from solah.labels.drawing import LIMITS, digest_rows, digest_within, draw_rows
from solah.learn.rows import BlockPass, RowBlock, add_up, joined_routes
from solah.learn.sample import group_folds, stratified_folds
from solah.model.features import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.dependence import Dependence
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.drawing import Limits
    from solah.labels.targets import ClassTarget, TargetFacts
    from solah.learn.growth import Question
    from solah.learn.levels import NodeModel
    from solah.learn.rows import Statistics
    from solah.learn.tree import Tree
    from solah.model import Feature

_LARGE = 100_000


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """Rows in memory.

    Attributes
    ----------
    described : the columns, and each value described
    target : each row's target and weight
    n_threads : how many threads sum up
    digests : (n_rows,) numbers by which rows are drawn, where they include dropped columns
    counts : (n_rows,) how often each row occurred, as ``Drawn`` counts, where equal ones were
        joined; else None
    folds : (n_rows,) with cross-fitting, the fold of each row
    groups : (n_rows,) digests of what rows belong to, where folds are to keep that together
    outputs : the class probabilities of the nodes below, by name
    limits : the sizes at which learning changes its method
    """

    described: Description
    target: ClassTarget
    n_threads: int = 1
    digests: UInt64 | None = None
    counts: Float | None = None
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
        """Each value described."""
        assert self.described.labels is not None, "words are chosen before rows are described"
        return self.described.labels

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns, described."""
        return self.described.features

    @property
    def facts(self) -> TargetFacts:
        """The target, and what all rows weigh together."""
        return self.target.facts

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(feature.name for feature in self.features)

    @property
    def is_many(self) -> bool:
        """Whether a sample replaces the rows where they would be read many times."""
        return self.table.n_rows > self.limits.many_rows

    @property
    def below(self) -> frozenset[str]:
        """The names of the nodes below."""
        return frozenset(self.outputs)

    @cached_property
    def blocks(self) -> list[RowBlock]:
        """The rows, one block for each thread."""
        targets = self.target.labels

        def block(rows: slice) -> RowBlock:
            below = {name: beliefs[rows] for name, beliefs in self.outputs.items()}
            weights = self.target.weights[rows]
            return RowBlock(self.features, self.labels[rows], targets[rows], weights, below, {})

        return map_slices(block, len(targets), self.n_threads)

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

    def count(
        self, inputs: Sequence[tuple[Feature, ...]], questions: Sequence[Question]
    ) -> list[Int64]:
        """Count rows at the leaves of growing trees: ``(slot, input's bin, target)`` for each."""
        found = self.run(CountLeaves(inputs, questions, self.facts.target.size))
        return [found[str(number)] for number in range(len(questions))]

    def share_weights(
        self, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> list[Int64]:
        """Share rows' weights among the leaves of trees: ``(node, class)`` for each."""
        found = self.run(ShareWeights(trees, heads))
        return [found[str(number)] for number in range(len(trees))]

    def draw(self, n_rows: int) -> MemoryRows:
        """Draw distinct rows by their content, each with the weight of all equal rows."""
        digests, weights = self._digests(), self.target.weights
        drawn = draw_rows(digests, weights, n_rows, self.counts)
        return replace(
            self,
            described=self.described.take(drawn.rows),
            target=self.target.take(drawn.rows, drawn.weights),
            digests=drawn.digests,
            counts=drawn.counts,
            folds=None,
            groups=None if self.groups is None else self.groups[drawn.rows],
            outputs={},
        )

    def only(self, names: Sequence[str]) -> MemoryRows:
        """Return the same rows with some of their columns."""
        described = self.described.only(names)
        return replace(self, described=described, digests=self._digests() if self.is_many else None)

    def described_by(self, features: Sequence[Feature]) -> MemoryRows:
        """Return the same rows with the columns of these features, described by their words."""
        table = self.table.select([feature.name for feature in features])
        labels = label_table(table, features, self.n_threads)
        return replace(self, described=Description(table, tuple(features), labels), digests=None)

    def dependence(self, *, bias_corrected: bool = False) -> Dependence:
        """Measure how far features depend on each other and on the target."""
        return dependence_of(self._columns(), bias_corrected=bias_corrected)

    def relevance(self, *, bias_corrected: bool = False) -> Float:
        """Measure how far features depend on the target."""
        return relevance_of(self._columns(), bias_corrected=bias_corrected)

    def with_folds(self, n_folds: int) -> MemoryRows:
        """Return the same rows with folds, so that nodes above train on held-out outputs."""
        codes, weights = self.target.codes, self.target.weights
        if self.groups is not None:
            return replace(self, folds=group_folds(self.groups, codes, weights, n_folds))
        used = np.flatnonzero(weights)
        folds = stratified_folds(self.labels[used], codes[used], n_folds)
        if folds is None:  # no two rows differ
            return self
        of_rows = np.zeros(len(weights), dtype=np.int64)
        of_rows[used] = folds
        return replace(self, folds=of_rows)

    def above(
        self, models: Sequence[NodeModel], train: Callable[[MemoryRows], Sequence[NodeModel]]
    ) -> MemoryRows:
        """Return the same rows with the outputs of these models."""
        return replace(self, outputs={**self.outputs, **self.beliefs_of(models, train)})

    def beliefs_of(
        self, models: Sequence[NodeModel], train: Callable[[MemoryRows], Sequence[NodeModel]]
    ) -> dict[str, Float]:
        """Return the class probabilities of models for each row, as inputs of the nodes above.

        With folds, models that were trained on the other folds predict the rows of a fold. The
        models themselves predict rows without weight. So does a model with equal outputs for all
        rows: in folds, it would reveal which class a row is not of.
        """
        beliefs = {
            model.name: model.beliefs(self.table, self.outputs, self.n_threads) for model in models
        }
        varying = {name for name, found in beliefs.items() if np.ptp(found, axis=0).any()}
        weights = self.target.weights
        for fold in [] if self.folds is None else np.unique(self.folds):
            rows = np.flatnonzero((self.folds == fold) & (weights > 0))
            others = weights.copy()
            others[rows] = 0
            if len(rows) and others.any():
                unseen = self.table.take(rows)
                below = {name: output[rows] for name, output in self.outputs.items()}
                for model in train(replace(self, target=replace(self.target, weights=others))):
                    if model.name in varying:
                        beliefs[model.name][rows] = model.beliefs(unseen, below, self.n_threads)
        return beliefs

    def _digests(self) -> UInt64:
        if self.digests is not None:
            return self.digests
        return digest_within(digest_rows(self.table, self.target.digests), self.groups)

    def _columns(self) -> TableColumns:
        """Return the columns and the target, with weights where rows have some."""
        weights = self.target.weights.astype(np.float64) * self.target.weight_unit
        return TableColumns.of(
            self.table,
            [feature.kind for feature in self.features],
            self.target.codes,
            nominal_target=True,
            sample_weight=None if (weights == 1.0).all() else weights,
            n_jobs=self.n_threads,
            limits=self.limits,
        )


def is_large(n_rows: int, n_features: int) -> bool:
    """Whether the table is large enough for threads to pay off."""
    return n_rows * n_features >= _LARGE


class CountLeaves(BlockPass):
    """Counts rows at the leaves of growing trees, by the words of each input and by target."""

    name = "growing trees"

    def __init__(
        self, inputs: Sequence[tuple[Feature, ...]], questions: Sequence[Question], n_targets: int
    ) -> None:
        self.inputs, self.questions, self.n_targets = inputs, questions, n_targets
        self.sets = [flatten(of_tree) for of_tree in inputs]

    def begin(self) -> Statistics:
        """Return zero counts: ``(slot, input's bin, target)`` for each tree."""
        return {
            str(number): np.zeros((question.n_slots, int(sets.bins[-1]), self.n_targets), np.int64)
            for number, (question, sets) in enumerate(zip(self.questions, self.sets, strict=True))
        }

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Count a block of rows."""
        trees = zip(self.inputs, self.questions, self.sets, strict=True)
        for number, (inputs, question, sets) in enumerate(trees):
            kernel().accumulate(
                block.inputs(inputs),
                block.targets,
                block.weights,
                sets,
                question.tree,
                question.slots,
                sums[str(number)],
            )


class ShareWeights(BlockPass):
    """Shares rows' weights among the leaves of trees by their responsibilities.

    The responsibility of a leaf for a row is the leaf's part of the probability of the row's
    class. Leaves with one head are one branch.
    """

    name = "refitting leaves"

    def __init__(self, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]) -> None:
        self.trees, self.heads = trees, heads
        self.inputs = [tree.inputs for tree in trees]

    def begin(self) -> Statistics:
        """Return zero shares: ``(node, class)`` for each tree."""
        return {
            str(number): np.zeros(tree.belief.shape, dtype=np.int64)
            for number, tree in enumerate(self.trees)
        }

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Share the weights of a block of rows."""
        for number, (tree, heads) in enumerate(zip(self.trees, self.heads, strict=True)):
            routes = joined_routes(block.routes(tree), heads)
            kernel().share_weights(
                routes, block.codes, block.weights, tree.belief, sums[str(number)]
            )
