"""Compares the decisions of two models on rows, and their metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.edit.diff_text import ClassChange, Decisions, Flip
from solah.evaluation.scores import (
    bin_probabilities,
    brier_score,
    calibration_error,
    log_loss,
    score_numbers,
)
from solah.exceptions import ColumnError, DataError
from solah.explain.traversal import numbers_of
from solah.model.document import Task
from solah.model.encode import read_named, read_truth, target_column, warn_of_unseen
from solah.model.evaluate import predict
from solah.model.provenance import is_trained_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.edit.diff_text import Pair
    from solah.kernels.arrays import Float
    from solah.model.document import Model


def compare_decisions(a: Model, b: Model, X: Any, y: Any = None) -> Decisions:
    """Compare the decisions of two models on rows, and their metrics."""
    table = read_named(X)
    if table.n_rows == 0:
        raise DataError("the data have no rows; pass at least one to compare decisions on")
    outputs: list[Float] = []
    for model, which in ((a, "first"), (b, "second")):
        try:
            outputs.append(predict(model, table))
        except ColumnError as error:
            raise ColumnError(f"{error} (the {which} model uses it)") from None
    warn_of_unseen(table, b.features)
    truth = target_column(b.target, table, y) or target_column(
        a.target, table, y
    )  # it may be renamed
    trained_on = bool(is_trained_on(a, table, truth)), bool(is_trained_on(b, table, truth))
    if b.target.task is Task.REGRESSION:
        before, after = numbers_of(a.target, outputs[0]), numbers_of(b.target, outputs[1])
        found = _compare_numbers(before, after, read_truth(b.target, table, truth))
    else:
        truths = [read_truth(model.target, table, truth) for model in (a, b)]
        found = _compare_classes(a, b, outputs, truths)
    return replace(found, trained_on=trained_on)


def _compare_numbers(before: Float, after: Float, truth: Float) -> Decisions:
    moves = np.abs(after - before)
    known = ~np.isnan(truth)
    metrics: dict[str, Pair] = {}
    if known.any():
        first, second = (score_numbers(truth[known], one[known]) for one in (before, after))
        metrics = {"r2": (_known(first.r2), _known(second.r2)), "mae": (first.mae, second.mae)}
    flips = (
        Flip(row + 1, float(before[row]), float(after[row]), _known(float(truth[row])))
        for row in np.argsort(-moves, kind="stable").tolist()
        if moves[row] > 0
    )
    mean_move = float(moves.mean())
    return Decisions(len(truth), int(known.sum()), tuple(flips), metrics, mean_move=mean_move)


def _compare_classes(a: Model, b: Model, outputs: list[Float], truths: list[Float]) -> Decisions:
    known = ~np.isnan(truths[0]) & ~np.isnan(truths[1])
    before, after = (
        _Side(
            [spell(state) for state in model.target.classes],
            one,
            model.target.decide(one),
            np.where(np.isnan(truth), -1, truth).astype(np.intp),
            known,
        )
        for model, one, truth in zip((a, b), outputs, truths, strict=True)
    )
    flips = []
    for row in range(len(known)):
        first, second = before.decision(row), after.decision(row)
        if first[0] != second[0]:
            # A class that one model does not know, the other may.
            truth = after.true_class(row) or before.true_class(row)
            flips.append(Flip(row + 1, first[0], second[0], truth, first[1], second[1]))
    scores = [side.metrics() if known.any() else {} for side in (before, after)]
    classes = []
    for name in after.names:
        if name in before.names:
            figures = zip(before.of_class(name), after.of_class(name), strict=True)
            n_rows = int(((before.truth == before.names.index(name)) & known).sum())
            classes.append(ClassChange(name, n_rows, *figures))  # type: ignore[arg-type]
    metrics: dict[str, Pair] = {key: (scores[0][key], scores[1][key]) for key in scores[0]}
    return Decisions(len(known), int(known.sum()), tuple(flips), metrics, tuple(classes))


@dataclass(frozen=True, eq=False)
class _Side:
    """The decisions of one of two models; the target is -1 for classes unknown to it."""

    names: list[str]
    beliefs: Float
    decided: NDArray[np.intp]
    truth: NDArray[np.intp]
    known: NDArray[np.bool_]

    def decision(self, row: int) -> tuple[str, float]:
        """Return the class of a row, and its probability."""
        place = self.decided[row]
        return self.names[place], float(self.beliefs[row, place])

    def true_class(self, row: int) -> str | None:
        return self.names[self.truth[row]] if self.truth[row] >= 0 else None

    def metrics(self) -> dict[str, float]:
        """Measure the rows whose class both models have."""
        truth, decided = self.truth[self.known], self.decided[self.known]
        beliefs = self.beliefs[self.known]
        places = np.arange(len(self.names))
        return {
            "accuracy": float((truth == decided).mean()),
            "log_loss": log_loss(truth, beliefs, places),
            "brier": brier_score(truth, beliefs, places),
            "calibration_error": calibration_error(truth, beliefs, decided),
        }

    def of_class(self, name: str) -> tuple[int, float | None, float | None, float | None]:
        """Return how many rows are decided for a class, recall, precision, calibration error."""
        place = self.names.index(name)
        is_decided, is_true = self.decided == place, (self.truth == place) & self.known
        hits, n_true = int((is_decided & is_true).sum()), int(is_true.sum())
        n_decided = int((is_decided & self.known).sum())
        error = bin_probabilities(self.beliefs[self.known, place], is_true[self.known]).error
        recall, precision = (hits / of if of else None for of in (n_true, n_decided))
        return int(is_decided.sum()), recall, precision, _known(error)


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
