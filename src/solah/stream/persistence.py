"""Decide "as before" where that pays: by the class of the last row, beside the model's belief.

Rows of sensors come in runs: most have the class of the row before. The shares of the classes that
followed each class, counted with a short memory, are the term *as before*. It decides alone, or
half or all of the model's evidence is added to its own. Each of these ways is scored on every row
before the row's class arrives, and the one that lost least lately decides, if that is clearly less
than the model lost by itself. The model knows nothing of this: it learns and is compared as if
there were no such term.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.device.fixed_tables import ONE
from solah.exceptions import shorten
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model.encode import UNSEEN
from solah.stream.values import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Goal
    from solah.stream.deciding import Verdicts
    from solah.stream.values import Reading, Value

# How much of the model's evidence is added to that of the class before.
_WEIGHTS = np.array([[0.0], [0.5], [1.0]])
# How many rows are remembered of what each way lost, and of what followed a class.
_ROWS_SCORED = 200
_ROWS_COUNTED = 500
# How many nats it must have saved beside the model alone to come into use, and to stay in it.
_NATS_TO_BEGIN, _NATS_TO_STAY = 3.0, 1.0
# How many nats a way can fall behind another, so that it is back soon when things change.
_NATS_AT_MOST = 10.0
_LEAST = 1 / ONE


@dataclass(frozen=True)
class AsBefore:
    """What the class before tells, and whether it is used.

    Attributes
    ----------
    is_used : whether decisions use it now
    weight : the share of the model's evidence that is added to it, 0 where it decides alone
    before : the last class that has arrived; None if there is none yet
    classes : all classes that came
    shares : the share of each class among the rows that followed each class lately
    saved : how many nats of log-loss it saved lately beside the model alone, 10 at the most
    """

    is_used: bool
    weight: float
    before: Value | None
    classes: tuple[Value, ...]
    shares: tuple[tuple[float, ...], ...]
    saved: float

    def __str__(self) -> str:
        if not self.is_used:
            return "the rules decide without the class before"
        share = {0.5: "half", 1.0: "all"}.get(self.weight)
        how = f"with {share} of the evidence of the rules" if share else "alone"
        return f"the class before decides {how}: that saved {self.saved:.1f} nats lately"

    def rules(self) -> list[str]:
        r"""Spell what the class before tells, one rule for each class; none if it is not used.

        Examples
        --------
        >>> shares = ((0.98, 0.02), (0.1, 0.9))
        >>> term = AsBefore(True, 0.0, "dry", ("dry", "wet"), shares, 4.2)
        >>> print(*term.rules(), sep="\n")
        if the class before was 'dry' then 'dry' 0.980, 'wet' 0.020
        if the class before was 'wet' then 'dry' 0.100, 'wet' 0.900
        """
        if not self.is_used:
            return []
        return [
            f"if the class before was {shorten(before)} then "
            + ", ".join(
                f"{shorten(one)} {share:.3f}"
                for one, share in zip(self.classes, shares, strict=True)
            )
            for before, shares in zip(self.classes, self.shares, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Decided:
    """What was decided on rows, each before its class was learnt from.

    Attributes
    ----------
    losses : minus the logarithm of the belief in the true class; NaN where there is none, or
        nothing to decide by
    is_right : whether the decision was for the true class
    is_as_before : whether the class before was used
    switches : how many rows were taken when the class before came into use or fell out of it, and
        what it told then
    """

    losses: list[float]
    is_right: list[bool]
    is_as_before: list[bool]
    switches: list[tuple[int, AsBefore]] = field(default_factory=list)

    @classmethod
    def by_model(cls, verdicts: Verdicts | None, n_rows: int) -> Decided:
        """Decide on the first of some rows as a model thought; nothing without one."""
        not_used = [False] * n_rows
        if verdicts is None:
            return cls([np.nan] * n_rows, not_used, not_used)
        return cls(verdicts.losses[:n_rows].tolist(), verdicts.is_right[:n_rows].tolist(), not_used)

    def rows(self) -> Iterator[tuple[float, bool, bool]]:
        """Go through the rows."""
        return zip(self.losses, self.is_right, self.is_as_before, strict=True)


class _Awaited(NamedTuple):
    """A row whose class has not arrived: the class before it, its own, and what each way lost."""

    before: int | None
    place: int
    losses: list[float]


class _Known(NamedTuple):
    """Which of the classes a model knows, at which places, and the thresholds it decides by."""

    is_known: NDArray[np.bool_]
    places: NDArray[np.intp]
    log_thresholds: Float

    def of(self, beliefs: Float) -> Float:
        """Return what is believed of the classes; nothing of those that a model does not know."""
        return np.where(self.is_known, beliefs[:, self.places], 0.0)


class Persistence:
    """Counts what follows each class, and finds out whether that helps to decide.

    Parameters
    ----------
    label_delay : int
        How many rows later than its own a class arrives: it is used and counted no sooner.
    """

    def __init__(self, label_delay: int) -> None:
        self._delay = label_delay
        self._places: dict[Value, int] = {}
        self._counts = np.zeros(0)
        self._followers = np.zeros((0, 0))
        self._before: int | None = None
        self._awaited: deque[_Awaited | None] = deque()
        self._way = 0  # the model alone; else the number of a weight, from 1 on
        self._behind = np.zeros(1 + len(_WEIGHTS))

    @property
    def is_used(self) -> bool:
        """Whether decisions use the class before."""
        return self._way > 0

    def serve(
        self, labels: Sequence[Reading], verdicts: Verdicts | None, goal: Goal | None
    ) -> Decided:
        """Decide on rows in their order, each before its class arrives.

        Parameters
        ----------
        labels : sequence
            The classes, None where one is not known.
        verdicts : Verdicts or None
            What the model thought of the rows; None without a model, in whose place the shares of
            the classes stand.
        goal : Goal or None
            What the model decides; None without a model.
        """
        decided = Decided([], [], [])
        known = self._find_classes(goal)
        beliefs = None if verdicts is None else known.of(verdicts.beliefs)
        for row, label in enumerate(labels):
            belief = None if beliefs is None else beliefs[row]
            losses, rights = self._judge(label, belief, known)
            if verdicts is not None:
                losses[0], rights[0] = float(verdicts.losses[row]), bool(verdicts.is_right[row])
            was_used = self.is_used
            decided.is_as_before.append(was_used)
            decided.losses.append(losses[self._way])
            decided.is_right.append(rights[self._way])
            is_new = self._admit(label)
            self._await(label, losses)
            if self.is_used is not was_used:
                decided.switches.append((row + 1, self.describe()))
            if is_new:
                known = self._find_classes(goal)
                beliefs = None if verdicts is None else known.of(verdicts.beliefs)
        return decided

    def believe(self, beliefs: Float, goal: Goal) -> Float:
        """Return what is believed of rows, each taken as the next one of the stream.

        Parameters
        ----------
        beliefs : ndarray of shape (n_rows, n_classes)
            What the model believes.
        goal : Goal
            What the model decides.
        """
        if not self.is_used:
            return beliefs
        known = self._find_classes(goal)
        combined = np.full(beliefs.shape, _LEAST)
        for belief, row in zip(known.of(beliefs), combined, strict=True):
            of_classes = np.exp(self._scores(belief)[self._way])
            row[known.places[known.is_known]] = of_classes[known.is_known]
        return np.asarray(combined / combined.sum(axis=1, keepdims=True))

    def describe(self) -> AsBefore:
        """Return what the class before tells, and whether it is used."""
        classes = tuple(self._places)
        way, shares = self._way or self._best(), self._shares()
        followed = [self._following(place, shares) for place in range(len(classes))]
        return AsBefore(
            self.is_used,
            float(_WEIGHTS[way - 1, 0]),
            None if self._before is None else classes[self._before],
            classes,
            tuple(tuple(one.tolist()) for one in followed),
            float(self._behind[0] - self._behind[way]),
        )

    def _judge(
        self, label: Reading, belief: Float | None, known: _Known
    ) -> tuple[list[float], list[bool]]:
        """Return what each way to decide loses on a row, and whether it is right."""
        if label is None or not self._counts.any():
            return [np.nan] * len(self._behind), [False] * len(self._behind)
        place = self._places.get(label)
        if place is None:
            return [-np.log(_LEAST)] * len(self._behind), [False] * len(self._behind)
        scores = self._scores(belief)
        decisions = (scores - known.log_thresholds).argmax(axis=1)
        losses = np.minimum(-scores[:, place], -np.log(_LEAST))
        return losses.tolist(), (decisions == place).tolist()

    def _scores(self, belief: Float | None) -> Float:
        """Return the log-belief of each way to decide in each class."""
        logs = np.empty((3, len(self._counts)))
        model, following, shares = logs
        shares[:] = self._shares()
        model[:] = shares if belief is None else belief
        following[:] = shares if self._before is None else self._following(self._before, shares)
        np.log(np.maximum(logs, _LEAST, out=logs), out=logs)
        scores = np.empty((1 + len(_WEIGHTS), len(self._counts)))
        scores[0] = model
        scores[1:] = _WEIGHTS * (model - shares) + following
        scores -= np.log(np.add.reduce(np.exp(scores), axis=1, keepdims=True))
        return scores

    def _following(self, before: int, shares: Float) -> Float:
        """Return the shares of the classes behind a class; the shares of all count as one row."""
        followers = self._followers[before]
        return np.asarray((followers + shares) / (np.add.reduce(followers) + 1))

    def _shares(self) -> Float:
        """Return the shares of the classes that have arrived; none before the first."""
        return np.asarray(self._counts / max(np.add.reduce(self._counts), _LEAST))

    def _find_classes(self, goal: Goal | None) -> _Known:
        """Find the place of each class among those that a model decides between."""
        thresholds = np.ones(len(self._places))
        found = np.full(len(thresholds), UNSEEN)
        if goal is not None:
            found = places_of(list(self._places), goal)
        is_known, places = found >= 0, np.maximum(found, 0)
        if goal is not None and goal.thresholds:
            of_classes = np.array(goal.thresholds)[places] * len(goal.thresholds)
            thresholds = np.where(is_known, of_classes, 1.0)
        return _Known(is_known, places, np.log(thresholds))

    def _admit(self, label: Reading) -> bool:
        """Make room for a class that is new; return whether it is."""
        if label is None or label in self._places or len(self._places) == MAX_FOCAL_SETS:
            return False
        self._places[label] = len(self._places)
        self._counts = np.pad(self._counts, (0, 1))
        self._followers = np.pad(self._followers, (0, 1))
        return True

    def _await(self, label: Reading, losses: list[float]) -> None:
        """Wait for the class of a row, and take up the one that arrives now."""
        place = None if label is None else self._places.get(label)
        self._awaited.append(None if place is None else _Awaited(self._before, place, losses))
        arrived = self._awaited.popleft() if len(self._awaited) > self._delay else None
        if arrived is not None:
            self._count(arrived)
            if arrived.losses[1] == arrived.losses[1]:  # there was something to decide by
                self._weigh(arrived.losses)

    def _count(self, row: _Awaited) -> None:
        fades = [self._counts]
        if row.before is not None:
            fades.append(self._followers[row.before])
        for counts in fades:
            counts *= 1 - 1 / _ROWS_COUNTED
            counts[row.place] += 1
        self._before = row.place

    def _weigh(self, losses: list[float]) -> None:
        """Add up how far each way to decide is behind the best, and choose one to decide by."""
        behind = (1 - 1 / _ROWS_SCORED) * self._behind + losses
        self._behind = np.minimum(behind - behind.min(), _NATS_AT_MOST)
        best = self._best()
        saved = self._behind[0] - self._behind[best]
        self._way = best if saved > (_NATS_TO_STAY if self.is_used else _NATS_TO_BEGIN) else 0

    def _best(self) -> int:
        """Return the best way that uses the class before."""
        return 1 + int(self._behind[1:].argmin())

    def state(self) -> dict[str, Any]:
        """Return what is to be kept, as JSON has it."""
        return {
            "classes": list(self._places),
            "counts": self._counts.tolist(),
            "followers": self._followers.tolist(),
            "before": self._before,
            "awaited": [None if row is None else list(row) for row in self._awaited],
            "behind": self._behind.tolist(),
            "way": self._way,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned.

        Raises
        ------
        ValueError
            If it cannot be what :meth:`state` returned.
        """
        n_classes, n_ways = len(state["classes"]), len(self._behind)
        self._places = {label: place for place, label in enumerate(state["classes"])}
        self._counts = _numbers(state["counts"], (n_classes,))
        self._followers = _numbers(state["followers"], (n_classes, n_classes))
        self._behind = _numbers(state["behind"], (n_ways,))
        self._way = _place(state["way"], n_ways)
        self._before = None if state["before"] is None else _place(state["before"], n_classes)
        self._awaited = deque(
            None if row is None else _awaited(row, n_classes) for row in state["awaited"]
        )
        if len(self._places) < n_classes or len(self._awaited) > self._delay:
            raise ValueError("its classes before do not go together")


def _numbers(saved: Any, shape: tuple[int, ...]) -> Float:
    numbers = np.array(saved, dtype=np.float64).reshape(shape)
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise ValueError("a count or loss of its classes before is no number from 0 on")
    return numbers


def _place(saved: Any, n_places: int) -> int:
    if not 0 <= int(saved) < n_places:
        raise ValueError(f"there is no class before, or way to use it, at {saved!r}")
    return int(saved)


def _awaited(saved: Any, n_classes: int) -> _Awaited:
    before, place, losses = saved
    checked = None if before is None else _place(before, n_classes)
    n_ways = 1 + len(_WEIGHTS)
    if len(losses) != n_ways:
        raise ValueError(f"a row that awaits its class has {len(losses)} losses, not {n_ways}")
    return _Awaited(checked, _place(place, n_classes), [float(one) for one in losses])
