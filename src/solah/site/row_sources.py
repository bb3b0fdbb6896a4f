"""Sources of readings: a file replayed, lines of JSON, a function."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data import ReadOptions, iter_tables, to_numbers, to_text
from solah.exceptions import DataError, ParameterError, shorten
from solah.site.backlog import Complaints
from solah.site.messages import (
    MAX_SEQUENCE,
    Measured,
    MessageError,
    decode_readings,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO

    from solah.data import Table
    from solah.model.features import Feature
    from solah.site.messages import Reading

_A_PIECE = 500  # rows; a node has little memory
_LOOK_EVERY = 0.05


def replay(
    path: str | os.PathLike[str],
    features: Sequence[Feature],
    *,
    start: int = 0,
    options: ReadOptions | None = None,
) -> Iterator[Measured]:
    """Yield the rows of a table, numbered from 0, as a node measures them.

    Parameters
    ----------
    path : the file
    features : those that are measured at the node
    start : the first row
    options : how to read the file
    """
    first = 0
    for table in iter_tables(path, options=options or ReadOptions(), rows=_A_PIECE):
        if first + table.n_rows > start:
            yield from _rows(table, features, first, start)
        first += table.n_rows


def _rows(table: Table, features: Sequence[Feature], first: int, start: int) -> Iterator[Measured]:
    columns = {one.name: _readings(table, one) for one in features}
    for place in range(max(start - first, 0), table.n_rows):
        readings = {name: column[place] for name, column in columns.items()}
        yield Measured(readings, first + place)


def _readings(table: Table, feature: Feature) -> list[Reading]:
    column = table.column(feature.name)
    if feature.is_coded:
        texts: list[Reading] = to_text(column).values.tolist()
        return texts
    numbers: list[float] = to_numbers(column, first_row=table.first_row).values.tolist()
    return [None if number != number else number for number in numbers]


def json_lines(stream: IO[str], on_wrong: Callable[[str], None]) -> Iterator[Measured]:
    """Yield readings that come as lines of JSON; wrong lines are told, or counted, and left out."""
    complaints = Complaints(on_wrong)
    try:
        for line in stream:
            if not line.strip():
                continue
            try:
                yield from decode_readings(line.encode())
            except MessageError as error:
                complaints.add("a line", str(error), time.monotonic())
    finally:
        complaints.tell(time.monotonic(), all_of_it=True)


def called(name: str, start: int = 0, wanted: Callable[[], int] = lambda: -1) -> Iterator[Measured]:
    """Yield what a function returns, call after call, until that is None.

    Parameters
    ----------
    name : ``module:function``, also of a module in the current folder; the function returns
        readings by name, and is your own code
    start : the number of the first row
    wanted : returns the row that others wait for; numbers go on from there where they are behind
    """
    module, _, feature = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        function: Callable[[], Any] = getattr(importlib.import_module(module), feature)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"a function is written module:function. Got {shorten(name)}: {error}"
        ) from None
    sequence = start - 1
    while True:
        try:
            readings = function()
            sequence = max(sequence + 1, wanted())
            sequence = sequence if sequence <= MAX_SEQUENCE else 0
            row = None if readings is None else Measured(dict(readings), sequence)
        except Exception as error:  # it is the user's, and may raise anything
            raise DataError(f"{name} failed: {type(error).__name__}: {error}") from error
        if row is None:
            return
        yield row


def at_rate(
    rows: Iterable[Measured],
    rate: float | None,
    is_behind: Callable[[Measured], bool] = lambda _: False,
) -> Iterator[Measured]:
    """Pass rows on at so many a second; those that others wait for already pass at once.

    Parameters
    ----------
    rows : the rows
    rate : how many a second; None for as fast as they are taken
    is_behind : whether others wait for a row already
    """
    if rate is None:
        yield from rows
        return
    due = time.monotonic()
    for row in rows:
        while (early := due - time.monotonic()) > 0 and not is_behind(row):
            time.sleep(min(early, _LOOK_EVERY))
        due = min(due, time.monotonic()) + 1 / rate
        yield row
