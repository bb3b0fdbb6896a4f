"""What the tests of sources share: the whole of a source, column by column."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Table

if TYPE_CHECKING:
    from solah.scale.sources import Source


def whole(source: Source, rows: int = 7, part_rows: int = 20) -> Table:
    """Put a source together again, and see that its tables are in order and of one form."""
    tables = [
        table for part in source.parts(part_rows) for table in part.tables(source.names, rows)
    ]
    places = np.cumsum([1, *(table.n_rows for table in tables)])
    assert [table.first_row for table in tables] == places[:-1].tolist()
    assert {table.names for table in tables} == {source.names}
    assert all(0 < table.n_rows <= rows for table in tables)
    columns = [_joined([table.columns[j] for table in tables]) for j in range(len(source.names))]
    table = Table(tuple(columns), sum(table.n_rows for table in tables))
    assert source.n_rows == table.n_rows
    return table


def content(table: Table) -> dict[str, Any]:
    """Spell out everything that a table says."""
    return {
        column.name: (
            column.values.dtype.name,
            column.order,
            column.nominal,
            [
                None if gone else value
                for value, gone in zip(column.values.tolist(), column.missing(), strict=True)
            ],
        )
        for column in table.columns
    }


def _joined(columns: list[Column]) -> Column:
    assert len({(c.values.dtype, c.order, c.nominal) for c in columns}) == 1, columns[0].name
    return replace(columns[0], values=np.concatenate([column.values for column in columns]))
