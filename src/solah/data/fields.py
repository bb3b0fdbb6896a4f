"""Split lines of a delimited file into fields, with the standard library's csv.

Spaces around a field that is not quoted are no part of it; of a text in quotes, and of other white
space, ``text_columns.py`` takes care. A space as the delimiter stands for any
run of spaces and tabs.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from solah.data.textfile import MAX_LINE

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Callable, Iterable, Iterator

SPACES = " "

# More than a line can have; only a field that spans lines, likely a stray quote, meets it.
_MAX_FIELD = 2 * MAX_LINE
_RUN = re.compile(r"[ \t]+")
_RUN_AT_END = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n])")


def cut(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Reader:
    """Cut lines into fields, without the spaces around those that are not quoted."""
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD))
    tidy = _tidy(lines, delimiter)
    return csv.reader(tidy, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _tidy(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Take the spaces behind unquoted fields away; those before them, csv itself leaves out."""
    tidy = _tidier(delimiter)
    within_quotes = False
    for line in lines:
        if '"' not in line and not within_quotes:
            yield tidy(line)
            continue
        parts = line.split('"')
        for j in range(int(within_quotes), len(parts), 2):
            parts[j] = tidy(parts[j])
        within_quotes ^= len(parts) % 2 == 0
        yield '"'.join(parts)


def _tidier(delimiter: str) -> Callable[[str], str]:
    """Return what tidies a part of a line that is outside quotes."""
    if delimiter == SPACES:
        return _join_spaces
    # A run of spaces is tried once, from its start, so that a long one costs only its length.
    behind = re.compile(rf"(?<! ) ++(?=[{re.escape(delimiter)}\r\n])")

    def tidy(text: str) -> str:
        return behind.sub("", text) if " " in text else text

    return tidy


def _join_spaces(text: str) -> str:
    return _RUN.sub(" ", _RUN_AT_END.sub("", text))
