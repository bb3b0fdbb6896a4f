"""A source of rows in Parquet files, in parts of whole row groups.

A part is a plain record of paths and row groups, so it travels to another process. Reading holds
about one table of rows and a page of each column in memory, whatever the row groups' size.
"""

from __future__ import annotations

import hashlib
import shutil
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from solah.data.files import iter_row_groups, open_binary
from solah.exceptions import DataError, FileFormatError
from solah.scale.checks import check_columns, check_rows
from solah.scale.forms import Form, join_forms, see_same_columns, take_forms
from solah.scale.parquet_forms import column_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from solah.data import Table


@dataclass(frozen=True)
class ParquetFile:
    """A file as it was when it was opened."""

    path: Path
    size: int
    mtime_ns: int
    schema: str
    group_rows: tuple[int, ...]
    forms: Mapping[str, Form | None] = field(repr=False)

    @classmethod
    def open(cls, path: Path) -> ParquetFile:
        """Read a file's footer, and its columns only where that does not tell their form."""
        stat = path.stat()
        with open_binary(path) as file:
            footer = file.metadata
            groups = range(footer.num_row_groups)
            return cls(
                path,
                stat.st_size,
                stat.st_mtime_ns,
                file.schema_arrow.to_string(show_schema_metadata=False),
                tuple(footer.row_group(group).num_rows for group in groups),
                column_forms(file, path),
            )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.group_rows)


@dataclass(frozen=True)
class Run:
    """Row groups of one file that stand one behind the other."""

    path: Path
    size: int
    row_groups: tuple[int, ...]
    first_row: int
    n_rows: int

    def with_next(self, n_rows: int) -> Run:
        """Return the run with the row group behind it, of so many rows."""
        row_groups = (*self.row_groups, self.row_groups[-1] + 1)
        return replace(self, row_groups=row_groups, n_rows=self.n_rows + n_rows)

    def see_unchanged(self) -> None:
        """Refuse a file that has been replaced since the source was opened."""
        size = self.path.stat().st_size if self.path.exists() else None
        if size != self.size:
            now = "is gone" if size is None else f"has {size:,} bytes instead of {self.size:,}"
            raise FileFormatError(
                f"{self.path} has changed since it was opened: it {now}; open the source again"
            )


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a source; see :class:`solah.scale.sources.Part`."""

    source: str
    runs: tuple[Run, ...]
    forms: Mapping[str, Form | None] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(run.n_rows for run in self.runs)

    def tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows, in order, as tables of these columns with at most ``rows`` rows."""
        check_columns(columns, self.forms, self.source)
        check_rows(rows)
        return self._tables(columns, rows)

    def _tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        for run in self.runs:
            run.see_unchanged()
            first_row = run.first_row
            for table in iter_row_groups(run.path, run.row_groups, columns, rows):
                yield take_forms(table, self.forms, first_row)
                first_row += table.n_rows


class ParquetSource:
    """Parquet files as one data set; see :class:`solah.scale.sources.Source`.

    Parameters
    ----------
    name : str
        What to call the source in messages.
    files : sequence of ParquetFile
        The files, in order.
    forms : mapping of str to Form or None
        The form of each column in all files.
    fingerprint : str, optional
        What to tell the data by, where it is not the files themselves.
    spool : Path, optional
        A folder to remove with the source.
    """

    def __init__(
        self,
        name: str,
        files: Sequence[ParquetFile],
        forms: Mapping[str, Form | None],
        fingerprint: str | None = None,
        spool: Path | None = None,
    ) -> None:
        self.name = name
        self.names = tuple(forms)
        self.n_rows: int | None = sum(file.n_rows for file in files)
        self.fingerprint = fingerprint or _fingerprint(files)
        self._files = tuple(files)
        self._forms = forms
        self._remove = spool and weakref.finalize(self, shutil.rmtree, spool, ignore_errors=True)
        if not self.n_rows:
            raise DataError(f"{name} has columns but no rows")

    @classmethod
    def open(cls, name: str, paths: Sequence[Path]) -> ParquetSource:
        """Open files that all have the same columns."""
        files = [ParquetFile.open(path) for path in paths]
        return cls(name, files, _joined_forms(files))

    def parts(self, n_rows: int) -> tuple[ParquetPart, ...]:
        """Cut the rows into parts of at most ``n_rows``, or of one row group that is larger."""
        check_rows(n_rows)
        packed: list[list[Run]] = []
        room = 0
        for run in self._row_groups():
            if run.n_rows > room or not packed:
                packed.append([])
                room = n_rows
            _append(packed[-1], run)
            room -= run.n_rows
        return tuple(ParquetPart(self.name, tuple(runs), self._forms) for runs in packed)

    def close(self) -> None:
        """Remove what was written to disk for the source."""
        if self._remove:
            self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ParquetSource {self.name}: {self.n_rows:,} rows, {len(self.names)} columns>"

    def _row_groups(self) -> Iterator[Run]:
        """Yield the row groups that have rows, each as a run of its own."""
        first_row = 1
        for file in self._files:
            for group, n_rows in enumerate(file.group_rows):
                if n_rows:
                    yield Run(file.path.absolute(), file.size, (group,), first_row, n_rows)
                    first_row += n_rows


def _append(runs: list[Run], group: Run) -> None:
    """Add a row group, to the last run where it stands directly behind it."""
    last = runs[-1] if runs else None
    if last and last.path == group.path and last.row_groups[-1] + 1 == group.row_groups[0]:
        runs[-1] = last.with_next(group.n_rows)
    else:
        runs.append(group)


def _joined_forms(files: Sequence[ParquetFile]) -> dict[str, Form | None]:
    first = files[0]
    forms = dict(first.forms)
    for file in files[1:]:
        see_same_columns(file.forms, forms, str(file.path), str(first.path), FileFormatError)
        with _as_file_errors():
            forms = join_forms(forms, file.forms, str(file.path))
    return forms


@contextmanager
def _as_file_errors() -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise FileFormatError(str(error)) from None


def _fingerprint(files: Sequence[ParquetFile]) -> str:
    digest = hashlib.sha256()
    for file in files:
        known = (file.path.name, file.size, file.mtime_ns, file.group_rows, file.schema)
        digest.update(repr(known).encode())
    return digest.hexdigest()
