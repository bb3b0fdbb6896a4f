"""Read ARFF files (the format of Weka) as a stream of tables.

Numeric attributes become float64, nominal ones text that is ``nominal``, strings text. ``?`` is
missing. Nominal values have no order in ARFF, though their list is written in one.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from solah.data.cells import TextCells, join_tables, to_numbers
from solah.data.frames import no_times
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
_TYPES = {**dict.fromkeys(("numeric", "real", "integer"), "numeric"), "string": "string"}

# A line with its number, and the name and type (numeric, nominal or string) of an attribute.
Line: TypeAlias = tuple[int, str]
Attribute: TypeAlias = tuple[str, str]


def read_arff(path: Path, options: ReadOptions) -> Table:
    """Read a whole file."""
    return join_tables(list(iter_arff(path, options, rows=50_000)))


def iter_arff(path: Path, options: ReadOptions, rows: int) -> Iterator[Table]:
    """Stream a file as tables with at most that many rows; the first may have none."""
    with open_text(path, options) as stream:
        stripped = ((at, line.strip()) for at, line in enumerate(lines_of(stream, path), start=1))
        lines = ((at, line) for at, line in stripped if line and line[0] != "%")
        attributes = _header(lines, path)
        cells = TextCells(options.missing)
        records = (_record(line, len(attributes), cells, path) for line in lines)
        first_row = 1
        while (batch := list(islice(records, rows))) or first_row == 1:
            by_column = list(zip(*batch, strict=True)) or [()] * len(attributes)
            columns = []
            for (name, type_), values in zip(attributes, by_column, strict=True):
                column = Column(name, np.array(values, dtype=object), nominal=type_ == "nominal")
                is_numeric = type_ == "numeric"
                columns.append(to_numbers(column, first_row=first_row) if is_numeric else column)
            yield Table(tuple(columns), len(batch))
            first_row += max(1, len(batch))


def _header(lines: Iterator[Line], path: Path) -> list[Attribute]:
    attributes: list[Attribute] = []
    for number, line in lines:
        keyword = line.split(maxsplit=1)[0].lower()
        if keyword == "@data":
            break
        if keyword == "@attribute":
            attributes.append(_attribute(line, f"{path}, line {number}"))
            refuse_many_columns(len(attributes), str(path))
        elif keyword != "@relation":
            raise FileFormatError(
                f"{path}, line {number}: {line[:40]!r} is not @relation, @attribute or @data"
            )
    else:
        raise FileFormatError(f"{path} has no @data line; is it an ARFF file?")
    if not attributes:
        raise FileFormatError(f"{path} declares no @attribute")
    return attributes


def _attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise FileFormatError(f"{where}: {line[:40]!r} is not an attribute with a name and a type")
    name, word = _unquote(match[1]), match[2].split()[0].lower()
    if word.startswith("{"):
        return name, "nominal"
    if word == "date":
        raise no_times(name)
    if word not in _TYPES:
        raise FileFormatError(f"{where}: attributes of type {word!r} are not supported")
    return name, _TYPES[word]


def _record(line: Line, n_attributes: int, cells: TextCells, path: Path) -> list[str | None]:
    number, text = line
    if text.startswith("{"):
        raise FileFormatError(
            f"{path}, line {number}: sparse rows {{…}} are not supported; write the file in "
            "dense form (Weka's filter SparseToNonSparse)"
        )
    fields = []
    position = 0
    while match := _FIELD.match(text, position):
        fields.append(match[1] or match[2].strip())
        position = match.end()
        if not match[3]:  # the end of the line
            break
    if len(fields) != n_attributes:
        raise FileFormatError(
            f"{path}, line {number}: {count(len(fields), 'field')} "
            f"instead of {n_attributes}, one per @attribute"
        )
    # A quoted word for missing means itself, so it is looked for before the quotes go.
    return [None if cell is None else _unquote(cell).strip() or None for cell in cells.of(fields)]


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
