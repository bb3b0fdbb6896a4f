"""Find the common form of columns that come in pieces, and bring every piece into it.

A file or a frame alone does not tell what a column is: whole numbers are float64 as soon as one
is missing anywhere, truth values with a gap are the text "True" and "False". So the forms of all
pieces are joined once, when a source is opened, and every table is brought into them.

======================  =====================================================================
joined                  become
======================  =====================================================================
numbers and numbers     the smallest type that NumPy has for both
numbers and truth       numbers, 0 and 1
truth and text          text, "True" and "False"
anything and no values  what it is, with room for missing values
numbers and text        an error
======================  =====================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Table, to_text
from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Form:
    """What the values of a column are, in every table of a source.

    ``type`` is a NumPy type's name, "object" for text. ``is_empty`` says that no value has been
    seen, so that the column may yet become anything.
    """

    type: str
    order: tuple[str, ...] | None = None
    nominal: bool = False
    is_empty: bool = False

    @classmethod
    def of(cls, column: Column) -> Form:
        """Return the form of a column as it stands."""
        # Almost always the first value is there, and no other needs to be looked at.
        is_empty = bool(column.rows(0, 1).missing().all() and column.missing().all())
        return cls(column.values.dtype.name, column.order, column.nominal, is_empty)

    @property
    def is_text(self) -> bool:
        """Whether the values are strings."""
        return self.type == "object"

    @property
    def is_truth(self) -> bool:
        """Whether the values are truth values."""
        return self.type == "bool"

    def with_gaps(self) -> Form:
        """Return the form that has room for missing values."""
        if self.is_truth:
            return replace(self, type="object")
        return self if np.dtype(self.type).kind in "fO" else replace(self, type="float64")

    def take(self, column: Column) -> Column:
        """Bring a column into this form."""
        if not self._fits(column):
            raise DataError(
                f"column {column.name!r} is not what it was when the source was opened; "
                f"open it again"
            )
        return Column(column.name, self._values(column), self.order, self.nominal)

    def _fits(self, column: Column) -> bool:
        if self.is_text or column.is_text:
            return (self.is_text and (column.is_text or column.values.dtype == bool)) or (
                bool(column.missing().all()) and not self.is_truth
            )
        return np.can_cast(column.values.dtype, self.type, "same_kind")

    def _values(self, column: Column) -> NDArray[Any]:
        if self.is_text:
            return to_text(column).values
        if column.is_text:
            return np.full(len(column.values), np.nan, dtype=self.type)
        return column.values.astype(self.type, copy=False)


def forms_of(table: Table) -> dict[str, Form | None]:
    """Return the form of each column."""
    return {column.name: Form.of(column) for column in table.columns}


def take_forms(table: Table, forms: Mapping[str, Form | None], first_row: int) -> Table:
    """Bring a table's columns into their forms; its first row has that number."""
    columns = tuple(_taken(column, forms[column.name]) for column in table.columns)
    return replace(table, columns=columns, first_row=first_row)


def join_forms(
    before: Mapping[str, Form | None], more: Mapping[str, Form | None], where: str
) -> dict[str, Form | None]:
    """Join the forms of all columns so far with those of one more piece."""
    return {name: _join(form, more[name], name, where) for name, form in before.items()}


def see_same_columns(
    names: Iterable[str], expected: Iterable[str], where: str, first: str, error: type[DataError]
) -> None:
    """Refuse a piece that has other columns than the first one, in whatever order."""
    there, known = dict.fromkeys(names), dict.fromkeys(expected)
    for name in known:
        if name not in there:
            raise error(f"{where} has no column {name!r}, which {first} has")
    for name in there:
        if name not in known:
            raise error(f"{where} has a column {name!r}, which {first} has not")


def _taken(column: Column, form: Form | None) -> Column:
    return column if form is None else form.take(column)


def _join(one: Form | None, other: Form | None, name: str, where: str) -> Form | None:
    """Join two forms; None stands for values that cannot be used, whatever the other is."""
    if one is None or other is None:
        return None
    if one.is_empty or other.is_empty:
        return _join_with_empty(one, other)
    if one.is_text != other.is_text and not (one.is_truth or other.is_truth):
        raise _mixture(one, other, name, where)
    if one.is_text or other.is_text:
        order = _join_orders(one, other, name, where)
        return Form("object", order, one.nominal and other.nominal)
    return replace(one, type=np.result_type(one.type, other.type).name)


def _join_with_empty(one: Form, other: Form) -> Form:
    """Join forms of which one at least has no values; numbers are the more likely of nothing."""
    if not (one.is_empty and other.is_empty):
        return (other if one.is_empty else one).with_gaps()
    if one.is_text != other.is_text:
        return other if one.is_text else one
    return replace(one, type=np.result_type(one.type, other.type).name)


def _join_orders(one: Form, other: Form, name: str, where: str) -> tuple[str, ...] | None:
    """Keep the longer order where the shorter one runs through it; text without one has none."""
    if one.order is None or other.order is None:
        return None
    short, long = sorted([one.order, other.order], key=len)
    rest = iter(long)
    if all(state in rest for state in short):
        return long
    raise DataError(
        f"column {name!r} of {where} has its states in the order {_arrow(other.order)}, and "
        f"{_arrow(one.order)} before; give it one order throughout"
    )


def _arrow(order: tuple[Any, ...]) -> str:
    return " < ".join(map(str, order))


def _mixture(one: Form, other: Form, name: str, where: str) -> DataError:
    here, before = ("text", "numbers") if other.is_text else ("numbers", "text")
    return DataError(
        f"column {name!r} is {here} in {where} and {before} before it; make it one of both "
        f"throughout"
    )
