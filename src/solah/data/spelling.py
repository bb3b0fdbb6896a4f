"""Read numbers from text, and write numbers as text.

A text is a number when ``float()`` reads it, with two exceptions: text with underscores
(``1_000``) is more likely a name, and infinities (``inf``, ``1e999``) have no word to describe
them. ``float()`` reads ``NAN`` as not-a-number, and that is missing. Numbers as people write them
are numbers, too: with commas between thousands, a percent sign or a currency sign.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CURRENCIES = "$€£¥"
_SIGN_BEFORE = re.compile(rf"([+-]?)([{_CURRENCIES}]) ?(.+)")
_SIGN_BEHIND = re.compile(rf"(.*[0-9.]) ?([%{_CURRENCIES}])")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")

_LARGE, _VERY_LARGE = 1e4, 1e12

TRUTH = {"True": "1", "TRUE": "1", "true": "1", "False": "0", "FALSE": "0", "false": "0"}
"""The texts of booleans, and the numbers for them."""


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    try:
        return "_" not in cell and not math.isinf(float(cell))
    except ValueError:
        return False


def parse_numbers(cells: Sequence[str | None] | NDArray[Any]) -> NDArray[np.float64] | None:
    """Read the cells as numbers, None as NaN; return None if one of them is not a number."""
    if isinstance(cells, np.ndarray):
        cells = cells.tolist()  # a list has its items, where an array makes each of them again
    try:
        numbers = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    # Looking for the rare exceptions in bulk keeps the loop over the cells inside NumPy.
    if "_" in "".join(filter(None, cells)) or np.isinf(numbers).any():
        return None
    return numbers


class WrittenNumbers(NamedTuple):
    """Numbers as people write them, the sign that all carry, and how they were read, if changed."""

    values: NDArray[np.float64]
    sign: str
    note: str


def parse_written_numbers(
    cells: Sequence[str | None] | NDArray[Any],
) -> WrittenNumbers | None:
    """Read cells as people write numbers: 30%, 1,234 or $5; None if one is not a number.

    All cells must carry the same sign: nobody knows what 0.3 means between percentages.

    Examples
    --------
    >>> parse_written_numbers(["30%", None, "2.5 %"]).note
    "percentages: '30%' is read as 30"
    >>> parse_written_numbers(["1,234", "56"]).values
    array([1234.,   56.])
    >>> parse_written_numbers(["$1,234.50", "-$2"]).values
    array([1234.5,   -2. ])
    >>> parse_written_numbers(["30%", "0.3"])
    """
    numbers = parse_numbers(cells)
    if numbers is not None:
        return WrittenNumbers(numbers, "", "")
    marked = [(None, "") if cell is None else _without_marks(cell) for cell in cells]
    texts = [text for text, _ in marked]
    signs = {sign for text, sign in marked if text is not None}
    numbers = parse_numbers(texts) if len(signs) == 1 else None
    if numbers is None:
        return None
    sign = signs.pop()
    what = {"": "commas between thousands", "%": "percentages"}.get(sign, f"amounts in {sign}")
    before, after = next(pair for pair in zip(cells, texts, strict=True) if pair[0] != pair[1])
    return WrittenNumbers(numbers, sign, f"{what}: {before!r} is read as {after}")


def read_number(text: str) -> float | None:
    """Read one text as a number: plain, as people write it, or a boolean; else None.

    Examples
    --------
    >>> [read_number(text) for text in ("7", "25%", "$1,234", "TRUE", "red")]
    [7.0, 25.0, 1234.0, 1.0, None]
    """
    number, _ = _without_marks(TRUTH.get(text, text))
    return float(number) if is_number(number) else None


def _without_marks(cell: str) -> tuple[str, str]:
    """Return a number without its percent or currency sign and its commas, and the sign."""
    sign = ""
    if found := _SIGN_BEFORE.fullmatch(cell):
        cell, sign = found[1] + found[3], found[2]
    elif found := _SIGN_BEHIND.fullmatch(cell):
        cell, sign = found[1], found[2]
    return (cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else cell), sign


def spell(value: Any) -> str:
    """Write a value as text, a whole number without a point."""
    return str(plain(value))


def plain(value: Any) -> Any:
    """Make an int of a float that is a whole number, exactly; leave anything else."""
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return int(value) if is_whole and abs(value) < 2**53 else value


def count(number: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spell_number(number: float, digits: int = 4, sign: str = "") -> str:
    """Write a number as people do: few digits, and commas between thousands from 10,000 on.

    ``digits`` is the number of significant digits; ``sign="+"`` also writes the sign of positive
    numbers.

    Examples
    --------
    >>> [spell_number(x) for x in (18420.4, 1060.0, 0.25, 1234567, -0.00001234, 3e12)]
    ['18,420', '1060', '0.25', '1,235,000', '-1.234e-05', '3e+12']
    >>> spell_number(18420.25, 15)
    '18,420.25'
    """
    text = f"{number:{sign}.{digits}g}"
    rounded = float(text)
    comma = "," if abs(rounded) >= _LARGE else ""
    if abs(rounded) >= _VERY_LARGE:
        return text
    if "e+" in text:
        return f"{rounded:{sign}{comma}.0f}"
    return f"{number:{sign}{comma}.{digits}g}"


def spell_whole(number: int) -> str:
    """Write a whole number with all its digits, and commas between thousands from 10,000 on.

    Examples
    --------
    >>> spell_whole(9999), spell_whole(18420)
    ('9999', '18,420')
    """
    return f"{number:,}" if abs(number) >= _LARGE else str(number)


def spell_mean(number: float) -> str:
    """Write a mean of counts, or weights of rows: a small one with a decimal, if it has one.

    Examples
    --------
    >>> spell_mean(12.4), spell_mean(2.25), spell_mean(3.0)
    ('12', '2.2', '3')
    """
    return spell_whole(round(number)) if number >= 10 else f"{number:.2g}"
