"""A measure of an evaluation in, how people call it and write it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES_AND_DECIMALS = {
    "accuracy": ("accuracy", 3),
    "auc": ("AUC", 3),
    "log_loss": ("log-loss", 3),
    "r2": ("R²", 3),
    "mae": ("mean absolute error", 4),
    "n_rules": ("rules", 1),
    "n_branches": ("branches", 1),
    "seconds": ("seconds to learn", 3),
}


def name_measure(measure: str) -> str:
    """Return how people call a measure."""
    return _NAMES_AND_DECIMALS[measure][0]


def spell_spread(measure: str, spread: Mapping[str, float | None]) -> str:
    """Write a mean and its deviation with the decimals that are worth showing."""
    mean, deviation = spread["mean"], spread["deviation"]
    if mean is None or deviation is None:
        return "unknown"
    decimals = _NAMES_AND_DECIMALS[measure][1]
    return f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}"
