"""What a device has to compute in, the tables of integers that its runtime reads out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solah.export.places import CurveRow, StageParts, StateRow, tree_depth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.export.lowering import Curve, Lowered, LoweredTree, Stage, StateTable, TreeInput
    from solah.kernels.arrays import Float, Int32

Integers = NDArray[np.int64]

UNKNOWN = -(2**31)
ONE = 1 << 15
BELIEF_BITS = 14
_MOST_BITS = 24
_LARGEST = 32767
_MOST_SHIFT = 24
# What rules have learnt is finer than what they say; it stays within 32 nats.
LEARNT_BITS, MOST_LEARNT = 24, 1 << 29
# Evidence that is learnt has room up to this, in nats.
_LEAST_REACH = 8.0
# Knots that are so much farther from nothing than from each other get a zero of their own.
_FAR = 4.0


@dataclass(frozen=True)
class Unit:
    """How a reading becomes an integer: times two to the power of ``bits``, rounded.

    Attributes
    ----------
    bits : the power of two; below 0 for large readings
    zero : what is taken off the integer, so that knots fit into 16 bits
    is_code : whether the reading is the place of a state, which is taken as it is
    """

    bits: int
    zero: int = 0
    is_code: bool = False

    @property
    def step(self) -> float:
        """What one unit is worth."""
        return 1.0 if self.is_code else 2.0**-self.bits

    def quantise(self, values: Float) -> Integers:
        """Turn readings into integers, from nothing on; unknown ones into UNKNOWN."""
        known = ~np.isnan(values)
        scaled = np.floor(np.where(known, values, 0.0) * 2.0**self.bits + 0.5)
        limited = np.clip(scaled, -(2**31) + 1, 2**31 - 1)
        if self.is_code:
            is_code = known & (values == np.floor(values)) & (np.abs(values) < 2**31)
            limited = np.where(is_code, values, UNKNOWN)
        return np.where(known, limited, UNKNOWN).astype(np.int64)

    def relative(self, values: Float) -> Integers:
        """Turn knots into integers from the zero on."""
        return self.quantise(values) - self.zero


@dataclass(frozen=True, eq=False)
class FixedWalk:
    """The tables of one tree in integers; see ``solah_walk`` in ``solah_fixed.h``."""

    name: str
    inputs: tuple[TreeInput, ...]
    offsets: Integers
    peaks: Integers
    inverses: Integers
    shifts: Integers
    ignorance: Integers
    split: Integers
    first_child: Integers
    values: Integers
    rules: Int32
    depth: int
    first_rule: int = 0
    value_bits: int = 0


@dataclass(frozen=True, eq=False)
class FixedStage:
    """A line of the table of stages."""

    name: str
    is_weighed: bool
    value_bits: int
    start: Integers
    parts: StageParts


@dataclass(frozen=True, eq=False)
class FixedTables:
    """All tables of a model in integers.

    Attributes
    ----------
    lowered : what they were made of
    units : how each reading becomes an integer
    knots, values, curves, states, walks, stages : as the runtime reads them
    preference : (n_classes,) what the decision adds to evidence or multiplies beliefs by; or None
    warnings : what does not fit well into integers, for people
    learnt : (n_rules, n_values) what rules say to begin with, in the unit 2^-LEARNT_BITS, if the
        device learns: a line a branch of each tree, from ``first_rule`` on
    """

    lowered: Lowered
    units: tuple[Unit, ...]
    knots: Integers
    values: Integers
    curves: tuple[CurveRow, ...]
    states: tuple[StateRow, ...]
    walks: tuple[FixedWalk, ...]
    stages: tuple[FixedStage, ...]
    preference: Integers | None
    warnings: tuple[str, ...]
    learnt: Integers | None = None

    @property
    def zeros(self) -> list[int] | None:
        """The zeros of all readings; None where there are none."""
        zeros = [unit.zero for unit in self.units]
        return zeros if any(zeros) else None


def fixed_tables(lowered: Lowered, *, learns: bool = False) -> FixedTables:
    """Lay out a model in tables of integers.

    Parameters
    ----------
    lowered : Lowered
    learns : bool, default=False
        Whether the device learns; then there must be trees only.
    """
    return _Layout(lowered, learns).tables()


def values_of(learnt: Integers, value_bits: int) -> Integers:
    """Return what rules say of what they learnt, as ``solah_said`` does."""
    finer = LEARNT_BITS - value_bits
    said = np.where(learnt < 0, -(-learnt >> finer), learnt >> finer)
    return np.clip(said, -_LARGEST, _LARGEST)


def choose_unit(places: Float) -> Unit:
    """Choose the unit of a reading with knots at these places.

    Examples
    --------
    >>> import numpy as np
    >>> choose_unit(np.array([11.0, 14.8]))
    Unit(bits=11, zero=0, is_code=False)
    >>> choose_unit(np.array([1013.2, 1013.9])).zero != 0
    True
    """
    low, high = float(places.min()), float(places.max())
    farthest, span = max(abs(low), abs(high), 1e-30), max(high - low, 1e-30)
    if farthest <= _FAR * span:
        return Unit(_bits(farthest))
    bits = min(_bits(span / 2), _bits(farthest) + 15)
    middle = int(np.floor((low + high) / 2 * 2.0**bits + 0.5))
    return Unit(bits, middle)


def _bits(largest: float) -> int:
    """Return the largest power of two that keeps a number within 16 bits."""
    return int(np.floor(np.log2(_LARGEST / largest)))


class _Layout:
    def __init__(self, lowered: Lowered, learns: bool) -> None:
        self._lowered, self._learns = lowered, learns
        self._units = tuple(self._unit(place) for place in range(len(lowered.attributes)))
        self._knots: list[int] = []
        self._values: list[int] = []
        self._curves: list[CurveRow] = []
        self._states: list[StateRow] = []
        self._walks: list[FixedWalk] = []
        self._learnt: list[Integers] = []

    def tables(self) -> FixedTables:
        stages = tuple(self._stage(stage) for stage in self._lowered.stages)
        return FixedTables(
            lowered=self._lowered,
            units=self._units,
            knots=np.array(self._knots, dtype=np.int64),
            values=np.array(self._values, dtype=np.int64),
            curves=tuple(self._curves),
            states=tuple(self._states),
            walks=tuple(self._walks),
            stages=stages,
            preference=self._preference(stages[-1]),
            warnings=tuple(self._warnings()),
            learnt=np.concatenate(self._learnt) if self._learns else None,
        )

    def _unit(self, place: int) -> Unit:
        attribute = self._lowered.attributes[place]
        if attribute.is_coded:
            return Unit(0, is_code=True)
        return choose_unit(np.array(attribute.peaks))

    def _stage(self, stage: Stage) -> FixedStage:
        bits = self._value_bits(stage)
        n_before = len(self._curves), len(self._states), len(self._walks)
        for curve in stage.curves:
            self._add_curve(curve, bits)
        for table in stage.tables:
            self._add_states(table, bits)
        self._walks += [self._walk(tree, bits) for tree in stage.trees]
        parts = StageParts.behind(stage, *n_before)
        return FixedStage(stage.name, stage.is_weighed, bits, _scaled(stage.start, bits), parts)

    def _value_bits(self, stage: Stage) -> int:
        """Choose the unit of what is said: the finest in which all of it has 16 bits."""
        if not stage.is_weighed and not self._lowered.is_number:
            return BELIEF_BITS
        said = [
            *(curve.values for curve in stage.curves),
            *(table.values for table in stage.tables),
            *(tree.values for tree in stage.trees),
        ]
        largest = max((float(np.abs(values).max()) for values in said), default=1.0)
        if self._learns:  # what is learnt may be larger
            largest = max(2 * largest, _LEAST_REACH)
        return min(_bits(max(largest, 1e-6)), _MOST_BITS)

    def _add_curve(self, curve: Curve, bits: int) -> None:
        knots = self._units[curve.attribute].relative(curve.knots)
        values = _scaled(curve.values, bits)
        kept = np.concatenate([[True], np.diff(knots) > 0])  # knots that became one
        knots, values, rules = knots[kept], values[kept], curve.rules[kept]
        if len(knots) == 1:
            knots, values = np.append(knots, knots[0] + 1), np.repeat(values, 2, axis=0)
            rules = np.repeat(rules, 2)
        places = len(self._knots), len(self._values)
        row = CurveRow(curve.attribute, len(knots), *places, tuple(rules.tolist()))
        self._curves.append(row)
        self._knots += knots.tolist()
        for k in range(len(knots) - 1):
            shift, slopes = _slopes(values[k + 1] - values[k], int(knots[k + 1] - knots[k]))
            self._values += [shift, *values[k].tolist(), *slopes]
        self._values += _scaled(curve.unknown, bits).tolist()

    def _add_states(self, table: StateTable, bits: int) -> None:
        rules = tuple(table.rules.tolist())
        row = StateRow(table.attribute, len(table.values), len(self._values), rules)
        self._states.append(row)
        lines = np.vstack([table.values, table.unknown])
        self._values += _scaled(lines, bits).ravel().tolist()

    def _walk(self, tree: LoweredTree, bits: int) -> FixedWalk:
        leaves = np.flatnonzero(tree.split < 0)
        first_rule = sum(map(len, self._learnt))
        values, numbers = self._leaves(tree, leaves, bits)
        first_child = tree.first_child.astype(np.int64)
        first_child[leaves] = numbers
        peaks = [self._peaks(one) for one in tree.inputs]
        inverses = [_inverses(of_input) for of_input in peaks]
        return FixedWalk(
            name=tree.name,
            inputs=tree.inputs,
            offsets=np.concatenate([[0], np.cumsum([len(one) for one in peaks])]),
            peaks=np.concatenate(peaks),
            inverses=np.array([inverse for one in inverses for inverse, _ in one], dtype=np.int64),
            shifts=np.array([shift for one in inverses for _, shift in one], dtype=np.int64),
            ignorance=np.concatenate([_shares(np.array(one.ignorance)) for one in tree.inputs]),
            split=tree.split.astype(np.int64),
            first_child=first_child,
            values=values,
            rules=tree.rules,
            depth=tree_depth(tree),
            first_rule=first_rule,
            value_bits=bits,
        )

    def _leaves(
        self, tree: LoweredTree, leaves: NDArray[np.intp], bits: int
    ) -> tuple[Integers, Integers]:
        """Return what the leaves of a tree say, line by line, and the line of each leaf."""
        if not self._learns:
            scaled = _scaled(tree.values[leaves], bits)
            values, numbers = np.unique(scaled, axis=0, return_inverse=True)
            return values, numbers.ravel()
        numbers = tree.rules[leaves] - tree.rules[leaves].min()
        _, firsts = np.unique(numbers, return_index=True)
        learnt = _scaled(tree.values[leaves][firsts], LEARNT_BITS, MOST_LEARNT)
        self._learnt.append(learnt)
        return values_of(learnt, bits), numbers

    def _peaks(self, one: TreeInput) -> Integers:
        places = np.array(one.peaks)
        if one.attribute is not None:
            return _parted(self._units[one.attribute].relative(places))
        if one.place is None:  # the masses are given, and peaks only count them
            return np.arange(len(places))
        return _parted(_scaled(places, BELIEF_BITS))

    def _preference(self, last: FixedStage) -> Integers | None:
        thresholds = np.array(self._lowered.goal.thresholds)
        if not len(thresholds):
            return None
        if last.is_weighed:
            return _scaled(-np.log(thresholds), last.value_bits, largest=2**30)
        inverse = 1.0 / thresholds
        return _scaled(inverse / inverse.max() * _LARGEST, 0)

    def _warnings(self) -> Iterator[str]:
        for attribute, unit in zip(self._lowered.attributes, self._units, strict=True):
            if unit.is_code:
                continue
            closest = np.diff(np.array(attribute.peaks)).min(initial=np.inf)
            if closest < 16 * unit.step:
                yield (
                    f"{attribute.name!r} is read in steps of {unit.step:g}, and its words change "
                    f"within {closest:.3g}: decisions near them are coarse"
                )


def _scaled(values: Float, bits: int, largest: int = _LARGEST) -> Integers:
    whole = np.floor(np.asarray(values) * 2.0**bits + 0.5)
    return np.clip(whole, -largest, largest).astype(np.int64)


def _slopes(rises: Integers, way: int) -> tuple[int, list[int]]:
    """Write slopes with 16 bits and a shift that they share."""
    steepest = int(np.abs(rises).max())
    shift = 0
    while shift < _MOST_SHIFT and (steepest << (shift + 1)) <= _LARGEST * way:
        shift += 1
    return shift, [_rounded((int(rise) << shift), way) for rise in rises]


def _rounded(number: int, by: int) -> int:
    """Divide, to the nearest integer."""
    sign = -1 if number < 0 else 1
    return sign * ((2 * abs(number) + by) // (2 * by))


def _parted(peaks: Integers) -> Integers:
    """Part peaks that became one, so that each focal set keeps its place."""
    places = np.arange(len(peaks))
    return np.asarray(np.maximum.accumulate(peaks - places) + places)


def _inverses(peaks: Integers) -> list[tuple[int, int]]:
    """Write what a step towards the next peak is worth, with 16 bits and a shift each."""
    found = []
    for way in np.diff(peaks).tolist():
        shift = 0
        while shift < 16 and (ONE << (shift + 1)) // way <= 65535:
            shift += 1
        found.append((min((ONE << shift) // way, 65535), shift))
    return [*found, (0, 0)]


def _shares(masses: Float) -> Integers:
    """Write masses as integers that sum to one; the largest takes what rounding leaves."""
    shares = np.floor(masses * ONE + 0.5).astype(np.int64)
    shares[np.argmax(shares)] += ONE - shares.sum()
    return shares
