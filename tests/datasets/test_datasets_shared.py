"""The real files: every set in the folder, and downloads rebuilt byte for byte from them."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from solah.data import infer_types
from solah.datasets import available, load
from solah.datasets.registry import ENTRIES, find_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from toy_plants import Mirror

    from solah.data.table import Table
    from solah.datasets.registry import Entry

FOLDER = Path(os.environ.get("SOLAH_DATA", "no folder"))

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="SOLAH_DATA names no folder"),
]

IN_FOLDER = [entry for entry in ENTRIES if (FOLDER / entry.file_name).is_file()]


@pytest.mark.parametrize("entry", IN_FOLDER, ids=lambda entry: entry.name)
def test_every_set_in_the_folder_is_what_the_registry_says(entry: Entry) -> None:
    dataset = load(entry.name)
    assert dataset.table.n_rows == entry.n_rows
    assert len(dataset.feature_names) == entry.n_features
    assert (dataset.groups is None) == (entry.groups is None)
    assert dataset.groups is None or len(dataset.groups) == entry.n_rows


@pytest.mark.parametrize("entry", IN_FOLDER, ids=lambda entry: entry.name)
def test_declared_kinds_fit_the_columns(entry: Entry) -> None:
    dataset = load(entry.name)
    _, kinds = infer_types(dataset.table, dataset.kinds)
    declared = dict(zip(dataset.feature_names, map(str, kinds), strict=True))
    for name, kind in entry.kinds.items():
        assert declared[name] == (kind if isinstance(kind, str) else "ordinal")


def test_wisconsin_s_grades_stay_continuous() -> None:
    _, kinds = infer_types(load("wisconsin").table)
    assert set(map(str, kinds)) == {"continuous"}


def test_missing_values_are_as_many_as_are_known() -> None:
    for name, known in {"hepatitis": 167, "breast": 9, "wisconsin": 16, "cleveland": 6}.items():
        columns = load(name).table.columns
        assert sum(int(column.missing().sum()) for column in columns) == known


def test_the_list_says_that_they_are_at_hand() -> None:
    where = {info.name: info.where for info in available()}
    assert {where[entry.name] for entry in IN_FOLDER} <= {"SOLAH_DATA", "scikit-learn"}


def plain(row: list[str]) -> str:
    return ",".join(row) + "\n"


def sonar(row: list[str]) -> str:
    return ",".join(f"{float(cell):.4f}" for cell in row[:-1]) + f",{row[-1][0].upper()}\n"


def statlog(row: list[str]) -> str:
    label = {"absent": "1", "present": "2"}[row[-1]]
    return " ".join([*(f"{float(cell):.1f}" for cell in row[:-1]), label]) + "\n"


def hepatitis(row: list[str]) -> str:
    cells = [cell or "?" for cell in row[:-1]]
    if cells[13] != "?":
        cells[13] = f"{float(cells[13]):.2f}"
    return ",".join([{"DIE": "1", "LIVE": "2"}[row[-1]], *cells]) + "\n"


def rebuild(entry: Entry, line: Callable[[list[str]], str], newline: str = "\n") -> bytes:
    """Write the set's rows as the repository does."""
    with (FOLDER / entry.file_name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return "".join(map(line, rows)).replace("\n", newline).encode()


@pytest.mark.parametrize(
    ("name", "line", "newline"),
    [
        ("ionosphere", plain, "\n"),
        ("sonar", sonar, "\n"),
        ("heart_statlog", statlog, "\n"),
        ("hepatitis", hepatitis, "\n"),
        ("iot_wall_following_robot", plain, "\r\n"),
    ],
)
def test_a_download_with_the_registered_hash_equals_the_folder_s_file(
    name: str,
    line: Callable[[list[str]], str],
    newline: str,
    mirror: Mirror,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = find_entry(name)
    assert entry.raw is not None
    mirror.put(entry.raw.path, rebuild(entry, line, newline))
    expected = load(name)
    monkeypatch.delenv("SOLAH_DATA")
    downloaded = load(name)
    assert downloaded.target.tolist() == expected.target.tolist()
    assert_same(downloaded.table, expected.table)


def assert_same(found: Table, expected: Table) -> None:
    assert found.names == expected.names
    for one, other in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
