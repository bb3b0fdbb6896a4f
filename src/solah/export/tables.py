"""The tables that a device reads, and how a layout becomes them, in whichever numbers it computes.

``float_tables.py`` makes them of float32, ``fixed_tables.py`` of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.export.layout import Curve, GridTerm, Layout, Lost, StageLayout, StateTable, WalkTerm
    from solah.export.online import Bound
    from solah.export.units import Unit
    from solah.kernels.arrays import Float
    from solah.model.program import Axis

Numbers = NDArray[Any]
"""An array of float32, or of integers (int64)."""


@dataclass(frozen=True)
class CurveRow:
    """A line of the table of curves: the feature, and where knots and values begin."""

    feature: int
    n_knots: int
    knot: int
    value: int
    rules: tuple[int, ...]


@dataclass(frozen=True)
class StateRow:
    """A line of the table of categorical features."""

    feature: int
    n_states: int
    value: int
    rules: tuple[int, ...]


@dataclass(frozen=True)
class SideRow:
    """One of the two axes of a grid: its feature, and where its peaks and slopes begin.

    Of a category, ``n_lines`` is the number of categories, and there are no peaks.
    """

    feature: int
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

    def firsts_and_numbers(self) -> list[int]:
        """Return where each part begins and how long it is, as the runtimes read them."""
        parts = (self.curves, self.states, self.grids, self.walks)
        return [number for part in parts for number in (part.start, part.stop - part.start)]


@dataclass(frozen=True, eq=False)
class WalkTables:
    """The tables of one tree.

    Attributes
    ----------
    name : the name of the term
    inputs : the axes that it splits on
    offsets : (n_inputs + 1,) where the focal sets of each input begin
    peaks, mean_masses : (n_sets,) of all inputs, one after the other
    inverses, shifts : (n_sets,) in integers, the slopes from each peak to the next; else empty
    split : (n_nodes,) the input that a node splits on; -1 for a leaf
    first_child : (n_nodes,) the first of a node's children; of a leaf, its line of values
    values : (n_lines, n_values) the scores of leaves
    rules : (n_nodes,) the rules of leaves
    depth : the number of conditions of the longest branch
    first_rule, value_bits : of a tree that learns, its first line among all; the unit of values
    """

    name: str
    inputs: tuple[Axis, ...]
    offsets: NDArray[np.int64]
    peaks: Numbers
    mean_masses: Numbers
    inverses: Numbers
    shifts: Numbers
    split: NDArray[np.int64]
    first_child: NDArray[np.int64]
    values: Numbers
    rules: NDArray[np.int32]
    depth: int
    first_rule: int = 0
    value_bits: int = 0


@dataclass(frozen=True, eq=False)
class LostTables:
    """The scores of a stage without missing parts; see :class:`layout.Lost`.

    Attributes
    ----------
    shares : (n_parts,) the share of each part: of curves, states, grids and walks
    prior : (2 * n_values,) the logarithms of the overall shares, and the baseline less these
    factor : of the squares of shares
    shift : in integers: times factor, in the unit 2^-12
    """

    shares: Numbers
    prior: Numbers
    factor: Any
    shift: int = 0


@dataclass(frozen=True, eq=False)
class StageTables:
    """A line of the table of stages: what is added up, and from where on."""

    name: str
    is_weighed: bool
    start: Numbers
    parts: StageParts
    lost: LostTables | None = None
    value_bits: int = 0


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of a model.

    Attributes
    ----------
    layout : the layout of the model's program
    knots : the knots of all curves, and the peaks of grids
    values : the scores of curves, states and grids. Of a curve, piece by piece: in integers a
        shift, the scores at the left knot, the slopes; then the scores of a missing reading. A line
        per state, then those of none of them. Of an axis of a grid its slopes, of a grid a line per
        rule and missing reading
    cells : the lines of the cells of grids
    curves, states, grids, walks, stages : the positions of everything
    preference : (n_classes,) added to scores, or factors of probabilities; or None
    units : in integers, how each reading becomes one; empty with floats
    warnings : what does not fit well into integers, for people
    learned : (n_rules, n_values) if the device learns, the first scores of rules: a line per branch
        of each tree, from ``first_rule`` on
    bounds : what the scores of rules keep while they learn
    """

    layout: Layout
    knots: Numbers
    values: Numbers
    cells: NDArray[np.int64]
    curves: tuple[CurveRow, ...]
    states: tuple[StateRow, ...]
    grids: tuple[GridRow, ...]
    walks: tuple[WalkTables, ...]
    stages: tuple[StageTables, ...]
    preference: Numbers | None
    units: tuple[Unit, ...] = ()
    warnings: tuple[str, ...] = ()
    learned: Numbers | None = None
    bounds: tuple[Bound, ...] = ()

    @property
    def is_fixed(self) -> bool:
        """Whether these are integers."""
        return self.values.dtype.kind == "i"

    @property
    def loses(self) -> bool:
        """Whether missing values also change the scores of other parts."""
        return any(stage.lost is not None for stage in self.stages)

    @property
    def zeros(self) -> list[int] | None:
        """The zeros of all readings; None if there are none."""
        zeros = [unit.zero for unit in self.units]
        return zeros if any(zeros) else None

    @property
    def of_rules(self) -> dict[str, list[int]]:
        """The rules of the last stage, as ``solah_rules`` in ``solah_decide.h`` lists them."""
        parts = self.stages[-1].parts
        walks = self.walks[parts.walks]
        sizes = [len(walk.rules) for walk in walks]
        return {
            "of_knots": [rule for curve in self.curves[parts.curves] for rule in curve.rules],
            "of_states": [rule for states in self.states[parts.states] for rule in states.rules],
            "of_grids": [
                number
                for grid in self.grids[parts.grids]
                for number in (grid.rules[0], len(grid.rules))
            ],
            "of_nodes": [rule for walk in walks for rule in walk.rules.tolist()],
            "first_node": [sum(sizes[:place]) for place in range(len(walks))],
        }


