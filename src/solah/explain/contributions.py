"""Computes the contribution of each value to a prediction: exact Shapley values that add up.

A term is linear in the memberships of each of its axes. On the straight line from the memberships
of missing readings to those of a row, its slope along an axis is a polynomial, and the mean slope
gives the axis' Shapley value. A few points of Gauss-Legendre quadrature compute it exactly. A
stage adds up its terms. An axis over an output passes on its contribution in proportion to those of
the output; a softmax and an exponential do so by logarithmic means. If missing terms make the
others count less, a term adds as much less, and each term that is not missing adds its share of the
way from the overall shares to the baseline. Nothing is sampled, and contributions always sum to the
way from nothing known to the output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.traversal import TracedRows, averages, reach, traced_blocks, weighted_sum
from solah.model.evaluate import damping
from solah.model.program import AxisKind, Link, Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.program import Program, Term

    # What the readings of features added, by the indices of the features.
    Effects = dict[int, Float]

# An output that moved less counts as one that did not move: it is rounding.
_STILL = 1e-12


@dataclass(frozen=True, eq=False)
class Attribution:
    """The contributions of values, from nothing known to the output.

    Attributes
    ----------
    start : (n_outputs,) the output when no reading is known
    outputs : (n_rows, n_outputs) the output of each row
    effects : (n_rows, n_features, n_outputs) what each reading added; summed over the features
        they are ``outputs - start``
    scores : (n_rows, n_features, n_outputs) what each reading added to the scores, if the
        last link is a softmax or an exponential; else None
    terms : (n_rows, n_features, n_outputs) the weights of the last stage's terms, those of a pair
        by halves, without the effect of missing values on others
    """

    start: Float
    outputs: Float
    effects: Float
    scores: Float | None
    terms: Float


def feature_rows(model: Model, table: Table) -> Attribution:
    """Share out decisions among their readings.

    Parameters
    ----------
    model : Model
    table : Table

    Returns
    -------
    attribution : Attribution
        With the features in the order of ``model.features``. A missing reading adds 0.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.explain.contributions import feature_rows
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_depth=2).fit(iris.table, iris.target)
    >>> added = feature_rows(tree.model_, iris.table)
    >>> bool(abs(added.start + added.effects.sum(axis=1) - added.outputs).max() < 1e-12)
    True
    """
    attributor = Attributor(model.program)
    parts = [attributor.of_rows(rows) for rows in traced_blocks(model, table)]
    scores = [part.scores for part in parts if part.scores is not None]
    return Attribution(
        start=parts[0].start,
        outputs=np.concatenate([part.outputs for part in parts]),
        effects=np.concatenate([part.effects for part in parts]),
        scores=np.concatenate(scores) if scores else None,
        terms=np.concatenate([part.terms for part in parts]),
    )


class Attributor:
    """Shares out the outputs of a program; its output without readings is computed once.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._nothing = TracedRows(program, np.full((1, len(program.features)), np.nan))

    def of_rows(self, rows: TracedRows) -> Attribution:
        """Share out the outputs of rows."""
        effects: list[Effects] = []
        for number, stage in enumerate(self._program.stages):
            own_scores: Effects = {}
            terms: Effects = {}
            may_miss = any(term.variance or term.missing is not None for term in stage.terms)
            for index, term in enumerate(stage.terms):
                own = self._in_term(term, effects, rows)
                _add(terms, own)
                if may_miss and stage.link is not Link.SHARES:
                    own = self._beside_missing(number, index, own, rows)
                _add(own_scores, own)
            is_linked = stage.link in (Link.SOFTMAX, Link.EXP)
            effects.append(self._linked(number, own_scores, rows) if is_linked else own_scores)
        return Attribution(
            start=self._nothing.steps[-1].outputs[0],
            outputs=rows.steps[-1].outputs,
            effects=self._stacked(effects[-1], rows),
            scores=self._stacked(own_scores, rows) if is_linked else None,
            terms=self._stacked(terms, rows),
        )

    def _in_term(self, term: Term, effects: Sequence[Effects], rows: TracedRows) -> Effects:
        """Share out what a term adds, all missing readings taken for their memberships."""
        before, here = self._nothing.memberships(term), rows.memberships(term)
        own: Effects = {}
        for a, slope, old, new in zip(
            term.axes, _mean_slopes(term, before, here), before, here, strict=True
        ):
            axis, moved = self._program.axes[a], weighted_sum(slope, new - old)
            if axis.is_read:
                _add(own, {axis.source: moved})
                continue
            below = effects[axis.source]
            if axis.kind is AxisKind.ALL_BELIEFS:
                _add(own, {j: weighted_sum(slope, one) for j, one in below.items()})
                continue
            first, last = (one.steps[axis.source].outputs for one in (self._nothing, rows))
            way = (last - first)[:, axis.output]
            unit = np.divide(1.0, way, out=np.zeros_like(way), where=np.abs(way) > _STILL)
            shares = {j: (one[:, axis.output] * unit)[:, None] for j, one in below.items()}
            _add(own, {j: moved * share for j, share in shares.items()})
        return own

    def _beside_missing(self, number: int, index: int, own: Effects, rows: TracedRows) -> Effects:
        """Share out what a term adds to scores by the formula of missing terms."""
        stage = self._program.stages[number]
        term, lean = stage.terms[index], np.zeros_like(stage.baseline)
        scales = [np.ones((1, 1)), np.ones((1, 1))]
        ends = [one.steps[number].parts for one in (self._nothing, rows)]
        if stage.log_prior is not None:
            lean = stage.baseline - stage.log_prior
            scales = [damping(parts[-1].variance)[:, None] for parts in ends]
        first, last = (
            scale * (parts[index].weights + lean * (term.share - parts[index].share)[:, None])
            for scale, parts in zip(scales, ends, strict=True)
        )
        own = {j: scales[1] * one for j, one in own.items()}
        rest = last - first - sum(own.values())
        known = ~np.isnan(rows.readings[:, list(own)])
        known |= ~known.any(axis=1, keepdims=True)
        parts = known / known.sum(axis=1, keepdims=True)
        return {
            j: one + rest * part[:, None]
            for (j, one), part in zip(own.items(), parts.T, strict=True)
        }

    def _linked(self, number: int, scores: Effects, rows: TracedRows) -> Effects:
        """Turn what was added to scores into what was added to their softmax or exponential."""
        means = _logarithmic_means(*(one.steps[number].outputs for one in (self._nothing, rows)))
        if self._program.stages[number].link is Link.EXP:
            return {j: means * one for j, one in scores.items()}
        shares = means / means.sum(axis=1, keepdims=True)
        return {
            j: means * (one - (shares * one).sum(axis=1, keepdims=True))
            for j, one in scores.items()
        }

    def _stacked(self, effects: Effects, rows: TracedRows) -> Float:
        stacked = np.zeros((len(rows), len(self._program.features), self._program.n_outputs))
        for j, one in effects.items():
            stacked[:, j] = one
        return stacked


