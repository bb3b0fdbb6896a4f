"""Read a Parquet file as a table or a stream of tables, through PyArrow."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data.frames import from_frame
from solah.data.options import refuse_many_columns
from solah.data.spelling import count
from solah.exceptions import FileFormatError, require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.data.options import ReadOptions
    from solah.data.table import Table

_PURPOSE = "reading Parquet files"
# A buffer makes PyArrow read a column page by page instead of a whole row group of it at once.
_BUFFER_BYTES = 65_536
# What a damaged file may raise beside PyArrow's own errors.
_BROKEN = (OSError, UnicodeError, LookupError, OverflowError, MemoryError)
# About what a value takes in memory while a table is made of it.
_BYTES_OF_NUMBER, _BYTES_OF_TEXT = 16, 64
# A file that grows by more than this is a mistake or an attack; small tables may.
_MOST_GROWTH, _SMALL = 1_000, 2**30
_MEMORY = Path("/proc/meminfo")


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; the options are for text and change nothing here."""
    with open_parquet(path) as file:
        _refuse_too_large(path, file)
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


def _refuse_too_large(path: Path, file: Any) -> None:
    """Refuse a file that would not fit into memory, as its metadata tell before it is read."""
    arrow = require("pyarrow", "parquet", _PURPOSE)
    n_rows, types = file.metadata.num_rows, file.schema_arrow.types
    is_number = [arrow.types.is_primitive(one) for one in types]
    needed = n_rows * sum(_BYTES_OF_NUMBER if one else _BYTES_OF_TEXT for one in is_number)
    free, size = _free_memory(), path.stat().st_size
    if needed <= _SMALL or (needed <= free and needed <= _MOST_GROWTH * size):
        return
    why = f"{free / 1e9:.1f} GB are free" if needed > free else f"the file has {size / 1e6:.1f} MB"
    raise FileFormatError(
        f"{path} has {n_rows:,} rows of {count(len(types), 'column')}, about {needed / 1e9:.1f} GB "
        f"in memory, and {why}; pass over it instead: solah fit --memory 1GB, or scan(path) as X"
    )


def _free_memory() -> float:
    """Return the bytes of memory that are free; infinity where the system does not tell."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMORY.read_text(encoding="ascii"))
    except OSError:
        found = None
    return math.inf if found is None else int(found[1]) * 1024


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a file; whatever fails within becomes a FileFormatError."""
    arrow = require("pyarrow", "parquet", _PURPOSE)
    parquet = require("pyarrow.parquet", "parquet", _PURPOSE)
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            refuse_many_columns(len(file.schema_arrow), str(path))
            yield file
    except (arrow.ArrowException, *_BROKEN) as error:
        raise FileFormatError(f"{path} cannot be read as Parquet: {error}") from error
