"""How hierarchies are compared on rows that they did not learn from."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from solah.evaluation.scores import accuracy, log_loss, rank_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

Scoring = Literal["auc", "accuracy", "log_loss"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
_SCORES = {"auc": rank_auc, "accuracy": accuracy, "log_loss": log_loss}
_CHANCE = 0.5


def score(scoring: Scoring, codes: NDArray[Any], beliefs: Float, weights: Float) -> float:
    """Score beliefs in the classes of rows; larger is better."""
    classes = np.arange(beliefs.shape[1])
    found = _SCORES[scoring](codes, beliefs, classes, weights)
    if scoring == "log_loss":
        return -found
    return _CHANCE if isnan(found) else found  # one class alone has no AUC
