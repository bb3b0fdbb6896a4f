"""Metrics of decisions in the order of time: false alarms, delays and missed events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class ClassEvents:
    """How decisions follow the events of a class: runs of rows whose true class it is.

    Attributes
    ----------
    name : the class
    n_events : the number of events
    n_missed : the events in which no row is decided for the class
    delay : the mean number of rows until one is, in events that are not missed; None without any
    n_false_alarms : the runs of decisions for the class none of whose rows is of it
    """

    name: str
    n_events: int
    n_missed: int
    delay: float | None
    n_false_alarms: int


@dataclass(frozen=True)
class EventScores:
    """Metrics of decisions in the order of time.

    Attributes
    ----------
    accuracy : the share of decided rows that are right; None if none is decided
    decided : the share of rows that are decided
    n_changes : how often the decision changes from one row to the next
    classes : the events of each class
    """

    accuracy: float | None
    decided: float
    n_changes: int
    classes: tuple[ClassEvents, ...]


def score_events(
    y_true: NDArray[np.intp],
    decided: NDArray[np.intp],
    names: Sequence[str],
    groups: Sequence[object] | None = None,
) -> EventScores:
    """Measure decisions in the order of time, event by event.

    Parameters
    ----------
    y_true, decided : ndarray of shape (n_rows,)
        The indices of the true classes and of those decided for, in the order of time; -1 where
        the class is missing, or nothing is decided.
    names : sequence of str
        The classes.
    groups : sequence of shape (n_rows,), default=None
        The recording of each row; an event ends with it.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = score_events(y_true, np.array([0, 1, 0, 0, 1, 1]), ["ok", "fault"])
    >>> scores.classes[1]
    ClassEvents(name='fault', n_events=1, n_missed=0, delay=1.0, n_false_alarms=1)
    """
    by_group: dict[object, list[int]] = {}
    for row, group in enumerate([None] * len(y_true) if groups is None else groups):
        by_group.setdefault(group, []).append(row)
    recordings = [(y_true[rows], decided[rows]) for rows in by_group.values()]
    is_known = y_true >= 0
    is_decided = (decided >= 0) & is_known
    return EventScores(
        accuracy=float((decided == y_true)[is_decided].mean()) if is_decided.any() else None,
        decided=float(is_decided.sum() / max(is_known.sum(), 1)),
        n_changes=sum(int((np.diff(choices) != 0).sum()) for _, choices in recordings),
        classes=tuple(_events(name, place, recordings) for place, name in enumerate(names)),
    )


def _events(
    name: str, place: int, recordings: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
) -> ClassEvents:
    delays: list[int] = []
    n_events = n_false = 0
    for y_true, decided in recordings:
        for run in _runs(y_true == place):
            n_events += 1
            delays += np.flatnonzero(decided[run] == place)[:1].tolist()
        for run in _runs(decided == place):
            n_false += bool((y_true[run] >= 0).any() and (y_true[run] != place).all())
    delay = float(np.mean(delays)) if delays else None
    return ClassEvents(name, n_events, n_events - len(delays), delay, n_false)


def _runs(flags: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of rows that are marked."""
    steps = np.diff(flags.astype(np.int8), prepend=0, append=0)
    ends = zip(np.flatnonzero(steps > 0).tolist(), np.flatnonzero(steps < 0).tolist(), strict=True)
    return [slice(start, end) for start, end in ends]
