"""The user's own folder of data sets, one CSV file each with the class in the last column."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from solah.data import read_table
from solah.data.options import ReadOptions
from solah.exceptions import DataError, DatasetError

if TYPE_CHECKING:
    from solah.data.table import Table
    from solah.datasets.entries import Entry

VARIABLE = "SOLAH_DATA"
"""The environment variable that points at the folder."""

# The form is laid down, so that nothing is guessed from the first lines of a free text.
_FORM = ReadOptions(header=True, delimiter=",", decimal=".")


def file_in_folder(entry: Entry) -> Path | None:
    """Return the set's file in the folder, if there are such a folder and file."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise DatasetError(
            f"{VARIABLE} is {named!r}, which is not a folder; "
            "point it at a folder of CSV files, or unset it"
        )
    file = folder / entry.file_name
    return file if file.is_file() else None


def read_from_folder(entry: Entry, file: Path) -> Table:
    """Read the set's file."""
    try:
        return read_table(file, options=_FORM)
    except (DataError, OSError) as error:
        raise DatasetError(
            f"data set {entry.name!r}: {entry.file_name} in {VARIABLE} cannot be read: {error}"
        ) from error


def how_by_hand(entry: Entry) -> str:
    """Say how to bring the set along, as the end of an error message."""
    return (
        f"save it as {entry.file_name} (a header line, the class in the last column) in a folder "
        f"and point {VARIABLE} at that folder; it comes from {entry.source}"
    )
