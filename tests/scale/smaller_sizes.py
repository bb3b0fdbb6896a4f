"""How much is many: less than it is, for tests with few rows."""

import pytest

from solah.estimators.base import LinguisticEstimator
from solah.labels.drawing import Limits

SMALLER = Limits(many_rows=100, exact_rows=100, selection_rows=160, selection_least=120)


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """Let a hundred rows be so many that training reads them in passes, and draws a sample."""
    patch.setattr(LinguisticEstimator, "_limits", SMALLER)
