"""Events and metrics of a stream."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """The kinds of events: a drift, and the outcomes of a fit."""

    DRIFT = "drift"
    SWAPPED = "swapped"
    REJECTED = "rejected"
    FAILED = "failed"


class Cause(StrEnum):
    """The causes of drifts and fits."""

    START = "start"
    ERROR = "error"
    DEPENDENCE = "dependence"
    NEW_CLASS = "new class"
    SCHEDULE = "schedule"
    MORE_ROWS = "more rows"


DRIFTS = (Cause.ERROR, Cause.DEPENDENCE, Cause.NEW_CLASS)


@dataclass(frozen=True)
class Event:
    """Something that happened in a stream.

    Attributes
    ----------
    row : the number of rows that had come, including the one that caused the event
    kind : a drift was detected; a new model was swapped in or rejected; or a fit failed
    cause : the cause
    message : the event in a sentence
    old_loss, new_loss : the log-loss of the model in use and of the new one on the held-out rows;
        None without a comparison
    n_rules : the number of rules of the new model; None without one

    Examples
    --------
    >>> print(Event(812, EventKind.DRIFT, Cause.ERROR, "the error rate rose"))
    row 812: the error rate rose
    """

    row: int
    kind: EventKind
    cause: Cause
    message: str
    old_loss: float | None = None
    new_loss: float | None = None
    n_rules: int | None = None

    def __str__(self) -> str:
        return f"row {self.row:,}: {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """Return the parts as JSON values."""
        return {**asdict(self), "kind": self.kind.value, "cause": self.cause.value}


@dataclass(frozen=True)
class Metrics:
    """The progress of a stream.

    Attributes
    ----------
    rows : the number of rows that came
    labelled : those with a class
    predicted : labelled rows that were predicted before the model learned from them
    seconds : the working time of the learner
    accuracy, log_loss : of these predictions, over the latest (as many as the window has rows)
    accuracy_overall, log_loss_overall : over all of them
    drifts : the number of drifts, by cause
    refits : the number of fits
    swapped, rejected, failed : their outcomes
    rows_since_swap : labelled rows since the model in use was swapped in
    n_rules : the number of rules of the model in use; 0 without one
    kept_rows : the number of rows kept to train on again
    """

    rows: int
    labelled: int
    predicted: int
    seconds: float
    accuracy: float | None
    log_loss: float | None
    accuracy_overall: float | None
    log_loss_overall: float | None
    drifts: dict[str, int]
    refits: int
    swapped: int
    rejected: int
    failed: int
    rows_since_swap: int
    n_rules: int
    kept_rows: int

    @property
    def rows_per_second(self) -> float | None:
        """The speed of the learner."""
        return self.rows / self.seconds if self.seconds else None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {**asdict(self), "rows_per_second": self.rows_per_second}


class Score:
    """Accuracy and log-loss of predictions, over all and over the latest ``window``."""

    def __init__(self, window: int) -> None:
        self._latest: deque[tuple[bool, float]] = deque(maxlen=window)
        self._n_right = 0
        self._loss = 0.0
        self.n_predicted = 0

    def add(self, is_right: bool, loss: float) -> None:
        """Count a prediction."""
        self._latest.append((is_right, loss))
        self.n_predicted += 1
        self._n_right += is_right
        self._loss += loss

    def figures(self) -> dict[str, Any]:
        """Return the figures by name; None before the first prediction."""
        n_latest, n_all = len(self._latest), self.n_predicted
        if not n_all:
            names = ("accuracy", "log_loss", "accuracy_overall", "log_loss_overall")
            return dict.fromkeys(names)
        return {
            "accuracy": sum(is_right for is_right, _ in self._latest) / n_latest,
            "log_loss": sum(loss for _, loss in self._latest) / n_latest,
            "accuracy_overall": self._n_right / n_all,
            "log_loss_overall": self._loss / n_all,
        }

    def state(self) -> list[Any]:
        """Return the counts as JSON values."""
        return [list(self._latest), self._n_right, self._loss, self.n_predicted]

    def restore(self, state: list[Any]) -> None:
        """Continue from a result of :meth:`state`."""
        latest, n_right, loss, n_predicted = state
        self._latest.clear()
        self._latest.extend((bool(one), float(of_row)) for one, of_row in latest)
        self._n_right, self._loss, self.n_predicted = int(n_right), float(loss), int(n_predicted)
