"""Sections of a blob beside the model: its policy, and the computation of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solah.export.policy_tables import PolicyTables
    from solah.export.signal_tables import FeatureRow, SignalTables

    Rows = list[tuple[float, ...]]

NO_BITS = -(2**15)
"""The bits of a code or a count, which is taken as it is."""
POLICY_LAYOUT = {
    "policy": "HHHBBBBBB",
    "cells": "iiHBB",
    "cuts": "i",
    "pairs": "BBH",
    "seen": "B",
    "min_probability": "H",
    "shares": "HBB",
}
SIGNAL_LAYOUT = {
    "windows": "II",
    "measured": "HHiihxx",
    "stored": "HHBBh",
    "axes": "B",
    "features": "BBBBHHHhii",
    "waves": "h",
}


def policy_sections(policy: PolicyTables | None) -> dict[str, Rows]:
    """List the lines of the policy; none without one."""
    if policy is None:
        return {name: [] for name in POLICY_LAYOUT}
    line = (
        *(policy.min_completeness, policy.hysteresis, policy.min_hold, policy.holding.value),
        *(policy.most_unseen, policy.smoothing_bits, policy.votes, policy.window, 0),
    )
    return {
        "policy": [line],
        "cells": [
            (row.low, row.high, row.first_cut, row.n_cuts, row.n_states) for row in policy.cells
        ],
        "cuts": [(cut,) for cut in policy.cuts.tolist()],
        "pairs": [(row.first, row.second, row.byte) for row in policy.pairs],
        "seen": [(byte,) for byte in policy.seen],
        "min_probability": [(belief,) for belief in policy.min_probability.tolist()],
        "shares": [(row.share, row.feature, row.n_states) for row in policy.shares],
    }


def signal_sections(tables: SignalTables | None) -> dict[str, Rows]:
    """List the lines of what makes readings of samples; none without signals."""
    if tables is None:
        return {name: [] for name in SIGNAL_LAYOUT}
    return {
        "windows": [(tables.signals.window, tables.signals.step)],
        "measured": [
            (row.every, row.max_gap, row.zero, row.bias, NO_BITS if row.bits is None else row.bits)
            for row in tables.measured
        ],
        "stored": [
            (row.first, row.length, row.first_axis, len(row.axes), row.shift)
            for row in tables.stored
        ],
        "axes": [(axis,) for axis in tables.axes],
        "features": [_feature(row) for row in tables.features],
        "waves": [(int(wave),) for wave in tables.waves],
    }


def _feature(row: FeatureRow) -> tuple[float, ...]:
    numbers = row.numbers
    parts = ("first", "low", "count", "shift", "factor", "offset")
    places = (row.kind_number, row.reading, row.channel, row.other)
    return (*places, *(int(numbers[part]) for part in parts))
