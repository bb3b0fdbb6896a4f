"""Rows to learn from: what the additive learner asks of them, in memory or read in passes.

The learner never walks through all rows itself. It draws a sample, and asks for sums of integers,
which depend neither on the order of the rows, nor on their partition, nor on the threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.labels.drawing import Limits
    from solah.labels.targets import TargetFacts
    from solah.learn.blocks import RowBlock
    from solah.learn.memory import MemoryRows
    from solah.model import Feature

Statistics: TypeAlias = dict[str, NDArray[Any]]
"""Sums of integers, by name."""


class BlockPass(ABC):
    """Sums over all rows; it can be pickled."""

    name: str
    """The work, for people who wait for it."""
    inputs: Sequence[Sequence[Feature]]
    """The features that blocks of rows must have, described."""

    @abstractmethod
    def begin(self) -> Statistics:
        """Return the sums of no rows."""

    @abstractmethod
    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add a block of rows."""


def add_up(one: Statistics, other: Statistics) -> Statistics:
    """Add sums to others."""
    for name, numbers in other.items():
        one[name] += numbers
    return one


class Rows(Protocol):
    """Rows that an additive model is learned from.

    ``MemoryRows`` are in memory; ``ScannedRows`` (solah.scale) are read from files, frames or a
    Dask collection for each pass. Both give the same model, bit for bit.
    """

    @property
    def limits(self) -> Limits:
        """How many rows are many."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns, described."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""

    @property
    def facts(self) -> TargetFacts:
        """The target, and the weight of all rows."""

    @property
    def is_many(self) -> bool:
        """Whether a sample stands in for the rows where they would be walked through often."""

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""

    def draw(self, n_rows: int) -> MemoryRows:
        """Draw different rows by their content, each with the weight of all that equal it."""

    def described_by(self, features: Sequence[Feature]) -> Self:
        """Return the same rows with these columns only, described as these features are."""
