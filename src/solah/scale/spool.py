"""Write tables to Parquet files on disk as they pass by, so that they can be read again.

A spool is a folder. It lives as long as its source, or it is kept: then it is written beside its
place, takes its name when it is whole, and serves again while what it was made of is unchanged.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser
from solah.exceptions import DataError, require
from solah.scale.forms import Form
from solah.scale.parquet_source import ParquetFile, ParquetSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from solah.data import Column, Table

_PURPOSE = "keeping rows on disk"
_ROW_GROUP_CELLS = 2**21  # 16 MB of float64
_MOST_GROUP_ROWS = 2**18
_RECORD = "spool.json"
_VERSION = 2
_BLOCK_BYTES = 2**20
_ABANDONED_SECONDS = 3_600.0


class SpoolWriter:
    """Writes tables into the Parquet files of a folder, a new one where a column's type changes.

    Small tables are gathered into row groups, so that what is read back comes in good pieces.
    """

    def __init__(self, folder: Path) -> None:
        self._arrow = require("pyarrow", "parquet", _PURPOSE)
        self._parquet = require("pyarrow.parquet", "parquet", _PURPOSE)
        self._folder = folder
        self._file: Any = None
        self._n_files = 0
        self._waiting: list[Any] = []
        for old in _row_files(folder):
            old.unlink()

    def write(self, table: Table) -> None:
        """Add the rows of a table."""
        if table.n_rows == 0:
            return
        arrays = [_array(self._arrow, column) for column in table.columns]
        rows = self._arrow.Table.from_arrays(arrays, names=list(table.names))
        if self._waiting and self._waiting[0].schema != rows.schema:
            self._flush()
        self._waiting.append(rows)
        if sum(one.num_rows for one in self._waiting) >= _group_rows(table):
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
        if self._file is not None:
            self._file.close()

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows = self._arrow.concat_tables(self._waiting)
        self._waiting = []
        if self._file is None or self._file.schema != rows.schema:
            self._next_file(rows.schema)
        self._file.write_table(rows, row_group_size=_MOST_GROUP_ROWS)

    def _next_file(self, schema: Any) -> None:
        if self._file is not None:
            self._file.close()
        path = self._folder / f"rows-{self._n_files:06}.parquet"
        texts = [field.name for field in schema if self._arrow.types.is_string(field.type)]
        self._file = self._parquet.ParquetWriter(path, schema, use_dictionary=texts)
        self._n_files += 1


@contextmanager
def new_spool(parent: Path | None) -> Iterator[Path]:
    """Make a folder for rows that are needed for a while; it goes when the writing fails."""
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="solah-", dir=parent))
    with _removed_on_failure(folder):
        yield folder


@contextmanager
def kept_spool(home: Path) -> Iterator[Path]:
    """Make a folder that takes the place ``home`` when it is whole."""
    home.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(home)
    draft = Path(tempfile.mkdtemp(prefix=f".{home.name}-", dir=home.parent))
    with _removed_on_failure(draft):
        yield draft
        shutil.rmtree(home, ignore_errors=True)  # of rows that have changed since
        draft.rename(home)


def write_record(folder: Path, fingerprint: str, forms: Mapping[str, Form | None]) -> None:
    """Write down what a kept spool holds."""
    columns = {name: asdict(form) for name, form in forms.items() if form is not None}
    record: dict[str, Any] = {"version": _VERSION, "fingerprint": fingerprint, "columns": columns}
    write_whole(folder / _RECORD, json.dumps({**record, "checksum": _checksum(folder, record)}))


def read_record(folder: Path, fingerprint: str) -> dict[str, Form | None] | None:
    """Return the forms of a kept spool, or None where none of the same data is there and whole."""
    try:
        record = JsonParser("the record", DataError).read((folder / _RECORD).read_bytes()).value
    except (OSError, DataError):
        return None
    current = {"version": _VERSION, "fingerprint": fingerprint}
    if not isinstance(record, dict) or not current.items() <= record.items():
        return None
    if record.pop("checksum", None) != _checksum(folder, record):
        warnings.warn(
            f"the rows kept in {folder} were altered since they were written; they are read again",
            stacklevel=2,
        )
        return None
    return {name: _form(one) for name, one in record["columns"].items()}


def open_spool(
    name: str,
    folder: Path,
    forms: Mapping[str, Form | None],
    fingerprint: str,
    *,
    is_kept: bool = False,
) -> ParquetSource:
    """Open the rows of a folder as a source that removes it, unless it is kept."""
    files = [ParquetFile.open(path) for path in _row_files(folder)]
    return ParquetSource(name, files, forms, fingerprint, None if is_kept else folder)


def _checksum(folder: Path, record: Mapping[str, Any]) -> str:
    """Digest a record and the rows that it is of."""
    digest = blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=32)
    for path in _row_files(folder):
        with path.open("rb") as file:
            digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()


def _row_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("rows-*.parquet"))


def _group_rows(table: Table) -> int:
    return min(_MOST_GROUP_ROWS, max(1_024, _ROW_GROUP_CELLS // len(table.columns)))


def _array(arrow: Any, column: Column) -> Any:
    """Return a column as PyArrow has it; NaN stays NaN, so that nothing is copied in reading."""
    if not column.is_text:
        values = column.values
        return arrow.array(values.astype(np.float64) if values.dtype.itemsize > 8 else values)
    try:
        return arrow.array(column.values, arrow.string())
    except UnicodeError:
        raise DataError(
            f"column {column.name!r} holds text that is not Unicode, which cannot be kept on disk"
        ) from None


def _form(record: dict[str, Any]) -> Form:
    order = record.pop("order")
    return Form(**record, order=None if order is None else tuple(order))


@contextmanager
def _removed_on_failure(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove_abandoned(home: Path) -> None:
    """Remove what a killed run has left; one that lives writes all the time."""
    for draft in home.parent.glob(f".{home.name}-*"):
        last = max((file.stat().st_mtime for file in [draft, *_row_files(draft)]), default=0.0)
        if time.time() - last > _ABANDONED_SECONDS:
            shutil.rmtree(draft, ignore_errors=True)
