"""The passes that trees over attributes ask for: distant rows in, counts at their leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import MASS_BITS, WEIGHT_ONE, Described, TreeShape
from solah.kernels.choose import kernel
from solah.model.attributes import flatten
from solah.scale.passes import Statistics, SummingPass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float, FocalSets, Int64, Labels
    from solah.model import Attribute, Tree
    from solah.scale.reading import Reader
    from solah.tree.growth import Question


class CountRoot(SummingPass):
    """Counts all rows by the words of each attribute and by class."""

    name = "counting words"

    def __init__(self, reader: Reader, attributes: tuple[Attribute, ...]) -> None:
        self.reader, self.attributes = reader, attributes
        self.sets = flatten(attributes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return the counts of no rows."""
        shape = (int(self.sets.bins[-1]), len(self.reader.classes))
        return {"counts": np.zeros(shape, dtype=np.int64)}

    def add(self, gathered: Statistics, table: Table) -> None:
        """Count rows."""
        rows = self.reader.read(table)
        labels = labelled(rows.readings, self.sets)
        goals = (rows.codes << MASS_BITS).astype(np.uint32)
        slots = np.zeros(1, dtype=np.int32)
        kernel().accumulate(
            Described.plain(labels),
            goals,
            rows.weights,
            self.sets,
            TreeShape.stump(),
            slots,
            gathered["counts"][None],
        )


class CountTrees(SummingPass):
    """Counts rows at the leaves of growing trees whose inputs are attributes."""

    name = "growing trees"

    def __init__(
        self,
        reader: Reader,
        attributes: Sequence[Attribute],
        inputs: Sequence[tuple[Attribute, ...]],
        questions: Sequence[Question],
    ) -> None:
        described = {attribute.name: attribute for attribute in attributes}
        self.reader, self.questions = reader, questions
        self.sets = flatten([described[one.name] for one in reader.attributes])
        place_of = {attribute.name: j for j, attribute in enumerate(reader.attributes)}
        self.places = [[place_of[one.name] for one in each] for each in inputs]
        self.sets_of = [flatten(each) for each in inputs]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return the counts of no rows."""
        return {
            str(number): np.zeros(
                (question.n_slots, int(sets.bins[-1]), len(self.reader.classes)), dtype=np.int64
            )
            for number, (question, sets) in enumerate(
                zip(self.questions, self.sets_of, strict=True)
            )
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Count rows."""
        rows = self.reader.read(table)
        labels = labelled(rows.readings, self.sets)
        goals = (rows.codes << MASS_BITS).astype(np.uint32)
        for number, (question, places, sets) in enumerate(
            zip(self.questions, self.places, self.sets_of, strict=True)
        ):
            inputs = Described.plain(np.ascontiguousarray(labels[:, places]))
            kernel().accumulate(
                inputs,
                goals,
                rows.weights,
                sets,
                question.tree,
                question.slots,
                gathered[str(number)],
            )

    def counts(self, statistics: Statistics) -> list[Int64]:
        """Return the answers to the questions."""
        return [statistics[str(number)] for number in range(len(self.questions))]


class CreditTrees(SummingPass):
    """Shares rows' weights among the leaves of trees whose inputs are attributes."""

    name = "refitting leaves"

    def __init__(
        self, reader: Reader, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> None:
        self.reader, self.trees = reader, trees
        self.heads = [each.astype(np.int32) for each in heads]
        self._place_of = {attribute.name: j for j, attribute in enumerate(reader.attributes)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return the credit of no rows."""
        return {
            str(number): np.zeros(tree.belief.shape, dtype=np.int64)
            for number, tree in enumerate(self.trees)
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Share the weights of rows."""
        rows = self.reader.read(table)
        for number, (tree, heads) in enumerate(zip(self.trees, self.heads, strict=True)):
            places = [self._place_of[one.name] for one in tree.inputs]
            labels = labelled(np.ascontiguousarray(rows.readings[:, places]), tree.sets)
            inputs, out = Described.plain(labels), gathered[str(number)]
            credit_rows(tree, heads, inputs, rows.codes, rows.weights, out)


def credit_rows(
    tree: Tree,
    heads: NDArray[np.int32],
    inputs: Described,
    codes: Int64,
    weights: Int64,
    out: Int64,
) -> None:
    """Share the weights of rows among the leaves of a tree."""
    use = kernel()
    whole = np.where(weights > 0, WEIGHT_ONE, 0)
    routes = use.route(inputs, whole, tree.sets, tree.shape)
    routes = replace(routes, leaves=heads[routes.leaves])
    use.credit(routes, codes, weights, tree.belief, out)


def labelled(readings: Float, sets: FocalSets) -> Labels:
    """Describe readings by their focal sets."""
    labels = np.empty(readings.shape, dtype=np.uint32)
    kernel().label(readings, sets, labels)
    return labels
