"""Keeps fitted scores within linear inequalities: the constrained optimum, found in the fit.

The scores W that are allowed form a cone::

    { W : sum_jk steps_ij W_jk signs_ik >= 0  for every inequality i }

A step of Newton's method goes to the least point of a paraboloid within the cone, which is a
problem of non-negative least squares (Lawson and Hanson) for the multipliers. Where there are too
many scores for a Hessian, multipliers are found round by round (the augmented Lagrangian of
Hestenes and Powell), around the same search that fits without inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize, nnls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from solah.kernels.arrays import Float

    Cost = Callable[[Float], tuple[float, Float]]

# How steeply crossing a bound is priced, beside how the loss bends.
_STEEPNESS = 30.0
_MAX_ROUNDS = 12
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Cone:
    """Linear inequalities of scores.

    Attributes
    ----------
    steps : (n_inequalities, n_columns)
    signs : (n_inequalities, n_outputs)
    """

    steps: Float
    signs: Float

    def reduced(self, shares: Float) -> Cone:
        """Return the inequalities of the parameters that first ones are made of."""
        steps = self.steps @ shares
        lengths = np.abs(steps).max(axis=1, initial=0.0)
        kept = lengths > _TINY
        every = np.hstack([steps[kept] / lengths[kept, None], self.signs[kept]])
        every = np.unique(every.round(12), axis=0)
        return Cone(every[:, : steps.shape[1]], every[:, steps.shape[1] :])

    def of_odds(self) -> Float:
        """Return the inequalities of the log-odds of two classes, or of a number, with a bias."""
        factors = self.signs[:, -1:]
        return np.hstack([factors * self.steps, np.zeros((len(self.steps), 1))])


def nearest_within(bounds: Float, lower: Float, point: Float) -> Float:
    """Return the x with ``bounds @ x >= 0`` that is nearest to a point.

    Parameters
    ----------
    bounds : (n_inequalities, n)
    lower : (n, n) the lower triangle L by which distances are measured: ``|L' (x - point)|``
    point : (n,)
    """
    moved = lower.T @ point
    inward = solve_triangular(lower, bounds.T, lower=True)
    inward /= np.maximum(np.linalg.norm(inward, axis=0), _TINY)
    multipliers, _ = nnls(inward, -moved, maxiter=20 * len(bounds) + 100)
    inside = moved + inward @ multipliers
    return np.asarray(solve_triangular(lower, inside, lower=True, trans="T"))


def minimise_within(
    cost: Cost, first: Float, bounds: Float, bend: float, near: float, options: Mapping[str, Any]
) -> Float:
    """Minimise a convex cost within ``bounds @ x >= 0``.

    Parameters
    ----------
    cost : the cost of a point, and its slope
    first : (n,) where to begin
    bounds : (n_inequalities, n) lines of length 1
    bend : about how much the cost bends in any direction
    near : a cost that is higher by this is near enough
    options : those of the search (L-BFGS)
    """
    steep = _STEEPNESS * bend
    multipliers = np.zeros(len(bounds))
    point = first

    def priced(values: Float) -> tuple[float, Float]:
        value, slope = cost(values)
        beyond = np.maximum(multipliers - steep * (bounds @ values), 0.0)
        return value + float(beyond @ beyond) / (2 * steep), slope - bounds.T @ beyond

    for _ in range(_MAX_ROUNDS):
        found = minimize(priced, point, jac=True, method="L-BFGS-B", options=dict(options))
        point = np.asarray(found.x)
        inside = bounds @ point
        before, multipliers = multipliers, np.maximum(multipliers - steep * inside, 0.0)
        outside = np.minimum(inside, 0.0)
        change = float(np.abs(multipliers - before) @ np.abs(inside))
        if change < near and steep * float(outside @ outside) < near:
            break
    # What is left outside is less than the search can tell; go to the nearest point inside.
    pressed, _ = nnls(bounds.T, -point, maxiter=20 * len(bounds) + 100)
    return np.asarray(point + bounds.T @ pressed)
