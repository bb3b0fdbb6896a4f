"""The tables of integers that the fixed-point runtime reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.exceptions import ParameterError
from solah.export.layout import CurveRow, GridRow, SideRow, StageParts, StateRow
from solah.export.units import REACH, Counts, Integers, Unit, choose_unit, largest_bits
from solah.model.monotone import signs_of
from solah.model.program import AxisKind, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from solah.export.layout import Curve, GridTerm, Layout, StageLayout, StateTable, WalkTerm
    from solah.kernels.arrays import Float, Int32
    from solah.model.document import Model
    from solah.model.program import Axis


ONE = 1 << 15
BELIEF_BITS = 14
_LARGEST = 32767
_MOST_SHIFT = 24
_MOST_FACTOR = 65535
# The units that a stage may have: the least and the most bits.
_BITS_OF_EVIDENCE, _BITS_OF_NUMBERS = (0, 24), (-100, 100)
# The largest score of a part of a stage, and the largest sum of all of them, with a start.
_MOST_SCORE, MOST_TOTAL = 1 << 16, 1 << 29
# What rules have learned is finer than their scores; it stays within 32 nats.
LEARNT_BITS, MOST_LEARNT = 24, 1 << 29
# Learned weights have room up to this, in nats.
_LEAST_REACH = 8.0


@dataclass(frozen=True, eq=False)
class FixedWalk:
    """The tables of one tree in integers; see ``solah_walk`` in ``solah_fixed.h``."""

    name: str
    inputs: tuple[Axis, ...]
    offsets: Integers
    peaks: Integers
    inverses: Integers
    shifts: Integers
    mean_masses: Integers
    split: Integers
    first_child: Integers
    values: Integers
    rules: Int32
    depth: int
    first_rule: int = 0
    value_bits: int = 0


@dataclass(frozen=True, eq=False)
class FixedLost:
    """The scores of a stage without missing parts; see :class:`layout.Lost`.

    Attributes
    ----------
    shares : (n_parts,) the share of each part, in the unit 2^-15
    prior : (2 * n_values,) the logarithms of the overall shares, and the baseline less these
    factor, shift : of the squares of shares: in the unit 2^-15 they become variances in the unit
        2^-12, times pi / 8
    """

    shares: Integers
    prior: Integers
    factor: int
    shift: int


@dataclass(frozen=True, eq=False)
class FixedStage:
    """A line of the table of stages."""

    name: str
    is_weighed: bool
    value_bits: int
    start: Integers
    parts: StageParts
    lost: FixedLost | None = None


@dataclass(frozen=True, eq=False)
class FixedTables:
    """All tables of a model in integers.

    Attributes
    ----------
    layout : the layout of the model's program
    units : how each reading becomes an integer
    knots, values, cells, curves, states, grids, walks, stages : as the runtime reads them
    preference : (n_classes,) added to scores, or factors of probabilities; or None
    warnings : what does not fit well into integers, for people
    learned : (n_rules, n_values) the first scores of rules, in the unit 2^-LEARNT_BITS, if the
        device learns: a line per branch of each tree, from ``first_rule`` on
    bounds : what the scores of rules keep while they learn
    """

    layout: Layout
    units: tuple[Unit, ...]
    knots: Integers
    values: Integers
    cells: Integers
    curves: tuple[CurveRow, ...]
    states: tuple[StateRow, ...]
    grids: tuple[GridRow, ...]
    walks: tuple[FixedWalk, ...]
    stages: tuple[FixedStage, ...]
    preference: Integers | None
    warnings: tuple[str, ...]
    learned: Integers | None = None
    bounds: tuple[Bound, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether missing values also change the scores of other parts."""
        return any(stage.lost is not None for stage in self.stages)

    @property
    def zeros(self) -> list[int] | None:
        """The zeros of all readings; None where there are none."""
        zeros = [unit.zero for unit in self.units]
        return zeros if any(zeros) else None


