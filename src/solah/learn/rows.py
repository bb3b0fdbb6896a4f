"""Training rows: the interface that the additive learner uses, in memory or in passes.

The learner never iterates over all rows itself. It draws a sample, and requests sums of integers,
which do not depend on the order of the rows, their partition or the threads.
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
    """The name of the step, for progress bars."""
    inputs: Sequence[Sequence[Feature]]
    """The features that blocks of rows must have."""

    @abstractmethod
    def begin(self) -> Statistics:
        """Return the sums for zero rows."""

    @abstractmethod
    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add a block of rows."""


def add_up(one: Statistics, other: Statistics) -> Statistics:
    """Add sums to others."""
    for name, numbers in other.items():
        one[name] += numbers
    return one


class Rows(Protocol):
    """Rows that an additive model is trained on.

    ``MemoryRows`` are in memory; ``ScannedRows`` (solah.scale) are read from files, frames or a
    Dask collection for each pass. Both give the same model, bit for bit.
    """

    @property
    def limits(self) -> Limits:
        """The sizes at which learning changes its method."""

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
        """Whether a sample replaces the rows where they would be read many times."""

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""

    def draw(self, n_rows: int) -> MemoryRows:
        """Draw distinct rows by their content, each with the weight of all equal rows."""

    def described_by(self, features: Sequence[Feature]) -> Self:
        """Return the same rows with the columns of these features, described by their words."""
