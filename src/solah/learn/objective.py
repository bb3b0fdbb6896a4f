"""What scores are fitted to: classes by penalised likelihood, numbers by penalised squares.

The additive model is a penalised multinomial logistic model on memberships Z::

    P(c|x) = softmax_c( bias(c) + sum_j Z_j(x) W_jc ),   loss + 1/2 sum_c W_c' Q W_c -> least

Two classes are fitted by Newton's method; several by L-BFGS in coordinates in which the loss bends
alike in all directions; numbers by one linear system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from solah.learn.cone import minimise_within, nearest_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.cone import Cone
    from solah.learn.terms import Term

_TINY = 1e-12
_LEAST_CURVATURE = 1e-4
# When the mean loss falls by less, scores are near enough.
_ROUGHLY, _EXACTLY = 1e-5, 1e-8
# What keeps a linear system solvable where columns depend on each other.
_NUGGET = 1e-7


@dataclass(frozen=True, eq=False)
class Scores:
    """Fitted scores: ``weights`` (n_columns, n_outputs) and ``bias`` (n_outputs,)."""

    weights: Float
    bias: Float

    def of(self, columns: Float) -> Float:
        """Return what rows add up to: ``(n_rows, n_outputs)``."""
        return np.asarray(columns @ self.weights + self.bias)


@dataclass(frozen=True)
class PathStep:
    """A number of rules, and how good it is on rows that were held out.

    Attributes
    ----------
    max_rules : the limit on the number of rules
    n_rules, n_features : how many there were, on average over the folds
    loss : the metric that is compared: the log-loss, or the root mean squared error
    quality : the second metric: the accuracy, or R²
    error : the standard error of how much higher the loss is than the lowest
    is_chosen : whether the model has this number of rules
    metrics : the names of quality and loss
    log_loss, accuracy : the loss and the quality, where classes are predicted
    rmse, r2 : the same, where numbers are; in the unit of the target
    """

    max_rules: int
    n_rules: float
    n_features: float
    loss: float
    quality: float
    error: float = 0.0
    is_chosen: bool = False
    metrics: tuple[str, str] = ("accuracy", "log-loss")

    def __getattr__(self, name: str) -> float:
        spelled = {"accuracy": "accuracy", "log_loss": "log-loss", "r2": "R²", "rmse": "RMSE"}
        if spelled.get(name) not in self.metrics:
            raise AttributeError(f"a step has no {name!r}; it has {', '.join(self.metrics)}")
        return (self.quality, self.loss)[self.metrics.index(spelled[name])]


@dataclass(frozen=True, eq=False)
class Problem:
    """The scores to fit, for rows with a target.

    Attributes
    ----------
    columns : (n_rows, n_columns)
    weights : (n_rows,)
    penalty : (n_columns, n_columns) the price of scores
    start : where to begin
    pull : (n_columns + 1, n_outputs) a linear cost on top
    cone : what scores are allowed; None for any
    is_rough : whether scores are only compared with others
    """

    columns: Float
    weights: Float
    penalty: Float
    start: Scores | None = None
    pull: Float | None = None
    cone: Cone | None = None
    is_rough: bool = False

    @property
    def near(self) -> float:
        """The fall of the mean loss that ends a fit."""
        return _ROUGHLY if self.is_rough else _EXACTLY

    def only(self, free: NDArray[np.bool_]) -> Problem:
        """Return the problem of some of the columns."""
        return replace(
            self,
            columns=self.columns[:, free],
            penalty=self.penalty[np.ix_(free, free)],
            start=self.start and replace(self.start, weights=self.start.weights[free]),
            pull=None if self.pull is None else self.pull[np.append(free, True)],
            cone=self.cone and self.cone.reduced(np.eye(len(free))[:, free]),
        )


class Objective(Protocol):
    """The targets of rows, and the loss of scores."""

    @property
    def n_outputs(self) -> int:
        """How many scores a rule has."""

    def take(self, rows: NDArray[np.intp]) -> Objective:
        """Return the targets of some rows."""

    def beside(self, offset: Float) -> Objective:
        """Return the same targets beside what fixed rules add to the totals of rows."""

    def begin(self, weights: Float) -> Float:
        """Return what is best without any feature."""

    def fit(self, problem: Problem) -> Scores:
        """Fit scores."""

    def losses(self, totals: Float) -> Float:
        """Return the loss of each row."""

    def hits(self, totals: Float) -> Float:
        """Return how right each row is: 1 for a class that is predicted, or explained squares."""

    def metrics(self, loss: float, hits: float, error: float) -> dict[str, Any]:
        """Return the metrics of held-out rows as a ``PathStep`` has them.

        They come from the mean loss, the mean hits and the standard error of the loss.
        """

    def gradient(self, totals: Float) -> tuple[Float, Float]:
        """Return how each row's loss grows with its totals, and how that bends."""


