"""Read headerless files of the UCI repository, with the class as the last column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import parse_numbers
from solah.data.table import Column, Table
from solah.datasets.entries import GOAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from solah.datasets.entries import RawFile

MISSING = "?"


def read_raw(file: Path, raw: RawFile) -> Table:
    """Read a file whose hash has been checked, so that its form is certain."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [line.split(raw.separator) for line in lines if line.strip()]
    cells = dict(zip(raw.columns, zip(*rows, strict=True), strict=True))
    attributes = [name for name in raw.columns if name not in (*raw.drop, GOAL)]
    columns = [_column(name, cells[name], raw.words.get(name, {})) for name in (*attributes, GOAL)]
    return Table(tuple(columns), len(rows))


def _column(name: str, cells: Iterable[str], words: Mapping[str, str]) -> Column:
    """Make a column of numbers if all its cells are such, else of text."""
    spoken = [None if cell == MISSING else words.get(cell, cell) for cell in cells]
    numbers = parse_numbers(spoken)
    return Column(name, np.array(spoken, dtype=object) if numbers is None else numbers)
