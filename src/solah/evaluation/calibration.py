"""Whether beliefs come true as often as they promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

N_BINS = 10


@dataclass(frozen=True, eq=False)
class BeliefBins:
    """Beliefs, put into bins of equal width, against how often they came true.

    Attributes
    ----------
    believed : (n_bins,) the mean belief of each bin; NaN without any
    came_true : (n_bins,) the share of them that came true; NaN without any
    counts : (n_bins,) how many there are
    """

    believed: Float
    came_true: Float
    counts: NDArray[np.intp]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of both; NaN without any beliefs."""
        filled = self.counts > 0
        if not filled.any():
            return float("nan")
        distances = np.abs(self.believed - self.came_true)[filled]
        return float(np.average(distances, weights=self.counts[filled]))


def bin_beliefs(beliefs: Float, is_true: NDArray[np.bool_], n_bins: int = N_BINS) -> BeliefBins:
    """Put beliefs into bins, and count how often they came true.

    Examples
    --------
    >>> bins = bin_beliefs(np.array([0.9, 0.95, 0.3]), np.array([True, False, False]))
    >>> bins.counts.tolist(), round(bins.error, 3)
    ([0, 0, 0, 1, 0, 0, 0, 0, 0, 2], 0.383)
    """
    places = bins_of(beliefs, n_bins)
    counts = np.bincount(places, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        believed, came_true = (
            np.bincount(places, weights, n_bins) / counts for weights in (beliefs, is_true)
        )
    return BeliefBins(believed, came_true, counts)


def bins_of(beliefs: Float, n_bins: int = N_BINS) -> NDArray[np.intp]:
    """Return the bin of each belief, the last of which holds the surest."""
    return np.minimum((beliefs * n_bins).astype(np.intp), n_bins - 1)


def calibration_error(truth: NDArray[np.intp], beliefs: Float, decided: NDArray[np.intp]) -> float:
    """Return the expected calibration error of the belief in the class that is decided for.

    Parameters
    ----------
    truth, decided : ndarray of shape (n_rows,)
        The places of the true classes and of those decided for.
    beliefs : ndarray of shape (n_rows, n_classes)
    """
    in_decision = beliefs[np.arange(len(decided)), decided]
    return bin_beliefs(in_decision, decided == truth).error
