"""When a decision is taken, and when the model says that it does not know.

Two optional parts of the model document. A domain is what the training rows held: the range of each
reading, and which cells of two attributes occurred together. A policy says when a decision is held
back, and when one that was taken changes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, Final

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection

UNKNOWN_PLACE: Final = -1
"""The place of "don't know", where places of classes begin at 0."""

MOST_VOTES = 32
MOST_DWELL = 65_534
MOST_SMOOTHING = 256
MOST_CUTS = 15


class Doubt(IntFlag):
    """Why a decision is held back; several may hold at once."""

    LOW_BELIEF = 1
    FEW_READINGS = 2
    OUT_OF_RANGE = 4
    UNSEEN = 8


NO_DOUBT: Final = Doubt(0)


@dataclass(frozen=True)
class Cells:
    """Parts of an attribute: what lies below the first cut, between two cuts, above the last.

    Attributes
    ----------
    name : the attribute's name
    low, high : beyond these, a reading is out of range; None for an attribute with states
    cuts : ascending, at most 15; a reading on a cut lies above it. None for an attribute with
        states, whose cells are its states
    """

    name: str
    low: float | None = None
    high: float | None = None
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class SeenTogether:
    """Which cells of two attributes occurred together among the training rows.

    Attributes
    ----------
    first, second : the names of the attributes
    seen : a row for each cell of the first, in it a flag for each cell of the second
    """

    first: str
    second: str
    seen: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Domain:
    """What the training rows held, one entry in ``cells`` for each attribute of the model."""

    cells: tuple[Cells, ...]
    pairs: tuple[SeenTogether, ...] = ()

    def only(self, names: Collection[str]) -> Domain:
        """Return what is known of some of the attributes."""
        return Domain(
            tuple(cells for cells in self.cells if cells.name in names),
            tuple(one for one in self.pairs if one.first in names and one.second in names),
        )


@dataclass(frozen=True)
class Policy:
    """When a decision is held back, and when one that was taken changes.

    Attributes
    ----------
    min_belief : for each class, the belief below which a decision for it is held back; none for no
        limits
    min_known : the share of all evidence that must be known
    stays_in_range : whether a decision is held back when a known reading is out of range
    max_unseen : how many pairs of cells may be ones that never occurred together; None for any
    smoothing : over how many decisions evidence is averaged, exponentially: a power of two, each
        new one counting 1 / smoothing
    margin : by how much the belief in another class must exceed that in the settled one
    votes, window : a decision is settled when so many (``votes``) of the last ``window`` agree
    dwell : how many decisions a settled one stays at the least

    Raises
    ------
    ParameterError
        If a value is out of bounds.
    """

    min_belief: tuple[float, ...] = ()
    min_known: float = 0.0
    stays_in_range: bool = False
    max_unseen: int | None = None
    smoothing: int = 1
    margin: float = 0.0
    votes: int = 1
    window: int = 1
    dwell: int = 1

    def __post_init__(self) -> None:
        for belief in self.min_belief:
            _check(0.0 <= belief <= 1.0, "min_belief", "from 0 to 1", belief)
        _check(0.0 <= self.min_known <= 1.0, "min_known", "from 0 to 1", self.min_known)
        _check(0.0 <= self.margin <= 1.0, "margin", "from 0 to 1", self.margin)
        is_power = self.smoothing in {2**bits for bits in range(9)}
        _check(is_power, "smoothing", f"a power of two up to {MOST_SMOOTHING}", self.smoothing)
        _check(1 <= self.window <= MOST_VOTES, "window", f"from 1 to {MOST_VOTES}", self.window)
        _check(1 <= self.votes <= self.window, "votes", "from 1 to the window", self.votes)
        _check(1 <= self.dwell <= MOST_DWELL, "dwell", f"from 1 to {MOST_DWELL}", self.dwell)
        is_count = self.max_unseen is None or 0 <= self.max_unseen <= 255
        _check(is_count, "max_unseen", "from 0 to 255, or None", self.max_unseen)

    @property
    def holds_back(self) -> bool:
        """Whether it can answer "don't know"."""
        return (
            any(self.min_belief)
            or self.min_known > 0
            or self.stays_in_range
            or self.max_unseen is not None
        )

    @property
    def remembers(self) -> bool:
        """Whether a decision depends on those before it."""
        return self.smoothing > 1 or self.margin > 0 or self.window > 1 or self.dwell > 1


class Settling:
    """Settles decisions that come one after the other; at first nothing is known.

    Examples
    --------
    >>> settling = Settling(Policy(votes=2, window=3))
    >>> [settling.take(place) for place in (0, 0, 1, 0, 1, 1)]
    [-1, 0, 0, 0, 1, 1]
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._last = deque([UNKNOWN_PLACE] * policy.window, maxlen=policy.window)
        self._age = policy.dwell
        self.settled = UNKNOWN_PLACE

    def take(self, place: int) -> int:
        """Take the next decision, the place of a class or -1, and return the settled one."""
        self._last.append(place)
        self._age = min(self._age + 1, MOST_DWELL + 1)
        agreed = self._last.count(place) >= self._policy.votes
        if place != self.settled and agreed and self._age > self._policy.dwell:
            self.settled, self._age = place, 1
        return self.settled


def _check(holds: bool, name: str, allowed: str, value: object) -> None:
    if not holds:
        raise ParameterError(f"{name!r} must be {allowed}. Got {value!r} instead.")
