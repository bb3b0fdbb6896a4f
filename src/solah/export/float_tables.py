"""Make the tables of float32 that the float runtime reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solah.exceptions import ParameterError
from solah.export.layout import CurveRow, GridRow, SideRow, StageParts, StateRow
from solah.model.limits import LEAST_GAP, MOST_NUMBER
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.export.layout import Curve, GridTerm, Layout, StageLayout, StateTable, WalkTerm
    from solah.kernels.arrays import Float
    from solah.model.features import Feature
    from solah.model.program import Axis

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WalkTables:
    """The tables of one tree.

    Attributes
    ----------
    inputs : the axes that it splits on
    offsets : (n_inputs + 1,) where the focal sets of each input begin
    peaks, mean_masses : (n_sets,) of all inputs, one after the other
    split : (n_nodes,) the input that a node asks; -1 for a leaf
    first_child : (n_nodes,) the first of a node's children; of a leaf, its own number
    values : (n_leaves, n_values) the scores of leaves
    rules : (n_nodes,) the rules of leaves
    depth : the most conditions of a branch
    """

    inputs: tuple[Axis, ...]
    offsets: NDArray[np.int64]
    peaks: Float32
    mean_masses: Float32
    split: NDArray[np.int64]
    first_child: NDArray[np.int64]
    values: Float32
    rules: NDArray[np.int32]
    depth: int


@dataclass(frozen=True, eq=False)
class LostTables:
    """The scores of a stage without missing parts; see :class:`layout.Lost`.

    Attributes
    ----------
    shares : (n_terms,) the share of each term: of curves, states, grids and walks
    prior : (2 * n_values,) the logarithms of the overall shares, and the baseline less these
    factor : of the squares of shares
    """

    shares: Float32
    prior: Float32
    factor: np.float32


@dataclass(frozen=True, eq=False)
class StageRow:
    """A line of the table of stages: what is added up, and from where on."""

    name: str
    is_weighed: bool
    start: Float32
    parts: StageParts
    lost: LostTables | None = None


@dataclass(frozen=True, eq=False)
class FloatTables:
    """All tables of a model in float32.

    Attributes
    ----------
    layout : the layout of the model's program
    knots : the knots of all curves, and the peaks of grids
    values : the scores of curves, states and grids: of a curve, piece by piece, those at the left
        knot and the slopes, then those of a missing reading; a line per state, then those of none
        of them; of an axis of a grid its slopes, of a grid a line per rule and missing reading
    cells : the lines of the cells of grids
    curves, states, grids, walks, stages : the positions of everything
    preference : (n_classes,) added to scores, or factors of probabilities; or None
    """

    layout: Layout
    knots: Float32
    values: Float32
    cells: NDArray[np.int64]
    curves: tuple[CurveRow, ...]
    states: tuple[StateRow, ...]
    grids: tuple[GridRow, ...]
    walks: tuple[WalkTables, ...]
    stages: tuple[StageRow, ...]
    preference: Float32 | None

    @property
    def loses(self) -> bool:
        """Whether missing values also change the scores of other parts."""
        return any(stage.lost is not None for stage in self.stages)


def float_tables(layout: Layout) -> FloatTables:
    """Make the tables of a layout in float32."""
    return _Tables(layout).tables()


class _Tables:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._knots: list[Float] = []
        self._values: list[Float] = []
        self._curves: list[CurveRow] = []
        self._cells: list[int] = []
        self._states: list[StateRow] = []
        self._grids: list[GridRow] = []
        self._sides: dict[int, SideRow] = {}
        self._walks: list[WalkTables] = []

    def tables(self) -> FloatTables:
        for feature in self._layout.features:
            _check_words(feature)
        stages = tuple(self._stage(stage) for stage in self._layout.stages)
        return FloatTables(
            layout=self._layout,
            knots=_flat(self._knots),
            values=_flat(self._values),
            cells=np.array(self._cells, dtype=np.int64),
            curves=tuple(self._curves),
            states=tuple(self._states),
            grids=tuple(self._grids),
            walks=tuple(self._walks),
            stages=stages,
            preference=preference_of(self._layout),
        )

    def _stage(self, stage: StageLayout) -> StageRow:
        _check_size(stage)
        n_before = len(self._curves), len(self._states), len(self._grids), len(self._walks)
        for curve in stage.curves:
            self._add_curve(curve)
        for table in stage.tables:
            self._add_states(table)
        for grid in stage.grids:
            self._add_grid(grid)
        self._walks += map(walk_tables, stage.walks)
        parts = StageParts.behind(stage, *n_before)
        start, lost = _float32(stage.start), _lost_tables(stage)
        return StageRow(stage.name, stage.is_weighed, start, parts, lost)

    def _add_curve(self, curve: Curve) -> None:
        row = CurveRow(
            curve.feature,
            len(curve.knots),
            _length(self._knots),
            _length(self._values),
            tuple(curve.rules.tolist()),
        )
        self._curves.append(row)
        # Slopes are those between the knots as the device knows them.
        knots = _parted(_float32(curve.knots)).astype(np.float64)
        self._knots.append(knots)
        slopes = np.diff(curve.values, axis=0) / np.diff(knots)[:, None]
        if np.abs(slopes).max() > np.finfo(np.float32).max:
            raise ParameterError(
                f"what {self._layout.features[curve.feature].name!r} adds changes within "
                f"{np.diff(knots).min():.3g}, which is too steep for float32; scale the target "
                "down, or the feature up"
            )
        for left, slope in zip(curve.values[:-1], slopes, strict=True):
            self._values += [left, slope]
        self._values.append(curve.unknown)

    def _add_states(self, table: StateTable) -> None:
        rules = tuple(table.rules.tolist())
        row = StateRow(table.feature, len(table.values), _length(self._values), rules)
        self._states.append(row)
        self._values += [*table.values, table.unknown]

    def _add_grid(self, grid: GridTerm) -> None:
        first, second = (self._side(axis) for axis in grid.axes)
        places = len(self._cells), _length(self._values)
        self._grids.append(GridRow((first, second), *places, tuple(grid.rules.tolist())))
        self._cells += grid.lines.ravel().tolist()
        self._values += list(grid.values)

    def _side(self, axis: Axis) -> SideRow:
        """Return an axis of a grid, which other grids may share."""
        if axis.kind is AxisKind.CATEGORY:
            return SideRow(axis.source, axis.size, is_state=True, knot=0, value=0)
        if id(axis) not in self._sides:
            places = _length(self._knots), _length(self._values)
            self._sides[id(axis)] = SideRow(axis.source, axis.size, False, *places)
            peaks = _parted(_float32(axis.peaks)).astype(np.float64)
            self._knots.append(peaks)
            self._values.append(1 / np.diff(peaks))
        return self._sides[id(axis)]


def _lost_tables(stage: StageLayout) -> LostTables | None:
    if stage.lost is None:
        return None
    prior = np.concatenate([stage.lost.prior, stage.lost.lean])
    return LostTables(_float32(stage.shares), _float32(prior), np.float32(stage.lost.factor))


def walk_tables(walk: WalkTerm) -> WalkTables:
    """Make the tables of a walk; rules with equal weights have one line."""
    values, lines = np.unique(_float32(walk.values), axis=0, return_inverse=True)
    first_child = walk.child.astype(np.int64)
    leaves = np.flatnonzero(walk.split < 0)
    first_child[leaves] = lines.ravel()[first_child[leaves]]
    sizes = [axis.size for axis in walk.axes]
    return WalkTables(
        inputs=walk.axes,
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        peaks=_float32(np.concatenate([axis.peaks for axis in walk.axes])),
        mean_masses=_float32(np.concatenate([axis.missing for axis in walk.axes])),
        split=walk.split.astype(np.int64),
        first_child=first_child,
        values=values,
        rules=walk.rules,
        depth=walk.depth,
    )


def preference_of(layout: Layout) -> Float32 | None:
    """Return the effect of thresholds: added to scores, or factors of probabilities."""
    thresholds = layout.program.thresholds
    if thresholds is None:
        return None
    is_weighed = layout.stages[-1].is_weighed
    return _float32(-np.log(thresholds) if is_weighed else thresholds.min() / thresholds)


def _check_words(feature: Feature) -> None:
    """Refuse words that single precision cannot distinguish, or cannot hold."""
    peaks = np.array(feature.peaks)
    closest = float(np.diff(peaks / 2).min(initial=np.inf)) * 2
    if feature.is_coded or (np.abs(peaks).max() <= MOST_NUMBER and closest >= LEAST_GAP):
        return
    raise ParameterError(
        f"{feature.name!r} has words from {peaks[0]:.3g} to {peaks[-1]:.3g}, {closest:.3g} apart "
        f"at the least: single precision computes with numbers up to {MOST_NUMBER:g} that "
        f"are {LEAST_GAP:g} apart. Measure it in another unit, or export with numbers='q15'."
    )


def _check_size(stage: StageLayout) -> None:
    """Refuse a stage that would add up to more than single precision holds."""
    scores = (stage.start, *(term.values for term in stage.terms))
    largest = max(float(np.abs(values).max()) for values in scores)
    if not largest <= MOST_NUMBER:
        raise ParameterError(
            f"{stage.name!r} adds up numbers as large as {largest:.3g}: single precision takes "
            f"{MOST_NUMBER:g} at the most. Scale its weights, bias or target down."
        )


def _parted(knots: Float32) -> Float32:
    """Part knots that became one, so that scores still step from one to the other."""
    parted = knots.copy()
    for k in range(1, len(knots)):
        parted[k] = max(parted[k], np.nextafter(parted[k - 1], np.float32(np.inf)))
    return parted


def _length(parts: Iterable[Float]) -> int:
    return sum(len(part) for part in parts)


def _flat(parts: list[Float]) -> Float32:
    return _float32(np.concatenate(parts)) if parts else np.empty(0, dtype=np.float32)


def _float32(values: Float) -> Float32:
    with np.errstate(over="ignore"):
        numbers = np.asarray(values, dtype=np.float32)
    if not np.isfinite(numbers).all():
        raise ParameterError(
            f"single precision does not hold {np.abs(values).max():.3g}; measure in another unit, "
            "or export with numbers='q15'"
        )
    return numbers
