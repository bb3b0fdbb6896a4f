"""The limits above which rows are sampled, and how many are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes at which learning goes another way.

    Attributes
    ----------
    many_rows : with more rows, a sample stands in where all would be walked through many times
    sample_rows : about how many different rows the sample has
    gauge_rows : the digests of so many rows tell how many rows there are
    sketch_values : so many distinct values are kept of a column
    sketch_grid : so many even distances part the range of a column, between the kept values
    exact_rows : with more rows, dependence is measured in bins
    selection_rows : so many rows are enough to compare settings by
    selection_values : so many values in them, times classes, are enough
    selection_least : fewer rows are never taken, however many values they have
    bold_rows : from so many rows on, more words and smaller penalties are compared
    """

    many_rows: int = 20_000
    sample_rows: int = 65_536
    gauge_rows: int = 4_096
    sketch_values: int = 1_024
    sketch_grid: int = 256
    exact_rows: int = 20_000
    selection_rows: int = 5_000
    selection_values: int = 2_000_000
    selection_least: int = 500
    bold_rows: int = 2_000

    def rows_to_select_by(self, n_attributes: int, n_classes: int) -> int:
        """Return how many different rows are enough to compare settings by."""
        enough = self.selection_values // (n_attributes * n_classes)
        return min(self.selection_rows, max(enough, self.selection_least))


LIMITS = Limits()
