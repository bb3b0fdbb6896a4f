"""Positions of the parts of a model in its tables, for both kinds of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solah.device.layout import StageLayout


@dataclass(frozen=True)
class CurveRow:
    """A line of the table of curves: where a curve's knots and values stand, and whose they are."""

    attribute: int
    n_knots: int
    knot: int
    value: int
    rules: tuple[int, ...]


@dataclass(frozen=True)
class StateRow:
    """A line of the table of attributes with states."""

    attribute: int
    n_states: int
    value: int
    rules: tuple[int, ...]


@dataclass(frozen=True)
class StageParts:
    """What is added up in a stage: its parts of the tables of curves, states and trees."""

    curves: slice
    states: slice
    walks: slice

    @classmethod
    def behind(cls, stage: StageLayout, n_curves: int, n_states: int, n_walks: int) -> StageParts:
        """Find the parts of a stage that stand behind so many others."""
        return cls(
            slice(n_curves, n_curves + len(stage.curves)),
            slice(n_states, n_states + len(stage.tables)),
            slice(n_walks, n_walks + len(stage.walks)),
        )

    def firsts_and_numbers(self) -> list[int]:
        """Return where each part begins and how long it is, as the runtimes read them."""
        parts = (self.curves, self.states, self.walks)
        return [number for part in parts for number in (part.start, part.stop - part.start)]
