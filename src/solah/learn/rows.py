"""Rows to learn from, wherever they are: what learning may ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from solah.learn.passes import CountLeaves, ShareWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from solah.dependence import Dependence
    from solah.kernels.arrays import Float, Int64
    from solah.labels.drawing import Limits
    from solah.labels.goals import GoalFacts
    from solah.learn.growth import Question
    from solah.learn.levels import NodeModel
    from solah.learn.memory import MemoryRows
    from solah.learn.passes import BlockPass
    from solah.learn.tree import Tree
    from solah.model import Attribute
    from solah.scale.passes import Statistics


class Rows(ABC):
    """Rows described with words, with a goal and weights.

    ``MemoryRows`` are one part whose labels are kept; ``PassedRows`` are read for each pass from
    files, frames or a cluster. The same model comes out of both, bit for bit.
    """

    limits: Limits

    @property
    @abstractmethod
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, described."""

    @property
    @abstractmethod
    def facts(self) -> GoalFacts:
        """The goal, and what all rows weigh together."""

    @property
    @abstractmethod
    def is_many(self) -> bool:
        """Whether a sample stands in for the rows where they would be walked through often."""

    @property
    @abstractmethod
    def below(self) -> frozenset[str]:
        """The names of the nodes below, whose beliefs are known."""

    @abstractmethod
    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""

    @abstractmethod
    def draw(self, n_rows: int | None = None) -> MemoryRows:
        """Draw a sample of different rows, each with the weight of all that are equal to it."""

    @abstractmethod
    def only(self, names: Sequence[str]) -> Self:
        """Return the same rows with some of their columns."""

    @abstractmethod
    def described_by(self, attributes: Sequence[Attribute]) -> Self:
        """Return the same rows with these columns only, described as these attributes are.

        Unknown readings are as the known ones are on average.
        """

    @abstractmethod
    def dependence(self, *, bias_corrected: bool = False) -> Dependence:
        """Measure how far attributes depend on each other and on the goal."""

    @abstractmethod
    def relevance(self, *, bias_corrected: bool = False) -> Float:
        """Measure how far attributes depend on the goal."""

    @abstractmethod
    def with_folds(self, n_folds: int) -> Self:
        """Let the nodes above learn from beliefs about rows that were not learnt from."""

    @abstractmethod
    def above(
        self, models: Sequence[NodeModel], train: Callable[[Self], Sequence[NodeModel]]
    ) -> Self:
        """Return the same rows as the nodes above see them.

        Parameters
        ----------
        models : sequence of NodeModel
            What was learnt from these rows.
        train : callable
            Learns the same from other rows, where there are folds.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(attribute.name for attribute in self.attributes)

    def count(
        self, inputs: Sequence[tuple[Attribute, ...]], questions: Sequence[Question]
    ) -> list[Int64]:
        """Count rows at the leaves of growing trees: ``(slot, input's bin, goal)`` for each."""
        found = self.run(CountLeaves(inputs, questions, self.facts.goal.size))
        return [found[str(number)] for number in range(len(questions))]

    def share_weights(
        self, trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> list[Int64]:
        """Share rows' weights among the leaves of trees: ``(node, class)`` for each."""
        found = self.run(ShareWeights(trees, heads))
        return [found[str(number)] for number in range(len(trees))]
