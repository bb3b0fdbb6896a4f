"""Infer the type of each column of a table, and its values with it.

The rules, the first that fits:

1. A type that the user declares holds. A sequence of categories, in order, declares an ordinal
   column.
2. Text that came with an order is ordinal. Text that its source calls nominal is categorical.
3. Text that is booleans or numbers throughout is taken as these, see ``cells.py``. Where at
   least half of the values are numbers and some are not, the meaning is unclear, so the user must
   declare a type. Dates are refused.
4. Two distinct values, of any type, are binary.
5. Other text is categorical.
6. Whole numbers with at most ``MAX_STATES`` distinct values are ordinal, a word per value: a
   continuous feature with the default three words has five focal sets, so describing five values
   with such words would blur them and make nothing smaller.
7. Other numbers are continuous.

A column without any value is continuous if it is numeric, else categorical without categories. A
discrete column has at most ``MAX_CATEGORIES`` categories, which a byte can number. A categorical
column with more keeps the most frequent ones, if it is declared or if those with a few rows each
cover half of its rows. Otherwise it looks like an identifier.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from solah.data.cells import (
    State,
    are_truth,
    encode_states,
    likely_numbers,
    not_numbers,
    to_numbers,
    understand,
)
from solah.data.dates import are_ambiguous_dates, are_dates
from solah.data.frames import no_times
from solah.data.spelling import TRUTH, is_number, plain, spell
from solah.data.table import Column, Kind, Table
from solah.exceptions import ColumnError, DataError, RareCategoriesWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STATES = 5
MAX_CATEGORIES = 254

Declared: TypeAlias = Mapping[str, Kind | str | Sequence[State]]

_FIRST_LOOK = 1_000
_FEWEST_ROWS = 5
"""Values with fewer rows may be those of an identifier."""
_DIGITS = re.compile(r"([0-9]+)")


def infer_types(table: Table, declared: Declared | None = None) -> tuple[Table, tuple[Kind, ...]]:
    """Infer the type of each column.

    Parameters
    ----------
    table : Table
        The columns as they came in.
    declared : mapping, optional
        From a column's name to its type, or to its categories in order (then it is ordinal).

    Returns
    -------
    table : Table
        The columns with values of their type: continuous ones are numbers, ordinal text has its
        order.
    kinds : tuple of Kind
        One for each column.

    Raises
    ------
    ColumnError
        If a declared column does not exist.
    DataError
        If columns do not fit their declared type, or cannot be used as they are; the error names
        all of them.

    Examples
    --------
    >>> import numpy as np
    >>> size = Column("size", np.array(["M", "S", "L", None], dtype=object))
    >>> table, kinds = infer_types(Table((size,), 4), {"size": ["S", "M", "L"]})
    >>> kinds[0].value, table.column("size").order
    ('ordinal', ('S', 'M', 'L'))
    """
    wanted = dict(declared or {})
    known = set(table.names)
    for name in wanted:
        if name not in known:
            raise ColumnError.unknown(name, table.names)
    settled, faults = [], []
    for column in table.columns:
        try:
            settled.append(_infer_type(column, wanted.get(column.name)))
        except DataError as fault:
            faults.append(fault)
    if faults:
        raise faults[0] if len(faults) == 1 else _together(faults)
    columns = tuple(column for column, _ in settled)
    return Table(columns, table.n_rows), tuple(kind for _, kind in settled)


def _together(faults: list[DataError]) -> DataError:
    """Return one error for all columns that cannot be used, with the options that help."""
    remedy = " ".join(dict.fromkeys(fault.remedy for fault in faults if fault.remedy))
    each = "; ".join(
        str(fault).partition("; ")[0] if fault.remedy else str(fault) for fault in faults
    )
    way_out = f"; what helps: {remedy}" if remedy else ""
    return DataError(f"{len(faults)} columns cannot be used as they are: {each}{way_out}")


def states_of(column: Column, kind: Kind) -> tuple[State, ...]:
    """List the categories of a column in their order; a continuous one has none.

    Text is sorted, or in its declared order, with states that no row has. Numbers are sorted, and
    whole numbers are ``int``. The texts "True" and "False" are ``bool``.

    Examples
    --------
    >>> import numpy as np
    >>> states_of(Column("doors", np.array([4.0, 2.0, np.nan, 4.0])), Kind.BINARY)
    (2, 4)
    """
    if kind == Kind.CONTINUOUS:
        return ()
    if column.is_text:
        texts = column.order or tuple(sorted(_distinct_text(column)))
        return tuple(TRUTH[text] == "1" for text in texts) if are_truth(texts) else texts
    distinct = np.unique(column.values[~column.missing()])
    return tuple(plain(value) for value in distinct.tolist())


def _infer_type(column: Column, wanted: Kind | str | Sequence[State] | None) -> tuple[Column, Kind]:
    infinite = np.isinf(column.values) if column.values.dtype.kind == "f" else np.zeros(1, bool)
    if infinite.any():
        raise DataError(
            f"column {column.name!r} has an infinite value (row {int(infinite.argmax()) + 1}); "
            f"replace it with a number or mark it as missing, or drop the column "
            f"(--drop {quote(column.name)})",
            remedy=f"--drop {quote(column.name)}",
        )
    if wanted is None:
        column, kind = _inferred(column)
    elif isinstance(wanted, str) or not isinstance(wanted, (Sequence, np.ndarray)):
        column, kind = _declared(column, wanted)
    else:
        column, kind = _in_order(column, list(wanted)), Kind.ORDINAL
    if kind is Kind.CATEGORICAL:
        column = _with_frequent_categories(column, is_declared=wanted is not None)
    _check_states(column, kind)
    return column, kind


def _with_frequent_categories(column: Column, *, is_declared: bool) -> Column:
    """Return the column with rare categories as missing, if there are more than can be numbered."""
    present = column.values[~column.missing()]
    counts = Counter(present.tolist())
    kept = frequent_categories(counts, is_declared=is_declared)
    if len(kept) == len(counts) or (column.is_text and likely_numbers(column) is not None):
        return column
    warn_of_rare_categories(column.name, counts, kept)
    is_rare = [value not in kept for value in column.values.tolist()]
    values = column.values.copy() if column.is_text else column.values.astype(np.float64)
    values[is_rare] = None if column.is_text else np.nan
    return replace(column, values=values)


def frequent_categories(counts: Mapping[Any, int], *, is_declared: bool) -> set[Any]:
    """Select the most frequent of too many categories; all of them if these look like identifiers.

    Ties are broken by the value, so that the order of rows does not matter.

    Examples
    --------
    >>> counts = {f"city {number}": 1 + number % 15 for number in range(500)}
    >>> kept = frequent_categories(counts, is_declared=False)
    >>> len(kept), min(counts[one] for one in kept)
    (254, 8)
    """
    if len(counts) <= MAX_CATEGORIES:
        return set(counts)
    kept = sorted(counts, key=lambda value: (-counts[value], value))[:MAX_CATEGORIES]
    covered = sum(counts[value] for value in kept if counts[value] >= _FEWEST_ROWS)
    return set(kept) if is_declared or 2 * covered >= sum(counts.values()) else set(counts)


def warn_of_rare_categories(name: str, counts: Mapping[Any, int], kept: set[Any]) -> None:
    """Warn that rare categories of a column count as missing."""
    n_rows = sum(number for value, number in counts.items() if value not in kept)
    warnings.warn(
        RareCategoriesWarning(name, len(counts), len(kept), n_rows, sum(counts.values())),
        stacklevel=4,
    )


def _inferred(column: Column) -> tuple[Column, Kind]:
    if column.order is not None:
        return column, Kind.ORDINAL
    column = understand(column)
    if column.is_text:
        present = [cell for cell in column.values if cell is not None]
        if not column.nominal:
            if are_dates(present):
                raise no_times(column.name)
            if are_ambiguous_dates(present):
                raise DataError(
                    f"column {column.name!r} holds dates that may begin with the day or with the "
                    f"month; write them as 2026-01-31, or drop the column (--drop "
                    f"{quote(column.name)})",
                    remedy=f"--drop {quote(column.name)}",
                )
            numbers = {one for one in set(present) if is_number(one) and one.lower() != "nan"}
            if present and 2 * sum(cell in numbers for cell in present) >= len(present):
                raise not_numbers(column)
        return column, Kind.BINARY if len(set(present)) == 2 else Kind.CATEGORICAL
    distinct = _few_distinct(column.values)
    if distinct is None or len(distinct) == 0:
        return column, Kind.CONTINUOUS
    if len(distinct) == 2:
        return column, Kind.BINARY
    if column.values.dtype.kind == "b":
        return column, Kind.CATEGORICAL
    return column, Kind.ORDINAL if _are_whole(distinct) else Kind.CONTINUOUS


def _few_distinct(values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the distinct values; None if they are too many for categories.

    The pieces looked at grow, so that a continuous column is left after its first piece and never
    sorted as a whole.
    """
    distinct = values[:0]
    start, size = 0, _FIRST_LOOK
    while start < len(values):
        piece = values[start : start + size]
        distinct = np.unique(np.concatenate([distinct, piece[~np.isnan(piece)]]))
        if len(distinct) > MAX_STATES or (len(distinct) > 2 and not _are_whole(distinct)):
            return None
        start, size = start + size, 2 * size
    return distinct


