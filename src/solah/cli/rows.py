"""Read the rows that a user writes on the command line.

A row is ``name=value`` pairs, a JSON object, or the values of all attributes in their order; and,
where there is a file, the number of one of its rows.
"""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Table
from solah.data.spelling import count
from solah.exceptions import DataError, shorten
from solah.model.encode import check_row_names, rows_table
from solah.model.structure import first_repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from solah.model import Attribute

    Row = dict[str, Any]

_MOST_ROWS = 100_000


def row_numbers(words: Sequence[str]) -> list[int] | None:
    """Read the numbers of rows, such as ``3`` and ``10-12``; None if they are no numbers."""
    numbers: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not last)) or word.endswith("-"):
            return None
        start, stop = int(first), int(last or first)
        if start < 1 or stop < start:
            raise DataError(f"--row {word}: rows are counted from 1, and go upwards")
        if stop - start >= _MOST_ROWS:
            raise DataError(
                f"--row {word}: {_MOST_ROWS:,} rows at the most; leave --row out to explain all"
            )
        numbers += range(start, stop + 1)
    return numbers


def read_rows(
    words: Iterable[str], attributes: Sequence[Attribute], note: Callable[[str], None]
) -> Table:
    """Read rows as the user wrote them; ``-`` stands for JSON lines on stdin."""
    names = [attribute.name for attribute in attributes]
    rows = [row for word in words for row in _read(word, names)]
    if not rows:
        raise DataError("there is no row to explain: stdin was empty")
    table = rows_table(rows, attributes)
    if strangers := sorted({name for row in rows for name in row} - {*names, *table.names}):
        note(f"not asked by the model, and left aside: {', '.join(strangers)}")
    return table


def pick_rows(tables: Iterable[Table], numbers: Sequence[int]) -> Table:
    """Take rows by their numbers, which begin with 1, from a stream of tables."""
    found: dict[int, Table] = {}
    n_rows = 0
    for table in tables:
        for number in numbers:
            if n_rows < number <= n_rows + table.n_rows:
                found[number] = table.rows(number - n_rows - 1, number - n_rows)
        n_rows += table.n_rows
        if len(found) == len(set(numbers)):
            break
    for number in numbers:
        if number not in found:
            raise DataError(f"there is no row {number}; the data have {n_rows:,} rows")
    return _stacked([found[number] for number in numbers])


def _read(word: str, names: Sequence[str]) -> Iterator[Row]:
    if word == "-":
        for line in sys.stdin:
            if line.strip():
                yield from _read_json(line, names)
    elif word.lstrip().startswith(("{", "[")):
        yield from _read_json(word, names)
    else:
        yield _read_fields(word, names)


def _read_json(text: str, names: Sequence[str]) -> Iterator[Row]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is no JSON: {shorten(text)} ({error})") from None
    rows = content if isinstance(content, list) and _has_rows(content) else [content]
    for row in rows:
        if isinstance(row, list):
            row = _by_place(row, names)
        if not isinstance(row, dict):
            raise DataError(f"a row is a JSON object with values by name. Got {shorten(row)}.")
        yield check_row_names(row, names)


def _has_rows(content: list[Any]) -> bool:
    return any(isinstance(item, (dict, list)) for item in content)


def _read_fields(text: str, names: Sequence[str]) -> Row:
    """Read pairs or values, which commas part; a value with a comma stands in quotes."""
    try:
        fields = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(f"this is no row: {shorten(text)} ({error})") from None
    if "=" not in text:
        return check_row_names(_by_place(fields, names), names)
    pairs = [field.partition("=") for field in fields]
    for name, sign, _ in pairs:
        if not sign:
            raise DataError(f"{shorten(name)} is no name=value pair; write a value behind a name")
    if twice := first_repeated([name.strip() for name, _, _ in pairs]):
        raise DataError(f"{shorten(twice)} is there twice in one row")
    return check_row_names({name.strip(): value.strip() for name, _, value in pairs}, names)


def _by_place(values: Sequence[Any], names: Sequence[str]) -> Row:
    if len(values) != len(names):
        raise DataError(
            f"a row of values needs all {len(names)} attributes in their order "
            f"({', '.join(names[:4])}{', …' if len(names) > 4 else ''}); got "
            f"{count(len(values), 'value')}. "
            "Name those that you know: --row 'name=value, name=value'"
        )
    return dict(zip(names, values, strict=True))


def _stacked(tables: Sequence[Table]) -> Table:
    columns = (
        Column(
            column.name,
            np.concatenate([table.column(column.name).values for table in tables]),
            column.order,
            column.nominal,
        )
        for column in tables[0].columns
    )
    return Table(tuple(columns), len(tables))
