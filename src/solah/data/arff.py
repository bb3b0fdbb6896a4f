"""Read ARFF files (the format of Weka) as a stream of tables.

Numeric attributes become float64, nominal ones text that is ``nominal``, strings text. ``?`` is
missing. Nominal values have no order in ARFF, though their list is written in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from solah.data.arrays import no_times
from solah.data.cells import TextCells, to_numbers
from solah.data.options import refuse_many_columns
from solah.data.spelling import count
from solah.data.table import Column, Table
from solah.data.textfile import lines_of, open_text
from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from solah.data.options import ReadOptions

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
_FIELD = re.compile(rf"(?: *({_QUOTED}) *|([^,\t]*))([,\t]|$)")
_NUMERIC = frozenset({"numeric", "real", "integer"})

# A line with its number.
Line = tuple[int, str]


@dataclass(frozen=True)
class _Attribute:
    """A name and one of the types numeric, nominal and string."""

    name: str
    type: str


def read_arff(path: Path, options: ReadOptions) -> Table:
    """Read a whole file."""
    tables = list(iter_arff(path, options, rows=50_000))
    columns = tuple(
        replace(parts[0], values=np.concatenate([part.values for part in parts]))
        for parts in zip(*(table.columns for table in tables), strict=True)
    )
    return Table(columns, sum(table.n_rows for table in tables))


def iter_arff(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables with at most that many rows; the first may have none."""
    with open_text(path, options) as stream:
        lines = _meaningful(enumerate(lines_of(stream, path), start=1))
        attributes = _header(lines, path)
        cells = TextCells(options.missing)
        records = (_record(line, attributes, cells, path) for line in lines)
        first_row = 1
        while (batch := list(islice(records, rows))) or first_row == 1:
            yield _table(batch, attributes, first_row)
            first_row += max(1, len(batch))


def _meaningful(lines: Iterator[Line]) -> Iterator[Line]:
    """Leave out comments and blank lines, and the spaces around the others."""
    stripped = ((number, line.strip()) for number, line in lines)
    return ((number, line) for number, line in stripped if line and line[0] != "%")


def _header(lines: Iterator[Line], path: Path) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        keyword = line.split(maxsplit=1)[0].lower()
        if keyword == "@data":
            break
        if keyword == "@attribute":
            attributes.append(_attribute(line, f"{path}, line {number}"))
            refuse_many_columns(len(attributes), str(path))
        elif keyword != "@relation":
            raise FileFormatError(
                f"{path}, line {number}: {line[:40]!r} is none of @relation, @attribute and @data"
            )
    else:
        raise FileFormatError(f"{path} has no @data line; is it an ARFF file?")
    if not attributes:
        raise FileFormatError(f"{path} declares no @attribute")
    return attributes


def _attribute(line: str, where: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise FileFormatError(f"{where}: {line[:40]!r} is not an attribute with a name and a type")
    name, type_ = _unquote(match[1]), match[2]
    word = type_.split()[0].lower()
    if type_.startswith("{"):
        return _Attribute(name, "nominal")
    if word == "date":
        raise no_times(name)
    if word in _NUMERIC:
        return _Attribute(name, "numeric")
    if word == "string":
        return _Attribute(name, "string")
    raise FileFormatError(f"{where}: attributes of type {word!r} are not read")


def _record(
    line: Line, attributes: list[_Attribute], cells: TextCells, path: Path
) -> list[str | None]:
    number, text = line
    if text.startswith("{"):
        raise FileFormatError(
            f"{path}, line {number}: sparse rows {{…}} are not read; write the file in dense form "
            f"(Weka's filter SparseToNonSparse)"
        )
    fields = _fields(text)
    if len(fields) != len(attributes):
        raise FileFormatError(
            f"{path}, line {number}: {count(len(fields), 'field')} "
            f"where {len(attributes)} should be, one for each @attribute"
        )
    # A quoted word for missing means itself, so it is looked for before the quotes go.
    return [None if cell is None else _unquote(cell).strip() or None for cell in cells.of(fields)]


def _fields(text: str) -> list[str]:
    if "'" not in text and '"' not in text and "\t" not in text:
        return [field.strip() for field in text.split(",")]
    fields: list[str] = []
    position = 0
    while match := _FIELD.match(text, position):
        fields.append(match[1] or match[2].strip())
        position = match.end()
        if not match[3]:  # the end of the line
            break
    return fields


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _table(records: list[list[str | None]], attributes: list[_Attribute], first_row: int) -> Table:
    cells = list(zip(*records, strict=True)) or [()] * len(attributes)
    columns = tuple(
        _column(attribute, one, first_row) for attribute, one in zip(attributes, cells, strict=True)
    )
    return Table(columns, len(records))


def _column(attribute: _Attribute, cells: tuple[str | None, ...], first_row: int) -> Column:
    values = np.array(cells, dtype=object)
    column = Column(attribute.name, values, nominal=attribute.type == "nominal")
    return to_numbers(column, first_row=first_row) if attribute.type == "numeric" else column
