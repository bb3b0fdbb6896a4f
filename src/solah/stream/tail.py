"""Rows from sources that grow: text files and pipes of CSV or JSON lines."""

from __future__ import annotations

import csv
import json
import os
import queue
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data import Column, Table
from solah.data.cells import TextCells
from solah.data.dialect import cut, detect
from solah.data.spelling import is_number, plain
from solah.data.textfile import Lines
from solah.exceptions import ColumnError, DataError, FileFormatError, shorten
from solah.stream.reservoir import as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from solah.data import ReadOptions
    from solah.stream.learner import StreamLearner

    Report = Callable[[str], None]

_POLL_SECONDS = 0.2
_BLOCK_BYTES = 1 << 16
_MAX_LINES = 1000
_MAX_LINE_BYTES = 1 << 20
# A header and a row: fewer lines do not show what the fields are.
_MIN_SAMPLE_LINES, _MAX_SAMPLE_LINES = 2, 200


class NewLines(NamedTuple):
    """Lines, and the position in the source after them; no lines while there is nothing new."""

    lines: list[bytes]
    position: int


class NewRows(NamedTuple):
    """A table of rows, and the position after them; None while there is nothing new."""

    table: Table | None
    position: int


def lines_of_file(
    path: str | os.PathLike[str], *, start: int = 0, growing: bool = False
) -> Iterator[NewLines]:
    r"""Yield the whole lines of a file, and, if it is growing, those that are added to it.

    Reading starts at a position that was yielded. A file that has become shorter is read from its
    start again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_bytes(b"a,b\n1,2\n3,")
    ...     list(lines_of_file(path))
    [NewLines(lines=[b'a,b', b'1,2'], position=8), NewLines(lines=[b'3,'], position=10)]
    """
    position, rest = start, b""
    while True:
        try:
            with Path(path).open("rb") as file:
                if file.seek(0, 2) < position + len(rest):  # the file was started again
                    position, rest = 0, b""
                file.seek(position + len(rest))
                block = file.read(_BLOCK_BYTES)
        except OSError as error:
            raise FileFormatError(f"{path} cannot be read: {error.strerror or error}") from error
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise FileFormatError(f"{path} has a line of more than {_MAX_LINE_BYTES:,} bytes")
        position += sum(len(line) + 1 for line in lines)
        if lines:
            yield NewLines([line.rstrip(b"\r") for line in lines], position)
        elif not block and growing:
            yield NewLines([], position)
            time.sleep(_POLL_SECONDS)
        elif not block:
            if rest:
                yield NewLines([rest], position + len(rest))
            return


def lines_of_pipe(descriptor: int) -> Iterator[NewLines]:
    """Yield the lines of a pipe as they come, until it is closed."""
    arrived: queue.Queue[bytes | None] = queue.Queue(maxsize=10 * _MAX_LINES)

    def pump() -> None:
        # Without a buffer of Python's, whose lock would be held while the program wants to end.
        rest = b""
        while block := os.read(descriptor, _BLOCK_BYTES):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                arrived.put(line.rstrip(b"\r"))
        if rest:
            arrived.put(rest)
        arrived.put(None)

    # A thread waits for the pipe, since a signal could not end the waiting.
    threading.Thread(target=pump, daemon=True).start()
    while True:
        lines: list[bytes] = []
        with suppress(queue.Empty):
            line = arrived.get(timeout=_POLL_SECONDS)
            while line is not None and len(lines) < _MAX_LINES:
                lines.append(line)
                line = arrived.get_nowait()
            if line is None:
                yield NewLines(lines, 0)
                return
            lines.append(line)
        yield NewLines(lines, 0)


def rows_of(
    source: Iterable[NewLines],
    name: str,
    options: ReadOptions,
    *,
    first: Sequence[str] | None = None,
    on_skipped: Report,
) -> Iterator[NewRows]:
    """Yield tables from lines of CSV or JSON objects, and skip lines that are not rows.

    ``first`` are the first lines of a source that is read from a later position: they show its
    format, and are not rows again. ``on_skipped`` is called with a sentence per skipped line.
    """
    reader = None if first is None else _reader(list(first), name, options, on_skipped)[0]
    waiting: list[str] = []
    position = 0
    for new in source:
        position = new.position
        waiting += _decoded(new.lines, options.encoding or "utf-8", on_skipped)
        if reader is None and len(waiting) >= _MIN_SAMPLE_LINES:
            reader, waiting = _reader(waiting, name, options, on_skipped)
        table = reader(waiting) if reader is not None and waiting else None
        if table is not None:
            waiting = []
        yield NewRows(table, position)
    if reader is None and waiting:
        reader, waiting = _reader(waiting, name, options, on_skipped)
        if waiting:
            yield NewRows(reader(waiting), position)


