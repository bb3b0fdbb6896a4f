"""Reads the rows to decide on from one file, where a path stands in the place of X."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from solah.data import read_table
from solah.exceptions import DataError

if TYPE_CHECKING:
    from solah.data import Table


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether data are the path of a file, or of several."""
    return isinstance(data, (str, os.PathLike))


def read_path(path: str | os.PathLike[str]) -> Table:
    """Read all rows of one file; a folder or a pattern of files is refused."""
    text = os.fspath(path)
    is_folder = Path(path).is_dir()
    if is_folder or (glob.has_magic(text) and not Path(path).exists()):
        what = "a folder" if is_folder else "a pattern of files"
        raise DataError(
            f"{text!r} is {what}, and only one file is read into memory at a time; give its files "
            "one by one, or use 'solah predict' for each"
        )
    return read_table(path)
