"""Choose the smallest C types that hold the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from solah.export.fixed_tables import FixedTables
    from solah.export.float_tables import FloatTables


@dataclass(frozen=True)
class TableTypes:
    """The types of numbers in tables, and the sizes of what is on the stack.

    Attributes
    ----------
    at : places in tables
    node : numbers of nodes
    input : numbers of inputs
    max_inputs : the most inputs of a tree
    max_depth : the most conditions of a branch
    """

    at: str
    node: str
    input: str
    max_inputs: int
    max_depth: int


def table_types(tables: FloatTables | FixedTables) -> TableTypes:
    """Choose the types of a model's tables."""
    walks = tables.walks
    places = (tables.values, tables.knots, tables.cells, tables.curves, tables.grids, walks)
    nodes = (max(int(walk.first_child.max()), int(walk.offsets[-1])) for walk in walks)
    max_inputs = max((len(walk.inputs) for walk in walks), default=0)
    return TableTypes(
        at=_unsigned(max(map(len, places))),
        node=_unsigned(max(nodes, default=0)),
        input="int8_t" if max_inputs < 128 else "int16_t",
        max_inputs=max_inputs,
        max_depth=max((walk.depth for walk in walks), default=0),
    )


def _unsigned(largest: int) -> str:
    for bits in (8, 16, 32):
        if largest < 1 << bits:
            return f"uint{bits}_t"
    raise ParameterError("the model is too large to export")
