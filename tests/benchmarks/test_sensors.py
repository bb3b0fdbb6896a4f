"""The data of scale: rows that depend on their place and the seed alone, and can be learned."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import sensors
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WHOLE, WHOLE_TARGET = sensors.sensor_block(0, 40_000, n_features=9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=4))
def test_partitioning_changes_nothing(cuts: list[int]) -> None:
    bounds = sorted({0, *cuts, 40_000})
    for start, stop in pairwise(bounds):
        X, y = sensors.sensor_block(start, stop - start, n_features=9)
        np.testing.assert_array_equal(X, WHOLE[start:stop])
        np.testing.assert_array_equal(y, WHOLE_TARGET[start:stop])


def test_files_hold_the_rows(tmp_path: Path) -> None:
    paths = sensors.write_parquet(
        tmp_path, 40_000, n_features=9, n_files=3, row_group=9_000, with_machine=True
    )
    table = pq.read_table(tmp_path)
    assert [pq.ParquetFile(path).num_row_groups for path in paths] == [2, 2, 2]
    assert table.column_names[-2:] == ["machine", "fault"]
    assert set(table["machine"].to_pylist()) == set(sensors.MACHINES)
    X = np.column_stack([table[j].to_numpy() for j in range(9)])
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, WHOLE)
    np.testing.assert_array_equal(table["fault"].to_numpy(), WHOLE_TARGET)


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sensors.py", str(tmp_path), "--rows", "5", "--files", "9", "--features", "3"]
    monkeypatch.setattr(sys, "argv", words)
    sensors.main()
    assert capsys.readouterr().out.startswith("5 rows, 0.00 GB, in ")
    assert pq.read_table(tmp_path).num_rows == 5
