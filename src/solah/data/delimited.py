"""Read delimited text files (CSV, TSV and the like) as a table or a stream of tables.

PyArrow cuts large files whose lines are plain. The standard library's csv cuts all others, names
the line of a flaw, and reads every file where PyArrow is not installed. Both make the same tables.
"""

from __future__ import annotations

import csv
import importlib
import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from solah.data.cells import MISSING_WORDS, TextCells
from solah.data.dialect import SPACES, Dialect, cut, detect
from solah.data.frames import text_values
from solah.data.spelling import count, is_number, parse_numbers
from solah.data.table import Column, Table
from solah.data.textfile import MAX_LINE, Lines, first_lines, lines_of, open_text
from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from solah.data.options import ReadOptions

_SAMPLE_LINES = 200
_PIECE_CELLS = 50_000
# csv reads a smaller file before PyArrow is imported.
_SMALL_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 20
_LINE_END = re.compile(r"\r\n|\r|\n")


def read_delimited(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; columns that are numbers throughout become float64, others stay text."""
    dialect = find_dialect(path, options)
    if _is_for_arrow(path, dialect):
        # PyArrow might overlook a missing " -999" in a column of numbers.
        likely = frozenset() if any(map(is_number, options.missing)) else dialect.numeric
        with suppress(_NotPlainError):
            # All as text, as written, if a likely number is not one.
            for numeric in dict.fromkeys((likely, frozenset[int]())):
                table = _read_with_arrow(path, dialect, options, numeric)
                if table is not None:
                    return table
    return _read_with_csv(path, dialect, options)


def iter_delimited(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables of text with at most that many rows."""
    dialect = find_dialect(path, options)
    n_known = 0
    if _is_for_arrow(path, dialect):
        with suppress(_NotPlainError):
            for table in _iter_with_arrow(path, dialect, options, rows):
                yield table
                n_known += table.n_rows
            return
    cells = [TextCells(options.missing) for _ in dialect.names]
    piece_rows = min(rows, max(1, _PIECE_CELLS // dialect.n_fields))
    for piece in _pieces(path, dialect, options, piece_rows):
        n_rows = len(piece[0])
        if n_rows > n_known:
            columns = tuple(
                Column(name, cells[j].of(piece[j])) for j, name in enumerate(dialect.names)
            )
            yield Table(columns, n_rows).rows(n_known, n_rows)
        n_known = max(0, n_known - n_rows)


def find_dialect(path: Path, options: ReadOptions) -> Dialect:
    """Find out how a file is written, from its first lines."""
    return detect(first_lines(path, options, _SAMPLE_LINES), path, options)


def settle_options(paths: Sequence[Path], options: ReadOptions) -> ReadOptions:
    """Find out how several files are written, as if they were one, from the first lines of all."""
    if len(paths) == 1:
        return options
    taken: list[str] = []
    is_whole = True
    for path in paths:  # read on in the next file where one has fewer lines than the sample needs
        some = first_lines(path, options, _SAMPLE_LINES - len(taken))
        taken.extend(some.lines)
        is_whole = some.is_whole
        if not is_whole:
            break
    dialect = detect(Lines(tuple(taken), is_whole), paths[0], options)
    decimal = "," if dialect.decimal_comma else "."
    settled = replace(options, delimiter=dialect.delimiter, decimal=decimal)
    return replace(settled, header=find_dialect(paths[0], settled).has_header)


# With PyArrow


class _NotPlainError(Exception):
    """PyArrow would refuse the file, or read it otherwise than csv."""


class _PlainText:
    """The text of a file for PyArrow, in UTF-8, for as long as every parser cuts it alike."""

    closed = False

    def __init__(self, stream: TextIO, delimiter: str) -> None:
        self._stream = stream
        self._is_utf8 = stream.encoding == "utf-8-sig"
        self._end = b""
        self._n_quotes = 0
        # A quote that neither begins nor ends a field. Quoted fields of several lines show when
        # the cells are there.
        edge = re.escape(delimiter.encode()) + rb'\r\n"'
        self._stray = re.compile(rb'"(?=[^%b])(?<=[^%b]")' % (edge, edge))

    def read(self, size: int) -> bytes:
        """Read on."""
        buffer = self._stream.buffer
        block = buffer.read(size) if self._is_utf8 else self._stream.read(size).encode()
        self._n_quotes += block.count(b'"')
        is_open = not block and self._n_quotes % 2
        if is_open or b"\0" in block or (self._n_quotes and self._stray.search(self._end + block)):
            raise _NotPlainError
        self._end = (self._end + block)[-2:]
        return block


def _is_for_arrow(path: Path, dialect: Dialect) -> bool:
    is_plain = dialect.delimiter.isascii() and dialect.delimiter != SPACES and dialect.n_fields > 1
    if not is_plain or path.stat().st_size < _SMALL_BYTES:
        return False
    try:
        importlib.import_module("pyarrow.csv")
    except ImportError:
        return False
    return True


def _arrow_options(
    dialect: Dialect, options: ReadOptions, numeric: frozenset[int]
) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = [pa.float64() if j in numeric else pa.string() for j in range(dialect.n_fields)]
    names = list(map(str, range(dialect.n_fields)))
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=names, skip_rows=dialect.first_line, block_size=_BLOCK_BYTES
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)),
            null_values=sorted(MISSING_WORDS | options.missing),
            decimal_point="," if dialect.decimal_comma else ".",
        ),
    }


