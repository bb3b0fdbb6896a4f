"""What scores are fitted to: classes by penalised likelihood, numbers by a penalised loss.

The additive model is a penalised multinomial logistic model on memberships Z::

    P(c|x) = softmax_c( bias(c) + sum_j Z_j(x) W_jc ),   loss + 1/2 sum_c W_c' Q W_c -> least

Two classes and numbers are fitted by Newton's method; several classes by L-BFGS in coordinates in
which the loss bends alike in all directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from solah.learn.cone import minimise_within, nearest_within
from solah.learn.losses import Loss, QuantileLoss, Scale, SquaredLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.cone import Cone
    from solah.learn.terms import Term

_TINY = 1e-12
_LEAST_CURVATURE = 1e-4
# When the mean loss falls by less, scores are near enough.
_ROUGHLY, _EXACTLY = 1e-5, 1e-8
# The steps of Newton's method that share a Hessian where scores need not be exact.
_KEPT_STEPS = 4
_SQUARED, _UNSCALED = SquaredLoss(), Scale(0.0, 1.0)
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


_ATTRIBUTES = {
    "accuracy": "accuracy",
    "log-loss": "log_loss",
    "R²": "r2",
    "RMSE": "rmse",
    "D²": "d2",
    "MAE": "mae",
    "pinball loss": "pinball",
    "deviance": "deviance",
}


@dataclass(frozen=True)
class PathStep:
    """A number of rules, and how good it is on rows that were held out.

    Attributes
    ----------
    max_rules : the limit on the number of rules
    n_rules, n_features : how many there were, on average over the folds
    loss : the metric that is compared: the log-loss, or that of the loss of a number, such as RMSE
    quality : the second metric: the accuracy, R², or D² (the explained share of another loss)
    error : the standard error of how much higher the loss is than the lowest
    is_chosen : whether the model has this number of rules
    metrics : the names of quality and loss
    quality_error, loss_error : the standard errors of both
    log_loss, accuracy : the loss and the quality, where classes are predicted
    rmse, r2 : the same, where numbers are; in the unit of the target
    mae, pinball, deviance, d2 : the same for other losses
    """

    max_rules: int
    n_rules: float
    n_features: float
    loss: float
    quality: float
    error: float = 0.0
    is_chosen: bool = False
    metrics: tuple[str, str] = ("accuracy", "log-loss")
    quality_error: float = 0.0
    loss_error: float = 0.0

    @property
    def named(self) -> dict[str, float]:
        """The quality and the loss by their names as attributes, such as ``r2`` and ``rmse``."""
        names = (_ATTRIBUTES[one] for one in self.metrics)
        return dict(zip(names, (self.quality, self.loss), strict=True))

    def __getattr__(self, name: str) -> float:
        if name not in _ATTRIBUTES.values() or name not in self.named:
            raise AttributeError(f"a step has no {name!r}; it has {', '.join(self.metrics)}")
        return self.named[name]


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
    gram : (n_columns, n_columns) the weighted products of columns, where they are known
    """

    columns: Float
    weights: Float
    penalty: Float
    start: Scores | None = None
    pull: Float | None = None
    cone: Cone | None = None
    is_rough: bool = False
    gram: Float | None = None

    @property
    def near(self) -> float:
        """The fall of the mean loss that ends a fit."""
        return _ROUGHLY if self.is_rough else _EXACTLY

    @property
    def n_kept(self) -> int:
        """The number of steps of Newton's method that share a Hessian."""
        return _KEPT_STEPS if self.is_rough else 1

    def only(self, free: NDArray[np.bool_]) -> Problem:
        """Return the problem of some of the columns."""
        return replace(
            self,
            columns=self.columns[:, free],
            penalty=self.penalty[np.ix_(free, free)],
            start=self.start and replace(self.start, weights=self.start.weights[free]),
            pull=None if self.pull is None else self.pull[np.append(free, True)],
            cone=self.cone and self.cone.reduced(np.eye(len(free))[:, free]),
            gram=None if self.gram is None else self.gram[np.ix_(free, free)],
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
    """The classification objective; classes are indices.

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
        """Return 1 for each row whose class is predicted, otherwise 0."""
        return np.asarray(self._moved(totals).argmax(axis=1) == self.codes, dtype=np.float64)

    def metrics(self, loss: float, hits: float, error: float) -> dict[str, Any]:
        """Return the log-loss and the accuracy."""
        # Rounding may make a weighted mean of ones a little more than one.
        return {"loss": loss, "quality": min(hits, 1.0), "error": error}

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

        def rows(total: Float) -> Float:
            return np.logaddexp(0.0, total + fixed) - is_second * (total + fixed)

        def slopes(total: Float) -> tuple[Float, Float]:
            share = 1.0 / (1.0 + np.exp(-np.clip(total + fixed, -500, 500)))
            return share - is_second, np.maximum(share * (1.0 - share), 1e-6)

        odds = _minimised(
            design,
            weights,
            price,
            odds,
            rows,
            slopes,
            linear,
            bounds,
            problem.near,
            n_kept=problem.n_kept,
        )
        both = np.stack([-odds / 2, odds / 2], axis=1)
        return Scores(both[:width], both[width])

    def _fit_several(self, problem: Problem) -> Scores:
        """Fit the scores of all classes in coordinates in which the loss bends alike."""
        columns, weights, penalty = problem.columns, problem.weights, problem.penalty
        n_rows, width = columns.shape
        shape = (width + 1, self.n_outputs)
        begin, rows = self.begin(weights), np.arange(n_rows)
        # Outputs first: sums over them are then sums of whole rows of memory. Scores that are only
        # compared need no more digits than single precision has.
        kind = np.float32 if problem.is_rough else np.float64
        turned: NDArray[Any] = np.ascontiguousarray(columns.T, dtype=kind)
        truth: NDArray[Any] = np.zeros((self.n_outputs, n_rows), dtype=kind)
        truth[self.codes, rows] = 1.0
        linear = np.zeros(shape) if problem.pull is None else problem.pull
        fixed = None if self.offset is None else np.ascontiguousarray(self.offset.T, dtype=kind)
        reach, of_rows = self.reach, weights.astype(kind)
        gram = weighted_gram(columns, weights) if problem.gram is None else problem.gram
        bend = 0.25 * gram + penalty
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
            totals: NDArray[Any] = scores.weights.T.astype(kind) @ turned
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
            totals *= of_rows
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
    """The regression objective; numbers are scaled for their loss.

    Attributes
    ----------
    values : (n_rows,) the numbers, scaled
    scale : how they were scaled
    noise : the loss that scores are not to explain
    loss : what compares scores with numbers
    nothing : the mean loss of the best constant
    offset : (n_rows, 1) what fixed rules add to the totals of rows
    """

    values: Float
    scale: Scale = _UNSCALED
    noise: float = 0.25
    loss: Loss = _SQUARED
    nothing: float = 0.5
    n_outputs: int = 1
    offset: Float | None = None

    @classmethod
    def of(cls, numbers: Float, weights: Float, loss: Loss) -> NumberObjective:
        """Scale the numbers of all rows, which have a weight each."""
        scale = loss.scale(numbers, weights)
        scaled = (numbers - scale.origin) / scale.unit
        start = loss.start(scaled, weights, np.zeros(len(scaled)))
        nothing = float(
            np.average(loss.values(scaled, np.full(len(scaled), start)), weights=weights)
        )
        return cls(scaled, scale, loss.noise(scaled, weights), loss, nothing or 0.5)

    @property
    def of_scores(self) -> Scale:
        """How scores are scaled: as numbers are, or by the logarithm of the mean."""
        if self.loss.link == "identity":
            return self.scale
        return Scale(math.log(self.scale.unit), 1.0)

    def predict(self, totals: Float) -> Float:
        """Return the numbers that scores predict, as they came."""
        scores = self.of_scores.origin + self.of_scores.unit * (totals[:, 0] + self._fixed)
        return scores if self.loss.link == "identity" else np.exp(np.clip(scores, -80.0, 80.0))

    def take(self, rows: NDArray[np.intp]) -> NumberObjective:
        """Return the numbers of some rows."""
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, values=self.values[rows], offset=offset)

    def beside(self, offset: Float) -> NumberObjective:
        """Return the same target beside what fixed rules add."""
        return replace(self, offset=offset)

    @property
    def _fixed(self) -> Float:
        """What fixed rules add to the totals of rows."""
        return np.zeros(len(self.values)) if self.offset is None else self.offset[:, 0]

    def begin(self, weights: Float) -> Float:
        """Return the best constant."""
        return np.array([self.loss.start(self.values, weights, self._fixed)])

    def losses(self, totals: Float) -> Float:
        """Return the loss of each row, in units of the noise."""
        return self.loss.values(self.values, totals[:, 0] + self._fixed) / self.noise

    def hits(self, totals: Float) -> Float:
        """Return the share of a row's loss that is explained; on average R² or D²."""
        return 1.0 - self.loss.values(self.values, totals[:, 0] + self._fixed) / self.nothing

    def metrics(self, loss: float, hits: float, error: float) -> dict[str, Any]:
        """Return the metrics to show: the loss, such as RMSE in the target's unit, and R² or D²."""
        found, error = self.loss.metric(loss * self.noise, error * self.noise, self.scale.unit)
        return {"loss": found, "quality": hits, "error": error, "metrics": self.loss.metrics}

    def gradient(self, totals: Float) -> tuple[Float, Float]:
        """Return slopes and curvatures, in units of the noise."""
        slope, bend = self.loss.slopes(self.values, totals[:, 0] + self._fixed)
        return slope[:, None] / self.noise, bend[:, None] / self.noise

    def fit(self, problem: Problem) -> Scores:
        """Minimise the penalised loss by Newton's method, within what is allowed."""
        weights, fixed, noise = problem.weights, self._fixed, self.noise
        middle = weights @ problem.columns / weights.sum()
        width = len(middle)
        price = np.zeros((width + 1, width + 1))
        price[:width, :width] = problem.penalty
        price[np.diag_indices(width)] += _NUGGET
        first = np.append(np.zeros(width), self.begin(weights))
        if problem.start is not None and not self.loss.is_quadratic:
            moved = problem.start.bias + middle @ problem.start.weights
            first = np.append(problem.start.weights[:, 0], moved)

        def rows(total: Float) -> Float:
            return self.loss.fitted_values(self.values, total + fixed) / noise

        def slopes(total: Float) -> tuple[Float, Float]:
            slope, bend = self.loss.slopes(self.values, total + fixed)
            return slope / noise, bend / noise

        curved = None
        if problem.gram is not None and self.loss.is_quadratic:
            whole = float(weights.sum())
            curved = np.zeros_like(price)
            curved[:width, :width] = problem.gram - whole * np.outer(middle, middle)
            curved[width, width] = whole
            curved /= noise
        found = _minimised(
            np.column_stack([problem.columns - middle, np.ones(len(weights))]),
            weights,
            price,
            first,
            rows,
            slopes,
            bounds=None if problem.cone is None else problem.cone.of_odds(),
            near=problem.near,
            n_steps=1 if self.loss.is_quadratic else 30,
            n_kept=problem.n_kept,
            curved=curved,
        )
        solved, bias = found[:width, None], found[width:]
        if isinstance(self.loss, QuantileLoss):  # rounding off moves the quantile
            left = (problem.columns - middle) @ solved[:, 0] + fixed
            bias = np.array([self.loss.start(self.values, weights, left)])
        return Scores(solved, bias - middle @ solved)


@dataclass(frozen=True, eq=False)
class Pins:
    """Which parameters are given, and what they are.

    Attributes
    ----------
    is_given : (n_parameters,); empty if nothing is given
    values : (n_parameters, n_outputs) 0 where nothing is given
    """

    is_given: NDArray[np.bool_]
    values: Float

    @classmethod
    def of(cls, terms: Sequence[Term], n_outputs: int, *, is_first: bool) -> Pins:
        """Gather what terms are given: of their first parameters, or of those that are left."""
        given, values = [np.zeros(0, dtype=np.bool_)], [np.zeros((0, n_outputs))]
        if all(getattr(term, "given", None) is None for term in terms):
            terms = ()
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


def _minimised(
    design: Float,
    weights: Float,
    price: Float,
    point: Float,
    rows: Callable[[Float], Float],
    slopes: Callable[[Float], tuple[Float, Float]],
    linear: Float | None = None,
    bounds: Float | None = None,
    near: float = _EXACTLY,
    n_steps: int = 30,
    n_kept: int = 1,
    curved: Float | None = None,
) -> Float:
    """Minimise a penalised convex loss by Newton's method.

    Parameters
    ----------
    design : (n_rows, n)
    weights : (n_rows,)
    price : (n, n) the penalty
    point : (n,) where to begin
    rows, slopes : the loss of rows with given totals, and its slope and curvature
    linear : (n,) a linear cost on top; None for none
    bounds : (n_inequalities, n) as :func:`_newton_step` has them
    near : the fall of the mean loss that ends the search
    n_steps : the maximum number of steps
    n_kept : the number of steps that share a Hessian
    curved : (n, n) the Hessian of the loss at the first point, where it is known
    """
    linear = np.zeros(len(point)) if linear is None else linear

    def cost(values: Float) -> float:
        loss = weights @ rows(design @ values)
        return float(loss + linear @ values + 0.5 * values @ price @ values)

    is_allowed = bounds is None or (bounds @ point >= -_TINY).all()
    now = cost(point) if is_allowed else np.inf
    for number in range(n_steps):
        slope, bend = slopes(design @ point)
        falls = design.T @ (weights * slope) + linear + price @ point
        if number % n_kept == 0:
            if curved is None or number:
                curved = weighted_gram(design, weights * bend)
            lower = cholesky(curved + price, lower=True)
        step = _newton_step(lower, falls, point, bounds)
        size, before = 1.0, now
        while (now := cost(point - size * step)) > before and size > 1e-4:
            size /= 2
        point = point - size * step
        if before - now < near * float(weights.sum()):
            break
    return point


def _newton_step(lower: Float, slope: Float, point: Float, bounds: Float | None) -> Float:
    """Return the way from the least point of a paraboloid, within bounds, to where it was drawn.

    Parameters
    ----------
    lower : (n, n) the Cholesky factor of the paraboloid's curvature
    slope : (n,) its slope at the point
    point : (n,)
    bounds : (n_inequalities, n) lines whose product with a point must not be negative; or None
    """
    step = cho_solve((lower, True), slope)
    return step if bounds is None else point - nearest_within(bounds, lower, point - step)


def weighted_gram(columns: Float, weights: Float) -> Float:
    """Return the weighted sums of products of columns; BLAS computes half of a symmetric matrix."""
    scaled = columns * np.sqrt(weights)[:, None]
    return np.asarray(scaled.T @ scaled)


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
    return weighted_gram(columns, weights * np.maximum(of_rows, _LEAST_CURVATURE))
