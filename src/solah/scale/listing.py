"""Find the files that paths, a pattern or a folder name; all of one format."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from solah.data import iter_tables
from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARQUET = (".parquet", ".pq")
_ARFF = (".arff", ".arff.gz")


@dataclass(frozen=True)
class Listing:
    """Files of one format, in order, and what to call them together."""

    name: str
    files: tuple[Path, ...]

    @property
    def is_parquet(self) -> bool:
        """Whether the files are Parquet."""
        return _format(self.files[0]) == "Parquet"

    @property
    def is_arff(self) -> bool:
        """Whether the files are ARFF."""
        return _format(self.files[0]) == "ARFF"


def list_files(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Listing:
    """Find the files, and see that each is there and all are of one format."""
    if isinstance(data, (str, os.PathLike)):
        name, files = os.fspath(data), find_files(data)
    else:
        files = [Path(path) for path in data]
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        name = f"{files[0]}{more}"
    for file in files:
        iter_tables(file)  # says what is wrong with a path, before anything is read
        if _format(file) != _format(files[0]):
            raise FileFormatError(
                f"{file} is {_format(file)} and {files[0]} is {_format(files[0])}; "
                f"give files of one format"
            )
    return Listing(name, tuple(files))


def find_files(data: str | os.PathLike[str]) -> list[Path]:
    """List the files of a folder or a pattern; a path alone stands for itself, there or not."""
    text, path = os.fspath(data), Path(data)
    if path.is_dir():
        return _in_folder(path)
    if path.exists() or not glob.has_magic(text):
        return [path]
    files = sorted(file for file in map(Path, glob.glob(text, recursive=True)) if file.is_file())
    if not files:
        raise FileFormatError(f"no file matches the pattern {text!r}")
    return files


def _in_folder(folder: Path) -> list[Path]:
    """List the Parquet files of a folder and those below it; hidden ones and ``_`` are not data."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.name.lower().endswith(_PARQUET)
        and file.is_file()
        and not any(part[0] in "._" for part in file.relative_to(folder).parts)
    )
    if not files:
        raise FileFormatError(
            f"the folder {folder} has no Parquet files ({', '.join(_PARQUET)}); "
            f"for text files give a pattern, such as {str(folder / '*.csv')!r}"
        )
    return files


def _format(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(_PARQUET):
        return "Parquet"
    return "ARFF" if name.endswith(_ARFF) else "delimited text"