def _are_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.all(numbers == np.floor(numbers)))


def _declared(column: Column, word: str) -> tuple[Column, Kind]:
    """Convert a column to its declared type."""
    try:
        kind = Kind(word)
    except ValueError:
        known = ", ".join(kind.value for kind in Kind)
        raise DataError(
            f"column {column.name!r} cannot be declared {word!r}; the types are: {known}"
        ) from None
    if kind is Kind.CONTINUOUS:
        return to_numbers(column), kind
    column = understand(column)
    if kind is Kind.ORDINAL and column.is_text and column.order is None:
        column = replace(column, order=tuple(sorted(_distinct_text(column), key=_natural)))
    return column, kind


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts "level 9" before "level 10"."""
    # The pieces are text and digits in turn; of two numbers without leading zeros, the one with
    # more digits is larger, and no int is needed, however long they are.
    pieces = [piece.lstrip("0") if j % 2 else piece for j, piece in enumerate(_DIGITS.split(text))]
    return (*((len(p) * (j % 2), p) for j, p in enumerate(pieces)), (0, text))


def _in_order(column: Column, states: Sequence[State]) -> Column:
    order = tuple(spell(state) for state in states)
    if not order or len(set(order)) < len(order):
        raise DataError(
            f"the categories of column {column.name!r} must be at least one and all different; "
            f"got {states}"
        )
    codes, missing = encode_states(column, states), column.missing()
    strange = np.isnan(codes) & ~missing
    if strange.any():
        row = int(strange.argmax())
        raise DataError(
            f"column {column.name!r} has the value {spell(column.values[row])!r} (row {row + 1}), "
            f"which is not one of its declared categories: {', '.join(map(repr, order))}"
        )
    values = np.full(len(codes), None, dtype=object)
    values[~missing] = np.array(order, dtype=object)[codes[~missing].astype(np.intp)]
    return replace(column, values=values, order=order)


def _check_states(column: Column, kind: Kind) -> None:
    """Refuse a discrete column with too many categories."""
    n_states = len(states_of(column, kind))
    if kind is Kind.BINARY and n_states > 2:
        raise DataError(
            f"column {column.name!r} is declared binary but has {n_states} distinct values; "
            f"declare it categorical with feature_types={{{column.name!r}: 'categorical'}} "
            f"(--type {column.name}=categorical)",
            remedy=f"--type {quote(column.name)}=categorical",
        )
    if n_states > MAX_CATEGORIES:
        raise (likely_numbers(column) if column.is_text else None) or DataError(
            f"column {column.name!r} has {n_states} distinct values, more than {MAX_CATEGORIES}; "
            f"it looks like an identifier or free text: drop it (--drop {quote(column.name)}), or "
            f"keep its most frequent values (--type {quote(column.name)}=categorical)",
            remedy=f"--drop {quote(column.name)}",
        )


def _distinct_text(column: Column) -> set[str]:
    return set(column.values) - {None}
