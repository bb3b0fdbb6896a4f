"""The truth and what was believed in, scores out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score

from solah.kernels.sums import negative_log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float


@dataclass(frozen=True)
class ClassScores:
    """How well classes were told apart.

    Attributes
    ----------
    accuracy : the share of rows whose class was decided for
    auc : the rank AUC; for several classes the mean over one class against the others
    log_loss : the mean negative log-likelihood, in nats; lower is better
    brier : half the mean squared distance of beliefs to the truth; lower is better
    """

    accuracy: float
    auc: float
    log_loss: float
    brier: float


@dataclass(frozen=True)
class NumberScores:
    """How well numbers were estimated.

    Attributes
    ----------
    r2 : the share of the variance that is explained
    mae : the mean absolute error, in the goal's unit; lower is better
    """

    r2: float
    mae: float


def score_beliefs(
    truth: NDArray[Any],
    beliefs: Float,
    classes: NDArray[Any],
    sample_weight: Float | None = None,
    decisions: NDArray[Any] | None = None,
) -> ClassScores:
    """Compare beliefs with the true classes.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
    beliefs : ndarray of shape (n_rows, n_classes)
    classes : ndarray of shape (n_classes,)
        The class of each column, sorted; every true class is among them.
    sample_weight : ndarray of shape (n_rows,), default=None
        What each row counts for.

    Returns
    -------
    scores : ClassScores
        The AUC is over the classes that appear in the truth, and NaN if it has only one.

    Examples
    --------
    >>> import numpy as np
    >>> beliefs = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> score_beliefs(np.array(["a", "b", "b"]), beliefs, np.array(["a", "b"])).auc
    1.0
    """
    return ClassScores(
        accuracy=(
            accuracy(truth, beliefs, classes, sample_weight)
            if decisions is None
            else float(np.average(decisions == truth, weights=sample_weight))
        ),
        auc=rank_auc(truth, beliefs, classes, sample_weight),
        log_loss=log_loss(truth, beliefs, classes, sample_weight),
        brier=brier_score(truth, beliefs, classes, sample_weight),
    )


def over_all_classes(beliefs: Float, known: NDArray[Any], classes: NDArray[Any]) -> Float:
    """Give a class that was not among the training rows no belief."""
    whole = np.zeros((len(beliefs), len(classes)))
    whole[:, np.searchsorted(classes, known)] = beliefs
    return whole


def accuracy(
    truth: NDArray[Any], beliefs: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return the share of rows whose class was believed most."""
    right = classes[np.argmax(beliefs, axis=1)] == truth
    return float(np.average(right, weights=weights))


def score_numbers(truth: Float, estimates: Float) -> NumberScores:
    """Compare estimates with the true numbers.

    Parameters
    ----------
    truth, estimates : ndarray of shape (n_rows,)

    Returns
    -------
    scores : NumberScores
        R² is NaN for a single row.
    """
    return NumberScores(
        r2=float(r2_score(truth, estimates)) if len(truth) > 1 else float("nan"),
        mae=float(mean_absolute_error(truth, estimates)),
    )


def rank_auc(
    truth: NDArray[Any], beliefs: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return the mean area under the ROC curves of the true classes; NaN for a single one."""
    present = [c for c in range(len(classes)) if (truth == classes[c]).any()]
    if len(present) < 2:
        return float("nan")
    areas = [
        roc_auc_score(truth == classes[c], beliefs[:, c], sample_weight=weights) for c in present
    ]
    return float(np.mean(areas))


def log_loss(
    truth: NDArray[Any], beliefs: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return the mean negative log-likelihood, which is finite for impossible classes too."""
    in_truth = beliefs[np.arange(len(truth)), np.searchsorted(classes, truth)]
    # Sums of many branches may end a rounding error above 1, which scikit-learn refuses.
    return float(np.average(negative_log(in_truth), weights=weights))


def brier_score(
    truth: NDArray[Any], beliefs: Float, classes: NDArray[Any], weights: Float | None = None
) -> float:
    """Return half the mean squared distance to the truth: 0 is best, 1 is wrong and sure of it.

    Halved, it is the usual score of one column where there are two classes.
    """
    distances = ((beliefs - (truth[:, None] == classes[None, :])) ** 2).sum(axis=1)
    return float(np.average(distances, weights=weights) / 2)