@dataclass(frozen=True, eq=False)
class ClassObjective:
    """Classes, by their places.

    Attributes
    ----------
    codes : (n_rows,)
    n_outputs : how many classes there are
    offset : (n_rows, n_outputs) what fixed rules add to the totals of rows
    reach : (n_rows,) how much of the bias is in the totals that scores are fitted by; None for all
    """

    codes: NDArray[np.intp]
    n_outputs: int
    offset: Float | None = None
    reach: Float | None = None

    def take(self, rows: NDArray[np.intp]) -> ClassObjective:
        """Return the classes of some rows."""
        offset = None if self.offset is None else self.offset[rows]
        reach = None if self.reach is None else self.reach[rows]
        return ClassObjective(self.codes[rows], self.n_outputs, offset, reach)

    def beside(self, offset: Float) -> ClassObjective:
        """Return the same target beside what fixed rules add."""
        return replace(self, offset=self._moved(offset))

    def _moved(self, totals: Float) -> Float:
        """Add the weights of fixed rules."""
        return totals if self.offset is None else totals + self.offset

    def begin(self, weights: Float) -> Float:
        """Return the logarithms of the class shares, 0 on average."""
        sums = np.bincount(self.codes, weights, self.n_outputs)
        logs = np.log(np.maximum(sums, _TINY * sums.sum()) / sums.sum())
        return np.asarray(logs - logs.mean())

    def losses(self, totals: Float) -> Float:
        """Return the negative log-likelihood of each row's class."""
        totals = self._moved(totals)
        top = largest_of(totals)
        whole = top + np.log(sum_of(np.exp(totals - top[:, None])))
        return np.asarray(whole - totals[np.arange(len(totals)), self.codes])

    def hits(self, totals: Float) -> Float:
        """Return 1 for each row whose class is decided for, else 0."""
        return np.asarray(self._moved(totals).argmax(axis=1) == self.codes, dtype=np.float64)

    def metrics(self, loss: float, hits: float, error: float) -> dict[str, Any]:
        """Return the log-loss and the accuracy."""
        return {"loss": loss, "quality": hits, "error": error}

    def gradient(self, totals: Float) -> tuple[Float, Float]:
        """Return probabilities less the target, and their variances."""
        shares = softmax(self._moved(totals))
        excess = shares.copy()
        excess[np.arange(len(totals)), self.codes] -= 1.0
        return excess, shares * (1.0 - shares)

    def fit(self, problem: Problem) -> Scores:
        """Minimise the penalised negative log-likelihood."""
        return self._fit_two(problem) if self.n_outputs == 2 else self._fit_several(problem)

    def _fit_two(self, problem: Problem) -> Scores:
        """Fit the log-odds of the second class by Newton's method; scores are half of them."""
        columns, weights = problem.columns, problem.weights
        pull, start = problem.pull, problem.start
        n_rows, width = columns.shape
        reach = np.ones(n_rows) if self.reach is None else self.reach
        design = np.column_stack([columns, reach])
        price = np.zeros((width + 1, width + 1))
        price[:width, :width] = problem.penalty / 2
        price[np.diag_indices(width + 1)] += _NUGGET
        linear = np.zeros(width + 1) if pull is None else (pull[:, 1] - pull[:, 0]) / 2
        bounds = None if problem.cone is None else problem.cone.of_odds()
        fixed = np.zeros(n_rows) if self.offset is None else np.diff(self.offset)[:, 0]
        is_second = self.codes.astype(np.float64)
        odds = np.zeros(width + 1)
        odds[width] = np.diff(self.begin(weights))[0]
        if start is not None:
            odds = np.append(np.diff(start.weights, axis=1)[:, 0], np.diff(start.bias))

        def cost(values: Float) -> float:
            total = design @ values + fixed
            loss = weights @ (np.logaddexp(0.0, total) - is_second * total)
            return float(loss + linear @ values + 0.5 * values @ price @ values)

        is_allowed = bounds is None or (bounds @ odds >= -_TINY).all()
        now = cost(odds) if is_allowed else np.inf
        for _ in range(30):
            share = 1.0 / (1.0 + np.exp(-np.clip(design @ odds + fixed, -500, 500)))
            slope = design.T @ (weights * (share - is_second)) + linear + price @ odds
            bend = weights * np.maximum(share * (1.0 - share), 1e-6)
            step = _newton_step((design * bend[:, None]).T @ design + price, slope, odds, bounds)
            size, before = 1.0, now
            while (now := cost(odds - size * step)) > before and size > 1e-4:
                size /= 2
            odds = odds - size * step
            if before - now < problem.near * float(weights.sum()):
                break
        both = np.stack([-odds / 2, odds / 2], axis=1)
        return Scores(both[:width], both[width])

    def _fit_several(self, problem: Problem) -> Scores:
        """Fit the scores of all classes in coordinates in which the loss bends alike."""
        columns, weights, penalty = problem.columns, problem.weights, problem.penalty
        n_rows, width = columns.shape
        shape = (width + 1, self.n_outputs)
        begin, rows = self.begin(weights), np.arange(n_rows)
        # Outputs first: sums over them are then sums of whole rows of memory.
        turned = np.ascontiguousarray(columns.T)
        truth = np.zeros((self.n_outputs, n_rows))
        truth[self.codes, rows] = 1.0
        linear = np.zeros(shape) if problem.pull is None else problem.pull
        fixed = None if self.offset is None else np.ascontiguousarray(self.offset.T)
        reach = self.reach
        bend = (turned * (0.25 * weights)) @ columns + penalty
        bend[np.diag_indices(width)] += 1e-6
        factor = cholesky(bend, lower=True)
        total_weight = float(weights.sum())
        bias_scale = np.sqrt(0.25 * total_weight)

        def unscale(flat: Float) -> Scores:
            values = flat.reshape(shape)
            solved = solve_triangular(
                factor, values[:width], lower=True, trans="T", check_finite=False
            )
            return Scores(solved, values[width] / bias_scale + begin)

        def cost(flat: Float) -> tuple[float, Float]:
            scores = unscale(flat)
            totals = scores.weights.T @ turned
            totals += scores.bias[:, None] if reach is None else np.outer(scores.bias, reach)
            if fixed is not None:
                totals += fixed
            totals -= totals.max(axis=0)
            of_truth = totals[self.codes, rows]
            np.exp(totals, out=totals)
            whole = totals.sum(axis=0)
            priced = penalty @ scores.weights
            loss = -(weights @ (of_truth - np.log(whole)))
            loss += 0.5 * (scores.weights * priced).sum() + (linear[:width] * scores.weights).sum()
            loss += float(linear[width] @ scores.bias)
            totals /= whole
            totals -= truth
            totals *= weights
            slope = turned @ totals.T + priced + linear[:width]
            of_bias = totals.sum(axis=1) if reach is None else totals @ reach
            of_bias = (of_bias + linear[width]) / bias_scale
            scaled = solve_triangular(factor, slope, lower=True, check_finite=False)
            return float(loss) / total_weight, np.vstack([scaled, of_bias]).ravel() / total_weight

        first = np.zeros(shape)
        if problem.start is not None:
            first[:width] = factor.T @ problem.start.weights
            first[width] = (problem.start.bias - begin) * bias_scale
        if problem.cone is not None:
            bounds = problem.cone.in_coordinates(factor)
            found = minimise_within(cost, first.ravel(), bounds, 1 / total_weight, problem.near)
        else:
            found = minimize(
                cost,
                first.ravel(),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 300, "ftol": problem.near, "gtol": 1e-8, "maxcor": 20},
            ).x
        scores = unscale(np.asarray(found))
        centred = scores.weights - scores.weights.mean(axis=1, keepdims=True)
        return Scores(centred, scores.bias - scores.bias.mean())


