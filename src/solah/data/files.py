"""Read a file as a table or a stream of tables; the suffix tells the format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from solah.data.arff import iter_arff, read_arff
from solah.data.delimited import iter_delimited, read_delimited
from solah.data.options import ReadOptions
from solah.data.parquet import iter_parquet, read_parquet
from solah.exceptions import DataError, FileFormatError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from solah.data.table import Table


@dataclass(frozen=True)
class _Format:
    """What reads a format."""

    read: Callable[[Path, ReadOptions], Table]
    iterate: Callable[[Path, ReadOptions, int], Iterator[Table]]


_DELIMITED = _Format(read_delimited, iter_delimited)
_ARFF = _Format(read_arff, iter_arff)
_PARQUET = _Format(read_parquet, iter_parquet)
_TEXT_FORMATS = {
    ".csv": _DELIMITED,
    ".tsv": _DELIMITED,
    ".txt": _DELIMITED,
    ".dat": _DELIMITED,
    ".arff": _ARFF,
}
_FORMATS = {
    **_TEXT_FORMATS,
    **{f"{suffix}.gz": format_ for suffix, format_ in _TEXT_FORMATS.items()},
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
}
_DEFAULTS = ReadOptions()


def read_table(path: str | os.PathLike[str], *, options: ReadOptions = _DEFAULTS) -> Table:
    r"""Read a whole file.

    Parameters
    ----------
    path : path-like
        A file that ends in .csv, .tsv, .txt, .dat or .arff, each also with .gz, or in .parquet
        or .pq.
    options : ReadOptions
        What is known about the file.

    Returns
    -------
    Table
        Columns that are numbers throughout as float64, others as text in their own spelling.

    Raises
    ------
    FileFormatError
        If the file is not there, or cannot be read as a table.
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
    table = _format(file).read(file, options)
    if table.n_rows == 0:
        raise _no_rows(file)
    return table


def iter_tables(
    path: str | os.PathLike[str], *, options: ReadOptions = _DEFAULTS, rows: int = 50_000
) -> Iterator[Table]:
    r"""Stream a file piece by piece, in memory that does not grow with the file.

    The columns of a delimited file are all text here, since only the whole file tells which are
    numbers; :func:`to_numbers` makes numbers of those that are known to be.

    Parameters
    ----------
    path : path-like
        As for :func:`read_table`.
    options : ReadOptions
        What is known about the file.
    rows : int, default=50_000
        The most rows that a piece may have.

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
    return _with_rows(_format(file).iterate(file, options, rows), file)


def _with_rows(tables: Iterator[Table], file: Path) -> Iterator[Table]:
    """Leave out pieces without rows, and count where each begins; there must be one."""
    first_row = 1
    for table in tables:
        if table.n_rows:
            yield replace(table, first_row=first_row)
            first_row += table.n_rows
    if first_row == 1:
        raise _no_rows(file)


def _format(file: Path) -> _Format:
    """Choose the format by the suffix, and see that the file is there."""
    if file.is_dir():
        raise FileFormatError(f"{file} is a folder, not a file")
    name = file.name.lower()
    suffix = "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
    if suffix not in _FORMATS:
        raise FileFormatError(
            f"{file} has no suffix that is known; files that are read: {', '.join(_FORMATS)}"
        )
    if not file.exists():
        raise FileFormatError(f"{file} is not there")
    if file.stat().st_size == 0:
        raise FileFormatError(f"{file} is empty")
    return _FORMATS[suffix]


def _no_rows(file: Path) -> DataError:
    return DataError(
        f"{file} has columns but no rows; if the first line of a text file is data, "
        f"say so with --no-header"
    )
