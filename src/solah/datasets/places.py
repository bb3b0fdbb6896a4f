"""Where a data set is: what ``load`` reads from and ``available`` reports."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from solah.datasets.download import cached_file
from solah.datasets.folder import VARIABLE, file_in_folder

if TYPE_CHECKING:
    from pathlib import Path

    from solah.datasets.entries import Entry


class Place(StrEnum):
    """The places of a data set, the nearest first."""

    SKLEARN = "scikit-learn"
    FOLDER = VARIABLE
    CACHE = "cache"
    DOWNLOAD = "download"
    BY_HAND = "by hand"


class Location(NamedTuple):
    """The nearest place that has a set, and its file if there already is one."""

    place: Place
    file: Path | None = None

    @property
    def is_at_hand(self) -> bool:
        """Whether the set loads without a network."""
        return self.place is Place.SKLEARN or self.file is not None


def locate(entry: Entry) -> Location:
    """Find the nearest place that has the set."""
    if entry.loader is not None:
        return Location(Place.SKLEARN)
    if file := file_in_folder(entry):
        return Location(Place.FOLDER, file)
    if entry.raw is None:
        return Location(Place.BY_HAND)
    if file := cached_file(entry.raw):
        return Location(Place.CACHE, file)
    return Location(Place.DOWNLOAD)
