"""What is known of a named data set before any file is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

GOAL = "class"
"""The name of the goal's column wherever solah itself names it."""


@dataclass(frozen=True)
class RawFile:
    """A file of the UCI repository that solah may download, and how to read its lines.

    ``path`` is relative to the repository's address. ``columns`` names every field in the order
    of the file, the goal as ``GOAL``; those in ``drop`` (identifiers) are left out. ``words``
    turns the codes of a column into words, and a ``separator`` of None is any run of blanks.
    """

    path: str
    sha256: str
    columns: tuple[str, ...]
    drop: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    separator: str | None = ","

    @property
    def file_name(self) -> str:
        """The last part of the path, under which the file is kept."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Entry:
    """The known facts of one data set.

    ``classes`` gives the rows of each class and ``groups`` the rows of each group, as the groups
    follow one another in the file. ``kinds`` declares only what inference would get wrong; a
    tuple is an ordinal's states in order. ``loader`` names a function of ``sklearn.datasets``.
    """

    name: str
    classes: Mapping[str, int]
    n_attributes: int
    source: str
    licence: str
    aliases: tuple[str, ...] = ()
    kinds: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, int] | None = None
    loader: str | None = None
    raw: RawFile | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.classes.values())

    @property
    def file_name(self) -> str:
        """The name of the set's file in a folder of data sets."""
        return f"{self.name}.csv"
