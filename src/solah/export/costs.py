"""Estimate what tables cost a Cortex-M0+: flash, stack and instructions.

Nothing is compiled: the bytes of tables are counted, and the parts of the runtime that a model
uses have prices (``prices.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.export.c_types import table_types
from solah.export.fixed_tables import FixedLost, FixedTables, FixedWalk, fixed_tables
from solah.export.float_tables import FloatTables, float_tables
from solah.export.judging import (
    judging_code,
    judging_instructions,
    judging_stack,
    judging_tables,
    lower_policy,
)
from solah.export.layout import lay_out
from solah.export.prices import FLOAT, Q15
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.export.exporting import Numbers
    from solah.export.float_tables import LostTables, WalkTables
    from solah.export.policy_tables import PolicyTables
    from solah.export.prices import CodePrices, StackPrices, TimePrices
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.program import Axis

    Tables = FloatTables | FixedTables
    Walk = WalkTables | FixedWalk

_BYTES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4}
_WORD = 4  # pointers, and numbers that are added up
_ASKED = 3  # solah_asked: three bytes
_REACH = 380  # bytes of stack that short instructions reach
_SHORT = 3  # up to this many numbers the compiler puts into the code, not into a table


@dataclass(frozen=True)
class Costs:
    """About what a model costs on a Cortex-M0+, with its policy if it has one.

    Attributes
    ----------
    table_bytes : the bytes of its tables
    flash : those and the bytes of code that it needs, such as helpers of soft floating point
    stack : the most bytes of stack that a decision takes
    instructions : the most that a decision takes, whether readings are known or not
    """

    table_bytes: int
    flash: int
    stack: int
    instructions: int


def model_costs(model: Model, numbers: Numbers = "float") -> Costs:
    """Estimate what a model costs when it is exported.

    Parameters
    ----------
    model : Model
        The model file.
    numbers : {"float", "q15"}, default="float"
        What the device computes with.

    Returns
    -------
    costs : Costs

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export.costs import model_costs
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> model_costs(model, "q15").flash < 2_000 < model_costs(model, "float").flash
    True
    """
    if numbers not in ("float", "q15"):
        raise ParameterError(f"'numbers' must be 'float' or 'q15'. Got {numbers!r} instead.")
    in_numbers = float_tables if numbers == "float" else fixed_tables
    tables = in_numbers(lay_out(model))
    return estimate_costs(tables, lower_policy(model, tables))


def estimate_costs(tables: Tables, policy: PolicyTables | None = None) -> Costs:
    """Estimate what tables and the code that reads them cost.

    Parameters
    ----------
    tables : FloatTables or FixedTables
    policy : PolicyTables, default=None
        The policy of the decisions, or None.

    Returns
    -------
    costs : Costs
    """
    prices = Q15 if isinstance(tables, FixedTables) else FLOAT
    table_bytes = _table_bytes(tables)
    decided = Costs(
        table_bytes=table_bytes,
        flash=table_bytes + round(_code_bytes(tables, prices.code)),
        stack=_array_bytes(tables) + _frame_bytes(tables, prices.stack),
        instructions=round(_instructions(tables, prices.time)),
    )
    return decided if policy is None else _judged(decided, policy, tables)


def _judged(decided: Costs, policy: PolicyTables, tables: Tables) -> Costs:
    """Add the cost of the policy to that of decisions."""
    own = judging_tables(policy, tables)
    return Costs(
        table_bytes=decided.table_bytes + own,
        flash=decided.flash + own + judging_code(policy, tables),
        stack=decided.stack + judging_stack(policy),
        instructions=decided.instructions + round(judging_instructions(policy, tables)),
    )


# --- flash -----------------------------------------------------------------------------------


def _table_bytes(tables: Tables) -> int:
    types = table_types(tables)
    at, node, asking = (_BYTES[kind] for kind in (types.at, types.node, types.input))
    value = 2 if isinstance(tables, FixedTables) else _WORD
    lines = (
        (_struct(1, 1, at, at), len(tables.curves)),
        (_struct(1, 1, at), len(tables.states)),
        (_struct(*[1, 1, 1, at, at] * 2, at, at), len(tables.grids)),
        (_struct(_WORD, 1, 1, *[at] * 8, *_lost_fields(tables, value)), len(tables.stages)),
    )
    # Of a stage that it knows, the compiler puts tables of one line, and short ones, into the code.
    least = 1 if _is_open(tables) else 2
    n_begun = len(tables.stages) * tables.layout.n_values
    n_preferred = 0 if tables.preference is None else len(tables.preference)
    n_zeros = len(_zeros(tables))
    return (
        value * (len(tables.knots) + len(tables.values))
        + len(tables.cells)
        + sum(size * number for size, number in lines if number >= least)
        + sum(_walk_bytes(walk, node, asking, value) for walk in tables.walks)
        + _WORD * (1 + _n_pointers(tables)) * len(tables.walks)
        + _WORD * (n_begun if n_begun > _SHORT or least == 1 else 0)
        + _WORD * (n_preferred if n_preferred > 2 else 0)
        + _WORD * (n_zeros if n_zeros > 1 else 0)
        + sum(value * len(lost.shares) for lost in _losses(tables))
        + sum(_WORD * len(lost.prior) for lost in _losses(tables) if len(lost.prior) > _SHORT)
    )


def _losses(tables: Tables) -> list[LostTables | FixedLost]:
    return [stage.lost for stage in tables.stages if stage.lost is not None]


def _lost_fields(tables: Tables, value: int) -> list[int]:
    """Return the sizes of the entries for missing parts in a line of the table of stages."""
    return [_WORD, _WORD, value, 1] if tables.loses else []


def _is_open(tables: Tables) -> bool:
    """Whether the compiler cannot find code of a stage to drop.

    There are several, or a number is estimated, for which two functions share that code.
    """
    return len(tables.stages) > 1 or tables.layout.is_number


def _n_pointers(tables: Tables) -> int:
    """Count what a line of the table of trees points to."""
    return 9 if isinstance(tables, FixedTables) else 7


def _walk_bytes(walk: Walk, node: int, asking: int, value: int) -> int:
    """Count the tables of a tree."""
    # A focal set has a peak and a share; in integers an inverse and a shift, too.
    of_set = 2 * value + (2 + 1 if isinstance(walk, FixedWalk) else 0)
    return (
        _ASKED * len(walk.inputs)
        + node * len(walk.offsets)
        + of_set * len(walk.peaks)
        + (asking + node) * len(walk.split)
        + value * walk.values.size
    )


def _zeros(tables: Tables) -> Sequence[int]:
    return tables.zeros or () if isinstance(tables, FixedTables) else ()


def _struct(*fields: int) -> int:
    """Return the size of a struct whose fields have these sizes, each aligned to its own."""
    size = 0
    for field in fields:
        size = _aligned(size, field) + field
    return _aligned(size, max(fields))


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to


def _code_bytes(tables: Tables, price: CodePrices) -> float:
    """Add up the parts of the runtime that a model needs."""
    several, classes = len(tables.stages) > 1, tables.layout.n_values > 1
    is_number = tables.layout.is_number
    adding = _adds_beside(tables)
    weighing = (not is_number or tables.layout.takes_exp) and (
        several or tables.stages[0].is_weighed
    )
    curves = bool(tables.curves) or _is_open(tables)
    states = bool(tables.states) or _is_open(tables)
    grids, walks = bool(tables.grids), bool(tables.walks)
    return (
        price.choice * (not is_number)
        + price.classes * classes
        + price.adding * adding
        + price.adding_walks * (adding and walks)
        + price.curves * curves
        + price.states * states
        + price.grids * grids
        + price.several_grids * (len(tables.grids) > 1)
        + price.walks * walks
        + price.beside * (walks and not is_number)
        + price.far * (walks and _array_bytes(tables) > _REACH)
        + price.weighing * weighing
        + price.losing * tables.loses
        + price.losing_walks * (tables.loses and walks)
        + price.stages * several
        + price.preference * (tables.preference is not None)
        + price.zeros * bool(_zeros(tables))
        + price.arithmetic * (weighing or classes or curves or states or grids or walks)
        + price.conversion * (weighing or states or walks)
        + price.division * (weighing or walks)
    )


# --- stack -----------------------------------------------------------------------------------


def _array_bytes(tables: Tables) -> int:
    """Count the arrays that the runtime declares: probabilities, sums, and the state of a walk."""
    n_values = tables.layout.n_values
    is_fixed = isinstance(tables, FixedTables)
    beliefs = len(tables.stages) * (n_values + 1) * (2 if is_fixed else _WORD)
    n_inputs = max((len(walk.inputs) for walk in tables.walks), default=0)
    n_steps = max((walk.depth + 1 for walk in tables.walks), default=0)
    # A reading and its run of masses; a node, its weight and its next child.
    asked, step = (12, 8) if is_fixed else (24, 12)
    parts = _WORD * (n_values + 1) if _weighs(tables) else 0
    scores = _WORD * n_values if tables.walks else 0
    sums = _WORD * n_values
    return _aligned(beliefs, _WORD) + sums + parts + scores + asked * n_inputs + step * n_steps


def _adds_beside(tables: Tables) -> bool:
    """Whether a number is a sum of terms on readings, beside trees or not."""
    is_added = tables.layout.is_number and tables.stages[0].is_weighed
    return is_added and bool(tables.curves or tables.states)


def _weighs(tables: Tables) -> bool:
    is_evidence = not tables.layout.is_number
    return is_evidence and any(stage.is_weighed for stage in tables.stages)


def _frame_bytes(tables: Tables, price: StackPrices) -> int:
    return (
        price.frame
        + price.choice * (not tables.layout.is_number)
        + price.classes * (tables.layout.n_values > 1)
        + price.grid * bool(tables.grids)
        + price.walk * bool(tables.walks)
        + price.losing * tables.loses
        + price.adding * _adds_beside(tables)
    )


# --- instructions ----------------------------------------------------------------------------


def _instructions(tables: Tables, price: TimePrices) -> float:
    n_values = tables.layout.n_values
    n_knots = sum(curve.n_knots for curve in tables.curves)
    n_peaks = sum(side.n_lines for grid in tables.grids for side in grid.sides if not side.is_state)
    n_zeros = len(tables.curves) + 2 * len(tables.grids) if _zeros(tables) else 0
    n_weighed = sum(stage.is_weighed for stage in tables.stages if _weighs(tables))
    walks = sum(_walk_instructions(walk, n_values, price) for walk in tables.walks)
    return (
        price.chosen * n_values
        + (price.weighing + price.shared * n_values) * n_weighed
        + (price.curve + price.slope * n_values) * len(tables.curves)
        + price.zero * n_zeros
        + price.knot * n_knots
        + (price.state + price.state_value * n_values) * len(tables.states)
        + (price.grid + price.grid_value * n_values) * len(tables.grids)
        + price.knot * n_peaks
        + price.losing * (tables.loses and bool(tables.walks))
        + walks
    )


def _walk_instructions(walk: Walk, n_values: int, price: TimePrices) -> float:
    leaf = price.leaf + price.weighed * n_values
    on_the_way = _most(walk, price.node, leaf)
    return price.asked * len(walk.inputs) + on_the_way


def _most(walk: Walk, node_price: float, leaf_price: float) -> float:
    """Return what the readings cost that take most branches.

    At each node they are missing, and take all branches that missing values take, or known, and
    take two neighbours. Which of both costs more depends on those below: weights that integers
    would round off after several missing values are whole after known ones.
    """
    cost = np.where(walk.split < 0, leaf_price, node_price).astype(np.float64)
    for node in np.flatnonzero(walk.split >= 0)[::-1].tolist():
        asked = int(walk.split[node])
        below = cost[_children(walk, node)]
        mean_masses = walk.mean_masses[walk.offsets[asked] : walk.offsets[asked + 1]]
        cost[node] += _most_below(walk.inputs[asked], below, mean_masses > 0)
    return float(cost[0])


def _most_below(axis: Axis, costs: Float, is_assumed: NDArray[np.bool_]) -> float:
    if axis.kind is AxisKind.ALL_BELIEFS:
        return float(costs.sum())
    known = float(costs.max()) if axis.kind is AxisKind.CATEGORY else _two_neighbours(costs)
    return max(known, float(costs[is_assumed].sum())) if axis.is_read else known


def _children(walk: Walk, node: int) -> slice:
    asked, first = int(walk.split[node]), int(walk.first_child[node])
    return slice(first, first + int(walk.offsets[asked + 1] - walk.offsets[asked]))


def _two_neighbours(costs: Float) -> float:
    return float(max(costs[:-1] + costs[1:], default=costs.sum()))
