"""What a cell means: missing, a number, a boolean, or a category.

Every reader and every model uses this module, so that a table means the same on every way in:
as a file, a data frame, an array or JSON.

1. Spaces around a text are not part of it, and ``MISSING_WORDS`` are missing.
2. ``TRUE`` and ``true`` are ``True``, and a column of nothing else is booleans.
3. A column of texts that are all numbers is numbers: ``7``, ``07`` and ``7.0`` are equal. So are
   ``1,234``, ``25%`` and ``$5``, where all cells of a column carry the same sign.
4. Other texts are categories. A model finds a value among its categories by number where all of
   them are numbers or booleans, and else by its text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from solah.data.spelling import TRUTH, is_number, parse_written_numbers, read_number, spell
from solah.data.spreadsheets import unguarded
from solah.data.table import Table
from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from solah.data.table import Column

State: TypeAlias = str | int | float | bool

MISSING_WORDS = frozenset(
    {
        *("", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NaT", "null", "NULL", "None"),
        *("<NA>", "#NA", "#N/A", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    }
)
"""The words for a missing value, which include those of pandas and PyArrow."""

_TRUTH_TEXTS = {text: str(number == "1") for text, number in TRUTH.items()}
_WITH_UNIT = re.compile(
    r"((?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|[^\w\s.,'+-]{1,2}) ?)?"
    r"[+-]?\d[\d.,' ]*?( ?[^\d\s.,'+-]{1,6})?"
)
_REMEMBERED = 4_096
_FEW_WORDS = 3


class _Known(dict[Any, str | None]):
    """What each cell means; a cell that was never seen means itself, without spaces around it."""

    def __missing__(self, cell: str) -> str | None:
        text = cell.strip()
        self[cell] = meaning = cell if text == cell else self[text]
        return meaning


class TextCells:
    """Reads texts: None for missing, "True" and "False" for booleans; equal cells share one string.

    Parameters
    ----------
    missing : frozenset of str
        Further words for a missing value.

    Examples
    --------
    >>> TextCells(frozenset({"-999"})).of([" red ", "-999", None, "TRUE"])
    array(['red', None, None, 'True'], dtype=object)
    """

    def __init__(self, missing: frozenset[str] = frozenset()) -> None:
        self._missing: frozenset[Any] = MISSING_WORDS | missing | {None}
        self._known = _Known()

    def of(self, cells: Iterable[str | None]) -> NDArray[Any]:
        """Return the cells as an object array."""
        if not self._known or len(self._known) > _REMEMBERED:
            self._known = _Known(_TRUTH_TEXTS | dict.fromkeys(self._missing))
        return np.array(list(map(self._known.__getitem__, cells)), dtype=object)


def order_of_texts(states: Iterable[Any]) -> tuple[str, ...]:
    """Return the states of an ordered categorical as text, without words for missing."""
    texts = TextCells().of(map(spell, states))
    return tuple(text for text in texts if text is not None)


def understand(column: Column) -> Column:
    """Take text as the booleans or numbers that it is throughout; leave other text.

    Text that is called nominal is never numbers, and text with an order of its own stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column
    >>> understand(Column("wet", np.array(["TRUE", "false"], dtype=object))).values
    array([ True, False])
    >>> understand(Column("share", np.array(["25%", None], dtype=object))).values
    array([25., nan])
    """
    column = as_truth(column)
    is_name = column.nominal or column.order is not None
    if not column.is_text or is_name or are_truth(column.values) or column.missing().all():
        return column
    written = parse_written_numbers(column.values)
    if written is None:
        return column
    return replace(column, values=written.values, note=written.note)


def as_truth(column: Column) -> Column:
    """Take text that is booleans throughout as these; leave anything else.

    Where some are missing, they are the texts "True" and "False".
    """
    if not column.is_text or column.order is not None or not are_truth(column.values):
        return column
    texts = TextCells().of(column.values)
    return replace(column, values=texts if None in texts else (texts == "True").astype(bool))


def are_truth(cells: Iterable[str | None]) -> bool:
    """Whether all texts are booleans, and there is at least one."""
    found = False
    for cell in cells:
        if cell is not None and cell not in TRUTH:
            return False
        found |= cell is not None
    return found


def to_numbers(column: Column, *, first_row: int = 1) -> Column:
    """Return the column as float64; booleans are 0 and 1.

    Parameters
    ----------
    column : Column
        Any column. All of its text must be numbers or booleans.
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
    if are_truth(column.values):
        numbers = [np.nan if cell is None else float(TRUTH[cell]) for cell in column.values]
        return replace(column, values=np.array(numbers), order=None, nominal=False)
    written = parse_written_numbers(column.values)
    if written is None:
        raise not_numbers(column, first_row)
    return replace(column, values=written.values, order=None, nominal=False)


