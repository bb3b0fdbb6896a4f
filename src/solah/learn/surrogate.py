"""Scores fitted to very many rows, in a few passes over them.

Where rows are many, fitting scores by walking through all of them again and again would take
hundreds of passes. A sample of the rows stands in for them instead, corrected by the slope of the
loss of all rows (the surrogate likelihood of Jordan, Lee and Yang, 2019)::

    minimise  loss of the sample(v) + < slope of all(v_k) - slope of the sample(v_k), v > + penalty

Every round takes one pass, for the slope of all rows, and brings the scores nearer to those that
suit all rows by as much as the sample's curvature is near to theirs, about twentyfold. What comes
out is fitted to all rows; the sample only saves passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

from solah.kernels.arrays import SLOPE_SCALE, WEIGHT_ONE
from solah.kernels.sums import whole_and_parts
from solah.learn.evidence import evidence_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.kernels.arrays import Float
    from solah.learn.evidence import EvidenceModel, RoutedRows
    from solah.learn.rows import Rows

MAX_ROUNDS = 6
"""No more passes than this are made over all rows."""
NEAR_ENOUGH = 1e-3
"""Scores that a round moved by no more are done: another would move them by a twentieth of it."""
_MAX_STEPS = 200
_ROWS_OF_CURVATURE = 8_192
_MOST_PARAMETERS = 3_000


def refine(
    model: EvidenceModel,
    few: RoutedRows,
    rows: Rows,
    n_classes: int,
    penalty: float,
    *,
    max_rules: int | None = None,
    rule_cost: float = 0.0,
) -> tuple[EvidenceModel, Float]:
    """Fit scores to all rows, and join branches with nearly the same scores.

    Parameters
    ----------
    model : EvidenceModel
    few : RoutedRows
        The sample.
    rows : Rows
    n_classes : int
    penalty : float
        What a score of 1 costs, in rows.
    max_rules : int, default=None
        The most rules that may be left.
    rule_cost : float, default=0.0
        How many nats a rule must be worth to stay.

    Returns
    -------
    model : EvidenceModel
        With the branches that are left.
    parameters : ndarray of shape (n_parameters, n_classes)
    """

    def stand_in(model: EvidenceModel) -> _StandIn:
        return _StandIn(model, few, rows, n_classes, penalty)

    with threadpool_limits(1, user_api="blas"):  # whose sums would differ in their last bits
        model, found = model.joined_by(lambda one: stand_in(one).of_sample(), max_rules, rule_cost)
        return model, stand_in(model).of_all(found)


class _StandIn:
    """A sample that stands in for all rows."""

    def __init__(
        self, model: EvidenceModel, few: RoutedRows, rows: Rows, n_classes: int, penalty: float
    ) -> None:
        self.model, self.rows = model, rows
        self.weight = float(rows.facts.sums.sum())
        per_row = penalty * (1 / rows.facts.weight_unit) / self.weight
        self.design, ridge = model.design
        self.back = self.design.T.tocsr()
        self.few = few.through(model.places)
        self.few_weight = float(few.weights.sum())
        self.pull = per_row * ridge[:, None]
        self.shape = (len(ridge), n_classes)
        self.scale = _Scale.of(self.few, self.design, self.pull[:, 0])

    def of_sample(self) -> Float:
        """Return the parameters that suit the sample."""
        return self._fit(np.zeros(self.shape), np.zeros(self.shape))

    def of_all(self, start: Float) -> Float:
        """Correct the parameters that suit the sample, until nothing moves any more.

        Where that takes too many passes, those are returned that suit all rows best so far.
        """
        best: tuple[float, Float] | None = None
        for _ in range(MAX_ROUNDS):
            loss, slope = self._of_all(start)
            if best is not None and loss > best[0]:
                # The sample is a poor stand-in there: go half as far.
                start = (start + best[1]) / 2
                continue
            best = loss, start
            there = self._fit(start, slope - self._of_few(start)[1])
            moved = float(np.abs(self.model.scores(there - start)).max())
            if moved < NEAR_ENOUGH:
                return there
            start = there
        assert best is not None
        return best[1]

    def _of_all(self, parameters: Float) -> tuple[float, Float]:
        summed, slope = evidence_loss(self.model, self.model.scores(parameters), self.rows)
        loss = whole_and_parts(summed) / self.weight
        penalty = 0.5 * float((self.pull * parameters**2).sum())
        return loss + penalty, (self.back @ slope) / (self.weight * SLOPE_SCALE)

    def _of_few(self, parameters: Float) -> tuple[float, Float]:
        summed, slope = self.few.loss(self.model.scores(parameters))
        gradient = (self.back @ slope.astype(np.float64)) / (self.few_weight * SLOPE_SCALE)
        return whole_and_parts(summed) / self.few_weight, gradient

    def _fit(self, start: Float, correction: Float) -> Float:
        """Minimise the sample's loss with a correction and the penalty."""

        def objective(flat: Float) -> tuple[float, Float]:
            parameters = self.scale.out(flat.reshape(self.shape))
            loss, slope = self._of_few(parameters)
            pull = self.pull * parameters
            loss += float((correction * parameters).sum() + 0.5 * (pull * parameters).sum())
            return loss, self.scale.back(slope + correction + pull).ravel()

        found = minimize(
            objective,
            self.scale.into(start).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MAX_STEPS, "ftol": 1e-12, "gtol": 1e-8, "maxcor": 20},
        )
        return self.scale.out(np.asarray(found.x).reshape(self.shape))


@dataclass(frozen=True, eq=False)
class _Scale:
    """Other parameters, in which the loss bends alike in all directions: a tenth of the steps."""

    into: Callable[[Float], Float]
    out: Callable[[Float], Float]
    back: Callable[[Float], Float]

    @classmethod
    def of(cls, rows: RoutedRows, design: csr_array, pull: Float) -> _Scale:
        """Measure how the loss bends on some of the rows; leave very many parameters alone."""
        n_parameters = design.shape[1]
        if n_parameters > _MOST_PARAMETERS:
            return cls(lambda x: x, lambda x: x, lambda x: x)
        memberships = _masses(rows, design.shape[0]) @ design
        weight = float(rows.weights[: memberships.shape[0]].sum())
        bend = (memberships.T @ memberships).toarray() * (0.25 / weight)
        factor = cholesky(bend + np.diag(pull + 1e-9), lower=True)
        return cls(
            into=lambda x: factor.T @ x,
            out=lambda x: solve_triangular(factor, x, lower=True, trans="T"),
            back=lambda x: solve_triangular(factor, x, lower=True),
        )


def _masses(rows: RoutedRows, n_branches: int) -> csr_array:
    """Lay out how far some rows take each branch, a row of each, by the root of their weights."""
    wanted, parts = _ROWS_OF_CURVATURE, []
    for routes, part in zip(rows.routes, rows.slices, strict=True):
        n_rows = min(len(routes.starts) - 1, wanted)
        end = routes.starts[n_rows]
        roots = np.sqrt(rows.weights[part][:n_rows].astype(np.float64))
        shares = routes.weights[:end].astype(np.float64) / WEIGHT_ONE
        shares *= np.repeat(roots, np.diff(routes.starts[: n_rows + 1]))
        entries = (shares, routes.leaves[:end], routes.starts[: n_rows + 1])
        parts.append(csr_array(entries, shape=(n_rows, n_branches)))
        wanted -= n_rows
    return csr_array(vstack(parts))