def fixed_tables(
    layout: Layout, *, learns: bool = False, counts: Mapping[str, Counts] | None = None
) -> FixedTables:
    """Make the tables of a layout in integers.

    Parameters
    ----------
    layout : Layout
    learns : bool, default=False
        Whether the device learns; then all terms must be walks.
    counts : mapping of feature name to Counts, default=None
        The features whose readings are counts of an analog-digital converter.

    Raises
    ------
    ParameterError
        If the model predicts e to the power of a sum.
    """
    if layout.takes_exp:
        raise ParameterError(
            "the model predicts e to the power of a sum (loss='poisson' or 'gamma'), which "
            "integers do not compute; export it as C with numbers='float' (--arithmetic float), "
            "or as JavaScript, SQL or ONNX"
        )
    return _Tables(layout, learns, counts or {}).tables()


def values_of(learned: Integers, value_bits: int) -> Integers:
    """Return the scores of rules from what they learned, as ``solah_leaf_score`` does."""
    finer = LEARNT_BITS - value_bits
    scores = np.where(learned < 0, -(-learned >> finer), learned >> finer)
    return np.minimum(np.maximum(scores, -_LARGEST), _LARGEST)


class _Tables:
    def __init__(self, layout: Layout, learns: bool, counts: Mapping[str, Counts]) -> None:
        measured = [one.name for one in layout.features if not one.is_coded]
        for name in counts:
            if name not in measured:
                raise ParameterError(f"{name!r} is not a measured feature of the model")
        self._layout, self._learns, self._counts = layout, learns, counts
        self._units = tuple(self._unit(place) for place in range(len(layout.features)))
        self._knots: list[int] = []
        self._values: list[int] = []
        self._curves: list[CurveRow] = []
        self._cells: list[int] = []
        self._states: list[StateRow] = []
        self._grids: list[GridRow] = []
        self._sides: dict[int, SideRow] = {}
        self._walks: list[FixedWalk] = []
        # A constant has no rules, and learns nothing.
        n_values = len(layout.stages[-1].start)
        self._learned: list[Integers] = [np.empty((0, n_values), dtype=np.int64)]

    def tables(self) -> FixedTables:
        stages = tuple(self._stage(stage) for stage in self._layout.stages)
        return FixedTables(
            layout=self._layout,
            units=self._units,
            knots=np.array(self._knots, dtype=np.int64),
            values=np.array(self._values, dtype=np.int64),
            cells=np.array(self._cells, dtype=np.int64),
            curves=tuple(self._curves),
            states=tuple(self._states),
            grids=tuple(self._grids),
            walks=tuple(self._walks),
            stages=stages,
            preference=self._preference(stages[-1]),
            warnings=tuple(self._warnings()),
            learned=np.concatenate(self._learned) if self._learns else None,
        )

    def _unit(self, place: int) -> Unit:
        feature = self._layout.features[place]
        if feature.is_coded:
            return Unit(0, is_code=True)
        if feature.name in self._counts:
            return self._counts[feature.name].unit
        return choose_unit(np.array(feature.peaks), np.array(feature.mean_masses))

    def _stage(self, stage: StageLayout) -> FixedStage:
        bits = self._value_bits(stage)
        n_before = len(self._curves), len(self._states), len(self._grids), len(self._walks)
        for curve in stage.curves:
            self._add_curve(curve, bits)
        for table in stage.tables:
            self._add_states(table, bits)
        for grid in stage.grids:
            self._add_grid(grid, bits)
        self._walks += [self._walk(walk, bits) for walk in stage.walks]
        parts = StageParts.behind(stage, *n_before)
        start = _scaled(stage.start, bits, MOST_TOTAL)
        return FixedStage(stage.name, stage.is_weighed, bits, start, parts, _lost(stage, bits))

    def _value_bits(self, stage: StageLayout) -> int:
        """Choose the unit of scores: the finest in which each has 16 bits, and sums have 30."""
        if not stage.is_weighed and not self._layout.is_number:
            return BELIEF_BITS
        scores = [term.values for term in stage.terms]
        scores += [curve.unknown for curve in stage.curves]
        scores += [table.unknown for table in stage.tables]
        largest = max((float(np.abs(values).max()) for values in scores), default=0.0)
        if self._learns:  # what is learned may be larger
            largest = max(2 * largest, _LEAST_REACH)
        least, most = _BITS_OF_NUMBERS if self._layout.is_number else _BITS_OF_EVIDENCE
        bits = min(largest_bits(max(largest, 1e-30)), most) if largest < 1e300 else least - 1
        while bits > least and not self._adds_up(stage, bits):
            bits -= 1
        if bits < least or not self._adds_up(stage, bits):
            raise ParameterError(
                f"what {stage.name!r} adds up is too large for integers: its largest value is "
                f"{largest:.3g} and it starts with {np.abs(stage.start).max():.3g}; "
                "compute in float32 (--arithmetic float)"
            )
        return bits

    def _adds_up(self, stage: StageLayout, bits: int) -> bool:
        """Whether sums stay within 30 bits and, for e^x, within 32 in the unit 2^-10."""
        outside = float(np.abs(stage.start).max())
        is_evidence = stage.is_weighed and not self._layout.is_number
        if is_evidence:
            thresholds = self._layout.program.thresholds
            outside += 0.0 if thresholds is None else float(np.abs(np.log(thresholds)).max())
        if stage.lost is not None:
            outside += 2 * float(np.abs(stage.lost.prior).max() + np.abs(stage.lost.lean).max())
        room = MOST_TOTAL >> max(10 - bits, 0) if is_evidence else MOST_TOTAL
        return len(stage.terms) * _MOST_SCORE + outside * 2.0**bits < room

    def _add_curve(self, curve: Curve, bits: int) -> None:
        unit = self._units[curve.feature]
        reached = unit.reaches(curve.knots)  # beyond the last knot that is, the curve is level
        values, rules = _scaled(curve.values[reached], bits), curve.rules[reached]
        # Two units apart, so that the steepest slope has 16 bits.
        knots = _parted(unit.relative(curve.knots[reached]), 2)
        if len(knots) == 1:
            beside = knots[0] + (1 if knots[0] < REACH else -1)
            knots, values = np.sort([knots[0], beside]), np.repeat(values, 2, axis=0)
            rules = np.repeat(rules, 2)
        places = len(self._knots), len(self._values)
        row = CurveRow(curve.feature, len(knots), *places, tuple(rules.tolist()))
        self._curves.append(row)
        self._knots += knots.tolist()
        for k in range(len(knots) - 1):
            shift, slopes = _slopes(values[k + 1] - values[k], int(knots[k + 1] - knots[k]))
            self._values += [shift, *values[k].tolist(), *slopes]
        self._values += _scaled(curve.unknown, bits).tolist()

    def _add_states(self, table: StateTable, bits: int) -> None:
        rules = tuple(table.rules.tolist())
        row = StateRow(table.feature, len(table.values), len(self._values), rules)
        self._states.append(row)
        lines = np.vstack([table.values, table.unknown])
        self._values += _scaled(lines, bits).ravel().tolist()

    def _add_grid(self, grid: GridTerm, bits: int) -> None:
        first, second = (self._side(axis) for axis in grid.axes)
        places = len(self._cells), len(self._values)
        self._grids.append(GridRow((first, second), *places, tuple(grid.rules.tolist())))
        self._cells += grid.lines.ravel().tolist()
        self._values += _scaled(grid.values, bits).ravel().tolist()

    def _side(self, axis: Axis) -> SideRow:
        """Return an axis of a grid, which other grids may share."""
        if axis.kind is AxisKind.CATEGORY:
            return SideRow(axis.source, axis.size, is_state=True, knot=0, value=0)
        if id(axis) not in self._sides:
            peaks = self._peaks(axis)
            places = len(self._knots), len(self._values)
            self._sides[id(axis)] = SideRow(axis.source, axis.size, False, *places)
            self._knots += peaks.tolist()
            for slope, shift in _inverses(peaks, _LARGEST)[:-1]:
                self._values += [shift, slope]
        return self._sides[id(axis)]

    def _walk(self, walk: WalkTerm, bits: int) -> FixedWalk:
        leaves = np.flatnonzero(walk.split < 0)
        first_rule = sum(map(len, self._learned))
        values, lines = self._lines(walk, bits)
        first_child = walk.child.astype(np.int64)
        first_child[leaves] = lines[first_child[leaves]]
        peaks = [self._peaks(axis) for axis in walk.axes]
        inverses = [_inverses(of_input) for of_input in peaks]
        return FixedWalk(
            name=walk.name,
            inputs=walk.axes,
            offsets=np.concatenate([[0], np.cumsum([len(one) for one in peaks])]),
            peaks=np.concatenate(peaks),
            inverses=np.array([inverse for one in inverses for inverse, _ in one], dtype=np.int64),
            shifts=np.array([shift for one in inverses for _, shift in one], dtype=np.int64),
            mean_masses=np.concatenate([_shares(axis.missing) for axis in walk.axes]),
            split=walk.split.astype(np.int64),
            first_child=first_child,
            values=values,
            rules=walk.rules,
            depth=walk.depth,
            first_rule=first_rule,
            value_bits=bits,
        )

    def _lines(self, walk: WalkTerm, bits: int) -> tuple[Integers, Integers]:
        """Return lines of scores, and the line of each rule: its own, if it learns."""
        if not self._learns:
            values, lines = np.unique(_scaled(walk.values, bits), axis=0, return_inverse=True)
            return values, lines.ravel()
        learned = _scaled(walk.values, LEARNT_BITS, MOST_LEARNT)
        self._learned.append(learned)
        return values_of(learned, bits), np.arange(len(learned))

    def _peaks(self, axis: Axis) -> Integers:
        if axis.is_read:
            relative = self._units[axis.source].relative(axis.peaks)
            return _parted(np.clip(relative, -REACH - 1, REACH + 1))
        if axis.kind is AxisKind.ALL_BELIEFS:  # the masses are given, and peaks only count them
            return np.arange(axis.size)
        return _parted(_scaled(axis.peaks, BELIEF_BITS))

    def _preference(self, last: FixedStage) -> Integers | None:
        thresholds = self._layout.program.thresholds
        if thresholds is None:
            return None
        if last.is_weighed:
            return _scaled(-np.log(thresholds), last.value_bits, MOST_TOTAL)
        inverse = 1.0 / thresholds
        return _scaled(inverse / inverse.max() * _LARGEST, 0)

    def _warnings(self) -> Iterator[str]:
        for feature, unit in zip(self._layout.features, self._units, strict=True):
            if unit.is_code:
                continue
            peaks, masses = np.array(feature.peaks), np.array(feature.mean_masses)
            reached = unit.reaches(peaks)
            for peak, mass in zip(peaks[~reached], masses[~reached], strict=True):
                yield (
                    f"{feature.name!r} is clipped to {peaks[reached][0]:g} … "
                    f"{peaks[reached][-1]:g}: steps that reach its word at {peak:g}, which has "
                    f"{100 * mass:.2g} % of the training rows, would be too coarse for the others"
                )
            closest = np.diff(peaks[reached]).min(initial=np.inf)
            if closest < 16 * unit.step:
                yield (
                    f"{feature.name!r} is read in steps of {unit.step:g}, and its words change "
                    f"within {closest:.3g}: decisions near them are coarse"
                )
        most = MOST_LEARNT / 2.0**LEARNT_BITS
        walks = (walk for stage in self._layout.stages for walk in stage.walks)
        for walk in walks if self._learns else ():
            if np.abs(walk.values).max() > most:
                yield f"the weights of {walk.name!r} are clipped to {most:g} nats"


