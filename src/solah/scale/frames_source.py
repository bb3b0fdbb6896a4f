"""A source of rows in frames (pandas, Polars, PyArrow) or tables.

Frames that stay (a list, a function that makes them) are read where they are, each time.
Frames that pass by once (an iterator) are written to a spool as they come.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from solah.data import Table, from_frame, is_frame
from solah.data.spelling import count
from solah.exceptions import DataError, require
from solah.scale.checks import check_columns, check_rows
from solah.scale.forms import take_forms
from solah.scale.joining import FormJoiner
from solah.scale.spool import SpoolWriter, new_spool, open_spool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from solah.scale.forms import Form
    from solah.scale.parquet_source import ParquetSource

_DIGEST_ROWS = 65_536

Frames: TypeAlias = Callable[[], Iterable[Any]]
"""What gives all frames, in order, each time it is called."""


def spool_frames(name: str, frames: Iterator[Any], parent: Path | None) -> ParquetSource:
    """Write frames to disk as they come, and open what was written."""
    joiner, digest = FormJoiner(), hashlib.sha256()
    with new_spool(parent) as folder:
        with SpoolWriter(folder) as writer:
            for number, frame in enumerate(frames, start=1):
                table = joiner.add(_table(frame, number), f"frame {number}")
                _digest(table, digest)
                writer.write(take_forms(table, joiner.forms, first_row=1))
        return open_spool(name, folder, joiner.forms, digest.hexdigest())


@dataclass(frozen=True)
class FramesPart:
    """Some frames of a source; see :class:`solah.scale.sources.Part`."""

    source: str
    frames: Frames
    first_row: int
    n_rows: int
    forms: Mapping[str, Form | None] = field(repr=False)

    def tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows, in order, as tables of these columns with at most ``rows`` rows."""
        check_columns(columns, self.forms, self.source)
        check_rows(rows)
        return self._tables(columns, rows)

    def _tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        first_row = self.first_row
        for number, frame in enumerate(_given(self.frames, self.source), start=1):
            table = take_forms(_table(frame, number, columns), self.forms, first_row)
            first_row += table.n_rows
            yield from (table.rows(at, at + rows) for at in range(0, table.n_rows, rows))
        if (now := first_row - self.first_row) != self.n_rows:
            raise DataError(
                f"{self.source} had {self.n_rows:,} rows when it was opened and {now:,} now; "
                f"it must give the same frames each time"
            )


class FramesSource:
    """Frames that stay as one data set; see :class:`solah.scale.sources.Source`.

    Parameters
    ----------
    name : str
        What to call the source in messages.
    shares : sequence of callable
        What gives the frames of each part, in order, each time it is called.
    """

    def __init__(self, name: str, shares: Sequence[Frames]) -> None:
        joiner = FormJoiner()
        sizes = _look_through(shares, joiner, name)
        if not joiner.n_rows:
            raise DataError(f"{name} has no rows")
        self.name = name
        self.names = tuple(joiner.forms)
        self.n_rows: int | None = joiner.n_rows
        first_rows = accumulate(sizes, initial=1)
        self._parts = tuple(
            FramesPart(name, share, first_row, size, joiner.forms)
            for share, first_row, size in zip(shares, first_rows, sizes, strict=False)
            if size
        )

    @classmethod
    def of(cls, frames: Sequence[Any]) -> FramesSource:
        """Make a source of frames in memory, each of them a part."""
        return cls(count(len(frames), "frame"), [_One(frame) for frame in frames])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, made when it is asked for."""
        digest = hashlib.sha256()
        for part in self._parts:
            for table in part.tables(self.names, _DIGEST_ROWS):
                _digest(table, digest)
        return digest.hexdigest()

    def parts(self, n_rows: int) -> tuple[FramesPart, ...]:
        """Return the parts as they are, whatever their size: frames are not cut."""
        check_rows(n_rows)
        return self._parts

    def close(self) -> None:
        """Do nothing: the frames are not the source's own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FramesSource {self.name}: {self.n_rows:,} rows, {len(self.names)} columns>"


@dataclass(frozen=True, eq=False)
class _One:
    """Gives one frame, each time; unlike a function it can be pickled where the frame can."""

    frame: Any

    def __call__(self) -> tuple[Any]:
        return (self.frame,)


def _look_through(shares: Sequence[Frames], joiner: FormJoiner, source: str) -> list[int]:
    """Take all frames into account; return the number of rows of each share."""
    sizes, number = [], 0
    for share in shares:
        before = joiner.n_rows
        for frame in _given(share, source):
            number += 1
            joiner.add(_table(frame, number), f"frame {number}")
        sizes.append(joiner.n_rows - before)
    return sizes


def _given(frames: Frames, source: str) -> Iterable[Any]:
    """Call for the frames; one frame alone would be taken apart into its columns."""
    given = frames()
    if isinstance(given, Table) or is_frame(given) or not isinstance(given, Iterable):
        raise DataError(
            f"{source} returns a {type(given).__name__}; let it return an iterator or a list of "
            f"data frames"
        )
    return given


def _table(frame: Any, number: int, only: Sequence[str] | None = None) -> Table:
    """Take the columns of a frame, of a table or of a PyArrow record batch."""
    if isinstance(frame, Table):
        table = frame if only is None else frame.select(only)
    elif is_frame(frame):
        table = from_frame(frame, only)
    elif type(frame).__name__ == "RecordBatch":
        arrow = require("pyarrow", "parquet", "reading record batches")
        table = from_frame(arrow.Table.from_batches([frame]), only)
    else:
        raise DataError(
            f"item {number} of the frames is of type {type(frame).__name__}; "
            f"give data frames of pandas, Polars or PyArrow"
        )
    if not table.columns:
        raise DataError(f"frame {number} has no columns")
    return table


def _digest(table: Table, digest: hashlib._Hash) -> None:
    """Add the names, types and values of a table."""
    for column in table.columns:
        digest.update(repr((column.name, column.values.dtype.name, column.order)).encode())
        values = column.values
        if column.is_text:
            digest.update(json.dumps(values.tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(values).data)