@dataclass(frozen=True, eq=False)
class NumberObjective:
    """Numbers, in units of their standard deviation.

    Attributes
    ----------
    values : (n_rows,) the numbers, scaled
    unit : the standard deviation, in the target's unit
    noise : the variance that scores are not to explain
    offset : (n_rows, 1) what fixed rules add to the totals of rows
    """

    values: Float
    unit: float = 1.0
    noise: float = 0.25
    n_outputs: int = 1
    offset: Float | None = None

    def take(self, rows: NDArray[np.intp]) -> NumberObjective:
        """Return the numbers of some rows."""
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, values=self.values[rows], offset=offset)

    def beside(self, offset: Float) -> NumberObjective:
        """Return the same target beside what fixed rules add."""
        return replace(self, offset=offset)

    @property
    def _left(self) -> Float:
        """What fixed rules leave of the numbers."""
        return self.values if self.offset is None else self.values - self.offset[:, 0]

    def begin(self, weights: Float) -> Float:
        """Return the mean."""
        return np.array([weights @ self._left / weights.sum()])

    def losses(self, totals: Float) -> Float:
        """Return half the squared error of each row, in units of the noise."""
        return np.asarray((totals[:, 0] - self._left) ** 2 / (2 * self.noise))

    def hits(self, totals: Float) -> Float:
        """Return the share of a row's square that is explained."""
        return np.asarray(1.0 - (totals[:, 0] - self._left) ** 2)

    def metrics(self, loss: float, hits: float, error: float) -> dict[str, Any]:
        """Return the root mean squared error in the target's unit, and R²."""
        rmse = math.sqrt(2 * self.noise * loss)
        error *= self.noise / rmse if rmse > 0 else 0.0
        found = {"loss": rmse * self.unit, "quality": hits, "error": error * self.unit}
        return found | {"metrics": ("R²", "RMSE")}

    def gradient(self, totals: Float) -> tuple[Float, Float]:
        """Return the errors, and ones, in units of the noise."""
        excess = (totals - self._left[:, None]) / self.noise
        return excess, np.full_like(excess, 1.0 / self.noise)

    def fit(self, problem: Problem) -> Scores:
        """Solve the penalised normal equations, within what is allowed."""
        columns, weights = problem.columns, problem.weights
        mean = self.begin(weights)
        middle = weights @ columns / weights.sum()
        centred = columns - middle
        bend = (centred * (weights / self.noise)[:, None]).T @ centred + problem.penalty
        bend[np.diag_indices(len(bend))] += _NUGGET
        slope = centred.T @ (weights * (self._left - mean[0]) / self.noise)
        bounds = None if problem.cone is None else problem.cone.of_odds()[:, :-1]
        solved = -_newton_step(bend, -slope, np.zeros(len(bend)), bounds)[:, None]
        return Scores(solved, mean - middle @ solved)


