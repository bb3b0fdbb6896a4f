"""Passes: sums over all rows that can be merged in any order.

Training is a series of passes. A pass has all that it needs (words, weights), looks at every row
once and keeps sums only. The next step is decided from the sums. So the rows may be in files,
frames or on a cluster, in any number of parts: the sums are the same, and so is the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from solah.data import Table

G = TypeVar("G")


class Pass(Protocol[G]):
    """Sums over all rows; it can be pickled, and so can what it gathers."""

    name: str
    """The work, for people who wait for it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""

    def begin(self) -> G:
        """Return what is gathered of no rows."""

    def add(self, gathered: G, table: Table) -> None:
        """Add the rows of a table."""

    def merge(self, one: G, other: G) -> G:
        """Merge what was gathered of different rows; the first may be changed."""
