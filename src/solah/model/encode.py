"""Encodes the columns of a table as numbers: readings as they are, states as codes, NaN unknown."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import to_numbers
from solah.data.cells import encode_states
from solah.data.spelling import spell
from solah.exceptions import UnseenStateWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Column, Table
    from solah.model.attributes import Attribute
    from solah.model.document import Goal


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows as numbers: one column per attribute, by name."""

    columns: Mapping[str, NDArray[Any]]
    n_rows: int


def code(table: Table, attributes: Iterable[Attribute]) -> Coded:
    """Turn the attributes' columns into numbers, each as it is."""
    columns = {attribute.name: encode_column(table, attribute) for attribute in attributes}
    return Coded(columns, table.n_rows)


def encode(table: Table, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """Turn the attributes' columns into a matrix ``(n_rows, n_attributes)`` for the kernels."""
    matrix = np.empty((table.n_rows, len(attributes)))
    Encoder(table, dict(enumerate(attributes))).encode(slice(0, table.n_rows), matrix)
    return matrix


def encode_column(table: Table, attribute: Attribute) -> NDArray[Any]:
    """Turn an attribute's column into numbers for the kernels."""
    column = table.column(attribute.name)
    if attribute.is_coded:
        return encode_states(column, attribute.states)
    return to_numbers(column, first_row=table.first_row).values


class Encoder:
    """Encodes a table block by block, so that no copy of all its columns is needed.

    Parameters
    ----------
    table : Table
    attributes : mapping of int to Attribute
        What to encode, by the columns of the matrix to fill.
    """

    def __init__(self, table: Table, attributes: Mapping[int, Attribute]) -> None:
        self._columns = {j: table.column(one.name) for j, one in attributes.items()}
        self._states = {j: one.states for j, one in attributes.items() if one.is_coded}
        for j, column in self._columns.items():
            if j not in self._states and column.is_text:  # all of it says how numbers are written
                self._columns[j] = to_numbers(column, first_row=table.first_row)

    def encode(self, rows: slice, out: NDArray[np.float64]) -> None:
        """Fill in the columns of a matrix that has as many rows as the slice."""
        for j, column in self._columns.items():
            if j in self._states:
                block = column.rows(rows.start, rows.stop)
                out[:, j] = encode_states(block, self._states[j])
            else:
                out[:, j] = column.values[rows]


UNSEEN, MISSING = -1, -2


def encode_goal(column: Column, goal: Goal) -> NDArray[np.intp]:
    """Replace each true class by its place among the goal's, or by UNSEEN or MISSING."""
    codes = encode_states(column, goal.states)
    places = np.where(np.isnan(codes), UNSEEN, codes).astype(np.intp)
    places[column.missing()] = MISSING
    return places


def warn_of_unseen(table: Table, attributes: Iterable[Attribute]) -> None:
    """Warn, once for each column, of readings that are states which no training row had."""
    for attribute in attributes:
        if attribute.is_coded and attribute.states:
            found = find_unseen(table.column(attribute.name), attribute)
            if found is not None:
                warnings.warn(found, stacklevel=4)


def find_unseen(column: Column, attribute: Attribute) -> UnseenStateWarning | None:
    """Find the readings of a column that are states no training row had; None if none is."""
    distinct = set(column.values.tolist()) if column.is_text else np.unique(column.values)
    each = np.array(list(distinct), dtype=column.values.dtype)
    is_known = ~np.isnan(encode_states(replace(column, values=each), attribute.states))
    strange = each[~is_known & ~replace(column, values=each).missing()]
    if not len(strange):
        return None
    unseen = set(strange.tolist())
    times = Counter(value for value in column.values.tolist() if value in unseen)
    value, n_value = min(times.items(), key=lambda item: (-item[1], spell(item[0])))
    known = tuple(map(spell, attribute.states))
    return UnseenStateWarning(column.name, spell(value), n_value, times.total(), known)
