"""A table of named columns, as read from arrays, frames and files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.dates import are_dates, date_part, parse_dates, useful_parts
from solah.exceptions import ColumnError, DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray


class Kind(StrEnum):
    """What the values of a column are."""

    CONTINUOUS = "continuous"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"


@dataclass(frozen=True, eq=False)
class Column:
    """One named column.

    ``values`` is either numeric (any bool, integer or float dtype; NaN is missing) or an object
    array of ``str`` with ``None`` for missing. ``order`` carries the states of a column that
    came with an order of its own (an ordered categorical of a frame). ``nominal`` is whether the
    source declares the values categorical (a categorical of a frame, an ARFF nominal): the text
    "7" then stays text. ``note`` has how the values were read, if not as they are written.
    """

    name: str
    values: NDArray[Any]
    order: tuple[str, ...] | None = None
    nominal: bool = False
    note: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the values are strings."""
        return bool(self.values.dtype == object)

    def missing(self) -> NDArray[np.bool_]:
        """Return which rows have no value."""
        if self.is_text:
            return np.asarray(np.equal(self.values, None))  # type: ignore[call-overload]
        if self.values.dtype.kind == "f":
            return np.asarray(np.isnan(self.values))
        return np.zeros(len(self.values), dtype=bool)

    def rows(self, start: int, stop: int) -> Column:
        """Return a slice of the column, without copying."""
        return replace(self, values=self.values[start:stop])


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of one length.

    ``first_row`` is the number of the first row in the data that the table is a piece of, so
    that errors name the right row.
    """

    columns: tuple[Column, ...]
    n_rows: int
    first_row: int = 1

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if not column.name:
                raise ColumnError("a column has an empty name; give it one")
            if column.name in seen:
                raise ColumnError(f"duplicate column {column.name!r}; rename one of them")
            seen.add(column.name)
            if len(column.values) != self.n_rows:
                raise DataError(
                    f"column {column.name!r} has {len(column.values)} values "
                    f"where the table has {self.n_rows} rows"
                )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column:
        """Return the column of that name, or a part of a column of dates ("hour of time")."""
        if name in self._by_name:
            return self._by_name[name]
        part = date_part(name, self._by_name)
        if part is None:
            raise ColumnError.unknown(name, self.names)
        source = self._by_name[part.column]
        dates = parse_dates(source.values) if source.is_text else None
        if dates is None:
            raise ColumnError(
                f"{name!r} needs dates in the column {part.column!r}, such as 2026-01-31 or "
                "2026-01-31 18:30"
            )
        return Column(name, *part.values(dates))

    def date_parts(self, plain: Collection[str] = ()) -> dict[str, list[str]]:
        """Return the useful parts of each column of dates, except columns that are named."""
        found: dict[str, list[str]] = {}
        for column in self.columns:
            if column.is_text and column.name not in plain and are_dates(column.values):
                dates = parse_dates(column.values)
                if dates is not None:
                    found[column.name] = [part.name for part in useful_parts(column.name, dates)]
        return found

    def select(self, names: Iterable[str]) -> Table:
        """Keep these columns, in this order."""
        return replace(self, columns=tuple(self.column(name) for name in names))

    def drop(self, names: Iterable[str]) -> Table:
        """Drop these columns; each must exist."""
        gone = {self.column(name).name for name in names}
        return replace(self, columns=tuple(c for c in self.columns if c.name not in gone))

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the rows with these indices, in this order."""
        columns = tuple(replace(column, values=column.values[rows]) for column in self.columns)
        return Table(columns, len(rows))

    def rows(self, start: int, stop: int) -> Table:
        """Return a slice of the rows, without copying."""
        columns = tuple(column.rows(start, stop) for column in self.columns)
        return Table(columns, max(0, min(stop, self.n_rows) - start), self.first_row + start)
