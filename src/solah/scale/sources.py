"""Sources: rows in files and frames that are read batch by batch, as often as needed, and passes.

Training is a series of passes. A pass has all that it needs (words, weights), looks at every row
once and keeps sums only. The next step is decided from the sums. So the rows may be in files,
frames or on a cluster, in any number of parts: the sums are the same, and so is the model.

What a column is in one batch may differ from the next: whole numbers are float64 as soon as one is
missing, and booleans with a gap are text. The survey joins what it sees (``survey.py``), and
readers look values up by the inferred types, so batches are passed on as they come.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

from solah.data import ReadOptions, Table, from_arrow, from_frame, is_frame, iter_tables
from solah.data.delimited import settle_options
from solah.data.files import iter_row_groups, open_binary
from solah.data.spelling import count, parse_numbers
from solah.exceptions import DataError, FileFormatError

if TYPE_CHECKING:
    from solah.progress import Advance

G = TypeVar("G")

PARQUET, ARROW, _ARFF = (".parquet", ".pq"), (".arrow", ".feather"), (".arff", ".arff.gz")
BATCH_ROWS = 32_768
_PART_ROWS = 262_144
_FIRST_ROWS = 1_000


class Pass(Protocol[G]):
    """Sums over all rows; it can be pickled, and so can what it gathers."""

    name: str
    """The work, for people who wait for it."""

    numbers: tuple[str, ...]
    """Those of its columns that are known to be numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""

    def begin(self) -> G:
        """Return what is gathered of no rows."""

    def add(self, gathered: G, table: Table) -> None:
        """Add the rows of a table."""

    def merge(self, one: G, other: G) -> G:
        """Merge what was gathered of different rows; the first may be changed."""


