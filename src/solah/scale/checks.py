"""Check what a reader asks of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.exceptions import ColumnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection


def check_columns(columns: Collection[str], known: Collection[str], source: str) -> None:
    """Refuse columns that are not there, and none at all."""
    if not columns:
        raise ParameterError(f"no column of {source} is asked for; name at least one")
    for name in columns:
        if name not in known:
            raise ColumnError.unknown(name, known, source)


def check_rows(rows: int) -> None:
    """Refuse a number of rows that is none."""
    if rows < 1:
        raise ParameterError(f"a table or part must have at least one row: got {rows}")
