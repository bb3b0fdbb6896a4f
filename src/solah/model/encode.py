"""A table in, a matrix of numbers out: readings as they are, states as their code, NaN unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import to_numbers
from solah.data.spelling import is_number, spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Column, Table
    from solah.model.attributes import Attribute, State


def encode(table: Table, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """Turn the attributes' columns into a matrix ``(n_rows, n_attributes)`` for the kernels."""
    matrix = np.empty((table.n_rows, len(attributes)))
    for j, attribute in enumerate(attributes):
        column = table.column(attribute.name)
        matrix[:, j] = (
            encode_states(column, attribute.states)
            if attribute.is_coded
            else to_numbers(column, first_row=table.first_row).values
        )
    return matrix


def encode_states(column: Column, states: Sequence[State]) -> NDArray[np.float64]:
    """Replace each value by its place among the states; NaN where it is missing or unseen."""
    numeric = any(isinstance(state, int | float) for state in states)
    lookup = {_spelling(state, numeric): float(code) for code, state in enumerate(states)}
    values, places = _distinct(column)
    spellings = [_spelling(value, numeric) for value in values]
    codes = np.array([lookup.get(spelling, np.nan) for spelling in spellings], dtype=np.float64)
    return codes[places] if len(codes) else np.full(len(column.values), np.nan)


def _distinct(column: Column) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values and where each row's stands among them."""
    if not column.is_text:
        values, places = np.unique(column.values, return_inverse=True)
        return values.tolist(), places
    seen: dict[str | None, int] = {}
    places = np.fromiter(
        (seen.setdefault(value, len(seen)) for value in column.values), np.intp, len(column.values)
    )
    return list(seen), places


def _spelling(value: State | None, numeric: bool) -> str | None:
    """Spell a state so that 1, 1.0 and, among numbers, the text '1.0' of a file mean the same."""
    if numeric and isinstance(value, str) and is_number(value):
        value = float(value)
    return None if value is None else spell(value)
