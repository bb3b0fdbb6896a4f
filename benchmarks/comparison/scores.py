"""Metrics of a fold from its true classes and its probabilities."""

from __future__ import annotations

import numpy as np

from solah.evaluation import calibration_error, score_probabilities


def score_fold(target: np.ndarray, beliefs: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return metrics of probabilities (one column per class); undefined ones are NaN."""
    basic = score_probabilities(target, beliefs, classes)
    decided = np.argmax(beliefs, axis=1)
    return {
        "accuracy": basic.accuracy,
        "balanced_accuracy": balanced_accuracy(target, classes[decided]),
        "auc": basic.auc,
        "log_loss": basic.log_loss,
        "brier": basic.brier,
        "calibration": calibration_error(np.searchsorted(classes, target), beliefs, decided),
    }


def balanced_accuracy(target: np.ndarray, decisions: np.ndarray) -> float:
    """Return the mean recall over the classes in the target."""
    right = decisions == target
    return float(np.mean([right[target == each].mean() for each in np.unique(target)]))
