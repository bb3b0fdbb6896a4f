"""How long the default takes to learn, beside HistGradientBoosting: processor time, one thread."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from solah import RuleClassifier
from solah.datasets import load
from solah.exceptions import DatasetError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TIMES = 3.0
"""How many times as long as boosting the default may take."""
_SHARES = (0.6, 0.85, 0.95)


def measure_speed() -> tuple[list[dict[str, Any]], list[str]]:
    """Time the fits that have an aim; return what was measured, and what could not be."""
    measured, notes = [], []
    with threadpool_limits(1):
        try:
            pima = load("diabetes_pima")
        except (DatasetError, MissingExtraError):
            notes.append("Pima is not at hand, so its fit is not timed: set SOLAH_DATA")
        else:
            measured.append(_time_fit("Pima", pima.X, pima.y, repeats=3))
        measured.append(_time_fit("5,000 x 36, six classes", *make_bands(5_000), repeats=1))
        measured.append(_time_fit("58,000 x 9, four classes", *make_causes(58_000), repeats=1))
    return measured, notes


def make_bands(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw 36 bands that follow four hidden causes, and six classes that lie apart in these."""
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.standard_normal((6, 4))
    y = rng.integers(0, 6, n_rows)
    causes = centres[y] + rng.standard_normal((n_rows, 4))
    return causes @ rng.standard_normal((4, 36)) + rng.standard_normal((n_rows, 36)), y


def make_causes(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw nine features, three for each of three causes, and four classes of unlike sizes."""
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n_rows, 3))
    X = np.repeat(causes, 3, axis=1) + 0.5 * rng.standard_normal((n_rows, 9))
    score = causes[:, 0] + causes[:, 1] * causes[:, 2] + 0.5 * rng.standard_normal(n_rows)
    return X, np.searchsorted(np.quantile(score, _SHARES), score)


def _time_fit(what: str, X: Any, y: Any, repeats: int) -> dict[str, Any]:
    mine = _least_time(RuleClassifier(n_jobs=1), X, y, repeats)
    peer = _least_time(HistGradientBoostingClassifier(), X, y, repeats)
    return {
        "what": what,
        "seconds": mine,
        "peer_seconds": peer,
        "ratio": mine / peer,
        "aim": MOST_TIMES,
    }


def _least_time(model: Any, X: Any, y: Any, repeats: int) -> float:
    """Return the least processor time of several fits."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        model.fit(X, y)
        times.append(time.process_time() - start)
    return min(times)
