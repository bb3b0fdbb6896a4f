"""Load a data set by name: its table, goal and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.data.cells import to_text
from solah.data.table import Table
from solah.datasets.bundled import read_bundled
from solah.datasets.dataset import Dataset
from solah.datasets.download import download
from solah.datasets.folder import how_by_hand, read_from_folder
from solah.datasets.places import Place, locate
from solah.datasets.raw import read_raw
from solah.datasets.registry import find_entry
from solah.exceptions import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from solah.data.table import Column
    from solah.datasets.entries import Entry


def load(name: str) -> Dataset:
    """Load a data set by its name.

    Wine, wdbc and iris come with scikit-learn. Any other set is read from the folder that the
    environment variable ``SOLAH_DATA`` points at (CSV files, the class in the last column); if
    it is not there, and the UCI repository serves it as one plain file, it is downloaded once
    into ``SOLAH_CACHE`` or the user's cache folder, and its SHA-256 is checked.

    Parameters
    ----------
    name : str
        A name or alias that `available` lists; case, hyphens and blanks do not matter.

    Returns
    -------
    Dataset
        Attributes, class labels, declared kinds and groups. The rows are in the order of the
        file; the repository's breast-cancer.data has another order than most CSV copies.

    Raises
    ------
    DatasetError
        If the name is unknown, or the set can neither be found nor downloaded, or the file
        found does not hold the set.
    MissingExtraError
        If the set must be downloaded and pooch is not installed.

    Examples
    --------
    >>> from solah.datasets import load
    >>> wine = load("wine")
    >>> wine
    Dataset('wine', 178 rows, 13 attributes, 3 classes)
    >>> wine.class_counts
    {'class_0': 59, 'class_1': 71, 'class_2': 48}
    """
    return load_entry(find_entry(name))


def load_entry(entry: Entry) -> Dataset:
    """Load the data set of an entry, from the nearest place that has it."""
    table = _read(entry)
    *attributes, goal = table.columns
    dataset = Dataset(
        name=entry.name,
        table=Table(tuple(attributes), table.n_rows),
        goal=_labels(goal),
        goal_name=goal.name,
        kinds=entry.kinds,
        groups=_groups(entry),
    )
    _check(dataset, entry)
    return dataset


def file_of(name: str) -> Path | None:
    """Return the file that a data set would be read from; None if there is none yet."""
    return locate(find_entry(name)).file


def _read(entry: Entry) -> Table:
    """Read the set from the nearest place that has it, the class last."""
    place, file = locate(entry)
    if place is Place.SKLEARN:
        return read_bundled(entry)
    if place is Place.FOLDER and file is not None:
        return read_from_folder(entry, file)
    if entry.raw is not None:
        return read_raw(file or download(entry, entry.raw), entry.raw)
    raise DatasetError(
        f"data set {entry.name!r} is not there and cannot be downloaded; {how_by_hand(entry)}"
    )


def _labels(goal: Column) -> NDArray[np.str_]:
    """Turn the goal's values into text; a number such as 2.0 becomes '2'."""
    text = to_text(goal).values
    return np.array(["?" if label is None else label for label in text], dtype=np.str_)


def _groups(entry: Entry) -> NDArray[np.str_] | None:
    if entry.groups is None:
        return None
    return np.repeat(list(entry.groups), list(entry.groups.values()))


def _check(dataset: Dataset, entry: Entry) -> None:
    """Refuse a file that bears the set's name and holds something else."""
    n_attributes = len(dataset.feature_names)
    strangers = [name for name in entry.kinds if name not in dataset.feature_names]
    if n_attributes != entry.n_attributes:
        fault = f"it has {n_attributes} attributes where the set has {entry.n_attributes}"
    elif strangers:
        fault = f"it has no column {strangers[0]!r}"
    elif dataset.class_counts != dict(entry.classes):
        fault = f"its classes are {dataset.class_counts} where the set has {dict(entry.classes)}"
    else:
        return
    raise DatasetError(
        f"the file for {entry.name!r} does not hold that data set: {fault}; "
        f"replace {entry.file_name}, or give it another name and read it with read_table"
    )