@dataclass(frozen=True, eq=False)
class Pins:
    """Which parameters are given, and what they are.

    Attributes
    ----------
    is_given : (n_parameters,)
    values : (n_parameters, n_outputs) 0 where nothing is given
    """

    is_given: NDArray[np.bool_]
    values: Float

    @classmethod
    def of(cls, terms: Sequence[Term], n_outputs: int, *, is_first: bool) -> Pins:
        """Gather what terms are given: of their first parameters, or of those that are left."""
        given, values = [np.zeros(0, dtype=np.bool_)], [np.zeros((0, n_outputs))]
        for term in terms:
            shares = term.reduction()
            own = getattr(term, "given", None)
            width = shares.shape[0 if is_first else 1]
            given.append(np.full(width, own is not None))
            if own is None:
                values.append(np.zeros((width, n_outputs)))
            else:
                values.append(shares @ own.scores if is_first else own.scores)
        return cls(np.concatenate(given), np.vstack(values))

    def fit(self, objective: Objective, problem: Problem) -> Scores:
        """Fit the parameters that are free."""
        free = ~self.is_given
        if free.all():
            return objective.fit(problem)
        found = objective.beside(problem.columns @ self.values).fit(problem.only(free))
        scores = self.values.copy()
        scores[free] = found.weights
        return Scores(scores, found.bias)


def _newton_step(bend: Float, slope: Float, point: Float, bounds: Float | None) -> Float:
    """Return the way from the least point of a paraboloid, within bounds, to where it was drawn.

    Parameters
    ----------
    bend, slope : (n, n) and (n,) those of the paraboloid at the point
    point : (n,)
    bounds : (n_inequalities, n) lines whose product with a point must not be negative; or None
    """
    if bounds is None:
        return np.asarray(cho_solve(cho_factor(bend), slope))
    lower = cholesky(bend, lower=True)
    return point - nearest_within(bounds, lower, point - cho_solve((lower, True), slope))


def softmax(totals: Float) -> Float:
    """Turn totals into shares of belief."""
    parts = np.exp(totals - largest_of(totals)[..., None])
    return np.asarray(parts / sum_of(parts)[..., None])


def largest_of(totals: Float) -> Float:
    """Return the largest number of each row: column by column, which is much faster for few."""
    return np.asarray(reduce(np.maximum, np.moveaxis(totals, -1, 0)))


def sum_of(totals: Float) -> Float:
    """Return the sum of each row, in the order in which NumPy adds up few columns."""
    is_few = totals.shape[-1] < 8
    return np.asarray(reduce(np.add, np.moveaxis(totals, -1, 0)) if is_few else totals.sum(axis=-1))


def curvature(objective: Objective, columns: Float, weights: Float, totals: Float) -> Float:
    """Return how the loss of rows bends with the scores of one output, all outputs averaged."""
    _, bend = objective.gradient(totals)
    of_rows = sum_of(bend) / max(objective.n_outputs - 1, 1)
    of_rows = weights * np.maximum(of_rows, _LEAST_CURVATURE)
    return np.asarray((columns * of_rows[:, None]).T @ columns)
