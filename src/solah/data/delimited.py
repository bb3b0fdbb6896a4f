"""Read delimited text files (CSV, TSV and the like) as a table or a stream of tables.

The file is cut into small pieces of a few thousand cells, which stay in the processor's cache and
are converted column by column in bulk.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TextIO

import numpy as np

from solah.data.cells import TextCells
from solah.data.dialect import Dialect, detect
from solah.data.fields import cut
from solah.data.spelling import count
from solah.data.table import Column, Table
from solah.data.text_columns import ColumnBuilder
from solah.data.textfile import MAX_LINE, Lines, first_lines, lines_of, open_text
from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Callable, Collection, Generator, Iterator, Sequence
    from pathlib import Path

    from solah.data.options import ReadOptions
    from solah.data.text_columns import Cells
    from solah.data.textfile import LineStream

_SAMPLE_LINES = 200
_PIECE_CELLS = 10_000
_BATCH_CELLS = 500_000
_BLOCK = 1 << 20
_LINE_END = re.compile(r"\r\n|\r|\n")


class BlockCutter(Protocol):
    """Cuts many lines at once."""

    def __call__(self, block: str, dialect: Dialect, rows: int) -> list[list[Cells]] | None:
        """Cut lines into columns, for at most that many rows each; None where it cannot."""


def read_delimited(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; columns that are numbers throughout become float64, others stay text.

    A column that turns out to be text only after some pieces is read again in a second pass, since
    numbers do not remember how they were spelt.
    """
    dialect = _dialect(path, options)
    columns = [ColumnBuilder(name, options.missing) for name in dialect.names]
    _fill(path, dialect, options, columns)
    late = {j for j, column in enumerate(columns) if column.failed_late}
    if late:
        for j in late:
            columns[j] = ColumnBuilder(columns[j].name, options.missing, is_text=True)
        _fill(path, dialect, options, columns, only=late)
    built = tuple(column.build() for column in columns)
    return Table(built, len(built[0].values))


