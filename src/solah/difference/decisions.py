"""Compares what two models decide on rows, and how well."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.difference.values import ClassChange, ClassScoresOf, Decisions, Estimates, Flip
from solah.evaluation.calibration import bin_beliefs, calibration_error
from solah.evaluation.scores import brier_score, log_loss, score_numbers
from solah.exceptions import ColumnError, DataError
from solah.explain.weights import numbers_of
from solah.model.document import Task
from solah.model.encode import warn_of_unseen
from solah.model.evaluate import predict
from solah.model.provenance import is_learnt_from
from solah.runtime.reading import goal_column, read_named, read_truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model


def compare_decisions(a: Model, b: Model, X: Any, y: Any = None) -> Decisions | Estimates:
    """Let two models decide on rows; compare what they decide, and how well."""
    table = read_named(X)
    if table.n_rows == 0:
        raise DataError("the data have no rows; decisions are compared on one at least")
    beliefs = [_beliefs(model, table, which) for model, which in ((a, "first"), (b, "second"))]
    warn_of_unseen(table, b.attributes)
    truth = goal_column(b.goal, table, y) or goal_column(a.goal, table, y)  # it may be renamed
    flattered = bool(is_learnt_from(a, table, truth)), bool(is_learnt_from(b, table, truth))
    if b.goal.task is Task.REGRESSION:
        before, after = (
            numbers_of(model.goal, one) for model, one in zip((a, b), beliefs, strict=True)
        )
        estimates = _compare_estimates(before, after, read_truth(b.goal, table, truth))
        return replace(estimates, flattered=flattered)
    truths = [read_truth(model.goal, table, truth) for model in (a, b)]
    return replace(_compare_classes(a, b, beliefs, truths), flattered=flattered)


def _beliefs(model: Model, table: Table, which: str) -> Float:
    try:
        return predict(model, table)
    except ColumnError as error:
        raise ColumnError(f"{error} (the {which} model asks for it)") from None


def _compare_estimates(before: Float, after: Float, truth: Float) -> Estimates:
    moves = np.abs(after - before)
    largest = [row for row in np.argsort(-moves, kind="stable").tolist() if moves[row] > 0]
    known = ~np.isnan(truth)
    scores = [score_numbers(truth[known], one[known]) for one in (before, after) if known.any()]
    r2: list[float | None] = [None if math.isnan(one.r2) else one.r2 for one in scores]
    mae: list[float | None] = [one.mae for one in scores]
    flips = (
        Flip(
            row + 1,
            float(before[row]),
            float(after[row]),
            float(truth[row]) if known[row] else None,
        )
        for row in largest
    )
    return Estimates(
        n_rows=len(truth),
        n_known=int(known.sum()),
        flips=tuple(flips),
        mean_move=float(moves.mean()),
        r2=(r2[0], r2[1]) if scores else (None, None),
        mae=(mae[0], mae[1]) if scores else (None, None),
    )


def _compare_classes(
    a: Model, b: Model, beliefs: Sequence[Float], truths: Sequence[Float]
) -> Decisions:
    known = ~np.isnan(truths[0]) & ~np.isnan(truths[1])
    sides = [
        _Side(model, one, truth, known)
        for model, one, truth in zip((a, b), beliefs, truths, strict=True)
    ]
    decided = [side.spelt for side in sides]
    truth = _spelt_truth(b, truths[1], a, truths[0])
    flips = tuple(
        Flip(
            row + 1,
            decided[0][row],
            decided[1][row],
            truth[row],
            *(float(side.in_decision[row]) for side in sides),
        )
        for row in range(len(known))
        if decided[0][row] != decided[1][row]
    )
    scores = [side.scores() for side in sides]
    both = [name for name in sides[1].names if name in sides[0].names]
    classes = tuple(sides[0].change_to(sides[1], name) for name in both)
    return Decisions(len(known), int(known.sum()), flips, scores[0], scores[1], classes)


def _spelt_truth(model: Model, truth: Float, other: Model, other_truth: Float) -> list[str | None]:
    """Spell the truth of each row; a class that one model does not know, the other may."""
    return [
        spell(model.goal.states[int(place)])
        if not math.isnan(place)
        else None
        if math.isnan(fallback)
        else spell(other.goal.states[int(fallback)])
        for place, fallback in zip(truth.tolist(), other_truth.tolist(), strict=True)
    ]


class _Side:
    """What one of two models makes of rows."""

    def __init__(
        self, model: Model, beliefs: Float, truth: Float, known: NDArray[np.bool_]
    ) -> None:
        self.names = [spell(state) for state in model.goal.states]
        self._beliefs, self._known = beliefs, known
        self._decided = model.goal.decide(beliefs)
        self._truth = np.where(known, truth, -1).astype(np.intp)

    @property
    def spelt(self) -> list[str]:
        """The decisions, by name."""
        return [self.names[place] for place in self._decided.tolist()]

    @property
    def in_decision(self) -> Float:
        """The belief in each decision."""
        return self._beliefs[np.arange(len(self._decided)), self._decided]

    def scores(self) -> ClassScoresOf | None:
        """Score the rows of which the truth is known."""
        if not self._known.any():
            return None
        truth, decided = self._truth[self._known], self._decided[self._known]
        beliefs, places = self._beliefs[self._known], np.arange(len(self.names))
        return ClassScoresOf(
            accuracy=float((truth == decided).mean()),
            log_loss=log_loss(truth, beliefs, places),
            brier=brier_score(truth, beliefs, places),
            calibration_error=calibration_error(truth, beliefs, decided),
        )

    def change_to(self, other: _Side, name: str) -> ClassChange:
        """Tell what changes for a class when another model takes the place of this one."""
        (decided, recall, precision, error), after = self._of_class(name), other._of_class(name)
        return ClassChange(
            name=name,
            n_rows=int((self._truth == self.names.index(name)).sum()),
            decided=(decided, after[0]),
            recall=(recall, after[1]),
            precision=(precision, after[2]),
            calibration_error=(error, after[3]),
        )

    def _of_class(self, name: str) -> tuple[int, float | None, float | None, float | None]:
        """Return how many rows are decided for a class, recall, precision, calibration error."""
        place = self.names.index(name)
        is_decided, is_true = self._decided == place, self._truth == place
        hits = int((is_decided & is_true).sum())
        error = bin_beliefs(self._beliefs[self._known, place], is_true[self._known]).error
        return (
            int(is_decided.sum()),
            _share(hits, int(is_true.sum())),
            _share(hits, int((is_decided & self._known).sum())),
            None if math.isnan(error) else error,
        )


def _share(hits: int, of: int) -> float | None:
    return hits / of if of else None
