"""Sources of rows that need not fit into memory, read part by part, as often as needed.

Files come through ``listing.py``: Parquet through ``parquet_source.py``, text through
``text_source.py``. Frames come through ``frames_source.py``. What can be read only once, or only
slowly, is written to disk as Parquet first (``spool.py``). What a column is in every table of a
source stands in ``forms.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeGuard

from solah.data import ReadOptions, Table, is_frame
from solah.exceptions import DataError
from solah.scale.frames_source import FramesSource, spool_frames
from solah.scale.listing import list_files
from solah.scale.parquet_source import ParquetSource
from solah.scale.text_source import open_text_source

_DEFAULTS = ReadOptions()


class Part(Protocol):
    """A share of a source's rows, which is read by itself.

    Parts of files can be pickled, and read by any process that sees the files.
    """

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""

    def tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows, in order, as tables of these columns, in this order.

        A table has at least one row and at most ``rows``; its ``first_row`` is its place in the
        whole source, from 1.
        """


class Source(Protocol):
    """Rows that can be read again and again, part by part and column by column.

    Every table of a source has the same columns of the same types, whatever it holds itself. A
    source is a context manager, and removes what it has written to disk when it is left.
    """

    @property
    def name(self) -> str:
        """What to call the source in messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, in order."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""

    @property
    def fingerprint(self) -> str:
        """A digest that changes when the data do."""

    def parts(self, n_rows: int) -> tuple[Part, ...]:
        """Cut the rows into parts of about that many, which together are the source, in order."""

    def close(self) -> None:
        """Remove what was written to disk for the source."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_source(
    data: Any,
    *,
    options: ReadOptions = _DEFAULTS,
    spool: str | os.PathLike[str] | None = None,
) -> Source:
    r"""Open data that need not fit into memory.

    Parameters
    ----------
    data : path-like, sequence of path-like, frames, callable or Source
        - A file, a pattern such as ``"data/*.parquet"`` (``**`` for all folders below), a folder
          of Parquet files, or several files: all of one format and with the same columns, in
          whatever order. The files of a pattern or a folder are read in the order of their paths.
          Columns are those in the files, not those in the names of folders (``year=2024``). Files
          and folders whose names begin with ``.`` or ``_`` are no part of a folder's data.
        - A list of data frames, or a function that returns them each time. They are read
          where they are.
        - An iterator of data frames, which is read once and written to disk.
    options : ReadOptions
        What is known about text files.
    spool : path-like, optional
        A folder for what is written to disk. What is made of text files stays there, and serves
        again while the files and the options are unchanged. By default a temporary folder that is
        removed when the source is closed.

    Returns
    -------
    Source
        What a column is does not change from table to table: the columns of text files are those
        that :func:`solah.data.read_table` makes of all of them together.

    Raises
    ------
    FileFormatError
        If a file is not there or cannot be read, or does not fit to the others.
    DataError
        If there are no rows, or a column is numbers here and text there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in "12":
    ...         _ = Path(folder, f"day{day}.csv").write_text(f"height,colour\n{day},red\n3,blue\n")
    ...     with open_source(f"{folder}/*.csv") as source:
    ...         for part in source.parts(1_000):
    ...             for table in part.tables(["height"], rows=1_000):
    ...                 print(source.n_rows, table.column("height").values)
    4 [1. 3. 2. 3.]
    """
    place = None if spool is None else Path(spool)
    if _is_opened(data):
        return data  # type: ignore[no-any-return]
    if _is_path(data) or (_is_list(data) and _is_path(data[0])):
        return _open_files(data, options, place)
    if callable(data):
        name = getattr(data, "__name__", type(data).__name__)
        return FramesSource(f"{name}()", [data])
    if isinstance(data, Iterator):
        return spool_frames("the frames", data, place)
    if _is_list(data) or _is_whole(data):
        return FramesSource.of(data if _is_list(data) else [data])
    raise DataError(
        f"rows cannot be read from a {type(data).__name__}; give a path, a pattern, a folder, "
        f"data frames or a function that returns them"
    )


def is_source(data: object) -> bool:
    """Tell whether data are for :func:`open_source`, and not one array, frame or table.

    Examples
    --------
    >>> is_source("data/*.parquet"), is_source([[1.0, 2.0]])
    (True, False)
    """
    if _is_list(data):
        return _is_path(data[0]) or _is_whole(data[0])
    return _is_opened(data) or _is_path(data) or callable(data) or isinstance(data, Iterator)


def _open_files(data: Any, options: ReadOptions, spool: Path | None) -> Source:
    listing = list_files(data)
    if listing.is_parquet:
        return ParquetSource.open(listing.name, listing.files)
    return open_text_source(listing, options, spool)


def _is_opened(data: object) -> bool:
    return callable(getattr(data, "parts", None)) and callable(getattr(data, "close", None))


def _is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def _is_list(data: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(data, (list, tuple)) and len(data) > 0


def _is_whole(data: object) -> bool:
    return isinstance(data, Table) or is_frame(data)
