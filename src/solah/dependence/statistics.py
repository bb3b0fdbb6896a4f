"""Compute a distance correlation from the nine sums of a pair of columns.

With A, B the matrices of distances after double centring, all that they need are means over rows:
of a b over pairs of rows (``product``), of the rows' mean distances a. b. (``cross``), and of a
and b. Székely, Rizzo and Bakirov (2007) divide by n, which is the V-statistic:

    dCov^2 = product - 2 cross + mean_a mean_b

and Székely and Rizzo (2014) make it unbiased, which is the U-statistic, up to a factor that
cancels in the correlation:

    dCov^2 = product - 2 n / (n - 2) cross + n^2 / ((n - 1) (n - 2)) mean_a mean_b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from solah.kernels.arrays import Float

# Sums in another order, or of another kernel, differ in their last bits, and one bit could make
# another hierarchy. Rounding hides nearly all of that; what is built on correlations should take
# those that differ by a grain as equal.
GRAIN = 2.0**-40
SQUARE_GRAIN = 2.0**-44


def correlations(sums: Float, *, unit: float = 1.0, bias_corrected: bool = False) -> Float:
    """Compute distance correlations, rounded to ``GRAIN``.

    Parameters
    ----------
    sums : array of shape (n_pairs, 9)
        With the symbols of ``native/dependence.c``: w, w w a b, w a. b., then w a., w w a a,
        w a. a. and the same three for b.
    unit : float, default=1.0
        The number of rows that a weight of one equals.
    bias_corrected : bool, default=False
        Whether to take the U-statistic; its root carries the sign of the square.

    Returns
    -------
    array of shape (n_pairs,)
        0 where a column is constant, or where there are too few rows (at most three, for the
        U-statistic).
    """
    weight = np.where(sums[:, 0] > 0, sums[:, 0], 1.0)
    n = weight * unit
    usable = n > 3 if bias_corrected else n > 0
    n = np.where(usable, n, 4.0)
    cross_factor = n / (n - 2) if bias_corrected else 1.0
    mean_factor = n**2 / ((n - 1) * (n - 2)) if bias_corrected else 1.0
    mean_a, mean_b = sums[:, 3] / weight**2, sums[:, 6] / weight**2

    def covariance(product: Float, cross: Float, means: Float) -> Float:
        squares: Float = product / weight**2 - 2 * cross_factor * (cross / weight**3)
        return squares + mean_factor * means

    covariances = covariance(sums[:, 1], sums[:, 2], mean_a * mean_b)
    variances_a = covariance(sums[:, 4], sums[:, 5], mean_a**2)
    variances_b = covariance(sums[:, 7], sums[:, 8], mean_b**2)
    # Not "> 0": of a variance that is zero, rounding may leave a little.
    usable &= (variances_a > SQUARE_GRAIN * mean_a**2) & (variances_b > SQUARE_GRAIN * mean_b**2)
    scale = np.where(usable, np.sqrt(np.abs(variances_a)) * np.sqrt(np.abs(variances_b)), 1.0)
    return _signed_root(np.where(usable, covariances / scale, 0.0), bias_corrected)


def _signed_root(squares: Float, bias_corrected: bool) -> Float:
    squares = np.rint(squares / SQUARE_GRAIN) * SQUARE_GRAIN
    squares = np.clip(squares, -1.0 if bias_corrected else 0.0, 1.0)
    roots: Float = np.sign(squares) * np.sqrt(np.abs(squares))
    return np.rint(roots / GRAIN) * GRAIN + 0.0  # no negative zero