def _add(total: Effects, more: Effects) -> None:
    for j, one in more.items():
        total[j] = total.get(j, 0.0) + one


def _mean_slopes(term: Term, before: Sequence[Float], here: Sequence[Float]) -> list[Float]:
    """Average the slopes of a term on the way from some memberships to others.

    Returns
    -------
    slopes : list of ndarray of shape (n_rows or 1, size, n_outputs)
        How the term grows with each membership of each axis.
    """
    walk = term.cells
    if not isinstance(walk, Walk):
        # Memberships sum to 1, so that only differences along an axis count.
        table = term.weights[walk.rules]
        if len(here) == 1:
            return [(table - table[0])[None]]
        rows, columns = table - table[:1], (table - table[:, :1]).swapaxes(0, 1)
        first, second = ((old + new) / 2 for old, new in zip(before, here, strict=True))
        return [
            np.stack([weighted_sum(line[None], second) for line in rows], axis=1),
            np.stack([weighted_sum(line[None], first) for line in columns], axis=1),
        ]
    slopes = [np.zeros((*parts.shape, term.weights.shape[1])) for parts in here]
    for point, weight in _quadrature(walk.depth):
        between = [old + point * (new - old) for old, new in zip(before, here, strict=True)]
        reached, means = reach(walk, between), averages(walk, term.weights, between)
        for node in np.flatnonzero(walk.split >= 0).tolist():
            slope, child = slopes[walk.split[node]], walk.child[node]
            below = means[child : child + slope.shape[1]]
            slope += weight * (reached[node][None, :, None] * below).transpose(1, 0, 2)
    return slopes


@cache
def _quadrature(depth: int) -> tuple[tuple[float, float], ...]:
    """Return points between 0 and 1 and their weights: exact for a walk of this depth."""
    points, weights = np.polynomial.legendre.leggauss(max(1, -(-depth // 2)))
    return tuple(zip(((points + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _logarithmic_means(first: Float, second: Float) -> Float:
    """Return (b - a) / (log b - log a), or a if both are equal."""
    first, second = np.broadcast_arrays(np.maximum(first, 1e-300), np.maximum(second, 1e-300))
    apart = np.log(second / first)
    close = np.abs(apart) < 1e-6
    exact = np.divide(second - first, apart, out=np.zeros_like(second), where=~close)
    # Close to each other the quotient loses its digits; the mean's series does not.
    return np.where(close, (first + second) / 2 * (1 - apart**2 / 12), exact)
