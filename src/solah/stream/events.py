"""Events and metrics of a stream."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """What happened."""

    DRIFT = "drift"
    SWAPPED = "swapped"
    REFUSED = "refused"
    FAILED = "failed"
    AS_BEFORE = "as before"


class Cause(StrEnum):
    """Why it happened."""

    START = "start"
    ERROR = "error"
    DEPENDENCE = "dependence"
    NEW_CLASS = "new class"
    SCHEDULE = "schedule"
    MORE_ROWS = "more rows"
    RECENT_LOSS = "recent loss"


@dataclass(frozen=True)
class Event:
    """Something that happened in a stream.

    Attributes
    ----------
    row : how many rows had come, that which brought it about included
    kind : a drift was told; a new model was swapped in or refused; a new fit failed; or the class
        before is used from now on, or no longer
    cause : why
    message : the same in a sentence
    old_loss, new_loss : the log-loss of the model in use and of the new one on the rows that they
        were compared on; None where nothing was compared
    n_rules : how many rules the new model has; None where there is none

    Examples
    --------
    >>> print(Event(812, EventKind.DRIFT, Cause.ERROR, "the error has risen"))
    row 812: the error has risen
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
        """Return its parts, for JSON."""
        return {**asdict(self), "kind": self.kind.value, "cause": self.cause.value}


@dataclass(frozen=True)
class Metrics:
    """How a stream goes.

    Attributes
    ----------
    rows : how many came
    labelled : how many of them had a class, so that they were learnt from
    decided : how many of these were decided on before they were learnt from
    as_before : how many of these decisions used the class before
    seconds : how long the learner worked, waiting left out
    accuracy, log_loss : of these decisions, over the last ones (as many as the window is long)
    accuracy_overall, log_loss_overall : over all of them
    drifts : how many were told, by cause
    reorganisations : how often the hierarchy was learnt again
    swapped, refused, failed : what came of it
    rows_since_swap : labelled rows that the model in use has served
    n_rules : of the model in use; 0 while there is none
    kept_rows : rows kept to learn from again
    """

    rows: int
    labelled: int
    decided: int
    as_before: int
    seconds: float
    accuracy: float | None
    log_loss: float | None
    accuracy_overall: float | None
    log_loss_overall: float | None
    drifts: dict[str, int]
    reorganisations: int
    swapped: int
    refused: int
    failed: int
    rows_since_swap: int
    n_rules: int
    kept_rows: int

    @property
    def rows_per_second(self) -> float | None:
        """How many rows a second the learner takes."""
        return self.rows / self.seconds if self.seconds else None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        return {**asdict(self), "rows_per_second": self.rows_per_second}
