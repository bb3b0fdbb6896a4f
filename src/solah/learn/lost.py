"""Fits models for missing values of single features, or of whole groups.

Two things are fitted to rows with values removed, each by the log-loss:

- the variances of terms (:mod:`solah.model.program`). The measured variance is right for a term
  that
  is independent of the others. Where features compensate for each other and one is missing, the
  other misleads. Then variances are larger, which moves predictions towards the class shares;
- with ``robust_to``, the weights themselves. Copies of the rows with values removed are fitted
  beside
  them. The copies weigh little, so weights change where whole rows hardly determine them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from solah.learn.objective import ClassObjective, Pins, Problem, softmax
from solah.learn.terms import SingleTerm
from solah.model.evaluate import damping, trace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.learning import Structure
    from solah.learn.objective import Objective
    from solah.learn.sample import Sample
    from solah.learn.terms import Term
    from solah.model import Model

    Flags = NDArray[np.bool_]

# What the copies of all rows weigh, and how many of them have one part left.
_COPIED, _LEFT_ALONE = 0.05, 0.5
# Rows are copied again, with other losses, until there are this many copies.
_LEAST_COPIES = 2_000
_RANDOM_MASKS = 40
_LEAST_ROWS, _MOST_NUMBERS = 200, 32_000
# How far spreads may be raised, and what it must be worth, in log-losses of the class shares.
_MOST_RAISED, _LEAST_GAIN = 100.0, 0.002


def parts_of(names: Collection[str], groups: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    """Return what is lost together: the features of each group, and each that is in none."""
    parts = [frozenset(names) & frozenset(group) for group in groups]
    alone = frozenset(names).difference(*parts)
    parts += [frozenset((name,)) for name in alone]
    return sorted((part for part in parts if part), key=sorted)


# --- scores --------------------------------------------------------------------------------------


class FittedRows(NamedTuple):
    """What scores are fitted to.

    Attributes
    ----------
    objective : the target of each row
    columns : (n_rows, n_parameters)
    weights : (n_rows,)
    """

    objective: Objective
    columns: Float
    weights: Float


def fitted_to_losses(structure: Structure, parts: Sequence[frozenset[str]]) -> Structure:
    """Fit scores again, beside copies of the rows of which parts are lost."""
    if len(parts) < 2:
        return structure
    rows = _with_copies(structure, parts)
    pins = Pins.of(structure.live, structure.n_outputs, is_first=False)
    penalty, cone = structure.reduced_penalty, structure.reduced_cone
    problem = Problem(rows.columns, rows.weights, penalty, structure.reduced, None, cone)
    reduced = pins.fit(rows.objective, problem)
    return replace(structure, reduced=reduced, with_copies=rows)


def _with_copies(structure: Structure, parts: Sequence[frozenset[str]]) -> FittedRows:
    sample, columns = structure.design.sample, structure.reduced_columns
    objective, terms = sample.objective, structure.live
    assert isinstance(objective, ClassObjective)
    times = math.ceil(_LEAST_COPIES / sample.n_rows)
    n_copies = times * sample.n_rows
    asked = np.array([[not part.isdisjoint(_asked(term)) for part in parts] for term in terms])
    is_lost = _drawn(n_copies, len(parts)) @ asked.T
    variances = structure.variances()
    variance = np.array([variances[id(term)] for term in terms])
    scale = damping(is_lost @ variance)
    known = ~is_lost @ np.sqrt(variance) / max(np.sqrt(variance).sum(), 1e-300)
    widths = [term.reduction().shape[1] for term in terms]
    kept = np.repeat(~is_lost, widths, axis=1) * scale[:, None]
    reach = scale * known
    start = objective.begin(sample.weights)
    return FittedRows(
        ClassObjective(
            np.tile(objective.codes, 1 + times),
            objective.n_outputs,
            np.vstack([np.zeros((sample.n_rows, len(start))), np.outer(1.0 - reach, start)]),
            np.concatenate([np.ones(sample.n_rows), reach]),
        ),
        np.vstack([columns, np.tile(columns, (times, 1)) * kept]),
        np.concatenate([sample.weights, np.tile(sample.weights * (_COPIED / times), times)]),
    )


def _asked(term: Term) -> list[str]:
    """Return the names of the features that a term asks."""
    sides = [term] if isinstance(term, SingleTerm) else term.sides
    return [side.vocabulary.feature.name for side in sides]


def _drawn(n_rows: int, n_parts: int) -> Flags:
    """Draw which parts of each row are lost: of one half all but one, of the other any number."""
    random = np.random.default_rng(0)
    n_lost = random.integers(1, n_parts, n_rows)
    n_lost[random.random(n_rows) < _LEFT_ALONE] = n_parts - 1
    order = random.random((n_rows, n_parts)).argsort(axis=1).argsort(axis=1)
    return np.asarray(order < n_lost[:, None])


# --- variances -----------------------------------------------------------------------------------


def with_raised_variances(
    model: Model, sample: Sample, groups: Sequence[Sequence[str]] = ()
) -> Model:
    """Raise the variances of terms if this improves predictions for rows with missing values.

    Parameters
    ----------
    model : Model
        An additive classifier.
    sample : Sample
        Training rows.
    groups : the names of features that may be lost together; each may be lost alone, too
    """
    if len(model.terms) < 2:
        return model
    names = [feature.name for feature in model.features]
    masks = _masks(parts_of(names, ()), names)
    if len(groups) > 1:
        masks = np.unique(np.vstack([masks, _masks(parts_of(names, groups), names)]), axis=0)
    most = max(_LEAST_ROWS, _MOST_NUMBERS // (len(masks) * model.target.size))
    rows = _complete(sample, names).first(most)
    if rows.n_rows < 2:
        return model
    masked = _MaskedRows(model, rows, masks)
    raised = masked.raised().tolist()
    return model.with_terms(
        replace(term, variance=term.variance * by)
        for term, by in zip(model.terms, raised, strict=True)
    )


def _masks(parts: Sequence[frozenset[str]], names: Sequence[str]) -> Flags:
    """Return which features are lost: every part in turn, all but it, and random ones."""
    each = np.eye(len(parts), dtype=bool)
    drawn = _drawn(_RANDOM_MASKS, len(parts)) if len(parts) > 2 else each
    lost = np.vstack([each, ~each, drawn])
    return np.unique(lost @ np.array([[name in part for name in names] for part in parts]), axis=0)


def _complete(sample: Sample, names: Sequence[str]) -> Sample:
    """Return the rows of a sample of which these features are known, and only them."""
    places = [place for place, one in enumerate(sample.features) if one.name in names]
    rows = np.flatnonzero(~np.isnan(sample.readings[:, places]).any(axis=1))
    return sample.take(rows)


class _MaskedRows:
    """Rows with lost readings, and how their log-loss depends on the spreads of trees.

    Parameters
    ----------
    model : Model
    rows : rows whose readings are known
    masks : (n_masks, n_features) which of the model's features are lost
    """

    def __init__(self, model: Model, rows: Sample, masks: Flags) -> None:
        names = [feature.name for feature in model.features]
        place = {feature.name: j for j, feature in enumerate(rows.features)}
        readings = rows.readings[:, [place[name] for name in names]]
        terms, parts = model.terms, trace(model.program, readings)[-1].parts
        evidence = np.stack([part.weights for part in parts[: len(terms)]])
        asked = [set(term.features) for term in terms]
        is_gone = masks @ np.array([[name in of_term for name in names] for of_term in asked]).T
        ruled = np.array([term.missing is not None for term in terms])
        nothing = (0.0,) * model.target.size
        instead = np.array([term.missing.scores if term.missing else nothing for term in terms])
        self.spreads = np.sqrt([term.variance for term in terms])
        self._is_free = (self.spreads > 0) & ~ruled
        self._is_lost = (is_gone & ~ruled).astype(np.float64)
        evidence_left = np.tensordot(1.0 - is_gone, evidence, 1)
        self._evidence = evidence_left + (is_gone @ instead)[:, None, :]
        self._start = model.target.log_prior
        self._lean = model.program.stages[-1].baseline - self._start
        assert isinstance(rows.objective, ClassObjective)
        self._codes = rows.objective.codes
        self._weights = rows.weights / (rows.weights.sum() * len(masks))
        self.loss_of_shares = float(
            -(rows.weights @ np.log(np.maximum(model.target.shares, 1e-30))[self._codes])
            / rows.weights.sum()
        )

    def raised(self) -> Float:
        """Return what the variance of each tree is to be multiplied with."""
        nothing = np.zeros(len(self.spreads))
        most = np.where(self._is_free, math.log(_MOST_RAISED), 0.0)
        before = self.loss(nothing)[0]
        found = minimize(
            self.loss,
            nothing,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(nothing, most, strict=True)),
            options={"maxiter": 50, "ftol": 1e-6},
        )
        is_worth_it = before - float(found.fun) > _LEAST_GAIN * self.loss_of_shares
        return np.asarray(np.exp(2.0 * found.x)) if is_worth_it else np.ones_like(nothing)

    def loss(self, moved: Float) -> tuple[float, Float]:
        """Return the mean log-loss of all masks, and its slope.

        Parameters
        ----------
        moved : (n_trees,) how far the logarithms of spreads are raised
        """
        spreads = self.spreads * np.exp(moved)
        whole = max(float(spreads.sum()), 1e-300)
        scale = damping(self._is_lost @ spreads**2)
        known = 1.0 - self._is_lost @ spreads / whole
        added = self._lean * known[:, None, None] + self._evidence
        beliefs = softmax(self._start + scale[:, None, None] * added)
        rows = np.arange(len(self._codes))
        loss = -(np.log(np.maximum(beliefs[:, rows, self._codes], 1e-300)) @ self._weights).sum()
        beliefs[:, rows, self._codes] -= 1.0
        beliefs *= self._weights[:, None]
        by_scale = (beliefs * added).sum(axis=(1, 2)) * -np.pi / 8.0 * scale**3
        by_known = scale * (beliefs.sum(axis=1) @ self._lean)
        slope = self._is_lost.T @ by_scale * spreads
        slope += (by_known @ (1.0 - known) - self._is_lost.T @ by_known) / whole
        return float(loss), slope * spreads
