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
class SideRow:
    """One of the two axes of a grid: its feature, and where its peaks and slopes begin.

    Of a category, ``n_lines`` is the number of categories, and there are no peaks.
    """

    attribute: int
    n_lines: int
    is_state: bool
    knot: int
    value: int


@dataclass(frozen=True)
class GridRow:
    """A line of the table of grids: both axes, and where cells and values begin."""

    sides: tuple[SideRow, SideRow]
    cell: int
    value: int
    rules: tuple[int, ...]


@dataclass(frozen=True)
class StageParts:
    """The parts of the tables that one stage adds up."""

    curves: slice
    states: slice
    grids: slice
    walks: slice

    @classmethod
    def behind(cls, stage: StageLayout, *numbers: int) -> StageParts:
        """Return the parts of a stage behind as many curves, states, grids and walks."""
        sizes = map(len, (stage.curves, stage.tables, stage.grids, stage.walks))
        return cls(
            *(slice(n, n + size) for n, size in zip(numbers, sizes, strict=True)),
        )

    def firsts_and_numbers(self) -> list[int]:
        """Return where each part begins and how long it is, as the runtimes read them."""
        parts = (self.curves, self.states, self.grids, self.walks)
        return [number for part in parts for number in (part.start, part.stop - part.start)]
