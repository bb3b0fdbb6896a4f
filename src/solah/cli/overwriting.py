"""Files that a verb reads and files that it writes; a file that is both is refused."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from solah.exceptions import DatasetError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STREAM = "-"


class FileUse(Enum):
    """What a verb does with the file that a parameter names; part of the parameter's type."""

    READ = "read"
    WRITTEN = "written"


READ, WRITTEN = FileUse.READ, FileUse.WRITTEN


def refuse_overwriting(
    outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Refuse to write a file that is also read, or to write one file twice.

    Files are compared, not names: links and relative paths do not hide that two are one.

    Parameters
    ----------
    outputs : the files to write; those that are not there yet destroy nothing
    inputs : files, folders, patterns and names of data sets that are read

    Raises
    ------
    ParameterError
        If an output is one of the inputs, or another output.
    """
    written = [Path(output) for output in outputs if os.fspath(output) != _STREAM]
    _refuse_twice(written)
    there = {_identity(file): file for file in written if file.exists()}
    if not there:
        return
    for given in inputs:
        for file in _files_of(os.fspath(given)):
            if (output := there.get(_identity(file))) is not None:
                also = "" if str(given) == str(output) else f" (as {given})"
                raise ParameterError(
                    f"{output} is also read{also}, and writing it would destroy it; "
                    "give another file to write"
                )


def _refuse_twice(outputs: Iterable[Path]) -> None:
    seen: set[object] = set()
    for file in outputs:
        marks = {file.resolve(), _identity(file) if file.exists() else file.resolve()}
        if marks & seen:
            raise ParameterError(f"{file} would be written twice; give each output its own file")
        seen |= marks


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino


def _files_of(given: str) -> Iterator[Path]:
    """Yield the files that are read where a file, a folder, a pattern or a name is given."""
    if given == _STREAM:
        return
    if os.path.isfile(given):
        yield Path(given)
        return
    from solah.datasets.loading import file_of
    from solah.scale.sources import find_files

    try:
        yield from (file for file in find_files(given) if file.exists())
        file = file_of(given)
    except (OSError, ValueError, DatasetError):  # a text may be too long for a name
        return  # what is wrong with it is reported where it is read
    if file is not None:
        yield file
