"""Measures how well a model decides on rows, ready for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import confusion_matrix

from solah.evaluation import bin_beliefs, calibration_error, score_beliefs, score_numbers
from solah.evaluation.curves import roc_curves
from solah.report.sampling import spread_evenly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.evaluation.curves import RocCurve
    from solah.kernels.arrays import Float

MAX_CURVES = 10
MAX_POINTS = 400
_CURVE_STEPS = 200


def measure_classes(
    truth: NDArray[np.intp], beliefs: Float, decided: NDArray[np.intp], names: list[str]
) -> dict[str, Any]:
    """Measure decisions on classes.

    Parameters
    ----------
    truth, decided : ndarray of shape (n_rows,)
        The places of the true classes and of those decided for.
    beliefs : ndarray of shape (n_rows, n_classes)
    names : list of str
        The classes.

    Returns
    -------
    measured : dict
        Plain values; what cannot be computed on these rows is None.

    Examples
    --------
    >>> import numpy as np
    >>> beliefs = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> measured = measure_classes(np.array([0, 1, 1]), beliefs, np.array([0, 0, 1]), ["a", "b"])
    >>> measured["confusion"], measured["scores"]["balanced_accuracy"]
    ([[1, 0], [1, 1]], 0.75)
    """
    places = np.arange(len(names))
    scores = score_beliefs(truth, beliefs, places, decisions=decided)
    confusion = confusion_matrix(truth, decided, labels=places)
    by_class = [_class_scores(confusion, place, name) for place, name in enumerate(names)]
    recalls = [one["recall"] for one in by_class if one["recall"] is not None]
    return {
        "scores": {
            "accuracy": scores.accuracy,
            "balanced_accuracy": sum(recalls) / len(recalls),
            "auc": _known(scores.auc),
            "log_loss": scores.log_loss,
            "brier": scores.brier,
            "calibration_error": calibration_error(truth, beliefs, decided),
        },
        "confusion": confusion.tolist(),
        "classes": by_class,
        "curves": _curves(truth, beliefs, names),
        "calibration": _calibration(truth, beliefs),
    }


def measure_numbers(truth: Float, estimates: Float) -> dict[str, Any]:
    """Measure estimates of a number; of many rows every so manieth is kept as a point."""
    scores = score_numbers(truth, estimates)
    kept = spread_evenly(len(truth), MAX_POINTS)
    both = np.concatenate([truth, estimates])
    return {
        "scores": {"r2": _known(scores.r2), "mae": scores.mae},
        "points": np.column_stack([truth[kept], estimates[kept]]).tolist(),
        "low": float(both.min()),
        "high": float(both.max()),
    }


def _class_scores(confusion: NDArray[Any], place: int, name: str) -> dict[str, Any]:
    right = int(confusion[place, place])
    support, chosen = int(confusion[place].sum()), int(confusion[:, place].sum())
    return {
        "class": name,
        "precision": right / chosen if chosen else None,
        "recall": right / support if support else None,
        "support": support,
    }


def _curves(truth: NDArray[np.intp], beliefs: Float, names: list[str]) -> list[dict[str, Any]]:
    """Describe the ROC curves of the classes that most rows have."""
    curves, counts = roc_curves(truth, beliefs, names), np.bincount(truth, minlength=len(names))
    chosen = sorted(curves, key=lambda place: -counts[place])[:MAX_CURVES]
    return [_describe_curve(curves[place], place) for place in sorted(chosen)]


def _describe_curve(curve: RocCurve, place: int) -> dict[str, Any]:
    points = np.column_stack([curve.false_positives, curve.true_positives])
    return {
        "class": curve.name,
        "place": place,
        "auc": curve.auc,
        "points": points[spread_evenly(len(points), _CURVE_STEPS)].round(4).tolist(),
    }


def _calibration(truth: NDArray[np.intp], beliefs: Float) -> list[dict[str, Any]]:
    """Compare beliefs, of all classes together, with how often they were right, bin by bin."""
    is_true = (truth[:, None] == np.arange(beliefs.shape[1])).ravel()
    bins = bin_beliefs(beliefs.ravel(), is_true)
    return [
        {"belief": _known(believed), "share": _known(came_true), "pairs": pairs}
        for believed, came_true, pairs in zip(
            bins.believed.tolist(), bins.came_true.tolist(), bins.counts.tolist(), strict=True
        )
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