def _read_with_arrow(
    path: Path, dialect: Dialect, options: ReadOptions, numeric: frozenset[int]
) -> Table | None:
    """Read a whole file; None where a cell is not what it should be."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        with open_text(path, options) as stream:
            source = pa.PythonFile(_PlainText(stream, dialect.delimiter), mode="r")
            read = arrow_csv.read_csv(source, **_arrow_options(dialect, options, numeric))
    except pa.ArrowException:
        return None
    _see_end_is_empty(read, dialect)
    columns = []
    for j, name in enumerate(dialect.names):
        if j in numeric:
            values = numbers = read.column(j).to_numpy()
            if np.isinf(numbers).any():
                return None
        else:
            values = _text(read.column(j), TextCells(options.missing), dialect)
            numbers = parse_numbers(values)
        columns.append(Column(name, values if numbers is None else numbers))
    return Table(tuple(columns), read.num_rows)


def _iter_with_arrow(
    path: Path, dialect: Dialect, options: ReadOptions, rows: int
) -> Iterator[Table]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    cells = [TextCells(options.missing) for _ in dialect.names]
    try:
        with open_text(path, options) as stream:
            source = pa.PythonFile(_PlainText(stream, dialect.delimiter), mode="r")
            with arrow_csv.open_csv(
                source, **_arrow_options(dialect, options, frozenset())
            ) as reader:
                for batch in reader:
                    _see_end_is_empty(batch, dialect)
                    for start in range(0, batch.num_rows, rows):
                        piece = batch.slice(start, rows)
                        columns = tuple(
                            Column(name, _text(piece.column(j), cells[j], dialect))
                            for j, name in enumerate(dialect.names)
                        )
                        yield Table(columns, piece.num_rows)
    except pa.ArrowException:
        raise _NotPlainError from None


def _text(values: Any, cells: TextCells, dialect: Dialect) -> NDArray[Any]:
    def understand(words: list[str]) -> NDArray[Any]:
        everything = "".join(words)
        if "\n" in everything or "\r" in everything:  # a quoted field of several lines, or open
            raise _NotPlainError
        return cells.of(dialect.respell(words))

    return text_values(values, understand)


def _see_end_is_empty(rows: Any, dialect: Dialect) -> None:
    """Refuse text behind the delimiter at the end of each row."""
    from pyarrow import compute

    if dialect.trailing and compute.any(compute.not_equal(rows.column(-1), "")).as_py():
        raise _NotPlainError


# With csv


def _read_with_csv(path: Path, dialect: Dialect, options: ReadOptions) -> Table:
    """Read a whole file, once more where a column turns out to be text behind its numbers."""
    text: set[int] = set()
    is_complete = False
    while not is_complete:
        cells = [TextCells(options.missing) for _ in dialect.names]
        parts: list[list[NDArray[Any]]] = [[] for _ in dialect.names]
        is_complete = True
        for piece in _pieces(path, dialect, options, max(1, _PIECE_CELLS // dialect.n_fields)):
            for j, part in enumerate(parts):
                values = cells[j].of(piece[j])
                numbers = None if j in text else parse_numbers(values)
                if numbers is None and j not in text:
                    is_complete &= not part
                    text.add(j)
                part.append(values if numbers is None else numbers)
    columns = tuple(
        Column(name, np.concatenate(part) if part else np.empty(0))
        for name, part in zip(dialect.names, parts, strict=True)
    )
    return Table(columns, len(columns[0].values))


def _pieces(
    path: Path, dialect: Dialect, options: ReadOptions, rows: int
) -> Iterator[list[Sequence[str]]]:
    """Cut the file into pieces: the cells of each column, for some rows."""
    with open_text(path, options) as stream:
        reader = cut(lines_of(stream, path), dialect.delimiter)
        if dialect.has_header:
            while _take(reader, 1, path, reader.line_num, MAX_LINE) == [[]]:
                pass  # blank lines before the header
        line = reader.line_num
        while records := _take(reader, rows, path, line, dialect.n_fields):
            if any(records):  # else they are blank lines
                yield _columns(records, dialect, path, line)
            line = reader.line_num


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


def _columns(
    records: list[list[str]], dialect: Dialect, path: Path, line: int
) -> list[Sequence[str]]:
    """Turn records into columns of cells, without blank lines."""
    rows = [record for record in records if record]
    if set(map(len, rows)) != {dialect.n_fields} or (dialect.trailing and any(r[-1] for r in rows)):
        odd = next(j for j, record in enumerate(records) if record and not dialect.fits(record))
        end = " and a delimiter at the end" if dialect.trailing else ""
        raise FileFormatError(
            f"{path}, line {_line_after(records[:odd], line)}: "
            f"{count(len(records[odd]), 'field')} where {len(dialect.names)}{end} should be; "
            f"mend the line, or pass the delimiter (--read delimiter=…)"
        )
    cells = list(zip(*rows, strict=True))[: len(dialect.names)]
    return [dialect.respell(one) for one in cells]


def _line_after(records: list[list[str]], line: int) -> int:
    """Return the number of the line behind some records, which may span several lines each."""
    breaks = sum(len(_LINE_END.findall(cell)) for record in records for cell in record)
    return line + len(records) + breaks + 1
