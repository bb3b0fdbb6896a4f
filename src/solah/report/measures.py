"""Names the measures of an evaluation, and writes their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Spread = Mapping[str, float | None]

_NAMES_AND_DECIMALS = {
    "accuracy": ("accuracy", 3),
    "auc": ("AUC", 3),
    "log_loss": ("log-loss", 3),
    "brier": ("Brier score", 3),
    "r2": ("R²", 3),
    "mae": ("mean absolute error", 4),
    "n_clusters": ("clusters (K)", 1),
    "n_levels": ("levels", 1),
    "n_rules": ("rules", 1),
    "n_branches": ("branches", 1),
    "seconds": ("seconds to learn", 3),
}


def name_measure(measure: str) -> str:
    """Return how people call a measure."""
    return _NAMES_AND_DECIMALS[measure][0]


def spell_spread(measure: str, spread: Spread) -> str:
    """Write a mean and its deviation with the decimals that are worth showing."""
    mean, deviation = spread["mean"], spread["deviation"]
    if mean is None or deviation is None:
        return "unknown"
    decimals = _NAMES_AND_DECIMALS[measure][1]
    return f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}"


def score_rows(
    by_estimator: Mapping[str, Mapping[str, Spread]],
) -> Iterator[tuple[str, list[str]]]:
    """Lay estimators side by side: a measure's name, and what each estimator has of it."""
    for measure in _NAMES_AND_DECIMALS:
        if any(measure in spreads for spreads in by_estimator.values()):
            yield (
                name_measure(measure),
                [
                    spell_spread(measure, spreads[measure]) if measure in spreads else "-"
                    for spreads in by_estimator.values()
                ],
            )
