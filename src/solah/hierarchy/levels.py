"""Distant rows and a level of a hierarchy in, its trees out: they hear what trees below believe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.hierarchy.nodes import TreeNode
from solah.hierarchy.training import (
    NODE_KINDS,
    cell_settings,
    describe_inputs,
    input_attributes,
)
from solah.kernels.arrays import MASS_BITS, TreeShape
from solah.kernels.choose import kernel
from solah.labels.describe import Description, with_mean_masses
from solah.model.attributes import flatten
from solah.scale.passes import Statistics, SummingPass
from solah.tree.growth import Question
from solah.tree.passes import credit_rows, labelled
from solah.tree.side_by_side import TreeTask, learn_trees

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Described, Float, Int64
    from solah.model import Attribute, Tree
    from solah.model.structure import HierarchyNode
    from solah.scale.reading import Reader, Rows
    from solah.tree.distant import DistantSet
    from solah.tree.growth import TreeSettings


def node_settings(
    name: str, kind: Any, inputs: Sequence[Attribute], growth: TreeSettings
) -> TreeSettings:
    """Return how the tree of a node grows; other models need their rows in memory."""
    if not isinstance(kind, str) or kind not in NODE_KINDS:
        raise ParameterError(
            f"node {name!r} is a {type(kind).__name__}, which learns from rows in memory only; use "
            "node='tree', or read the rows into memory"
        )
    return growth if kind == "tree" else cell_settings(name, inputs)


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of one level.

    Attributes
    ----------
    data : the rows
    nodes : the nodes
    below : the trees below, each after those it hears
    kinds : what stands at each node
    growth : how trees grow
    """

    data: DistantSet
    nodes: Sequence[HierarchyNode]
    below: tuple[Tree, ...]
    kinds: Mapping[str, Any]
    growth: TreeSettings

    def learn(self) -> list[Tree]:
        """Learn the trees side by side."""
        inputs = [self._inputs(node) for node in self.nodes]
        if not any(one.origin in self._heard for each in inputs for one in each):
            data = self.data
            return learn_trees(self._tasks(inputs), data.goal, data.count, data.credit)
        if self.growth.belief_labels is not None:
            inputs = self._with_mean_masses(inputs)
        return learn_trees(self._tasks(inputs), self.data.goal, self._count, self._credit)

    @property
    def _heard(self) -> set[str]:
        return {tree.name for tree in self.below}

    def _inputs(self, node: HierarchyNode) -> tuple[Attribute, ...]:
        goal = self.data.goal
        return input_attributes(
            node,
            {attribute.name: attribute for attribute in self.data.attributes},
            goal.goal,
            goal.prior,
            self._heard,
            self.growth.belief_labels,
        )

    def _tasks(self, inputs: Sequence[tuple[Attribute, ...]]) -> list[TreeTask]:
        return [
            TreeTask(
                node.name,
                of_node,
                node_settings(node.name, self.kinds[node.name], of_node, self.growth),
            )
            for node, of_node in zip(self.nodes, inputs, strict=True)
        ]

    def _with_mean_masses(
        self, inputs: Sequence[tuple[Attribute, ...]]
    ) -> list[tuple[Attribute, ...]]:
        """Let unknown beliefs be what the rows believe on average, in one pass."""
        at_root = Question(TreeShape.stump(), np.zeros(1, dtype=np.int32))
        counts = self._run_count(inputs, [at_root] * len(inputs))
        return [
            tuple(
                one if one.tree is None else mean
                for one, mean in zip(
                    of_node, with_mean_masses(of_node, found[0].sum(axis=1)), strict=True
                )
            )
            for of_node, found in zip(inputs, counts, strict=True)
        ]

    def _count(self, tasks: Sequence[TreeTask], questions: Sequence[Question]) -> list[Int64]:
        return self._run_count([task.inputs for task in tasks], questions)

    def _run_count(
        self, inputs: Sequence[tuple[Attribute, ...]], questions: Sequence[Question]
    ) -> list[Int64]:
        one = CountLevel(self._listening(inputs), inputs, questions)
        found = self.data.rows.engine.run(one)
        return [found[str(number)] for number in range(len(questions))]

    def _credit(
        self, tasks: Sequence[TreeTask], trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> list[Int64]:
        one = CreditLevel(self._listening([task.inputs for task in tasks]), trees, heads)
        found = self.data.rows.engine.run(one)
        return [found[str(number)] for number in range(len(trees))]

    def _listening(self, inputs: Sequence[tuple[Attribute, ...]]) -> Listening:
        every = [*inputs, *(tree.inputs for tree in self.below)]
        reader = self.data.rows.reader.only([one.name for each in every for one in each])
        described = {one.name: one for one in self.data.attributes}
        return Listening(
            reader, tuple(described[one.name] for one in reader.attributes), self.below
        )


@dataclass(frozen=True, eq=False)
class Listening:
    """How the nodes of a level see rows: attributes, and what trees below believe.

    Attributes
    ----------
    reader : who reads the attributes of the level and of all below
    attributes : the same, described
    below : the trees below, each after those it hears
    """

    reader: Reader
    attributes: tuple[Attribute, ...]
    below: tuple[Tree, ...]

    def hear(self, table: Table) -> Heard:
        """Let rows go through the trees below."""
        used = self.reader.used(table)
        table = table if used.all() else table.take(np.flatnonzero(used))
        rows = self.reader.read(table)
        outputs: dict[str, Float] = {}
        for tree in self.below:
            outputs[tree.name] = TreeNode(tree).beliefs(table, outputs, 1)
        labels = labelled(rows.readings, flatten(self.attributes))
        return Heard(rows, Description(table, self.attributes, labels), outputs)


@dataclass(frozen=True, eq=False)
class Heard:
    """Rows, described, with what trees below believe of each."""

    rows: Rows
    described: Description
    outputs: Mapping[str, Float]

    def inputs(self, inputs: Sequence[Attribute]) -> Described:
        """Describe the rows by the inputs of a node."""
        return describe_inputs(inputs, self.described, self.outputs)


class CountLevel(SummingPass):
    """Counts rows at the leaves of growing trees that hear others."""

    name = "growing trees"

    def __init__(
        self,
        listening: Listening,
        inputs: Sequence[tuple[Attribute, ...]],
        questions: Sequence[Question],
    ) -> None:
        self.listening, self.inputs, self.questions = listening, inputs, questions
        self.sets = [flatten(of_node) for of_node in inputs]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.listening.reader.columns

    def begin(self) -> Statistics:
        """Return the counts of no rows."""
        n_classes = len(self.listening.reader.classes)
        return {
            str(number): np.zeros((question.n_slots, int(sets.bins[-1]), n_classes), np.int64)
            for number, (question, sets) in enumerate(zip(self.questions, self.sets, strict=True))
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Count rows."""
        heard = self.listening.hear(table)
        goals = (heard.rows.codes << MASS_BITS).astype(np.uint32)
        every = zip(self.inputs, self.questions, self.sets, strict=True)
        for number, (inputs, question, sets) in enumerate(every):
            kernel().accumulate(
                heard.inputs(inputs),
                goals,
                heard.rows.weights,
                sets,
                question.tree,
                question.slots,
                gathered[str(number)],
            )


class CreditLevel(SummingPass):
    """Shares rows' weights among the leaves of trees that hear others."""

    name = "refitting leaves"

    def __init__(
        self, listening: Listening, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> None:
        self.listening, self.trees = listening, trees
        self.heads = [each.astype(np.int32) for each in heads]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.listening.reader.columns

    def begin(self) -> Statistics:
        """Return the credit of no rows."""
        return {
            str(number): np.zeros(tree.belief.shape, dtype=np.int64)
            for number, tree in enumerate(self.trees)
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Share the weights of rows."""
        heard = self.listening.hear(table)
        for number, (tree, heads) in enumerate(zip(self.trees, self.heads, strict=True)):
            inputs = heard.inputs(tree.inputs)
            rows = heard.rows
            credit_rows(tree, heads, inputs, rows.codes, rows.weights, gathered[str(number)])
