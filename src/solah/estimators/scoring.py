"""Scores a fitted classifier on rows that need not be in memory, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.estimators.inputs import known_names
from solah.exceptions import ColumnError, DataError, ParameterError, shorten
from solah.kernels.choose import count_threads
from solah.kernels.sums import exact_sum, negative_log, whole_and_parts
from solah.model.encode import encode_goal
from solah.scale import Scan, scan
from solah.scale.passes import Statistics, SummingPass

if TYPE_CHECKING:
    from solah.data import Table
    from solah.kernels.arrays import Int64
    from solah.model import Goal


@dataclass(frozen=True, eq=False)
class RowScores:
    """How well classes are told apart in very many rows.

    Attributes
    ----------
    n_rows : how many rows there are
    confusion : (n_classes, n_classes) how many rows of each class were decided for each
    log_loss : the mean negative log-likelihood, in nats; lower is better
    brier : half the mean squared distance of beliefs to the truth; lower is better
    """

    n_rows: int
    confusion: Int64
    log_loss: float
    brier: float

    @property
    def accuracy(self) -> float:
        """The share of rows whose class was decided for."""
        return float(np.trace(self.confusion)) / self.n_rows


def score_rows(estimator: Any, data: Any, target: str) -> RowScores:
    """Compare what a classifier decides with the true classes of rows that need not be in memory.

    Parameters
    ----------
    estimator : a fitted classifier
    data : whatever ``scan`` takes, or a Scan
    target : str
        The column of the true classes.
    """
    check_is_fitted(estimator)
    if isinstance(data, Scan):
        return _score(estimator, data, target)
    with scan(data) as rows:
        return _score(estimator, rows, target)


def _score(estimator: Any, rows: Scan, target: object) -> RowScores:
    if not isinstance(target, str):
        raise ParameterError(
            "rows that come from files, frames or a cluster are scored with y as the name of the "
            f"column of classes. Got {type(target).__name__}."
        )
    names = known_names(estimator)
    for name in (*names, target):
        if name not in rows.names:
            raise ColumnError.unknown(name, rows.names)
    one = Score(estimator, tuple(names), target)
    return one.scores(rows.engine(count_threads(estimator.n_jobs)).run(one))


class Score(SummingPass):
    """Sums up decisions and losses."""

    name = "scoring"

    def __init__(self, estimator: Any, names: tuple[str, ...], target: str) -> None:
        self.estimator, self.names, self.target = estimator, names, target

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return (*self.names, self.target)

    @property
    def _goal(self) -> Goal:
        model = getattr(self.estimator, "model_", None)
        goal: Goal = self.estimator.goal_ if model is None else model.goal
        return goal

    def begin(self) -> Statistics:
        """Return the sums of no rows."""
        n_classes = self._goal.size
        return {
            "confusion": np.zeros((n_classes, n_classes), dtype=np.int64),
            "loss": np.zeros(2, dtype=np.int64),
            "distance": np.zeros(2, dtype=np.int64),
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Decide on rows, and compare."""
        truth = self._truth(table)
        beliefs = self.estimator.predict_proba(table.select(self.names))
        rows = np.arange(len(truth))
        np.add.at(gathered["confusion"], (truth, self._goal.decide(beliefs)), 1)
        gathered["loss"] += exact_sum(negative_log(beliefs[rows, truth]))
        beliefs[rows, truth] -= 1.0
        gathered["distance"] += exact_sum((beliefs**2).sum(axis=1))

    def scores(self, statistics: Statistics) -> RowScores:
        """Return the scores."""
        n_rows = int(statistics["confusion"].sum())
        return RowScores(
            n_rows=n_rows,
            confusion=statistics["confusion"],
            log_loss=whole_and_parts(statistics["loss"]) / n_rows,
            brier=whole_and_parts(statistics["distance"]) / n_rows / 2,
        )

    def _truth(self, table: Table) -> Int64:
        column = table.column(self.target)
        places = encode_goal(column, self._goal)
        if (places < 0).any():
            row = int(np.argmax(places < 0))
            raise DataError(
                f"row {table.first_row + row} of {self.target!r} is "
                f"{shorten(column.values[row])}, which no row was when the model was fitted"
            )
        return places
