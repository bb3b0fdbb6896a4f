"""Nothing in, how long the default takes to learn out, beside HistGradientBoosting."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from timing import seconds

from solah import SelfOrganisedHierarchyClassifier
from solah.datasets import load
from solah.exceptions import DatasetError, MissingExtraError

MANY_ROWS, FEW_ATTRIBUTES = 58_000, 9
PIMA_SECONDS, MANY_SECONDS = 5.0, 60.0
_SHARES = (0.6, 0.85, 0.95)


def measure_speed() -> tuple[list[dict[str, Any]], list[str]]:
    """Time the fits that have an aim; return what was measured, and what could not be."""
    measured, notes = [], []
    try:
        pima = load("diabetes_pima")
    except (DatasetError, MissingExtraError):
        notes.append("Pima is not at hand, so its fit is not timed: set SOLAH_DATA")
    else:
        measured.append(_time_fit("Pima", pima.X, pima.y, PIMA_SECONDS, repeats=3))
    X, y = make_rows()
    what = f"{MANY_ROWS:,} x {FEW_ATTRIBUTES} rows"
    measured.append(_time_fit(what, X, y, MANY_SECONDS, repeats=1))
    return measured, notes


def make_rows(n_rows: int = MANY_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Draw nine attributes, three for each of three causes, and four classes of unlike sizes."""
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n_rows, 3))
    X = np.repeat(causes, 3, axis=1) + 0.5 * rng.standard_normal((n_rows, FEW_ATTRIBUTES))
    score = causes[:, 0] + causes[:, 1] * causes[:, 2] + 0.5 * rng.standard_normal(n_rows)
    return X, np.searchsorted(np.quantile(score, _SHARES), score)


def _time_fit(what: str, X: np.ndarray, y: np.ndarray, aim: float, repeats: int) -> dict[str, Any]:
    mine = seconds(lambda: SelfOrganisedHierarchyClassifier().fit(X, y), repeats)
    peer = seconds(lambda: HistGradientBoostingClassifier().fit(X, y), repeats)
    return {"what": what, "seconds": mine, "peer_seconds": peer, "ratio": mine / peer, "aim": aim}
