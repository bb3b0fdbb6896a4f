"""Statistics of all rows that learning asks for: sums of integers over blocks of rows.

Learning never walks through rows itself. It asks for sums, and decides what comes next from these
alone. Integer sums depend neither on the order of the rows, nor on their partition, nor on the
number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import MASS_BITS
from solah.kernels.choose import kernel
from solah.learn.blocks import RowBlock, joined_routes, label_readings
from solah.model.attributes import flatten
from solah.scale.passes import Statistics, SummingPass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.learn.growth import Question
    from solah.learn.tree import Tree
    from solah.model import Attribute
    from solah.scale.reading import Reader


class BlockPass(ABC):
    """What is asked of all rows at once; it can be pickled."""

    name: str
    """What is done, for people who wait for it."""
    inputs: Sequence[Sequence[Attribute]]
    """What rows must be described by."""

    @abstractmethod
    def begin(self) -> Statistics:
        """Return the sums of no rows."""

    @abstractmethod
    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add a block of rows."""


class CountLeaves(BlockPass):
    """Counts rows at the leaves of growing trees, by the words of each input and by goal."""

    def __init__(
        self,
        inputs: Sequence[tuple[Attribute, ...]],
        questions: Sequence[Question],
        n_goals: int,
        name: str = "growing trees",
    ) -> None:
        self.inputs, self.questions, self.n_goals, self.name = inputs, questions, n_goals, name
        self.sets = [flatten(of_tree) for of_tree in inputs]

    def begin(self) -> Statistics:
        """Return the counts of no rows: ``(slot, input's bin, goal)`` for each tree."""
        return {
            str(number): np.zeros((question.n_slots, int(sets.bins[-1]), self.n_goals), np.int64)
            for number, (question, sets) in enumerate(zip(self.questions, self.sets, strict=True))
        }

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Count a block of rows."""
        trees = zip(self.inputs, self.questions, self.sets, strict=True)
        for number, (inputs, question, sets) in enumerate(trees):
            kernel().accumulate(
                block.inputs(inputs),
                block.goals,
                block.weights,
                sets,
                question.tree,
                question.slots,
                sums[str(number)],
            )


class ShareWeights(BlockPass):
    """Shares rows' weights among the leaves of trees by their responsibilities.

    The responsibility of a leaf for a row is the part of the belief in the row's class that comes
    from the leaf. Leaves with one head are one branch.
    """

    name = "refitting leaves"

    def __init__(self, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]) -> None:
        self.trees, self.heads = trees, heads
        self.inputs = [tree.inputs for tree in trees]

    def begin(self) -> Statistics:
        """Return the shares of no rows: ``(node, class)`` for each tree."""
        return {
            str(number): np.zeros(tree.belief.shape, dtype=np.int64)
            for number, tree in enumerate(self.trees)
        }

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Share the weights of a block of rows."""
        codes = block.codes
        for number, (tree, heads) in enumerate(zip(self.trees, self.heads, strict=True)):
            routes = joined_routes(block.routes(tree), heads)
            kernel().share_weights(routes, codes, block.weights, tree.belief, sums[str(number)])


class TablePass(SummingPass):
    """The same over tables of a source, each of which is read as a block of rows.

    Parameters
    ----------
    one : BlockPass
        What is summed up.
    reader : Reader
        Reads the attributes that are needed.
    attributes : tuple of Attribute
        The same, described.
    trees : tuple of Tree, default=()
        The trees below, whose beliefs are inputs; each after those it is fed by.
    """

    def __init__(
        self,
        one: BlockPass,
        reader: Reader,
        attributes: tuple[Attribute, ...],
        trees: tuple[Tree, ...] = (),
    ) -> None:
        self.name, self.one = one.name, one
        self.reader, self.attributes, self.trees = reader, attributes, trees

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return the sums of no rows."""
        return self.one.begin()

    def add(self, gathered: Statistics, table: Table) -> None:
        """Add the rows of a table."""
        rows = self.reader.read(table)
        block = RowBlock(
            self.attributes,
            label_readings(rows.readings, self.attributes),
            (rows.codes << MASS_BITS).astype(np.uint32),
            rows.weights,
            self._beliefs_below(table),
        )
        self.one.add(gathered, block)

    def _beliefs_below(self, table: Table) -> dict[str, Float]:
        """Walk the rows that have weight through the trees below."""
        beliefs: dict[str, Float] = {}
        if self.trees:
            used = self.reader.used(table)
            table = table if used.all() else table.take(np.flatnonzero(used))
        for tree in self.trees:
            beliefs[tree.name] = tree.beliefs(table, beliefs)
        return beliefs
