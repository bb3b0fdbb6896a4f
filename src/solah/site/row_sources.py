"""Rows of a table, replayed as readings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from solah.data import ReadOptions, iter_tables, to_numbers, to_text
from solah.site.messages import Measured

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


def at_rate(
    rows: Iterable[Measured],
    rate: float | None,
    is_behind: Callable[[Measured], bool] = lambda _: False,
) -> Iterator[Measured]:
    """Pass rows on at a rate; those that others wait for already pass at once.

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
