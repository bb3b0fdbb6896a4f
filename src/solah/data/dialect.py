"""Find a delimited file's delimiter, header and decimal sign from its first lines.

The delimiter is the one of tab ``;`` ``|`` ``,`` that gives most rows the same number of fields,
more than one, and among equals the first in this order: a decimal comma can also cut each row into
the same number of pieces. Runs of spaces are tried last. A file where none fits has one column.

The first row is a header unless it has a number or a word for missing in it. An empty name in it
(pandas leaves the index without one) is allowed when a column below another name is numeric, which
shows that the row is a header; such a column is named by its place, as all are without a header:
``x0``, ``x1``, …

The decimal sign is a comma when the delimiter is not, and when some cells look like ``-1,5`` and
none like ``-1.5``.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.data.cells import MISSING_WORDS
from solah.data.options import refuse_many_columns
from solah.data.spelling import count, is_number
from solah.data.textfile import MAX_LINE
from solah.exceptions import ColumnError, FileFormatError

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from solah.data.options import ReadOptions
    from solah.data.textfile import Lines

SPACES = " "
"""The delimiter for any run of spaces and tabs."""

_NO_DELIMITER = "\x1f"
_LIKELY = ("\t", ";", "|", ",")
_MOSTLY = 0.5
_MOSTLY_SPACES = 0.9
_COMMA_NUMBER = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_RUN = re.compile(r"[ \t]+")
_RUN_AT_END = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n])")
_POINT_NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How the rows of a delimited file are written.

    Attributes
    ----------
    delimiter : one character; :data:`SPACES` for any run of spaces and tabs
    names : the names of the columns
    has_header : whether they are in the file
    trailing : whether every row ends with a delimiter, so has one field more than names
    decimal_comma : whether a comma is the decimal sign
    first_line : how many lines come before the first row
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    trailing: bool
    decimal_comma: bool
    first_line: int = 0

    @property
    def n_fields(self) -> int:
        """The number of fields that a row must have."""
        return len(self.names) + self.trailing

    @property
    def is_plain(self) -> bool:
        """Whether every parser cuts rows without quotes alike."""
        is_one = self.delimiter.isascii() and self.delimiter != SPACES
        return is_one and self.n_fields > 1  # else blank lines may be rows

    def fits(self, row: list[str]) -> bool:
        """Whether a row has the fields it must have."""
        return len(row) == self.n_fields and not (self.trailing and row[-1])

    def respell(self, cells: Sequence[str]) -> Sequence[str]:
        """Write numbers with a decimal comma as numbers with a point."""
        return [_with_point(cell) for cell in cells] if self.decimal_comma else cells


def cut(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Reader:
    """Cut lines into fields, without the spaces around those that are not quoted."""
    # More than a line can have; only a field that spans lines, likely a stray quote, meets it.
    csv.field_size_limit(max(csv.field_size_limit(), 2 * MAX_LINE))
    tidy = _tidy(lines, delimiter)
    return csv.reader(tidy, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _tidy(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Take the spaces behind unquoted fields away; csv itself skips those before them."""
    # A run of spaces is tried once, from its start, so that a long one costs only its length.
    behind = re.compile(rf"(?<! ) ++(?=[{re.escape(delimiter)}\r\n])")

    def tidy(text: str) -> str:
        if delimiter == SPACES:
            return _RUN.sub(" ", _RUN_AT_END.sub("", text))
        return behind.sub("", text) if " " in text else text

    within_quotes = False
    for line in lines:
        if '"' not in line and not within_quotes:
            yield tidy(line)
            continue
        parts = line.split('"')
        for j in range(int(within_quotes), len(parts), 2):
            parts[j] = tidy(parts[j])
        within_quotes ^= len(parts) % 2 == 0
        yield '"'.join(parts)


def detect(sample: Lines, path: Path, options: ReadOptions) -> Dialect:
    """Find out how a file is written, from its first lines and the options."""
    delimiter = options.delimiter or _find_delimiter(sample)
    rows = _rows(sample, delimiter)
    if not rows:
        raise FileFormatError(f"{path} is empty")
    first, body = rows[0], rows[1:]
    n_fields = _typical_width(rows)
    refuse_many_columns(n_fields, str(path))
    full = [row for row in body if len(row) == n_fields]
    trailing = n_fields > 1 and not any(row[-1] for row in full)
    trailing &= first[-1] == "" or (len(first) == n_fields - 1 and bool(full))
    comma = options.decimal == ","
    if options.decimal is None and delimiter != ",":
        cells = [cell for row in rows for cell in row]
        comma = any(map(_COMMA_NUMBER.fullmatch, cells))
        comma &= not any(map(_POINT_NUMBER.fullmatch, cells))
    names, first_line = tuple(f"x{j}" for j in range(n_fields - trailing)), 0
    has_header = options.header
    if has_header is None:
        has_header = _has_header(first[: len(names)], body, comma)
    if has_header:
        names = _names(first, len(names), path)
        reader = cut(sample.lines, delimiter)
        try:
            next(reader)
        except csv.Error as error:
            raise FileFormatError(
                f"{path}, line {sample.n_blank + 1}: {error}; a quote is probably missing or stray"
            ) from error
        first_line = sample.n_blank + reader.line_num
    return Dialect(delimiter, names, has_header, trailing, comma, first_line)


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _COMMA_NUMBER.fullmatch(cell) else cell


def _rows(sample: Lines, delimiter: str) -> list[list[str]]:
    """Cut the sample into rows; the last one, perhaps cut off, is dropped."""
    rows = [row for row in cut(sample.lines, delimiter, strict=False) if row]
    return rows if sample.is_whole or len(rows) < 2 else rows[:-1]


def _find_delimiter(sample: Lines) -> str:
    def agreement(rows: list[list[str]]) -> float:
        """Return the share of rows with the typical number of fields, if that is over one."""
        width = _typical_width(rows)
        return sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0

    agreements = {delimiter: agreement(_rows(sample, delimiter)) for delimiter in _LIKELY}
    best = max(_LIKELY, key=agreements.__getitem__)
    if agreements[best] >= _MOSTLY:
        return best
    # Spaces that delimit are also between names, or between numbers in every row.
    rows = _rows(sample, SPACES)
    are_fields = agreement(rows) >= _MOSTLY_SPACES and len(rows[0]) == _typical_width(rows)
    return SPACES if are_fields else _NO_DELIMITER


def _typical_width(rows: list[list[str]]) -> int:
    """Return the most common number of fields; among equals that of the earliest row."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _has_header(first: list[str], body: list[list[str]], comma: bool) -> bool:
    def is_numeric(cell: str) -> bool:
        return is_number(_with_point(cell) if comma else cell)

    if any(is_numeric(cell) or (cell and cell in MISSING_WORDS) for cell in first):
        return False
    if "" not in first:
        return True
    named = [j for j, name in enumerate(first) if name]
    return any(is_numeric(row[j]) for row in body for j in named if j < len(row))


def _names(header: list[str], n_columns: int, path: Path) -> tuple[str, ...]:
    # The empty field behind a trailing delimiter is not a name.
    while len(header) > n_columns and header[-1] == "":
        header = header[:-1]
    if len(header) != n_columns:
        raise FileFormatError(
            f"{path}: the header has {count(len(header), 'field')} "
            f"where the rows have {n_columns}; correct it, or pass the delimiter (--read "
            f"delimiter=…)"
        )
    names = tuple(name.strip() or f"x{j}" for j, name in enumerate(header))
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ColumnError(f"{path}: duplicate column {twice!r}; rename one of them")
    return names
