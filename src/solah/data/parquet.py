"""A Parquet file in, a table or a stream of tables out, through PyArrow."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from solah.data.frames import from_frame
from solah.exceptions import FileFormatError, require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from solah.data.options import ReadOptions
    from solah.data.table import Table


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; the options are for text and change nothing here."""
    with _open(path) as file:
        return from_frame(file.read())


def iter_parquet(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables with at most that many rows."""
    arrow = require("pyarrow", "parquet", "reading Parquet files")
    with _open(path) as file:
        for batch in file.iter_batches(batch_size=rows):
            yield from_frame(arrow.Table.from_batches([batch]))


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a file; whatever fails within becomes a FileFormatError."""
    arrow = require("pyarrow", "parquet", "reading Parquet files")
    parquet = require("pyarrow.parquet", "parquet", "reading Parquet files")
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{path} cannot be read as Parquet: {error}") from error
