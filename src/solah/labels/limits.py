"""The limits above which rows are sampled, and how many are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes at which learning goes another way.

    Attributes
    ----------
    many_rows : with more rows, a sample stands in where all would be walked through many times
    exact_rows : with more rows, dependence is measured in bins
    selection_rows : so many rows are enough to compare settings by
    selection_values : so many values in them, times classes, are enough
    selection_least : fewer rows are never taken, however many values they have
    """

    many_rows: int = 20_000
    exact_rows: int = 20_000
    selection_rows: int = 5_000
    selection_values: int = 2_000_000
    selection_least: int = 500

    def rows_to_select_by(self, n_attributes: int, n_classes: int) -> int:
        """Return how many different rows are enough to compare settings by."""
        enough = self.selection_values // (n_attributes * n_classes)
        return min(self.selection_rows, max(enough, self.selection_least))


LIMITS = Limits()
