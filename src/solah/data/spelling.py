"""Convert text cells to float64, and numbers back to their spelling.

A cell is a number when ``float()`` reads it, except that underscores (``1_000``) and infinities
(``inf``, ``1e999``) are text: the first is rather a name, the second cannot be described with
words. What ``float()`` reads as not-a-number (``NAN``) is missing. Where all cells of a column are
percentages, or some have commas between thousands, they are numbers too.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data.table import Column

_PERCENT = re.compile(r"([^%]*[0-9.]) ?%")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")

_LARGE, _VERY_LARGE = 1e4, 1e12

TRUTH = {"True": "1", "true": "1", "False": "0", "false": "0"}
"""Truth values as they are spelt, and the numbers that they are."""


def is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number."""
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


def parse_written_numbers(
    cells: Sequence[str | None] | NDArray[Any],
) -> tuple[NDArray[np.float64], str] | None:
    """Read cells as people write numbers: 30%, or 1,234; return a note too, or None.

    Examples
    --------
    >>> parse_written_numbers(["30%", None, "2.5 %"])
    (array([30. ,  nan,  2.5]), "percentages: '30%' is read as 30")
    >>> parse_written_numbers(["1,234", "56"])
    (array([1234.,   56.]), "commas between thousands: '1,234' is read as 1234")
    >>> parse_written_numbers(["30%", "0.3"])
    """
    known = [cell for cell in cells if cell is not None]
    is_percent = bool(known) and all(map(_PERCENT.fullmatch, known))
    plain_cells = [None if cell is None else _without_marks(cell, is_percent) for cell in cells]
    numbers = parse_numbers(plain_cells)
    if numbers is None or not known:
        return None
    changed = next(
        (pair for pair in zip(cells, plain_cells, strict=True) if pair[0] != pair[1]), None
    )
    if changed is None:
        return None
    what = "percentages" if is_percent else "commas between thousands"
    return numbers, f"{what}: {changed[0]!r} is read as {changed[1]}"


def _without_marks(cell: str, is_percent: bool) -> str:
    if is_percent and (found := _PERCENT.fullmatch(cell)):
        cell = found[1]
    return cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else cell


def to_numbers(column: Column, *, first_row: int = 1) -> Column:
    """Return the column as float64 numbers, with NaN for missing.

    Parameters
    ----------
    column : Column
        Any column; text must spell numbers.
    first_row : int, default=1
        The number of the column's first row, for the error message.

    Raises
    ------
    DataError
        If there is text that is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column
    >>> to_numbers(Column("age", np.array(["7", None], dtype=object))).values
    array([ 7., nan])
    """
    if not column.is_text:
        return replace(column, values=column.values.astype(np.float64, copy=False))
    numbers = parse_numbers(column.values)
    if numbers is None:
        written = parse_written_numbers(column.values)
        if written is None:
            raise not_numbers(column, first_row)
        numbers = written[0]
    return replace(column, values=numbers, order=None, nominal=False)


def to_text(column: Column) -> Column:
    """Return the column as text, with None for missing; whole numbers are spelt without a point.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column
    >>> to_text(Column("age", np.array([7.0, np.nan, 0.5]))).values
    array(['7', None, '0.5'], dtype=object)
    """
    if column.is_text:
        return column
    missing = column.missing()
    distinct, where = np.unique(column.values[~missing], return_inverse=True)
    text = np.full(len(missing), None, dtype=object)
    text[~missing] = np.array([spell(value) for value in distinct], dtype=object)[where]
    return replace(column, values=text)


def spell(value: Any) -> str:
    """Spell a value as text, a whole number without a point."""
    return str(plain(value))


def plain(value: Any) -> Any:
    """Make an int of a float that is a whole number, exactly; leave anything else."""
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return int(value) if is_whole and abs(value) < 2**53 else value


def not_numbers(column: Column, first_row: int = 1) -> DataError:
    """Say which values of a text column are not numbers, and what can be done about it."""
    strange = [
        row for row, cell in enumerate(column.values) if cell is not None and not is_number(cell)
    ]
    name, word = column.name, column.values[strange[0]]
    values = "1 value that is not a number"
    if len(strange) > 1:
        values = f"{len(strange)} values that are not numbers"
    return DataError(
        f"column {name!r} has {values} (first: {word!r}, row {first_row + strange[0]}); "
        f"declare it categorical with kinds={{{name!r}: 'categorical'}} (--categorical {name}), "
        f"or mark the word as missing (--missing {word})",
        remedy=f"--categorical {name}",
    )


def count(number: int, noun: str) -> str:
    """Say how many there are."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spell_number(number: float, digits: int = 4, sign: str = "") -> str:
    """Write a number as people do: few digits, and commas between thousands from 10,000 on.

    Parameters
    ----------
    number : float
    digits : int, default=4
        How many digits count.
    sign : {"", "+"}, default=""
        ``"+"`` to write the sign of a positive number, too.

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
