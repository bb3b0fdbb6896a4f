"""How much is many, and how much is kept of it: smaller than it is, for tests with few rows."""

import pytest

SMALLER = {
    "solah.labels.drawing.MANY_ROWS": 100,
    "solah.learn.memory.MANY_ROWS": 100,
    "solah.estimators.fitting.MANY_ROWS": 100,
    "solah.dependence.settings.MAX_EXACT_ROWS": 100,
    "solah.labels.drawing.SAMPLE_ROWS": 256,
    "solah.labels.drawing.ROWS_TO_GAUGE": 32,
    "solah.scale.facts.ROWS_TO_GAUGE": 32,
    "solah.learn.fusion._ROWS_OF_LOUDNESS": 128,
    "solah.labels.sketches.CAPACITY": 24,
    "solah.labels.sketches._GRID": 8,
    "solah.learn.selection.MOST_ROWS": 160,
    "solah.learn.selection.LEAST_ROWS": 120,
}
"""Where sizes are settled, and what they are in tests."""


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """Let a hundred rows be so many that training passes over them, sketches and samples."""
    for name, number in SMALLER.items():
        patch.setattr(name, number)
