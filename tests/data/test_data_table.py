"""Columns and tables: named, of one length, sliced without copies."""

from __future__ import annotations

import numpy as np
import pytest

from solah.data import Column, Table
from solah.exceptions import ColumnError, DataError


@pytest.fixture
def table() -> Table:
    return Table(
        (
            Column("age", np.array([1.0, np.nan, 3.0])),
            Column("größe", np.array(["S", None, "L"], dtype=object), ("S", "M", "L"), True),
        ),
        3,
    )


def test_columns_are_found_by_name(table: Table) -> None:
    assert table.names == ("age", "größe")
    assert table.names is table.names  # gathered once
    assert table.column("größe").values[2] == "L"
    with pytest.raises(ColumnError, match="no column 'agee'; did you mean 'age'"):
        table.column("agee")
    assert table.select(["größe"]).names == table.drop(["age"]).names == ("größe",)
    with pytest.raises(ColumnError, match="no column 'x'"):
        table.drop(["x"])


def test_missing_is_nan_in_numbers_and_none_in_text(table: Table) -> None:
    assert table.column("age").missing().tolist() == [False, True, False]
    assert table.column("größe").missing().tolist() == [False, True, False]
    assert not Column("n", np.arange(3)).missing().any()


def test_rows_share_memory_and_keep_what_is_known(table: Table) -> None:
    part = table.rows(1, 9)
    assert part.n_rows == 2
    assert np.shares_memory(part.column("age").values, table.column("age").values)
    assert part.column("größe").order == ("S", "M", "L")
    assert part.column("größe").nominal


def test_a_name_is_there_once() -> None:
    column = Column("a", np.zeros(2))
    with pytest.raises(ColumnError, match="duplicate column 'a'"):
        Table((column, column), 2)


def test_columns_have_one_length() -> None:
    with pytest.raises(DataError, match="column 'a' has 2 values where the table has 3 rows"):
        Table((Column("a", np.zeros(2)),), 3)
