"""How much is many, and how much is kept of it: smaller than it is, for tests with few rows."""

import pytest

from solah.estimators.base import LinguisticEstimator
from solah.labels.drawing import Limits

SMALLER = Limits(
    many_rows=100,
    sample_rows=256,
    gauge_rows=32,
    sketch_values=24,
    sketch_grid=8,
    exact_rows=100,
    selection_rows=160,
    selection_least=120,
)


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """Let a hundred rows be so many that training passes over them, sketches and samples."""
    patch.setattr(LinguisticEstimator, "_limits", SMALLER)
