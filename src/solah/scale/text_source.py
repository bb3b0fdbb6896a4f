"""A source of rows in text files (CSV, TSV, ARFF); a spool holds them, so text is read once.

Only the whole of the files tells which columns are numbers. So the rows are written as what they
have been so far, and only where a column turns out to be text too late, the files are read again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.data import Column, Table
from solah.data.arff import iter_arff
from solah.data.delimited import iter_delimited, settle_options
from solah.data.spelling import parse_numbers
from solah.exceptions import FileFormatError
from solah.safe_text import file_name
from solah.scale.joining import FormJoiner
from solah.scale.spool import (
    SpoolWriter,
    kept_spool,
    new_spool,
    open_spool,
    read_record,
    write_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from solah.data import ReadOptions
    from solah.scale.forms import Form
    from solah.scale.listing import Listing
    from solah.scale.parquet_source import ParquetSource

_ROWS = 2_000


def open_text_source(listing: Listing, options: ReadOptions, spool: Path | None) -> ParquetSource:
    """Read text files into a spool, or find it where it was kept."""
    fingerprint = _fingerprint(listing.files, options)
    if spool is None:
        with new_spool(None) as folder:
            forms = _write(folder, listing, options)
            return open_spool(listing.name, folder, forms, fingerprint)
    home = spool / _place(listing.files)
    kept = read_record(home, fingerprint)
    if kept is None:
        with kept_spool(home) as folder:
            kept = _write(folder, listing, options)
            write_record(folder, fingerprint, kept)
    return open_spool(listing.name, home, kept, fingerprint, is_kept=True)


def _write(folder: Path, listing: Listing, options: ReadOptions) -> dict[str, Form | None]:
    """Write the rows of all files, once more where columns turned out to be text too late."""
    if not listing.is_arff:
        options = settle_options(listing.files, options)
    text: set[str] = set()
    forms = None
    while forms is None:
        forms = _write_once(folder, listing, options, text)
    return forms


def _write_once(
    folder: Path, listing: Listing, options: ReadOptions, text: set[str]
) -> dict[str, Form | None] | None:
    """Write the rows; return None, and only look on, when a column becomes text behind others."""
    joiner = FormJoiner(FileFormatError)
    known: frozenset[str] | None = None
    with SpoolWriter(folder) as writer:
        for file, table in _tables(listing, options, text):
            if known is None:
                known = frozenset(text)
            if known == text:
                writer.write(joiner.add(table, str(file)))
    return joiner.forms if known is None or known == text else None


def _tables(listing: Listing, options: ReadOptions, text: set[str]) -> Iterator[tuple[Path, Table]]:
    for file in listing.files:
        if listing.is_arff:
            yield from ((file, table) for table in iter_arff(file, options, _ROWS))
            continue
        for table in iter_delimited(file, options, _ROWS):
            columns = []
            for column in table.columns:
                numbers = None if column.name in text else parse_numbers(column.values)
                if numbers is None:
                    text.add(column.name)
                columns.append(column if numbers is None else Column(column.name, numbers))
            yield file, Table(tuple(columns), table.n_rows)


def _fingerprint(files: Sequence[Path], options: ReadOptions) -> str:
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    roles = replace(options, missing=frozenset())
    return _digest((stats, roles, sorted(options.missing)))


def _place(files: Sequence[Path]) -> str:
    """Name the folder of a kept spool after the files, so that new rows replace the old ones."""
    return f"{file_name(files[0])}-{_digest([str(file.resolve()) for file in files])[:16]}"


def _digest(known: object) -> str:
    return hashlib.sha256(repr(known).encode()).hexdigest()
