"""What settling does to decisions in the order of time: false alarms, delay, what is missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class ClassEvents:
    """How decisions follow what is true of a class.

    Attributes
    ----------
    name : the class
    n_events : how many runs of rows are truly of it
    n_missed : in how many of them no row is decided for it
    delay : how many rows pass on average before it is decided for, in those that are not missed;
        None if there are none
    n_false_alarms : how many runs of rows are decided for it, and none of their rows is of it
    """

    name: str
    n_events: int
    n_missed: int
    delay: float | None
    n_false_alarms: int


@dataclass(frozen=True)
class EventScores:
    """How decisions in the order of time follow what is true.

    Attributes
    ----------
    accuracy : the share of decided rows that are right; None if none is decided
    decided : the share of rows that are decided
    n_changes : how often the decision changes from one row to the next
    classes : the same for each class
    """

    accuracy: float | None
    decided: float
    n_changes: int
    classes: tuple[ClassEvents, ...]


def score_events(
    truth: NDArray[np.intp],
    decided: NDArray[np.intp],
    names: Sequence[str],
    groups: Sequence[object] | None = None,
) -> EventScores:
    """Measure decisions that follow each other, run by run.

    Parameters
    ----------
    truth, decided : ndarray of shape (n_rows,)
        The places of the true classes and of those decided for, in the order of time; -1 where
        the truth is not known, or nothing is decided.
    names : sequence of str
        The classes.
    groups : sequence of shape (n_rows,), default=None
        The recording of each row; a run ends with it.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = score_events(truth, np.array([0, 1, 0, 0, 1, 1]), ["ok", "fault"])
    >>> scores.classes[1]
    ClassEvents(name='fault', n_events=1, n_missed=0, delay=1.0, n_false_alarms=1)
    """
    recordings = _recordings(groups, len(truth))
    is_known = truth >= 0
    is_decided = (decided >= 0) & is_known
    changes = sum(int((np.diff(decided[rows]) != 0).sum()) for rows in recordings)
    return EventScores(
        accuracy=float((decided == truth)[is_decided].mean()) if is_decided.any() else None,
        decided=float(is_decided.sum() / max(is_known.sum(), 1)),
        n_changes=changes,
        classes=tuple(
            _class_events(name, place, truth, decided, recordings)
            for place, name in enumerate(names)
        ),
    )


def _recordings(groups: Sequence[object] | None, n_rows: int) -> list[NDArray[np.intp]]:
    if groups is None:
        return [np.arange(n_rows)]
    by_group: dict[object, list[int]] = {}
    for row, group in enumerate(groups):
        by_group.setdefault(group, []).append(row)
    return [np.array(rows) for rows in by_group.values()]


def _class_events(
    name: str,
    place: int,
    truth: NDArray[np.intp],
    decided: NDArray[np.intp],
    recordings: Sequence[NDArray[np.intp]],
) -> ClassEvents:
    delays: list[int] = []
    n_events = n_false = 0
    for rows in recordings:
        of_truth, of_decision = truth[rows], decided[rows]
        for run in _runs(of_truth == place):
            n_events += 1
            delays += np.flatnonzero(of_decision[run] == place)[:1].tolist()
        n_false += sum(
            bool((of_truth[run] >= 0).any() and (of_truth[run] != place).all())
            for run in _runs(of_decision == place)
        )
    delay = float(np.mean(delays)) if delays else None
    return ClassEvents(name, n_events, n_events - len(delays), delay, n_false)


def _runs(flags: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of rows that are marked."""
    steps = np.diff(flags.astype(np.int8), prepend=0, append=0)
    ends = zip(np.flatnonzero(steps > 0).tolist(), np.flatnonzero(steps < 0).tolist(), strict=True)
    return [slice(start, end) for start, end in ends]
