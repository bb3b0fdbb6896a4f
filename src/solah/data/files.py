"""Read a file as a table or a stream of tables; the suffix determines the format."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data.arff import iter_arff, read_arff
from solah.data.delimited import iter_delimited, read_delimited
from solah.data.frames import base_columns, from_arrow
from solah.data.options import ReadOptions, refuse_many_columns
from solah.data.spelling import count
from solah.exceptions import DataError, FileFormatError

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence

    from solah.data.table import Table

_TEXT = {".csv": "text", ".tsv": "text", ".txt": "text", ".dat": "text", ".arff": "arff"}
_FORMATS = {
    **_TEXT,
    **{f"{suffix}.gz": format_ for suffix, format_ in _TEXT.items()},
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_DEFAULTS = ReadOptions()
# A buffer makes PyArrow read a column page by page instead of a whole row group of it at once.
_BUFFER_BYTES = 65_536
# What a damaged file may raise beside PyArrow's own errors.
_BROKEN = (OSError, UnicodeError, LookupError, OverflowError, MemoryError)
# About what a value takes in memory while a table is made of it.
_BYTES_OF_NUMBER, _BYTES_OF_TEXT = 16, 64
# A file that grows by more than this is a mistake or an attack; small tables may.
_MOST_GROWTH, _SMALL = 1_000, 2**30
_MEMORY = Path("/proc/meminfo")


def read_table(path: str | os.PathLike[str], *, options: ReadOptions = _DEFAULTS) -> Table:
    r"""Read a whole file.

    Parameters
    ----------
    path : path-like
        A file that ends in .csv, .tsv, .txt, .dat or .arff, each also with .gz, or in .parquet,
        .pq, .arrow or .feather.
    options : ReadOptions
        What is known about the file.

    Returns
    -------
    Table
        Columns that are numbers throughout as float64, others as text, as written.

    Raises
    ------
    FileFormatError
        If the file does not exist, or cannot be read as a table.
    DataError
        If it has columns but no rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plants.csv")
    ...     _ = path.write_text("height;colour\n1,5;red\n?;green\n")
    ...     read_table(path).column("height").values
    array([1.5, nan])
    """
    file = Path(path)
    format_ = _format(file)
    if format_ == "text":
        table = read_delimited(file, options)
    elif format_ == "arff":
        table = read_arff(file, options)
    else:
        with open_binary(file) as opened:
            if format_ == "parquet":
                _refuse_too_large(file, opened.metadata.num_rows, opened.schema_arrow)
                table = from_arrow(opened.read())
            else:
                import pyarrow as pa

                batches = list(_arrow_batches(file, opened, keep=True))
                table = from_arrow(pa.Table.from_batches(batches, opened.schema))
    if table.n_rows == 0:
        raise _no_rows(file)
    return table


def iter_tables(
    path: str | os.PathLike[str],
    *,
    options: ReadOptions = _DEFAULTS,
    rows: int = 50_000,
    columns: Sequence[str] | None = None,
    numbers: Collection[str] = (),
) -> Iterator[Table]:
    r"""Stream a file piece by piece, in memory that does not grow with the file.

    The columns of a delimited file are all text here, since only the whole file shows which are
    numbers; :func:`to_numbers` makes numbers of those that are known to be.

    Parameters
    ----------
    path : path-like
        As for :func:`read_table`.
    options : ReadOptions
        What is known about the file.
    rows : int, default=50_000
        The maximum number of rows of a piece.
    columns : sequence of str, optional
        The columns to read; all by default.
    numbers : collection of str, optional
        Columns of a delimited file that are numbers throughout; they are read faster.

    Yields
    ------
    Table
        The next rows; at least one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plants.csv")
    ...     _ = path.write_text("height\n1.5\n2.5\n3.5\n")
    ...     [table.n_rows for table in iter_tables(path, rows=2)]
    [2, 1]
    """
    file = Path(path)
    if rows < 1:
        raise DataError(f"a piece must have at least one row: got rows={rows}")
    format_ = _format(file)
    if format_ == "text":
        tables = iter_delimited(file, options, rows, columns, numbers)
    elif format_ == "arff":
        tables = iter_arff(file, options, rows)
    else:
        tables = _iter_binary(file, rows, columns)
    return _with_rows(tables, file, columns)


def _with_rows(
    tables: Iterator[Table], file: Path, columns: Sequence[str] | None
) -> Iterator[Table]:
    """Skip pieces without rows, and count where each begins; there must be one."""
    first_row = 1
    for table in tables:
        if table.n_rows:
            chosen = table if columns is None else table.select(columns)
            yield replace(chosen, first_row=first_row)
            first_row += table.n_rows
    if first_row == 1:
        raise _no_rows(file)


def _format(file: Path) -> str:
    """Choose the format by the suffix, and see that the file is there."""
    if file.is_dir():
        raise FileFormatError(f"{file} is a folder, not a file")
    name = file.name.lower()
    suffix = "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
    if suffix not in _FORMATS:
        raise FileFormatError(
            f"{file} is not of a known type; solah reads .csv, .tsv, .txt, .dat and .arff (also "
            "with .gz), .parquet, .pq, .arrow and .feather"
        )
    if not file.exists():
        raise FileFormatError(f"{file} does not exist")
    if file.stat().st_size == 0:
        raise FileFormatError(f"{file} is empty")
    return _FORMATS[suffix]


def _no_rows(file: Path) -> DataError:
    return DataError(
        f"{file} has columns but no rows; if the first line of a text file is data, "
        f"pass --read header=no"
    )


# Parquet and Arrow


@contextmanager
def open_binary(path: Path) -> Iterator[Any]:
    """Open a Parquet or Arrow file; whatever fails within becomes a FileFormatError."""
    import pyarrow as pa
    from pyarrow import parquet

    is_parquet = _FORMATS[path.suffix.lower()] == "parquet"
    try:
        if is_parquet:
            opened = parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        else:
            opened = pa.ipc.open_file(pa.memory_map(str(path)))
        with opened:
            schema = opened.schema_arrow if is_parquet else opened.schema
            refuse_many_columns(len(schema), str(path))
            yield opened
    except (pa.ArrowException, *_BROKEN) as error:
        format_ = "Parquet" if is_parquet else "an Arrow file"
        raise FileFormatError(f"{path} cannot be read as {format_}: {error}") from error


def iter_row_groups(
    path: Path, row_groups: Sequence[int] | None, columns: Sequence[str] | None, rows: int
) -> Iterator[Table]:
    """Stream columns of some row groups, in memory for a piece and not for a row group."""
    with open_binary(path) as file:
        names = None if columns is None else base_columns(file.schema_arrow.names, columns)
        groups = None if row_groups is None else list(row_groups)
        for batch in file.iter_batches(rows, groups, names, use_threads=False):
            yield from_arrow(batch, names)


def _iter_binary(path: Path, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    if _FORMATS[path.suffix.lower()] == "parquet":
        yield from iter_row_groups(path, None, columns, rows)
        return
    with open_binary(path) as file:
        names = base_columns(file.schema.names, columns)
        for batch in _arrow_batches(path, file, keep=False):
            for start in range(0, batch.num_rows, rows):
                yield from_arrow(batch.slice(start, rows), names)


def _arrow_batches(path: Path, file: Any, *, keep: bool) -> Iterator[Any]:
    """Yield the record batches, checked; with ``keep``, all of them must fit into memory."""
    n_rows = 0
    for j in range(file.num_record_batches):
        batch = file.get_batch(j)
        n_rows = keep * n_rows + batch.num_rows
        _refuse_too_large(path, n_rows, file.schema)
        batch.validate(full=True)
        yield batch


def _refuse_too_large(path: Path, n_rows: int, schema: Any) -> None:
    """Refuse a file that would not fit into memory, before it is read."""
    import pyarrow as pa

    is_number = [pa.types.is_primitive(one) for one in schema.types]
    needed = n_rows * sum(_BYTES_OF_NUMBER if one else _BYTES_OF_TEXT for one in is_number)
    free, size = _free_memory(), path.stat().st_size
    if needed <= _SMALL or (needed <= free and needed <= _MOST_GROWTH * size):
        return
    why = f"{free / 1e9:.1f} GB are free" if needed > free else f"the file has {size / 1e6:.1f} MB"
    raise FileFormatError(
        f"{path} has {n_rows:,} rows of {count(len(schema), 'column')}, about "
        f"{needed / 1e9:.1f} GB in memory, and {why}; read it in passes: "
        "solah fit --memory 1GB, or scan(path) as X"
    )


def _free_memory() -> float:
    """Return the bytes of memory that are free; infinity where the system does not report it."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMORY.read_text(encoding="ascii"))
    except OSError:
        found = None
    return math.inf if found is None else int(found[1]) * 1024
