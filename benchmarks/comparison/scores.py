"""Truth and beliefs in, the scores of a fold out."""

from __future__ import annotations

import numpy as np

from solah.evaluation import calibration_error, score_beliefs


def score_fold(truth: np.ndarray, beliefs: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Score beliefs (one column a class) by the true classes; what is not defined is NaN."""
    basic = score_beliefs(truth, beliefs, classes)
    decided = np.argmax(beliefs, axis=1)
    return {
        "accuracy": basic.accuracy,
        "balanced_accuracy": balanced_accuracy(truth, classes[decided]),
        "auc": basic.auc,
        "log_loss": basic.log_loss,
        "brier": basic.brier,
        "calibration": calibration_error(np.searchsorted(classes, truth), beliefs, decided),
    }


def balanced_accuracy(truth: np.ndarray, decisions: np.ndarray) -> float:
    """Return the mean, over the classes in the truth, of the share of their rows that is right."""
    right = decisions == truth
    return float(np.mean([right[truth == each].mean() for each in np.unique(truth)]))