def iter_delimited(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables of text with at most that many rows."""
    dialect = _dialect(path, options)
    texts = [TextCells(options.missing) for _ in dialect.names]
    for batch in _batches(path, dialect, options, rows):
        columns = tuple(
            Column(name, np.concatenate([text.of(piece[j]) for piece in batch]))
            for j, (name, text) in enumerate(zip(dialect.names, texts, strict=True))
        )
        yield Table(columns, len(columns[0].values))


def iter_typed(
    path: Path,
    options: ReadOptions,
    rows: int,
    text: set[str],
    cut_block: BlockCutter | None = None,
) -> Iterator[Table]:
    """Stream a file as tables with at most that many rows, numbers where all cells of one are.

    The columns in ``text`` are text whatever their cells are. The set grows by each column that
    turns out to be text, so what it holds in the end is text in :func:`read_delimited` too.
    ``cut_block`` cuts whole lines into columns in a faster way, for as long as it can: what comes
    out is the same.
    """
    dialect = _dialect(path, options)
    rows = min(rows, max(1, _BATCH_CELLS // dialect.n_fields))
    for batch in _batches(path, dialect, options, rows, cut_block):
        columns = tuple(
            _grown(name, [piece[j] for piece in batch], options, name in text)
            for j, name in enumerate(dialect.names)
        )
        text.update(column.name for column in columns if column.is_text)
        yield Table(columns, len(columns[0].values))


def settle_options(paths: Sequence[Path], options: ReadOptions) -> ReadOptions:
    """Find out how several files are written, as if they were one, from the first lines of all."""
    if len(paths) == 1:
        return options
    dialect = detect(_lines_of_all(paths, options), paths[0], options)
    decimal = "," if dialect.decimal_comma else "."
    settled = replace(options, delimiter=dialect.delimiter, decimal=decimal)
    return replace(settled, header=_dialect(paths[0], settled).has_header)


def _lines_of_all(paths: Sequence[Path], options: ReadOptions) -> Lines:
    """Read on in the next file where one has fewer lines than the sample needs."""
    taken: list[str] = []
    for path in paths:
        some = first_lines(path, options, _SAMPLE_LINES - len(taken))
        taken.extend(some.lines)
        if not some.is_whole:
            return Lines(tuple(taken), is_whole=False)
    return Lines(tuple(taken), is_whole=True)


def _grown(name: str, pieces: list[Cells], options: ReadOptions, is_text: bool) -> Column:
    """Make a column of its pieces, all of them numbers or all of them text."""
    column = ColumnBuilder(name, options.missing, is_text=is_text)
    for cells in pieces:
        column.add(cells)
    return _grown(name, pieces, options, is_text=True) if column.failed_late else column.build()


def _batches(
    path: Path,
    dialect: Dialect,
    options: ReadOptions,
    rows: int,
    cut_block: BlockCutter | None = None,
) -> Iterator[list[list[Cells]]]:
    """Gather pieces to at most that many rows, and to at least one."""
    batch: list[list[Cells]] = []
    n_rows = 0
    piece_rows = min(rows, _piece_rows(dialect))
    plain = None if cut_block is None else partial(cut_block, dialect=dialect, rows=rows)
    for piece in _pieces(path, dialect, options, piece_rows, plain):
        if batch and n_rows + len(piece[0]) > rows:
            yield batch
            batch, n_rows = [], 0
        if len(piece[0]):  # else there were only blank lines
            batch.append(piece)
            n_rows += len(piece[0])
    if batch:
        yield batch


def _dialect(path: Path, options: ReadOptions) -> Dialect:
    return detect(first_lines(path, options, _SAMPLE_LINES), path, options)


def _piece_rows(dialect: Dialect) -> int:
    return max(1, _PIECE_CELLS // dialect.n_fields)


def _fill(
    path: Path,
    dialect: Dialect,
    options: ReadOptions,
    columns: list[ColumnBuilder],
    only: Collection[int] | None = None,
) -> None:
    """Read the file once, into these columns."""
    chosen = range(len(columns)) if only is None else only
    for piece in _pieces(path, dialect, options, _piece_rows(dialect)):
        for j in chosen:
            columns[j].add(piece[j])


def _pieces(
    path: Path,
    dialect: Dialect,
    options: ReadOptions,
    rows: int,
    cut_plain: Callable[[str], list[list[Cells]] | None] | None = None,
) -> Iterator[list[Cells]]:
    """Cut the file into pieces: the cells of each column, for some rows."""
    with open_text(path, options) as stream:
        reader = cut(lines_of(stream, path), dialect.delimiter)
        if dialect.has_header:
            _skip_header(reader, path)
        line = reader.line_num
        if cut_plain is not None:
            line, rest = yield from _plain_pieces(stream, line, cut_plain)
            reader = cut(lines_of(rest, path, line + 1), dialect.delimiter)
        before = line - reader.line_num
        while records := _take(reader, rows, path, line, dialect.n_fields):
            yield _cells(records, dialect, path, line)
            line = before + reader.line_num


def _plain_pieces(
    stream: TextIO, line: int, cut_plain: Callable[[str], list[list[Cells]] | None]
) -> Generator[list[Cells], None, tuple[int, LineStream]]:
    """Cut blocks of whole lines; return how many lines were, and what follows them."""
    while block := stream.read(_BLOCK):
        end = stream.readline(MAX_LINE)
        pieces = cut_plain(block + end) if len(end) <= MAX_LINE - _BLOCK else None
        if pieces is None:
            return line, _Joined(io.StringIO(block + end, newline=""), stream)
        yield from pieces
        line += (block + end).count("\n")
    return line, stream


@dataclass(frozen=True)
class _Joined:
    """Two texts, one behind the other."""

    first: TextIO
    second: TextIO

    def readline(self, size: int, /) -> str:
        return self.first.readline(size) or self.second.readline(size)


def _skip_header(reader: Reader, path: Path) -> None:
    while _take(reader, 1, path, reader.line_num, MAX_LINE) == [[]]:
        pass  # blank lines before the header


def _take(reader: Reader, rows: int, path: Path, line: int, most: int) -> list[list[str]]:
    """Take the next records, up to one that has more than ``most`` fields.

    ``line`` is the number of the last line before them.
    """
    records: list[list[str]] = []
    try:
        for record in islice(reader, rows):
            records.append(record)
            if len(record) > most:
                break
    except csv.Error as error:
        raise FileFormatError(
            f"{path}, line {_line_after(records, line)}: {error}; "
            f"a quote is probably missing or stray"
        ) from error
    return records


def _cells(records: list[list[str]], dialect: Dialect, path: Path, line: int) -> list[Cells]:
    """Turn records into columns of cells, blank lines left out."""
    rows = records
    if set(map(len, records)) != {dialect.n_fields}:
        rows = [record for record in records if record]
        if any(len(row) != dialect.n_fields for row in rows):
            raise _ragged(records, dialect, path, line)
    cells: list[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * dialect.n_fields
    if dialect.trailing and any(cells.pop()):
        raise _ragged(records, dialect, path, line)
    return [dialect.respell(one) for one in cells]


def _ragged(records: list[list[str]], dialect: Dialect, path: Path, line: int) -> FileFormatError:
    """Name the first record that has another number of fields than it should."""
    odd = next(j for j, record in enumerate(records) if record and not dialect.fits(record))
    end = " and a delimiter at the end" if dialect.trailing else ""
    return FileFormatError(
        f"{path}, line {_line_after(records[:odd], line)}: {count(len(records[odd]), 'field')} "
        f"where {len(dialect.names)}{end} should be; "
        f"mend the line, or say what the delimiter is (--delimiter)"
    )


def _line_after(records: list[list[str]], line: int) -> int:
    """Return the number of the line behind some records, which may span several lines each."""
    breaks = sum(len(_LINE_END.findall(cell)) for record in records for cell in record)
    return line + len(records) + breaks + 1