class Part(Protocol):
    """A part of a source that is read separately, such as a file."""

    @property
    def name(self) -> str:
        """What to call the part in messages."""

    def tables(
        self, columns: Sequence[str], rows: int, numbers: Sequence[str] = ()
    ) -> Iterator[Table]:
        """Yield tables of these columns with at most ``rows`` rows; rows count from 1 in a part."""


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that can be read again and again, in parts.

    Attributes
    ----------
    name : what to call the source in messages
    names : the columns, in order
    parts : the parts
    n_rows : the number of rows, where it is known
    is_untyped : whether all cells are written as text, as those of CSV files
    numbers : columns of text files that begin with numbers
    """

    name: str
    names: tuple[str, ...]
    parts: tuple[Part, ...] = field(repr=False)
    n_rows: int | None = None
    is_untyped: bool = False
    numbers: frozenset[str] = frozenset()

    def run(self, one: Pass[G], n_threads: int, rows: int, advance: Advance) -> G:
        """Run a pass over all rows; each thread takes one part after the other."""
        waiting, n_threads = iter(self.parts), max(1, min(n_threads, len(self.parts)))

        def gather() -> G:
            gathered = one.begin()
            # The next part is taken under the interpreter's lock: a tuple's iterator is safe.
            for part in waiting:
                add_part(one, gathered, part, rows, advance, is_named=len(self.parts) > 1)
            return gathered

        if n_threads == 1:
            return gather()
        with ThreadPoolExecutor(n_threads) as pool:
            tasks = [pool.submit(gather) for _ in range(n_threads)]
            try:
                gathered = [task.result() for task in tasks]
            except BaseException:
                for _ in waiting:  # nothing is left for the other threads
                    pass
                raise
        found = gathered[0]
        for other in gathered[1:]:
            found = one.merge(found, other)
        return found


def add_part(
    one: Pass[G],
    gathered: G,
    part: Part,
    rows: int,
    advance: Advance | None,
    *,
    is_named: bool,
) -> None:
    """Add the rows of a part; with ``is_named``, an error names the part."""
    try:
        for table in part.tables(one.columns, rows, one.numbers):
            one.add(gathered, table)
            if advance is not None:
                advance(table.n_rows)
    except DataError as error:
        if not is_named or part.name in str(error):
            raise
        raise type(error)(f"{part.name}: {error}") from error


def open_source(data: Any, options: ReadOptions) -> Source:
    """Open files or frames as a source; see :func:`solah.scan`."""
    if _is_path(data) or (_is_list(data) and _is_path(data[0])):
        return _open_files(data, options)
    if isinstance(data, Iterator):
        raise DataError(
            f"a {type(data).__name__} can be read only once, and training reads the rows several "
            "times; give files, or a list of frames"
        )
    if _is_list(data) or _is_whole(data):
        frames = data if _is_list(data) else [data]
        parts = tuple(FramePart(f"frame {n}", frame) for n, frame in enumerate(frames, start=1))
        columns, n_rows = [], 0
        for part in parts:
            table = _table(part.frame, part.name)
            columns.append((part.name, table.names))
            n_rows += table.n_rows
        names = _same_names(columns)
        return _with_rows(Source(count(len(frames), "frame"), names, parts, n_rows))
    raise DataError(
        f"rows cannot be read from a {type(data).__name__}; give a path, a pattern, a folder or "
        "data frames"
    )


def is_source(data: object) -> bool:
    """Whether data are for :func:`open_source`, and not one array, frame or table.

    Examples
    --------
    >>> is_source("data/*.parquet"), is_source([[1.0, 2.0]])
    (True, False)
    """
    if _is_list(data):
        return _is_path(data[0]) or _is_whole(data[0])
    return _is_path(data) or isinstance(data, Iterator)


# --- files ----------------------------------------------------------------------------------------


def find_files(data: str | os.PathLike[str]) -> list[Path]:
    """List the files of a folder or a pattern; a plain path is kept, whether it exists or not."""
    text, path = os.fspath(data), Path(data)
    if path.is_dir():
        suffixes = (*PARQUET, *ARROW)
        files = sorted(
            file
            for file in path.rglob("*")
            if file.name.lower().endswith(suffixes)
            and file.is_file()
            and not any(part[0] in "._" for part in file.relative_to(path).parts)
        )
        if not files:
            raise FileFormatError(
                f"the folder {path} has no Parquet or Arrow files ({', '.join(suffixes)}); "
                f"for text files give a pattern, such as {str(path / '*.csv')!r}"
            )
        return files
    if path.exists() or not glob.has_magic(text):
        return [path]
    files = sorted(file for file in map(Path, glob.glob(text, recursive=True)) if file.is_file())
    if not files:
        raise FileFormatError(f"no file matches the pattern {text!r}")
    return files


def _open_files(data: Any, options: ReadOptions) -> Source:
    if _is_path(data):
        name, files = os.fspath(data), find_files(data)
    else:
        files = [Path(path) for path in data]
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        name = f"{files[0]}{more}"
    for file in files:
        iter_tables(file)  # checks the path, before anything is read
    texts = [file for file in files if not file.name.lower().endswith((*PARQUET, *ARROW, *_ARFF))]
    if len(texts) > 1:
        options = settle_options(texts, options)
    parts: list[FilePart] = []
    columns, n_rows, words = [], 0, set()
    for file in files:
        if not file.name.lower().endswith(PARQUET):
            first = next(iter_tables(file, options=options, rows=_FIRST_ROWS))
            written = (one for one in first.columns if one.is_text)
            words |= {one.name for one in written if parse_numbers(one.values) is None}
            columns.append((str(file), first.names))
            parts.append(FilePart(file, options))
            continue
        with open_binary(file) as opened:
            found = opened.schema_arrow.names
            for one in found:
                if not one or found.count(one) > 1:
                    fault = f"two columns named {one!r}" if one else "a nameless column"
                    raise FileFormatError(f"{file} has {fault}; give each column a name of its own")
            columns.append((str(file), tuple(found)))
            groups: list[int] = []
            first_row = n_seen = 1
            for group in range(opened.num_row_groups):
                groups.append(group)
                n_seen += opened.metadata.row_group(group).num_rows
                if n_seen >= first_row + _PART_ROWS or group == opened.num_row_groups - 1:
                    parts.append(FilePart(file, options, tuple(groups), first_row))
                    groups, first_row = [], n_seen
            n_rows += opened.metadata.num_rows
    is_counted = all(file.name.lower().endswith(PARQUET) for file in files)
    names = _same_names(columns, FileFormatError)
    rows = n_rows if is_counted else None
    is_untyped = len(texts) == len(files)
    numbers = frozenset(names) - words if is_untyped else frozenset()
    return _with_rows(Source(name, names, tuple(parts), rows, is_untyped, numbers))


@dataclass(frozen=True)
class FilePart:
    """A file, or row groups of a Parquet file that lie one behind the other.

    Rows count from 1 in the file.
    """

    path: Path
    options: ReadOptions
    row_groups: tuple[int, ...] = ()
    first_row: int = 1

    @property
    def name(self) -> str:
        """The file."""
        return str(self.path)

    def tables(
        self, columns: Sequence[str], rows: int, numbers: Sequence[str] = ()
    ) -> Iterator[Table]:
        """Yield tables, as all readers of files understand them."""
        if not self.row_groups:
            yield from iter_tables(
                self.path, options=self.options, rows=rows, columns=columns, numbers=numbers
            )
            return
        first_row = self.first_row
        for table in iter_row_groups(self.path, self.row_groups, columns, rows):
            if table.n_rows:
                chosen = table.select(columns)
                yield Table(chosen.columns, chosen.n_rows, first_row)
                first_row += chosen.n_rows


# --- frames ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FramePart:
    """A frame in memory."""

    name: str
    frame: Any

    def tables(
        self, columns: Sequence[str], rows: int, numbers: Sequence[str] = ()
    ) -> Iterator[Table]:
        """Yield the rows."""
        table = _table(self.frame, self.name, columns).select(columns)
        for start in range(0, table.n_rows, rows):
            yield table.rows(start, start + rows)


def _table(frame: Any, name: str, only: Sequence[str] | None = None) -> Table:
    """Take the columns of a data frame, a table or a record batch."""
    if isinstance(frame, Table):
        table = frame
    elif is_frame(frame):
        table = from_frame(frame, only)
    elif type(frame).__name__ == "RecordBatch":
        table = from_arrow(frame, only)
    else:
        raise DataError(
            f"item {name.removeprefix('frame ')} of the frames is a {type(frame).__name__}; "
            "give data frames of pandas, Polars or PyArrow"
        )
    if not table.columns:
        raise DataError(f"{name} has no columns")
    return table


# --- both -----------------------------------------------------------------------------------------


def _same_names(
    columns: Sequence[tuple[str, tuple[str, ...]]], error: type[DataError] = DataError
) -> tuple[str, ...]:
    """Return the columns' names; refuse a part with other columns than the first one."""
    first, known = columns[0]
    for where, names in columns[1:]:
        for name in known:
            if name not in names:
                raise error(f"{where} has no column {name!r}, which {first} has")
        for name in names:
            if name not in known:
                raise error(f"{where} has a column {name!r}, which {first} does not have")
    return known


def _with_rows(source: Source) -> Source:
    if source.n_rows == 0:
        raise DataError(f"{source.name} has columns but no rows")
    return source


def _is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def _is_list(data: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(data, (list, tuple)) and len(data) > 0


def _is_whole(data: object) -> bool:
    return isinstance(data, Table) or is_frame(data)