def _lost(stage: StageLayout, bits: int) -> FixedLost | None:
    if stage.lost is None:
        return None
    shares = np.floor(stage.shares * ONE + 0.5).astype(np.int64)
    is_all = np.isclose(stage.shares.sum(), 1.0)  # then nothing is known without any of the parts
    shares[np.argmax(shares)] += (ONE if is_all else min(shares.sum(), ONE)) - shares.sum()
    prior = np.concatenate([stage.lost.prior, stage.lost.lean])
    shift = 0
    while shift < _MOST_SHIFT and stage.lost.factor * 2.0 ** (shift - 2) < _MOST_FACTOR:
        shift += 1
    factor = min(round(stage.lost.factor * 2.0 ** (shift - 3)), _MOST_FACTOR)
    return FixedLost(shares, _scaled(prior, bits, MOST_TOTAL), factor, shift)


def _scaled(values: Float, bits: int, largest: int = _LARGEST) -> Integers:
    whole = np.floor(np.asarray(values) * 2.0**bits + 0.5)
    return np.clip(whole, -largest, largest).astype(np.int64)


def _slopes(rises: Integers, way: int) -> tuple[int, list[int]]:
    """Write slopes with 16 bits and a shift that they share."""
    steepest = int(np.abs(rises).max())
    shift = 0
    while shift < _MOST_SHIFT and (steepest << (shift + 1)) <= _LARGEST * way:
        shift += 1
    return shift, [_slope(int(rise), way, shift) for rise in rises]


