"""What would change a decision: moves of readings, changes, and leeways."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solah.data.spelling import spell, spell_number

if TYPE_CHECKING:
    from solah.data import State


def spell_reading(reading: State | None) -> str:
    """Write a reading with six digits at most, a state as it is, and nothing as unknown."""
    if reading is None:
        return "unknown"
    return spell_number(reading, 6) if isinstance(reading, float) else spell(reading)


@dataclass(frozen=True)
class Move:
    """One reading, and what it would have to become.

    Attributes
    ----------
    attribute : the attribute's name
    before : the reading
    after : the nearest reading that does it
    rounded : a reading of few digits, hardly farther, that does it too
    size : the way as a share of the attribute's range; 1 for a state without order
    """

    attribute: str
    before: State
    after: State
    rounded: State
    size: float

    def __str__(self) -> str:
        return (
            f"{self.attribute} from {spell_reading(self.before)} to {spell_reading(self.rounded)}"
        )


@dataclass(frozen=True)
class Change:
    """Moves of one reading or two that change the decision.

    Attributes
    ----------
    moves : what has to move
    decision : what would be decided
    """

    moves: tuple[Move, ...]
    decision: State

    @property
    def size(self) -> float:
        """How far it is: the moves as shares of ranges, two of them as sides of a right angle."""
        return math.hypot(*(move.size for move in self.moves))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "decision": self.decision,
            "size": self.size,
            "moves": [dict(vars(move)) for move in self.moves],
            "text": str(self),
        }

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.moves))} → {spell(self.decision)}"


@dataclass(frozen=True)
class Leeway:
    """How far one reading may move, all others kept, with the decision unchanged.

    Attributes
    ----------
    attribute : the attribute's name
    reading : what was read
    low, high : the ends of the interval around the reading, of an attribute that is measured
    below, above : what is decided beyond each end; None where the allowed range ends
    states : the states that keep the decision, of an attribute that has states
    """

    attribute: str
    reading: State
    low: float | None = None
    high: float | None = None
    below: State | None = None
    above: State | None = None
    states: tuple[State, ...] = ()

    def __str__(self) -> str:
        if self.states:
            return f"{self.attribute}: {', '.join(map(spell, self.states))}"
        return f"{self.attribute}: from {spell_reading(self.low)} to {spell_reading(self.high)}"


@dataclass(frozen=True)
class Changes:
    """What would change one decision.

    Attributes
    ----------
    decision : what is decided
    one : for each attribute that can change it alone the smallest change, the smallest first
    two : the smallest change of two readings together that was found, if it is smaller than any
        of one; else None
    leeways : how far each known reading may move, in the order of the attributes
    """

    decision: State
    one: tuple[Change, ...]
    two: Change | None
    leeways: tuple[Leeway, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "one": [change.to_dict() for change in self.one],
            "two": None if self.two is None else self.two.to_dict(),
            "leeways": [{**vars(one), "states": list(one.states)} for one in self.leeways],
        }
