"""Write tables so that no spreadsheet runs their text or splits their rows."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

from solah.data.spelling import is_number

if TYPE_CHECKING:
    from typing import IO

# What a spreadsheet takes for a formula, or passes over before one; and where that was prevented.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def guarded(cell: Any) -> Any:
    """Write a text so that no spreadsheet runs it as a formula: with an apostrophe before it.

    Numbers stay as they are, also as text. :func:`unguarded` gives back any text that was written
    so.

    Examples
    --------
    >>> [guarded(cell) for cell in ("=1+1", "-1.5", "hot", -1.5)]
    ["'=1+1", '-1.5', 'hot', -1.5]
    """
    is_formula = isinstance(cell, str) and _FORMULA.match(cell) and not is_number(cell)
    return f"'{cell}" if is_formula else cell


def unguarded(cell: str) -> str:
    """Read a text that was guarded against spreadsheets."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def table_writer(file: IO[str]) -> Any:
    r"""Return a writer of CSV lines that end in ``\n``, with any line break in a cell quoted.

    Python before 3.13 would leave a carriage return bare, and what follows it begins a new line.
    """
    return csv.writer(_LinesEnded(file), lineterminator="\r\n")


class _LinesEnded:
    """Ends lines as the rest of our files do."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> int:
        """Write a line."""
        return self._file.write(line.removesuffix("\r\n") + "\n")
