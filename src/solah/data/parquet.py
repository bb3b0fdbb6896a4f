"""A Parquet file in, a table or a stream of tables out, through PyArrow."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from solah.data.frames import from_frame
from solah.exceptions import FileFormatError, require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from solah.data.options import ReadOptions
    from solah.data.table import Table

_PURPOSE = "reading Parquet files"
# A buffer makes PyArrow read a column page by page instead of a whole row group of it at once.
_BUFFER_BYTES = 65_536


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; the options are for text and change nothing here."""
    with open_parquet(path) as file:
        return from_frame(file.read())


def iter_parquet(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables with at most that many rows."""
    arrow = require("pyarrow", "parquet", _PURPOSE)
    with open_parquet(path) as file:
        for batch in file.iter_batches(batch_size=rows):
            yield from_frame(arrow.Table.from_batches([batch]))


def iter_row_groups(
    path: Path, row_groups: Sequence[int], columns: Sequence[str], rows: int
) -> Iterator[Table]:
    """Stream these columns of some row groups, in memory for a piece and not for a row group."""
    arrow = require("pyarrow", "parquet", _PURPOSE)
    with open_parquet(path) as file:
        for batch in file.iter_batches(rows, list(row_groups), list(columns), use_threads=False):
            yield from_frame(arrow.Table.from_batches([batch]), only=columns)


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a file; whatever fails within becomes a FileFormatError."""
    arrow = require("pyarrow", "parquet", _PURPOSE)
    parquet = require("pyarrow.parquet", "parquet", _PURPOSE)
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            yield file
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{path} cannot be read as Parquet: {error}") from error
