"""Read tables of rows from lines as they come: CSV with a header, or JSON objects."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data import Column, Table
from solah.data.cells import TextCells
from solah.data.dialect import detect
from solah.data.fields import cut
from solah.data.textfile import Lines
from solah.exceptions import shorten
from solah.stream.values import as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from solah.data import ReadOptions
    from solah.data.dialect import Dialect
    from solah.stream.lines import NewLines

# A header and a row: with less, nobody can tell what the fields are.
_FEWEST_LINES = 2
_SAMPLE_LINES = 200


class Piece(NamedTuple):
    """Rows that have come, and how far their source was read behind them.

    ``table`` is None while there is nothing new.
    """

    table: Table | None
    position: int


def rows_of(
    source: Iterable[NewLines],
    name: str,
    options: ReadOptions,
    *,
    first: Sequence[str] | None = None,
    on_wrong: Callable[[str], None],
) -> Iterator[Piece]:
    """Make tables of lines; a line that is no row is told, and left out.

    Parameters
    ----------
    source : iterable of NewLines
    name : str
        What the source is called.
    options : ReadOptions
        What is known about it.
    first : sequence of str, default=None
        The first lines of the source, where it is read from a later place on: they tell how it is
        written, and are no rows again.
    on_wrong : callable
        Called with a sentence about each line that is left out.

    Yields
    ------
    Piece
    """
    reader = None if first is None else _reader(list(first), name, options, on_wrong)[0]
    waiting: list[str] = []
    position = 0
    for new in source:
        position = new.position
        waiting += _decoded(new.lines, options.encoding or "utf-8", on_wrong)
        if reader is None and len(waiting) >= _FEWEST_LINES:
            reader, waiting = _reader(waiting, name, options, on_wrong)
        if reader is None or not waiting:
            yield Piece(None, position)
            continue
        yield Piece(reader.read(waiting), position)
        waiting = []
    if reader is None and waiting:
        reader, waiting = _reader(waiting, name, options, on_wrong)
        if waiting:
            yield Piece(reader.read(waiting), position)


def first_lines_of(path: Path, encoding: str | None) -> list[str]:
    """Read the first lines of a file, which tell how it is written."""
    with path.open(encoding=encoding or "utf-8-sig", errors="replace", newline="") as file:
        lines = (line.rstrip("\r\n") for line in file)
        return [line for line, _ in zip(lines, range(_SAMPLE_LINES), strict=False) if line.strip()]


class _Delimited:
    """Reads rows of fields."""

    def __init__(
        self, dialect: Dialect, options: ReadOptions, on_wrong: Callable[[str], None]
    ) -> None:
        self._dialect, self._on_wrong = dialect, on_wrong
        self._text = TextCells(options.missing)

    def read(self, lines: Sequence[str]) -> Table:
        rows = [fields for line in lines if (fields := self._fields(line)) is not None]
        cells = list(zip(*rows, strict=True)) or [()] * self._dialect.n_fields
        columns = (
            Column(name, self._text.of(self._dialect.respell(of_column)))
            for name, of_column in zip(self._dialect.names, cells, strict=False)
        )
        return Table(tuple(columns), len(rows))

    def _fields(self, line: str) -> list[str] | None:
        try:
            fields = next(cut([f"{line}\n"], self._dialect.delimiter))
        except (csv.Error, StopIteration):
            fields = []
        if self._dialect.fits(fields):
            return fields
        self._on_wrong(f"this line is no row of {len(self._dialect.names)} fields: {shorten(line)}")
        return None


class _Objects:
    """Reads JSON objects."""

    def __init__(self, names: Sequence[str], on_wrong: Callable[[str], None]) -> None:
        self._names, self._on_wrong = names, on_wrong
        self._like = [Column(name, np.empty(0)) for name in names]

    def read(self, lines: Sequence[str]) -> Table:
        found = [row for line in lines if (row := _object(line, self._on_wrong)) is not None]
        rows = [tuple(row.get(name) for name in self._names) for row in found]
        return as_table(rows, self._like)


def _reader(
    lines: list[str], name: str, options: ReadOptions, on_wrong: Callable[[str], None]
) -> tuple[_Delimited | _Objects, list[str]]:
    """Find out how a source is written; return what reads it, and the lines that are rows."""
    if lines[0].lstrip().startswith("{"):
        return _Objects(list(_object(lines[0], on_wrong) or {}), on_wrong), lines
    sample = tuple(f"{line}\n" for line in lines[:_SAMPLE_LINES])
    dialect = detect(Lines(sample, is_whole=True), Path(name), options)
    return _Delimited(dialect, options, on_wrong), lines[1:] if dialect.has_header else lines


def _object(line: str, on_wrong: Callable[[str], None]) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
        is_row = isinstance(row, dict) and all(map(_is_plain, row.values()))
    except (ValueError, RecursionError):
        is_row = False
    if is_row:
        return dict(row)
    on_wrong(f"this line is no JSON object of numbers and texts: {shorten(line)}")
    return None


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _decoded(lines: Sequence[bytes], encoding: str, on_wrong: Callable[[str], None]) -> list[str]:
    """Decode lines, blank ones left out."""
    decoded = []
    for line in lines:
        try:
            text = line.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError:
            on_wrong(f"this line is not {encoding} text: {shorten(line)}; say --encoding")
            continue
        if text.strip():
            decoded.append(text)
    return decoded
