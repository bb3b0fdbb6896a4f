"""Read the tables of a source as numbers: readings, classes and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Kind
from solah.data.cells import encode_states
from solah.labels.drawing import digest_rows, digest_within
from solah.model.attributes import Attribute, discrete_attribute
from solah.model.encode import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import State, Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64
    from solah.scale.facts import ColumnRoles, Facts


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as numbers.

    Attributes
    ----------
    readings : (n_rows, n_attributes) numbers as they are, states as their place; NaN is unknown
    codes : (n_rows,) the places of the classes
    weights : (n_rows,) positive integers of at most ``WEIGHT_ONE``
    groups : (n_rows,) digests of what the rows belong to, where that was asked for
    """

    readings: Float
    codes: Int64
    weights: Int64
    groups: UInt64 | None = None


@dataclass(frozen=True, eq=False)
class Reader:
    """Who knows what the columns are.

    Attributes
    ----------
    roles : which columns are meant for what
    attributes : the columns to read, as far as it takes to read them
    classes : the target's values
    of_classes : (n_classes,) what rows of each class weigh
    weight_unit : what an integer weight of 1 weighs
    """

    roles: ColumnRoles
    attributes: tuple[Attribute, ...]
    classes: tuple[State, ...]
    of_classes: Float
    weight_unit: float

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        last = () if self.roles.weight is None else (self.roles.weight,)
        return (*(one.name for one in self.attributes), self.roles.target, *last)

    def only(self, names: Sequence[str]) -> Reader:
        """Return a reader of some of the attributes, in their order here."""
        wanted = set(names)
        return replace(self, attributes=tuple(a for a in self.attributes if a.name in wanted))

    def used(self, table: Table) -> NDArray[np.bool_]:
        """Tell which rows have weight."""
        return self._weights(table, self._codes(table)) > 0

    def read(self, table: Table) -> Rows:
        """Read rows; those without weight are left out."""
        codes = self._codes(table)
        weights = self._weights(table, codes)
        readings = encode(table, self.attributes)
        used = weights > 0
        if used.all():
            return Rows(readings, codes, weights)
        return Rows(readings[used], codes[used], weights[used])

    def digests(self, table: Table, of_classes: UInt64) -> tuple[UInt64, UInt64 | None]:
        """Digest the rows that ``read`` returns, and their groups; all attributes must be there."""
        codes = self._codes(table)
        used = self._weights(table, codes) > 0
        attributes = table.select([one.name for one in self.attributes])
        groups = self.roles.groups(table)
        digests = digest_within(digest_rows(attributes, of_classes[codes]), groups)[used]
        return digests, None if groups is None else groups[used]

    def _codes(self, table: Table) -> Int64:
        places = encode_states(table.column(self.roles.target), self.classes)
        return np.asarray(places, dtype=np.int64)

    def _weights(self, table: Table, codes: Int64) -> Int64:
        weights = self.roles.weights(table) * self.of_classes[codes]
        return np.rint(weights / self.weight_unit).astype(np.int64)


def plain_attributes(facts: Facts) -> tuple[Attribute, ...]:
    """Describe columns as far as it takes to read them: states have places, numbers are numbers."""
    described = []
    for place, (column, kind) in enumerate(zip(facts.columns, facts.kinds, strict=True)):
        if kind is Kind.CONTINUOUS:
            described.append(_number(column.name))
        else:
            states = facts.states(place)
            even = (1.0 / max(1, len(states)),) * max(1, len(states))
            described.append(discrete_attribute(column.name, kind, states, even))
    return tuple(described)


def _number(name: str) -> Attribute:
    return Attribute(
        name=name,
        kind=Kind.CONTINUOUS,
        words=("any",),
        peaks=(0.0,),
        ignorance=(1.0,),
        low=0.0,
        high=0.0,
    )