class TableBuilder(ABC):
    """Makes the tables of a layout; subclasses choose the numbers."""

    bits = 0
    """The unit of the scores of the stage that is written."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._knots: list[Any] = []
        self._values: list[Any] = []
        self._cells: list[int] = []
        self._curves: list[CurveRow] = []
        self._states: list[StateRow] = []
        self._grids: list[GridRow] = []
        self._walks: list[WalkTables] = []
        self._sides: dict[int, SideRow] = {}

    def tables(self) -> Tables:
        """Return the tables."""
        stages = tuple(self._stage(stage) for stage in self._layout.stages)
        return Tables(
            layout=self._layout,
            knots=self._array(self._knots),
            values=self._array(self._values),
            cells=np.array(self._cells, dtype=np.int64),
            curves=tuple(self._curves),
            states=tuple(self._states),
            grids=tuple(self._grids),
            walks=tuple(self._walks),
            stages=stages,
            preference=self._preference(stages[-1]),
        )

    def _stage(self, stage: StageLayout) -> StageTables:
        self.bits = self._value_bits(stage)
        written: list[list[Any]] = [self._curves, self._states, self._grids, self._walks]
        before = [len(rows) for rows in written]
        for curve in stage.curves:
            self._curves.append(self._curve(curve))
        for table in stage.tables:
            self._states.append(self._state(table))
        for grid in stage.grids:
            self._grids.append(self._grid(grid))
        for walk in stage.walks:
            self._walks.append(self._walk(walk))
        parts = StageParts(*(slice(n, len(rows)) for n, rows in zip(before, written, strict=True)))
        lost = None if stage.lost is None else self._lost(stage.lost, stage.shares)
        start = self._sums(stage.start)
        return StageTables(stage.name, stage.is_weighed, start, parts, lost, self.bits)

    def _curve(self, curve: Curve) -> CurveRow:
        places = len(self._knots), len(self._values)
        rules = self._write_curve(curve)
        return CurveRow(curve.feature, len(rules), *places, tuple(rules.tolist()))

    def _state(self, table: StateTable) -> StateRow:
        row = StateRow(
            table.feature, len(table.values), len(self._values), tuple(table.rules.tolist())
        )
        self._put(np.vstack([table.values, table.unknown]))
        return row

    def _grid(self, grid: GridTerm) -> GridRow:
        first, second = (self._side(axis) for axis in grid.axes)
        row = GridRow(
            (first, second), len(self._cells), len(self._values), tuple(grid.rules.tolist())
        )
        self._cells += grid.lines.ravel().tolist()
        self._put(grid.values)
        return row

    def _side(self, axis: Axis) -> SideRow:
        """Return an axis of a grid, which other grids may share."""
        if axis.kind is AxisKind.CATEGORY:
            return SideRow(axis.source, axis.size, is_state=True, knot=0, value=0)
        if id(axis) not in self._sides:
            places = len(self._knots), len(self._values)
            self._sides[id(axis)] = SideRow(axis.source, axis.size, False, *places)
            self._write_side(axis)
        return self._sides[id(axis)]

    def _walk(self, walk: WalkTerm) -> WalkTables:
        leaves = np.flatnonzero(walk.split < 0)
        values, lines = self._leaves(walk)
        first_child = walk.child.astype(np.int64)
        first_child[leaves] = lines[first_child[leaves]]
        return WalkTables(
            name=walk.name,
            inputs=walk.axes,
            offsets=np.concatenate([[0], np.cumsum([axis.size for axis in walk.axes])]),
            **self._described(walk.axes),
            split=walk.split.astype(np.int64),
            first_child=first_child,
            values=values,
            rules=walk.rules,
            depth=walk.depth,
            value_bits=self.bits,
        )

    def _put(self, scores: Float) -> None:
        self._values += self._scores(scores).ravel().tolist()

    def _leaves(self, walk: WalkTerm) -> tuple[Numbers, NDArray[np.intp]]:
        """Return lines of scores, and the line of each rule; rules with equal ones share it."""
        values, lines = np.unique(self._scores(walk.values), axis=0, return_inverse=True)
        return values, lines.ravel()

    @abstractmethod
    def _value_bits(self, stage: StageLayout) -> int:
        """Choose the unit of the scores of a stage."""

    @abstractmethod
    def _array(self, numbers: Any) -> Numbers:
        """Return numbers in the device's type."""

    @abstractmethod
    def _scores(self, values: Float) -> Numbers:
        """Write the scores of rules."""

    @abstractmethod
    def _sums(self, values: Float) -> Numbers:
        """Write numbers that are as large as sums of scores."""

    @abstractmethod
    def _write_curve(self, curve: Curve) -> NDArray[np.int32]:
        """Write knots and values; return the rule of each knot that is there."""

    @abstractmethod
    def _write_side(self, axis: Axis) -> None:
        """Write the peaks of an axis of a grid, and its slopes."""

    @abstractmethod
    def _described(self, axes: Sequence[Axis]) -> dict[str, Any]:
        """Return peaks and mean masses of a walk's axes, and what finds memberships."""

    @abstractmethod
    def _lost(self, lost: Lost, shares: Float) -> LostTables:
        """Write the scores without missing parts."""

    @abstractmethod
    def _preference(self, last: StageTables) -> Numbers | None:
        """Write the effect of thresholds."""
