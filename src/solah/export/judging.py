"""What a policy takes on a device: its tables, what it remembers, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.explain.importance import feature_importances
from solah.export.fixed_tables import FixedTables
from solah.export.policy_tables import policy_tables
from solah.export.prices import JUDGING_FLOAT, JUDGING_Q15

if TYPE_CHECKING:
    from solah.export.float_tables import FloatTables
    from solah.export.policy_tables import PolicyTables
    from solah.export.prices import JudgingPrices
    from solah.model.document import Model

    Tables = FloatTables | FixedTables

_CELLS, _CUT, _PAIR = 12, 4, 4  # bytes of a line of each table


def lower_policy(model: Model, tables: Tables) -> PolicyTables | None:
    """Lower when a model decides, and when it does not know; None if it always decides."""
    if model.policy is None and model.domain is None:
        return None
    return policy_tables(model, tables, feature_importances(model))


def state_bytes(policy: PolicyTables, n_values: int, *, is_fixed: bool) -> int:
    """Count what is remembered of decisions, as a device of 32 bits keeps it."""
    n_smoothed = n_values if policy.smoothing_bits else 0
    n_rests = n_smoothed if is_fixed else 0
    size = 4 * n_smoothed + 2 + n_rests + policy.window + 2 + bool(n_smoothed)
    return _aligned(size, 4 if n_smoothed else 2)


def judging_tables(policy: PolicyTables, tables: Tables) -> int:
    """Count the bytes of the tables of the policy."""
    is_fixed = isinstance(tables, FixedTables)
    belief, share = (2, 4) if is_fixed else (4, 8)
    return (
        _CELLS * len(policy.cells)
        + _CUT * len(policy.cuts)
        + _PAIR * len(policy.pairs)
        + _aligned(len(policy.seen), 4)
        + _aligned(belief * len(policy.min_probability), 4)
        + share * len(policy.shares)
    )


def judging_code(policy: PolicyTables, tables: Tables) -> int:
    """Estimate the bytes of code of the policy beside decisions."""
    price = _prices(tables)
    return (
        price.base
        + price.votes * (policy.window > 1 or policy.min_hold > 1)
        + price.hysteresis * bool(policy.hysteresis > 0)
        + price.limits * bool(len(policy.min_probability))
        + price.known * bool(policy.min_completeness > 0)
        + price.shares * bool(policy.shares)
        + price.smoothing * bool(policy.smoothing_bits)
        + price.cells * bool(policy.cells)
        + price.pairs * bool(policy.pairs)
    )


def judging_stack(policy: PolicyTables) -> int:
    """Estimate the bytes of stack of the policy beside decisions."""
    return 48 + _aligned(len(policy.cells), 8)


def judging_instructions(policy: PolicyTables, tables: Tables) -> float:
    """Estimate the most instructions of the policy beside decisions."""
    price = _prices(tables)
    n_smoothed = tables.layout.n_values if policy.smoothing_bits else 0
    return (
        price.judged
        + price.smoothed * n_smoothed
        + price.cell * len(policy.cells)
        + price.cut * len(policy.cuts)
        + price.pair * len(policy.pairs)
        + price.cell * len(policy.shares)
    )


def _prices(tables: Tables) -> JudgingPrices:
    return JUDGING_Q15 if isinstance(tables, FixedTables) else JUDGING_FLOAT


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to
