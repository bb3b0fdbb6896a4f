"""Read delimited text files (CSV, TSV and the like) as a table or a stream of tables.

PyArrow cuts rows and reads numbers, a chunk of whole rows at a time. Where it would cut a row in
another way than its writer meant, as with spaces around quotes, or refuses it, the standard
library's csv tidies the chunk first, or names the line of the flaw.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.cells import MISSING_WORDS, TextCells
from solah.data.dialect import Dialect, cut, detect
from solah.data.frames import base_columns, text_values
from solah.data.spelling import count, is_number, parse_numbers
from solah.data.table import Column, Table
from solah.data.textfile import MAX_LINE, Lines, count_lines, first_lines, open_text, refuse_nul
from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from solah.data.options import ReadOptions

_SAMPLE_LINES = 200
_CHUNK = 1 << 20  # characters
_COMMA = ","


def read_delimited(path: Path, options: ReadOptions) -> Table:
    """Read a whole file; columns that are numbers throughout become float64, others stay text."""
    dialect = find_dialect(path, options)
    text: set[int] = set()
    is_complete = False
    while not is_complete:  # once more where a column turns out to be text behind its numbers
        cells = [TextCells(options.missing) for _ in dialect.names]
        parts: list[list[NDArray[Any]]] = [[] for _ in dialect.names]
        numeric: set[int] = set()
        is_complete = True
        for rows in _rows(path, dialect, options, numeric):
            for j, part in enumerate(parts):
                values = _values(rows.column(j), cells[j], dialect)
                if j not in text and values.dtype == object:
                    numbers = parse_numbers(values)
                    if numbers is None:
                        is_complete &= not part
                        text.add(j)
                    values = values if numbers is None else numbers
                part.append(values)
            numeric |= _without_words(set(range(len(parts))), options)
            numeric -= text
    columns = tuple(
        Column(name, np.concatenate(part) if part else np.empty(0))
        for name, part in zip(dialect.names, parts, strict=True)
    )
    return Table(columns, len(columns[0].values))


def iter_delimited(
    path: Path,
    options: ReadOptions,
    rows: int,
    only: Sequence[str] | None,
    numbers: Collection[str] = (),
) -> Iterator[Table]:
    """Stream a file as tables of text with at most that many rows; see `iter_tables`."""
    dialect = find_dialect(path, options)
    wanted = frozenset(base_columns(list(dialect.names), only))
    cells = {
        j: TextCells(options.missing) for j, name in enumerate(dialect.names) if name in wanted
    }
    numeric = {j for j in cells if dialect.names[j] in numbers}
    for read in _rows(path, dialect, options, _without_words(numeric, options)):
        for start in range(0, read.num_rows, rows):
            piece = read.slice(start, rows)
            columns = tuple(
                Column(dialect.names[j], _values(piece.column(j), of_column, dialect))
                for j, of_column in cells.items()
            )
            yield Table(columns, piece.num_rows)


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


def _rows(path: Path, dialect: Dialect, options: ReadOptions, numeric: set[int]) -> Iterator[Any]:
    """Yield Arrow tables: columns that are ``numeric`` by then as numbers, if they are, or text."""
    with open_text(path, options) as stream:
        for _ in range(dialect.first_line):
            stream.readline()
        line, rest, block = dialect.first_line + 1, "", "-"
        while block:
            block = stream.read(_CHUNK)
            refuse_nul(block, path, line, rest)
            text = rest + block
            stop = _end_of_rows(text, dialect) if block else len(text)
            while stop:
                rows, used = _cut(text[:stop], dialect, options, numeric, (path, line, not block))
                if rows is not None:
                    yield rows
                line += count_lines(text[:used])
                text = text[used:]
                stop = 0 if block or not used else len(text)
            rest = text
            if len(rest) > 2 * MAX_LINE:
                raise FileFormatError(
                    f"{path}, line {line} is longer than {MAX_LINE:,} characters; is a quote "
                    "missing, or is it not a table?"
                )


def _without_words(numeric: set[int], options: ReadOptions) -> set[int]:
    """Return no columns where a number means missing: PyArrow would overlook " -999"."""
    return set() if any(map(is_number, options.missing)) else numeric


def _end_of_rows(text: str, dialect: Dialect) -> int:
    """Return where the last line ends that ends a row as far as quotes show it; 0 for nowhere."""
    # A carriage return at the end may be half of a line end.
    stop = max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1
    if not dialect.is_plain or _is_odd(text[:stop], dialect):
        return stop  # csv knows
    n_quotes = text.count('"', 0, stop)
    while n_quotes % 2:  # the line ends within a quoted field: go back before the last quote
        start = text.rfind('"', 0, stop)
        back = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        n_quotes -= text.count('"', back, stop)
        stop = back
    return stop


def _is_odd(text: str, dialect: Dialect) -> bool:
    """Whether some quote neither begins nor ends a field, or has a space beside it."""
    if '"' not in text:
        return False
    edge = re.escape(dialect.delimiter) + '\r\n"'
    return ' "' in text or '" ' in text or bool(re.search(f'(?<=[^{edge}])"(?=[^{edge}])', text))


def _cut(
    text: str,
    dialect: Dialect,
    options: ReadOptions,
    numeric: set[int],
    place: tuple[Path, int, bool],
) -> tuple[Any, int]:
    """Return the rows of a text as an Arrow table, or None; and how many characters that took.

    ``place`` is the file, the number of the first line, and whether the file ends with the text.
    """
    if dialect.is_plain and not _is_odd(text, dialect) and text.count('"') % 2 == 0:
        for types in dict.fromkeys((frozenset(numeric), frozenset[int]())):
            rows = _arrow_rows(text, dialect.delimiter, dialect, options, types)
            if rows is not None:
                return rows, len(text)
    tidy, used = _tidied(text, dialect, *place)
    delimiter = dialect.delimiter if dialect.is_plain else _COMMA
    return _arrow_rows(tidy, delimiter, dialect, options, frozenset()) if tidy else None, used


def _arrow_rows(
    text: str, delimiter: str, dialect: Dialect, options: ReadOptions, numeric: frozenset[int]
) -> Any:
    """Cut a text with PyArrow; None where it refuses a row, or a cell is not a finite number."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    data = text.encode()
    types = [pa.float64() if j in numeric else pa.string() for j in range(dialect.n_fields)]
    names = list(map(str, range(dialect.n_fields)))
    try:
        rows = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)),
                null_values=sorted(MISSING_WORDS | options.missing),
                decimal_point="," if dialect.decimal_comma else ".",
            ),
        )
    except pa.ArrowException:
        return None
    if any(np.isinf(rows.column(j).to_numpy()).any() for j in numeric):
        return None
    has_more = dialect.trailing and any(rows.column(-1).unique().to_pylist())
    return None if has_more else rows


