"""Computes bands for the weights of a sum, and how often its parts come back in resamples.

At fitted weights the penalised loss is about a paraboloid. The inverse of its curvature over the
rules that are printed is the covariance of their weights. Weights are 0 on average over the rows
and over the classes, and so are their errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.explain.fired_rules import FiredRows, RuleFinder
from solah.explain.importance import feature_importances
from solah.explain.traversal import TracedRows
from solah.kernels.reference import softmax
from solah.learn.losses import SquaredLoss
from solah.model.document import AdditiveNode
from solah.model.evaluate import readings_of
from solah.model.provenance import Recurrence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.learn.losses import Loss, Spread
    from solah.model.document import Model, Term
    from solah.model.provenance import WeightErrors

_MOST_ROWS = 10_000
# Beyond this size, the classes are taken one by one, as if they did not depend on each other.
_MOST_PARAMETERS = 1_500
_NUGGET = 1e-6


def weight_errors(
    model: Model,
    readings: Float,
    row_weights: Float,
    ridge: float,
    numbers: Float | None = None,
    loss: Loss | None = None,
) -> WeightErrors:
    """Return the standard error of each weight as rules print it.

    Parameters
    ----------
    model : Model
        A sum of rules.
    readings : ndarray of shape (n_rows, n_features)
        The training rows.
    row_weights : ndarray of shape (n_rows,)
    ridge : float
        The price of the square of a weight, in rows.
    numbers : ndarray of shape (n_rows,), default=None
        The target, if it is a number.
    loss : Loss, default=None
        The loss that a model of a number was fitted with; by default the squared error.

    Returns
    -------
    errors : tuple of tuple of tuple of float
        Term by term, of each rule (that for a missing value is the last), for each class; of two
        classes, the error of the difference.
    """
    (node,) = model.nodes
    assert isinstance(node, AdditiveNode)
    if len(readings) > _MOST_ROWS:
        chosen = np.linspace(0, len(readings) - 1, _MOST_ROWS).astype(np.intp)
        readings, numbers = readings[chosen], None if numbers is None else numbers[chosen]
        row_weights = row_weights[chosen] * (row_weights.sum() / row_weights[chosen].sum())
    finder, traced = RuleFinder(model), TracedRows(model.program, readings)
    design = FiredRows(finder, traced).weights
    shares = row_weights @ design / row_weights.sum()
    spread = None
    if numbers is not None:
        spread = _spread(traced, row_weights, numbers, loss or SquaredLoss())
    covariances = _covariances(traced, design, row_weights, ridge, spread)
    errors = []
    for term, place in zip(node.terms, finder.places.values(), strict=True):
        centring = _centring(term, shares[place])
        variances = [((centring @ c[place, place]) * centring).sum(axis=1) for c in covariances]
        found = np.sqrt(np.maximum(np.stack(variances, axis=1), 0.0))
        errors.append(tuple(map(tuple, found.tolist())))
    return tuple(errors)


def _centring(term: Term, shares: Float) -> Float:
    """Return what makes weights 0 on average: over the rows, and along both sides of a pair."""
    if len(term.inputs) == 1:
        return np.eye(len(shares)) - shares
    sides = []
    cells = shares.reshape(term.shape)
    for side, size in enumerate(term.shape):
        own = cells.sum(axis=1 - side)
        sides.append(np.eye(size) - own / max(float(own.sum()), 1e-300))
    return np.kron(*sides)


def _spread(traced: TracedRows, row_weights: Float, numbers: Float, loss: Loss) -> Spread:
    """Return what the errors of weights follow from, in the unit of the weights."""
    scale, scores = loss.scale(numbers, row_weights), traced.steps[-1].scores[:, 0]
    if loss.link == "log":
        scaled = numbers / scale.unit
        return loss.spread(scaled, scores - np.log(scale.unit), row_weights)
    scaled, scores = ((one - scale.origin) / scale.unit for one in (numbers, scores))
    found = loss.spread(scaled, scores, row_weights)
    return found._replace(dispersion=found.dispersion * scale.unit**2)


def _covariances(
    traced: TracedRows,
    design: Float,
    row_weights: Float,
    ridge: float,
    spread: Spread | None,
) -> list[Float]:
    """Return the covariance of the weights for each class that rules print."""
    width, outputs = design.shape[1], traced.steps[-1].outputs
    columns = np.column_stack([design, np.ones(len(design))])
    price = np.append(np.full(width, ridge), 0.0)

    def bent(bends: Float) -> Float:
        return np.asarray((columns * (row_weights * bends)[:, None]).T @ columns)

    def inverse(curvature: Float) -> Float:
        curvature[np.diag_indices(len(curvature))] += _NUGGET
        return np.asarray(np.linalg.inv(curvature), np.float64)

    if spread is not None:
        found = spread.dispersion * inverse(bent(spread.bends) + spread.noise * np.diag(price))
        return [found[:width, :width]]
    shares, n_classes = softmax(traced.steps[-1].scores), outputs.shape[1]
    if n_classes == 2:
        found = inverse(bent(shares[:, 0] * shares[:, 1]) + np.diag(price) / 2)
        return [found[:width, :width]]
    if len(columns.T) * n_classes > _MOST_PARAMETERS:
        own = [inverse(bent(p * (1 - p)) + np.diag(price)) for p in shares.T]
        return [one[:width, :width] for one in own]
    size = len(price)
    whole = np.zeros((n_classes, size, n_classes, size))
    for c in range(n_classes):
        for d in range(c, n_classes):
            bends = shares[:, c] * ((c == d) - shares[:, d])
            whole[c, :, d] = bent(bends)
            whole[d, :, c] = whole[c, :, d].T
        whole[c, :, c] += np.diag(price)
    found = inverse(whole.reshape(n_classes * size, -1)).reshape(whole.shape)
    # Scores are 0 on average over the classes.
    away = np.eye(n_classes) - 1 / n_classes
    found = np.einsum("ca,axby,cb->cxy", away, found, away)
    return [one[:width, :width] for one in found]


def recurrences(model: Model, others: Sequence[Model], table: Table) -> tuple[Recurrence, ...]:
    """Count how often the features, pairs and words of a model come back in other models.

    A word comes back if a word of the other model fits best on about the same rows: at least half
    of those on which either does.

    Parameters
    ----------
    model : Model
        A sum of rules.
    others : sequence of Model
        Fitted to resamples of its training rows.
    table : Table
        The training rows.
    """
    n_others = max(len(others), 1)
    importances = [dict(_importances(one)) for one in others]
    pairs = [{frozenset(term.features) for term in one.terms} for one in others]
    found = []
    for name, _ in _importances(model):
        values = [one.get(name, 0.0) for one in importances]
        low, high = np.quantile(values, (0.05, 0.95)).tolist() if values else (0.0, 0.0)
        share = sum(value > 0 for value in values) / n_others
        found.append(Recurrence((name,), share, low=low, high=high))
    for term in model.terms:
        if len(term.inputs) == 2:
            share = sum(frozenset(term.features) in one for one in pairs) / n_others
            found.append(Recurrence(term.features, share))
    best = [_rows_of_words(one, table) for one in others]
    for (name, words), rows in _rows_of_words(model, table).items():
        counts = sum(
            any(
                (rows & own).sum() * 2 >= (rows | own).sum()
                for (feature, _), own in one.items()
                if feature == name
            )
            for one in best
        )
        found.append(Recurrence((name,), counts / n_others, word=words))
    return tuple(found)


def _importances(model: Model) -> Iterator[tuple[str, float]]:
    names = (feature.name for feature in model.features)
    return zip(names, feature_importances(model).tolist(), strict=True)


def _rows_of_words(model: Model, table: Table) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """Return the rows on which each word fits best, by feature and word."""
    finder = RuleFinder(model)
    weights = FiredRows(finder, TracedRows(model.program, readings_of(model, table))).weights
    found = {}
    for term, compiled in zip(model.terms, finder.terms, strict=True):
        if len(term.inputs) == 1:
            place = finder.places[compiled.name]
            best = weights[:, place].argmax(axis=1)
            for number, rule in enumerate(finder.rules[place]):
                text = (
                    rule.conditions[0].word.partition(", fading")[0] if rule.conditions else "any"
                )
                found[term.features[0], text] = best == number
    return found
