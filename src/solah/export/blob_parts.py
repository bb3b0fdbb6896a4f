"""The sections of a blob beside the model itself: its policy, and how samples become readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solah.export.policy_tables import PolicyTables
    from solah.export.signal_tables import FeatureRow, SignalTables

    Rows = list[tuple[float, ...]]

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
    "measured": "HH",
    "stored": "HHBB",
    "axes": "B",
    "features": "BBBBHHf",
    "waves": "f",
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
        "measured": [(row.every, row.max_gap) for row in tables.measured],
        "stored": [(row.first, row.length, row.first_axis, len(row.axes)) for row in tables.stored],
        "axes": [(axis,) for axis in tables.axes],
        "features": [_feature(row) for row in tables.features],
        "waves": [(float(wave),) for wave in tables.waves],
    }


def _feature(row: FeatureRow) -> tuple[float, ...]:
    places = (row.kind_number, row.reading, row.channel, row.other, row.first, row.count)
    return (*places, float(row.factor))
