"""The data of scale: rows that depend on their place and the seed alone, and can be learnt."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest
import sensors
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier

if TYPE_CHECKING:
    from pathlib import Path

WHOLE, WHOLE_GOAL = sensors.sensor_block(0, 40_000, n_attributes=9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=4))
def test_partitioning_changes_nothing(cuts: list[int]) -> None:
    bounds = sorted({0, *cuts, 40_000})
    for start, stop in pairwise(bounds):
        X, y = sensors.sensor_block(start, stop - start, n_attributes=9)
        np.testing.assert_array_equal(X, WHOLE[start:stop])
        np.testing.assert_array_equal(y, WHOLE_GOAL[start:stop])


def test_the_seed_and_the_place_count() -> None:
    other, _ = sensors.sensor_block(0, 1_000, n_attributes=9, seed=1)
    assert not np.array_equal(other, WHOLE[:1_000], equal_nan=True)
    far, _ = sensors.sensor_block(10**9, 1_000, n_attributes=9)
    assert not np.array_equal(far, WHOLE[:1_000], equal_nan=True)


def test_what_the_sensors_are() -> None:
    all_ = sensors.sensors(50)
    assert all_[:9] == sensors.sensors(9)
    assert len({sensor.name for sensor in all_}) == 50
    assert {sensor.shape for sensor in all_} == {"straight", "bent", "heavy", "tenths", "levels"}
    assert {sensor.state for sensor in all_} == {None, 0, 1, 2, 3}
    X, _ = sensors.sensor_block(0, 20_000)
    assert (X.dtype, X.shape) == (np.float32, (20_000, 50))
    gaps = np.isnan(X).mean(axis=0)
    for share, column, sensor in zip(gaps, X.T, all_, strict=True):
        assert share == pytest.approx(0.01, abs=0.004) if sensor.drops_out else share == 0
        if sensor.shape == "levels":
            assert len(np.unique(column[~np.isnan(column)])) == 5


def test_the_goal_can_be_learnt_to_about_nine_tenths() -> None:
    X, y = sensors.sensor_block(0, 40_000)
    far, goal = sensors.sensor_block(5_000_000, 10_000)
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X, y)
    assert 0.86 < model.score(far, goal) < 0.93
    assert 0.3 < y.mean() < 0.45


def test_four_classes() -> None:
    _, y = sensors.sensor_block(0, 40_000, n_attributes=9, classes=4)
    assert (np.bincount(y) > 4_000).all()
    np.testing.assert_array_equal(y % 2, WHOLE_GOAL)
    with pytest.raises(ValueError, match="classes must be one of"):
        sensors.sensor_block(0, 10, classes=3)


def test_files_hold_the_rows(tmp_path: Path) -> None:
    paths = sensors.write_parquet(
        tmp_path, 40_000, n_attributes=9, n_files=3, row_group=9_000, with_machine=True
    )
    table = pq.read_table(tmp_path)
    assert [pq.ParquetFile(path).num_row_groups for path in paths] == [2, 2, 2]
    assert table.column_names[-2:] == ["machine", "fault"]
    assert set(table["machine"].to_pylist()) == set(sensors.MACHINES)
    X = np.column_stack([table[j].to_numpy() for j in range(9)])
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, WHOLE)
    np.testing.assert_array_equal(table["fault"].to_numpy(), WHOLE_GOAL)


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sensors.py", str(tmp_path), "--rows", "5", "--files", "9", "--attributes", "3"]
    monkeypatch.setattr(sys, "argv", words)
    sensors.main()
    assert capsys.readouterr().out.startswith("5 rows, 0.00 GB, in ")
    assert pq.read_table(tmp_path).num_rows == 5