def _tidied(text: str, dialect: Dialect, path: Path, first: int, is_last: bool) -> tuple[str, int]:
    """Write the rows of a text so that every parser cuts them alike; name the line of a flaw.

    Return how many characters that took, too: a row at the end may not be whole.
    """
    lines = list(io.StringIO(text, newline=""))
    reader = cut(lines, dialect.delimiter)
    tidy = io.StringIO(newline="")
    # Before Python 3.13, only a line end of both characters makes csv quote a bare \r.
    delimiter = dialect.delimiter if dialect.is_plain else _COMMA
    writer = csv.writer(tidy, delimiter=delimiter, lineterminator="\r\n")
    n_done = 0
    try:
        for record in reader:
            if record and not dialect.fits(record):
                end = " and a delimiter at the end" if dialect.trailing else ""
                raise FileFormatError(
                    f"{path}, line {first + n_done}: {count(len(record), 'field')} where "
                    f"{len(dialect.names)}{end} are expected; correct the line, or pass "
                    "the delimiter (--read delimiter=…)"
                )
            if record:
                writer.writerow(record)
            n_done = reader.line_num
    except csv.Error as error:
        if is_last or reader.line_num < len(lines):
            raise FileFormatError(
                f"{path}, line {first + n_done}: {error}; a quote is probably missing or stray"
            ) from error
    return tidy.getvalue(), sum(map(len, lines[:n_done]))


def _values(rows: Any, cells: TextCells, dialect: Dialect) -> NDArray[Any]:
    """Return a column of Arrow as NumPy's numbers, or as text with the meaning of its cells."""
    if rows.type == "double":
        return np.asarray(rows.to_numpy())
    return text_values(rows, lambda words: cells.of(dialect.respell(words)))
