"""A pass: statistics of all rows that can be merged in any order.

Training is a series of passes. A pass knows all that it needs (words, the tree so far, weights),
looks at every row once and keeps nothing of it but sums; what comes next is decided from the sums
alone. So the rows may be in memory, in files or on a cluster, in any number of parts: the sums are
the same, and so is the model. A part that was lost is just read again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    from solah.data import Table

Statistics: TypeAlias = dict[str, NDArray[Any]]
"""What a pass finds: arrays by name, which can be sent, kept in a file and merged."""

Gathered = TypeVar("Gathered")


class Pass(ABC, Generic[Gathered]):
    """What is asked of all rows at once; it can be pickled."""

    name: str
    """What is done, for people who wait for it."""

    @property
    def key(self) -> str:
        """What tells the pass from others of its name that could stand at the same place."""
        return self.name

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""

    @abstractmethod
    def begin(self) -> Gathered:
        """Return what is gathered of no rows."""

    @abstractmethod
    def add(self, gathered: Gathered, table: Table) -> None:
        """Take the next rows of a part in."""

    @abstractmethod
    def finish(self, gathered: Gathered) -> Statistics:
        """Turn what was gathered into statistics."""

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Merge the statistics of different rows; the first may be changed."""
        return add_up(one, other)


class SummingPass(Pass[Statistics]):
    """A pass whose statistics are sums of integers."""

    def finish(self, gathered: Statistics) -> Statistics:
        """Return the sums."""
        return gathered


def add_up(one: Statistics, other: Statistics) -> Statistics:
    """Add sums to others."""
    for name, numbers in other.items():
        one[name] += numbers
    return one
