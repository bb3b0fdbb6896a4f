"""Read the sets that come with scikit-learn, with the class as the last column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.table import Column, Table
from solah.datasets.entries import GOAL

if TYPE_CHECKING:
    from solah.datasets.entries import Entry


def read_bundled(entry: Entry) -> Table:
    """Return scikit-learn's copy of the set, its classes by name."""
    # Imported here because it takes a second or more that no other set needs.
    from sklearn import datasets

    bunch = getattr(datasets, str(entry.loader))()
    attributes = map(Column, map(str, bunch.feature_names), bunch.data.T)
    goal = Column(GOAL, bunch.target_names.astype(object)[bunch.target])
    return Table((*attributes, goal), len(bunch.data))
