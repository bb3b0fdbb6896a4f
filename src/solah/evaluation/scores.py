"""Metrics of predicted classes and numbers, and the calibration of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score

from solah.kernels.sums import negative_log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

N_BINS = 10


@dataclass(frozen=True)
class ClassScores:
    """Metrics of predicted classes.

    Attributes
    ----------
    accuracy : the share of rows whose class is predicted
    auc : the rank AUC; for several classes the mean over one class against the others
    log_loss : the mean negative log-likelihood, in nats; lower is better
    brier : half the mean squared distance of probabilities to the true classes; lower is better
    """

    accuracy: float
    auc: float
    log_loss: float
    brier: float


@dataclass(frozen=True)
class NumberScores:
    """Metrics of predicted numbers: R², NaN for a single row, and the mean absolute error."""

    r2: float
    mae: float


def score_probabilities(
    y_true: NDArray[Any],
    probabilities: Float,
    classes: NDArray[Any],
    sample_weight: Float | None = None,
    decisions: NDArray[Any] | None = None,
) -> ClassScores:
    """Compare probabilities with the true classes.

    Parameters
    ----------
    y_true : ndarray of shape (n_rows,)
    probabilities : ndarray of shape (n_rows, n_classes)
    classes : ndarray of shape (n_classes,)
        The class of each column, sorted; every true class is among them.
    sample_weight : ndarray of shape (n_rows,), default=None
    decisions : ndarray of shape (n_rows,), default=None
        The predicted classes; by default the most probable ones.

    Returns
    -------
    scores : ClassScores
        The AUC is over the classes that appear in ``y_true``, and NaN if there is only one.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> score_probabilities(np.array(["a", "b", "b"]), probabilities, np.array(["a", "b"])).auc
    1.0
    """
    predicted = classes[np.argmax(probabilities, axis=1)] if decisions is None else decisions
    return ClassScores(
        accuracy=float(np.average(predicted == y_true, weights=sample_weight)),
        auc=rank_auc(y_true, probabilities, classes, sample_weight),
        log_loss=log_loss(y_true, probabilities, classes, sample_weight),
        brier=brier_score(y_true, probabilities, classes, sample_weight),
    )


def score_numbers(y_true: Float, estimates: Float) -> NumberScores:
    """Compare predicted with true numbers."""
    return NumberScores(
        r2=float(r2_score(y_true, estimates)) if len(y_true) > 1 else float("nan"),
        mae=float(mean_absolute_error(y_true, estimates)),
    )


def over_all_classes(probabilities: Float, known: NDArray[Any], classes: NDArray[Any]) -> Float:
    """Add a probability of 0 for classes that were not among the training rows."""
    whole = np.zeros((len(probabilities), len(classes)))
    whole[:, np.searchsorted(classes, known)] = probabilities
    return whole


def rank_auc(
    y_true: NDArray[Any], probabilities: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return the mean area under the ROC curves of the true classes; NaN for a single one."""
    present = [c for c in range(len(classes)) if (y_true == classes[c]).any()]
    if len(present) < 2:
        return float("nan")
    areas = [
        roc_auc_score(y_true == classes[c], probabilities[:, c], sample_weight=weights)
        for c in present
    ]
    return float(np.mean(areas))


def log_loss(
    y_true: NDArray[Any], probabilities: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return the mean negative log-likelihood, which is finite for impossible classes too."""
    of_true = probabilities[np.arange(len(y_true)), np.searchsorted(classes, y_true)]
    # Sums of many branches may end a rounding error above 1, which scikit-learn refuses.
    return float(np.average(negative_log(of_true), weights=weights))


def brier_score(
    y_true: NDArray[Any], probabilities: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return half the mean squared distance to the classes, as scikit-learn does for two."""
    distances = ((probabilities - (y_true[:, None] == classes[None, :])) ** 2).sum(axis=1)
    return float(np.average(distances, weights=weights) / 2)


@dataclass(frozen=True, eq=False)
class ProbabilityBins:
    """Probabilities in bins of equal width, against how often they came true.

    Attributes
    ----------
    predicted : (n_bins,) the mean probability of each bin; NaN if it is empty
    came_true : (n_bins,) the share that came true; NaN if it is empty
    counts : (n_bins,) the number of probabilities
    """

    predicted: Float
    came_true: Float
    counts: NDArray[np.intp]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of both; NaN without any."""
        filled = self.counts > 0
        if not filled.any():
            return float("nan")
        distances = np.abs(self.predicted - self.came_true)[filled]
        return float(np.average(distances, weights=self.counts[filled]))


def bin_probabilities(
    probabilities: Float, is_true: NDArray[np.bool_], n_bins: int = N_BINS
) -> ProbabilityBins:
    """Put probabilities into bins, and count how often they came true.

    Examples
    --------
    >>> bins = bin_probabilities(np.array([0.9, 0.95, 0.3]), np.array([True, False, False]))
    >>> bins.counts.tolist(), round(bins.error, 3)
    ([0, 0, 0, 1, 0, 0, 0, 0, 0, 2], 0.383)
    """
    places = np.minimum((probabilities * n_bins).astype(np.intp), n_bins - 1)
    counts = np.bincount(places, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        predicted, came_true = (
            np.bincount(places, weights, n_bins) / counts for weights in (probabilities, is_true)
        )
    return ProbabilityBins(predicted, came_true, counts)


def calibration_error(
    y_true: NDArray[np.intp], probabilities: Float, decided: NDArray[np.intp]
) -> float:
    """Return the expected calibration error of the predicted classes; rows are indices of them."""
    in_decision = probabilities[np.arange(len(decided)), decided]
    return bin_probabilities(in_decision, decided == y_true).error