def first_lines_of(path: Path, encoding: str | None) -> list[str]:
    """Read the first lines of a file, which show its format."""
    with path.open(encoding=encoding or "utf-8-sig", errors="replace", newline="") as file:
        lines = (line.rstrip("\r\n") for line, _ in zip(file, range(_MAX_SAMPLE_LINES)))  # noqa: B905
        return [line for line in lines if line.strip()]


def feed(
    learner: StreamLearner,
    table: Table,
    target: str,
    *,
    drop: Collection[str] = (),
    on_skipped: Report,
) -> None:
    """Let a learner take the rows of a table, and skip rows with invalid values.

    Texts of whole numbers in the target become integers. ``on_skipped`` is called with a sentence
    per skipped row.
    """
    features, column = table.drop({target, *drop}), table.column(target)
    if column.is_text:
        classes = np.empty(table.n_rows, dtype=object)
        classes[:] = [_class(cell) for cell in column.values]
        column = Column(target, classes)
    before = learner.metrics.rows
    try:
        learner.learn(features, Column(target, column.values))
        return
    except ColumnError:
        raise
    except DataError:
        n_taken = learner.metrics.rows - before
    for row in range(n_taken, table.n_rows):
        try:
            learner.learn(features.rows(row, row + 1), column.rows(row, row + 1))
        except DataError as error:
            on_skipped(f"skipped a row: {error}")


def _class(cell: str | None) -> Any:
    """Return the whole number in a text, or the text."""
    number = plain(float(cell)) if cell is not None and is_number(cell) else cell
    return number if isinstance(number, int) else cell


def _reader(
    lines: list[str], name: str, options: ReadOptions, on_skipped: Report
) -> tuple[Callable[[Sequence[str]], Table], list[str]]:
    """Detect the format of a source; return its reader, and the lines that are rows."""
    if lines[0].lstrip().startswith("{"):
        names = list(_object(lines[0], on_skipped) or {})
        like = [Column(name, np.empty(0)) for name in names]

        def read_objects(lines: Sequence[str]) -> Table:
            found = [row for line in lines if (row := _object(line, on_skipped)) is not None]
            return as_table([tuple(row.get(name) for name in names) for row in found], like)

        return read_objects, lines
    sample = tuple(f"{line}\n" for line in lines[:_MAX_SAMPLE_LINES])
    dialect = detect(Lines(sample, is_whole=True), Path(name), options)
    text = TextCells(options.missing)

    def read(lines: Sequence[str]) -> Table:
        rows = []
        for line in lines:
            try:
                fields = next(cut([f"{line}\n"], dialect.delimiter))
            except (csv.Error, StopIteration):
                fields = []
            if dialect.fits(fields):
                rows.append(fields)
            else:
                expected = f"{len(dialect.names)} fields"
                on_skipped(f"skipped a line that is not a row of {expected}: {shorten(line)}")
        cells = list(zip(*rows, strict=True)) or [()] * dialect.n_fields
        columns = (
            Column(name, text.of(dialect.respell(of_column)))
            for name, of_column in zip(dialect.names, cells, strict=False)
        )
        return Table(tuple(columns), len(rows))

    return read, lines[1:] if dialect.has_header else lines


def _object(line: str, on_skipped: Report) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        row = json.loads(line)
        cells = row.values() if isinstance(row, dict) else [[]]
        if all(cell is None or isinstance(cell, str | int | float) for cell in cells):
            return dict(row)
    on_skipped(f"skipped a line that is not a JSON object of numbers and texts: {shorten(line)}")
    return None


def _decoded(lines: Sequence[bytes], encoding: str, on_skipped: Report) -> list[str]:
    """Decode lines and drop blank ones."""
    decoded = []
    for line in lines:
        try:
            text = line.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError:
            on_skipped(
                f"skipped a line that is not {encoding}: {shorten(line)}; pass --read encoding=…"
            )
            continue
        if text.strip():
            decoded.append(text)
    return decoded