def _slope(rise: int, way: int, shift: int) -> int:
    """Return the slope of a piece, never so steep that its end lies beyond the next piece."""
    slope = _rounded(rise << shift, way)
    is_beyond = abs((way - 1) * slope) >> shift > abs(rise)
    return slope - (1 if rise > 0 else -1) if is_beyond else slope


def _rounded(number: int, by: int) -> int:
    """Divide, to the nearest integer."""
    sign = -1 if number < 0 else 1
    return sign * ((2 * abs(number) + by) // (2 * by))


def _parted(peaks: Integers, gap: int = 1) -> Integers:
    """Part peaks that became one, so that each focal set keeps its place, within 16 bits."""
    places = gap * np.arange(len(peaks))
    highest = max(int(peaks[-1]), REACH) - places[-1]
    return np.asarray(np.minimum(np.maximum.accumulate(peaks - places), highest) + places)


def _inverses(peaks: Integers, largest: int = 65535) -> list[tuple[int, int]]:
    """Write what a step towards the next peak is worth, up to a number and with a shift each.

    Towards a peak that is never reached it is worth nothing; away from one, everything.
    """
    found = []
    for peak, way in zip(peaks.tolist(), np.diff(peaks).tolist(), strict=False):
        if peak + way > REACH or peak < -REACH:
            found.append((0 if peak + way > REACH else min(ONE, largest), 0))
            continue
        shift = 0
        while shift < 16 and (ONE << (shift + 1)) // way <= largest:
            shift += 1
        found.append((min((ONE << shift) // way, largest), shift))
    return [*found, (0, 0)]


def _shares(masses: Float) -> Integers:
    """Write masses as integers that sum to one; the largest takes what rounding leaves."""
    shares = np.floor(masses * ONE + 0.5).astype(np.int64)
    shares[np.argmax(shares)] += ONE - shares.sum()
    if (shares == ONE // 2).any():  # halves would be rounded up twice
        first, second = np.argsort(-shares, kind="stable")[:2]
        shares[first] += 1
        shares[second] -= 1
    return shares


# --- what rules keep while they learn ------------------------------------------------------------


class Bound(NamedTuple):
    """An inequality: the higher rule is no less than the lower one.

    Attributes
    ----------
    lower, higher : the rules, by their lines
    more, less : the two classes; the difference of their scores is compared
    """

    lower: int
    higher: int
    more: int
    less: int

    def gaps(self, learned: Integers) -> tuple[int, int]:
        """Return what is compared, of the lower rule and of the higher one."""
        lower, higher = (
            _of(learned[rule], self.more) - _of(learned[rule], self.less)
            for rule in (self.lower, self.higher)
        )
        return lower, higher


def _of(line: Integers, state: int) -> int:
    """Return the score of a class against the first."""
    return int(line[state - 1]) if state else 0


def learned_bounds(model: Model, tables: FixedTables) -> tuple[Bound, ...]:
    """List what the rules of a model keep while they learn."""
    program = model.program
    walks = {walk.name: walk for walk in tables.walks}
    terms = [term for stage in program.stages for term in stage.terms]
    found: dict[Bound, None] = {}
    for promise in model.monotonic:
        feature = program.features.index(promise.feature)
        signs = signs_of([promise], model.target.size)
        classes = list(
            zip(signs.argmax(axis=1).tolist(), signs.argmin(axis=1).tolist(), strict=True)
        )
        for term in terms:
            axes = [program.axes[axis] for axis in term.axes]
            sides = [j for j, axis in enumerate(axes) if axis.is_read and axis.source == feature]
            if not sides or not isinstance(term.cells, Grid):
                continue
            lines = walks[term.name].first_rule + np.moveaxis(term.cells.rules, sides[0], 0)
            steps = np.stack([lines[:-1].ravel(), lines[1:].ravel()], axis=1)
            for more, less in classes:
                for lower, higher in steps[steps[:, 0] != steps[:, 1]].tolist():
                    found[Bound(lower, higher, more, less)] = None
    return tuple(found)
