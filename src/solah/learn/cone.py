"""Keeps fitted scores within linear inequalities: the constrained optimum, found in the fit.

The scores W that are allowed form a cone::

    { W : sum_jk steps_ij W_jk signs_ik >= 0  for every inequality i }

A step of Newton's method goes to the least point of a paraboloid within the cone. Where there are
too many scores for a Hessian, the search goes down the slope and back into the cone, with the
step sizes of Barzilai and Borwein (the spectral projected gradient of Birgin, Martinez and Raydan).
Either is a search for multipliers, one for each inequality: which of them hold as equations is
guessed from the step before, and guesses that turn out wrong are turned round together (the
block pivoting of Portugal, Judice and Vicente).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

    Cost = Callable[[Float], tuple[float, Float]]

_TINY = 1e-12
# Keeps a system solvable where inequalities are equal.
_NUGGET = 1e-10
_MAX_STEPS = 300
_MAX_GUESSES = 60
# The number of guesses that are changed together, before one by one.
_TOGETHER = 12
# A step may raise the cost to the worst of this many before: few kinks then stop it.
_MEMORY = 6


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

    def reduced(self, shares: Float) -> Cone | None:
        """Return the inequalities of the parameters that first ones are made of, if any."""
        steps = self.steps @ shares
        lengths = np.abs(steps).max(axis=1, initial=0.0)
        kept = lengths > _TINY
        if not kept.any():
            return None
        every = np.hstack([steps[kept] / lengths[kept, None], self.signs[kept]])
        every = np.unique(every.round(12), axis=0)
        return Cone(every[:, : steps.shape[1]], every[:, steps.shape[1] :])

    def in_coordinates(self, lower: Float) -> Float:
        """Return the inequalities of ``L' W``, and of a bias behind it, line by line."""
        steps = solve_triangular(lower, self.steps.T, lower=True).T
        steps = np.hstack([steps, np.zeros((len(steps), 1))])
        return (steps[:, :, None] * self.signs[:, None, :]).reshape(len(steps), -1)

    def of_odds(self) -> Float:
        """Return the inequalities of the log-odds of two classes, or of a number, with a bias."""
        factors = self.signs[:, -1:]
        return np.hstack([factors * self.steps, np.zeros((len(self.steps), 1))])


class Faces:
    """Goes from points to the nearest ones within bounds, from guess to guess.

    Parameters
    ----------
    bounds : (n_inequalities, n) lines whose product with a point must not be negative; in
        coordinates in which distances are as usual
    """

    def __init__(self, bounds: Float) -> None:
        lengths = np.linalg.norm(bounds, axis=1, keepdims=True)
        self._bounds = bounds / np.maximum(lengths, _TINY)
        self._gram = self._bounds @ self._bounds.T
        self._tight = np.zeros(len(bounds), dtype=np.bool_)

    def nearest(self, point: Float) -> Float:
        """Return the point within the bounds that is nearest to another."""
        multipliers = self._guess(self._bounds @ point)
        if multipliers is None:
            multipliers, _ = nnls(self._bounds.T, -point)
        return np.asarray(point + multipliers @ self._bounds)

    def _guess(self, product: Float) -> Float | None:
        """Return the multipliers of a point whose product with the bounds is given."""
        slack = _TINY * (1.0 + float(np.abs(product).max(initial=0.0)))
        tight = self._tight
        for guess in range(_MAX_GUESSES):
            multipliers, inside = self._pressed(np.flatnonzero(tight), product)
            wrong = np.where(tight, multipliers, inside) < -slack
            if not wrong.any():
                self._tight = tight
                return multipliers
            if guess >= _TOGETHER:  # one by one, there is an end (Murty)
                wrong[: np.flatnonzero(wrong)[-1]] = False
            tight = tight ^ wrong
        return None

    def _pressed(self, tight: NDArray[np.intp], product: Float) -> tuple[Float, Float]:
        """Return the multipliers that make some inequalities equations, and what all then are."""
        multipliers, inside = np.zeros(len(product)), product
        system = self._gram[np.ix_(tight, tight)] + _NUGGET * np.eye(len(tight))
        inverse = np.linalg.inv(system)
        for _ in range(3):  # the first time, the nugget leaves a little
            multipliers[tight] -= inverse @ inside[tight]
            inside = product + self._gram @ multipliers
        return multipliers, inside


def nearest_within(bounds: Float, lower: Float, point: Float) -> Float:
    """Return the x with ``bounds @ x >= 0`` that is nearest to a point.

    Parameters
    ----------
    bounds : (n_inequalities, n)
    lower : (n, n) the lower triangle L by which distances are measured: ``|L' (x - point)|``
    point : (n,)
    """
    scaled = solve_triangular(lower, bounds.T, lower=True).T
    inside = Faces(scaled).nearest(lower.T @ point)
    return np.asarray(solve_triangular(lower, inside, lower=True, trans="T"))


def minimise_within(cost: Cost, first: Float, bounds: Float, bend: float, near: float) -> Float:
    """Minimise a convex cost within ``bounds @ x >= 0``.

    Parameters
    ----------
    cost : the cost of a point, and its slope
    first : (n,) where to begin
    bounds : (n_inequalities, n)
    bend : about how much the cost bends in any direction
    near : a cost that is higher by this is near enough
    """
    faces = Faces(bounds)
    point = faces.nearest(first)
    value, slope = cost(point)
    size, before = 1.0 / bend, [value]
    for _ in range(_MAX_STEPS):
        way = faces.nearest(point - size * slope) - point
        fall = float(slope @ way)
        if -fall < 2 * near:
            break
        part = 1.0
        after, after_slope = cost(point + way)
        while after > max(before[-_MEMORY:]) + 1e-4 * part * fall and part > 1e-6:
            part = max(0.1 * part, -fall * part**2 / (2 * (after - value - part * fall)))
            after, after_slope = cost(point + part * way)
        point = point + part * way
        curved = part * float(way @ (after_slope - slope))
        size = min(max(part**2 * float(way @ way) / max(curved, _TINY), 1e-2 / bend), 1e3 / bend)
        value, slope = after, after_slope
        before.append(value)
    return point