def to_text(column: Column) -> Column:
    """Return the column as text, with None for missing; whole numbers have no decimal point.

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


def join_tables(tables: Sequence[Table]) -> Table:
    """Join tables of the same columns, one below the other.

    A column is text where one of its pieces is.
    """
    return Table(
        tuple(map(_joined, zip(*(table.columns for table in tables), strict=True))),
        sum(table.n_rows for table in tables),
    )


def _joined(pieces: Sequence[Column]) -> Column:
    values = [piece.values for piece in pieces]
    if len({one.dtype for one in values}) > 1:
        is_text = any(piece.is_text and not piece.missing().all() for piece in pieces)
        take = to_text if is_text else to_numbers
        values = [take(piece).values for piece in pieces]
    order = next((piece.order for piece in pieces if piece.order), None)
    return replace(pieces[0], values=np.concatenate(values), order=order)


def not_numbers(column: Column, first_row: int = 1) -> DataError:
    """Return the error for text between numbers."""
    name = column.name
    rows = [j for j, cell in enumerate(column.values) if cell is not None and not is_number(cell)]
    many = f"{len(rows)} values that are not numbers"
    if len(rows) == 1:
        many = "1 value that is not a number"
    first = f"first: {column.values[rows[0]]!r}, row {first_row + rows[0]}"
    cause = f"column {name!r} has {many} ({first})"
    declared = f"feature_types={{{name!r}: 'categorical'}}"
    as_names = f"declare it categorical with {declared} (--type {name}=categorical)"
    words = [cell for cell, _ in Counter(column.values[rows].tolist()).most_common()]
    if all(read_number(one) is not None for one in words):
        return DataError(f"{cause}; write all of its numbers alike, or {as_names}")
    if len(words) > _FEW_WORDS:
        return DataError(f"{cause}; {as_names}", remedy=f"--type {quote(name)}=categorical")
    options = " ".join(f"--read missing={quote(one)}" for one in words)
    return DataError(
        f"{cause}; if that means missing, pass {options} (None or NaN in Python), or {as_names}",
        remedy=options,
    )


def likely_numbers(column: Column) -> DataError | None:
    """Return the error for text that is most likely numbers; None for other text.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column
    >>> likely_numbers(Column("mass", np.array(["5 kg", "7.5 kg"], dtype=object)))
    DataError("column 'mass' looks like numbers, such as '5 kg'; write all of them without a unit, \
such as 1234.5")
    """
    texts = [text for text in dict.fromkeys(column.values) if text is not None]
    n_words = sum(read_number(text) is None for text in texts)
    if n_words < len(texts):
        are_names = n_words > _FEW_WORDS or all(map(is_number, texts))
        return None if are_names else not_numbers(column)
    units = {found and found.groups() for found in map(_WITH_UNIT.fullmatch, texts)}
    if None in units or len(units) > _FEW_WORDS:
        return None
    return DataError(
        f"column {column.name!r} looks like numbers, such as {texts[0]!r}; write all of them "
        "without a unit, such as 1234.5"
    )


def encode_states(column: Column, states: Sequence[State]) -> NDArray[np.float64]:
    """Replace each value by its index among the states; NaN where it is missing or unseen.

    States that are all numbers or booleans, also as text, are found by number: ``1``, ``1.0``,
    ``"01"`` and ``True`` are one. Numbers count with seven digits, so that a float32 means the same
    as the float64 that it was. Other states are found by their text.
    """
    key = _key(states)
    lookup = {key(state): float(index) for index, state in enumerate(states)}

    def code(value: Any) -> float:
        if value is None or value != value:
            return np.nan
        found = lookup.get(key(value))
        if found is None and isinstance(value, str):  # as decisions are written for spreadsheets
            found = lookup.get(key(unguarded(value)))
        return np.nan if found is None else found

    if column.is_text:
        known: dict[Any, float] = {value: code(value) for value in dict.fromkeys(column.values)}
        return np.fromiter(map(known.__getitem__, column.values), float, len(column.values))
    distinct, places = np.unique(column.values, return_inverse=True)
    return np.array([code(value) for value in distinct.tolist()], dtype=np.float64)[places]


def _key(states: Sequence[State]) -> Callable[[Any], Hashable]:
    """Choose what values are compared by: the first that is different for all states."""
    for key, allowed in ((_number_key, float), (_truth_key, object)):
        keys = [key(state) for state in states]
        if all(isinstance(one, allowed) for one in keys) and len(set(keys)) == len(states):
            return key
    return spell


def _number_key(value: State) -> Hashable:
    number = read_number(value) if isinstance(value, str) else float(value)
    if number is None or number != number:
        return str(value)
    rounded = float(f"{number:.7g}")
    return rounded if abs(rounded) < 1e7 else number


def _truth_key(value: State) -> Hashable:
    """Compare by text, and booleans however they are written."""
    text = spell(value)
    return TRUTH[text] == "1" if text in TRUTH else text
