"""Truth and beliefs in, the scores of a fold out."""

from __future__ import annotations

import numpy as np

from solah.evaluation import score_beliefs


def score_fold(truth: np.ndarray, beliefs: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Score beliefs (one column a class) by the true classes; what is not defined is NaN."""
    basic = score_beliefs(truth, beliefs, classes)
    return {
        "accuracy": basic.accuracy,
        "balanced_accuracy": balanced_accuracy(truth, classes[np.argmax(beliefs, axis=1)]),
        "auc": basic.auc,
        "log_loss": basic.log_loss,
        "brier": basic.brier,
        "calibration": calibration_error(truth, beliefs, classes),
    }


def calibration_error(
    truth: np.ndarray, beliefs: np.ndarray, classes: np.ndarray, n_bins: int = 10
) -> float:
    """Return the expected calibration error: how far the belief in what is decided is off.

    Rows are sorted into even bins by how far their decision is believed. Of each bin, the mean
    belief less the share of right decisions counts, by the rows in it.
    """
    most = beliefs.max(axis=1)
    right = classes[np.argmax(beliefs, axis=1)] == truth
    bins = np.minimum((most * n_bins).astype(int), n_bins - 1)
    gaps = np.abs(np.bincount(bins, most - right, n_bins))
    return float(gaps.sum() / len(truth))


def balanced_accuracy(truth: np.ndarray, decisions: np.ndarray) -> float:
    """Return the mean, over the classes in the truth, of the share of their rows that is right."""
    right = decisions == truth
    return float(np.mean([right[truth == each].mean() for each in np.unique(truth)]))
