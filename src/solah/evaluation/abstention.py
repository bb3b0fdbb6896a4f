"""Risk and coverage: the errors that are left when uncertain predictions are withheld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import beta

from solah.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

N_TRIED = 20
"""How many coverages are tried for a wanted error: 100 %, 95 %, … 5 %."""


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The share of decided rows, and how many of these are wrong, as the limit falls.

    Attributes
    ----------
    limits : (n_points,) falling: rows with at least this confidence are decided
    n_decided, n_wrong : (n_points,) how many rows are decided, and wrongly
    n_rows : how many rows there are

    Confidence is the probability of the predicted class. If classes have thresholds, it is divided
    by that of the class and the number of classes.
    """

    limits: Float
    n_decided: NDArray[np.intp]
    n_wrong: NDArray[np.intp]
    n_rows: int

    @property
    def coverage(self) -> Float:
        """(n_points,) the share of rows that are decided."""
        return np.asarray(self.n_decided / self.n_rows)

    @property
    def risk(self) -> Float:
        """(n_points,) the share of decided rows that are wrong."""
        return np.asarray(self.n_wrong / self.n_decided)

    @property
    def area(self) -> float:
        """The mean risk over all coverages (AURC): 0 is best."""
        steps = np.diff(self.coverage, prepend=0.0)
        return float((steps * self.risk).sum())

    def at(self, limit: float) -> tuple[float, float | None]:
        """Return coverage and risk at a limit; no risk where no row is decided."""
        n_points = int((self.limits >= limit).sum())
        if not n_points:
            return 0.0, None
        return float(self.coverage[n_points - 1]), float(self.risk[n_points - 1])


@dataclass(frozen=True)
class ProbabilityLimit:
    """The lowest confidence at which decisions have a wanted error.

    Attributes
    ----------
    limit : the confidence; 0 if nothing need be withheld
    coverage : the share of rows that are decided
    risk : the share of these that are wrong
    bound : the upper confidence bound of the error; the risk itself if no confidence was asked for
    n_decided : how many rows are decided
    """

    limit: float
    coverage: float
    risk: float
    bound: float
    n_decided: int


def confidences(
    probabilities: Float, decided: NDArray[np.intp], thresholds: Sequence[float]
) -> Float:
    """Return the confidence in decisions: probabilities, over thresholds where there are any."""
    chosen = np.take_along_axis(probabilities, decided[:, None], axis=1)[:, 0]
    if not thresholds:
        return np.asarray(chosen)
    return np.asarray(chosen / (np.array(thresholds)[decided] * len(thresholds)))


def risk_coverage(
    y_true: NDArray[np.intp],
    probabilities: Float,
    decided: NDArray[np.intp] | None = None,
    thresholds: Sequence[float] = (),
) -> RiskCoverage:
    """Trace the risk of decisions against their coverage.

    Parameters
    ----------
    y_true : ndarray of shape (n_rows,)
        The indices of the true classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        The probabilities of held-out rows.
    decided : ndarray of shape (n_rows,), default=None
        The indices of the predicted classes; by default the most probable ones.
    thresholds : sequence of float, default=()
        Those of the classes, if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> curve = risk_coverage(np.array([0, 0, 0, 1]), probabilities)
    >>> curve.coverage.tolist(), curve.risk.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.5])
    """
    if not len(y_true):
        raise DataError("there are no rows with a known class, so there is nothing to measure")
    places = np.argmax(probabilities, axis=1) if decided is None else decided
    confidence = confidences(probabilities, places, thresholds)
    order = np.argsort(-confidence, kind="stable")
    falling = confidence[order]
    wrong = np.cumsum((places != y_true)[order])
    ends = np.flatnonzero(np.append(falling[1:] < falling[:-1], True))
    return RiskCoverage(falling[ends], ends + 1, wrong[ends], len(y_true))


def minimum_limit(
    curve: RiskCoverage, max_error: float, confidence: float | None = 0.95
) -> ProbabilityLimit:
    """Find the lowest limit at which the error among decided rows is as wanted.

    Parameters
    ----------
    curve : RiskCoverage
    max_error : float
        The wanted error, above 0 and below 1.
    confidence : float, default=0.95
        The probability that the error of future decided rows is at most as wanted, if they are
        drawn like these. Twenty coverages are tried, and the bound (Clopper and Pearson's)
        accounts for them all. None takes the measured error for the true one.

    Returns
    -------
    found : ProbabilityLimit

    Raises
    ------
    ParameterError
        If no limit reaches it; the message has the lowest error that can be reached.
    """
    if not 0 < max_error < 1:
        raise ParameterError(f"'max_error' must be above 0 and below 1. Got {max_error!r} instead.")
    if confidence is not None and not 0 < confidence < 1:
        raise ParameterError(
            f"'confidence' must be above 0 and below 1, or None. Got {confidence!r} instead."
        )
    if confidence is None:
        points = np.arange(len(curve.limits))
        bounds = curve.risk
    else:
        # The points that come closest from below to the coverages that are tried.
        wanted = np.arange(1, N_TRIED + 1) / N_TRIED * curve.n_rows
        points = np.searchsorted(curve.n_decided, wanted + 1e-9, side="right") - 1
        points = np.unique(points[points >= 0])
        bounds = upper_bounds(curve.n_wrong[points], curve.n_decided[points], confidence)
    good = np.flatnonzero(bounds <= max_error)
    if not len(good):
        best = int(np.argmin(bounds))
        sure = "" if confidence is None else f" (with {confidence:.0%} confidence)"
        raise ParameterError(
            f"no limit keeps the error of decided rows at {max_error:.4g}{sure}: the minimum for "
            f"{curve.n_rows} rows is {bounds[best]:.4g}, deciding "
            f"{curve.coverage[points[best]]:.0%} of them"
        )
    point, bound = int(points[good[-1]]), float(bounds[good[-1]])
    # Between this point and the next, so that rounding changes no decision.
    between = 0.0 if point + 1 == len(curve.limits) else curve.limits[point : point + 2].mean()
    return ProbabilityLimit(
        limit=float(between),
        coverage=float(curve.coverage[point]),
        risk=float(curve.risk[point]),
        bound=bound,
        n_decided=int(curve.n_decided[point]),
    )


def upper_bounds(
    n_wrong: NDArray[np.intp], n_decided: NDArray[np.intp], confidence: float
) -> Float:
    """Return Clopper and Pearson's upper bounds of the error, one of ``N_TRIED`` each."""
    right = np.maximum(n_decided - n_wrong, 1e-9)
    bounds = beta.ppf(1 - (1 - confidence) / N_TRIED, n_wrong + 1, right)
    return np.where(n_wrong == n_decided, 1.0, bounds)
