"""Makes the tables of integers that the fixed-point runtime reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, shorten
from solah.export.tables import LostTables, TableBuilder
from solah.export.units import REACH, Counts, Integers, Unit, choose_unit, largest_bits
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.export.layout import Curve, Layout, Lost, StageLayout, WalkTerm
    from solah.export.tables import StageTables, Tables, WalkTables
    from solah.kernels.arrays import Float
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


def fixed_tables(
    layout: Layout, *, learns: bool = False, counts: Mapping[str, Counts] | None = None
) -> Tables:
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
    builder = _FixedBuilder(layout, learns, counts or {})
    return replace(
        builder.tables(),
        units=builder.units,
        warnings=tuple(builder.warnings()),
        learned=np.concatenate(builder.learned) if learns else None,
    )


def values_of(learned: Integers, value_bits: int) -> Integers:
    """Return the scores of rules from what they learned, as ``solah_leaf_score`` does."""
    finer = LEARNT_BITS - value_bits
    scores = np.where(learned < 0, -(-learned >> finer), learned >> finer)
    return np.minimum(np.maximum(scores, -_LARGEST), _LARGEST)


class _FixedBuilder(TableBuilder):
    def __init__(self, layout: Layout, learns: bool, counts: Mapping[str, Counts]) -> None:
        super().__init__(layout)
        measured = [one.name for one in layout.features if not one.is_coded]
        for name in counts:
            if name not in measured:
                raise ParameterError(f"{name!r} is not a measured feature of the model")
        self._learns, self._counts = learns, counts
        self.units = tuple(self._unit(place) for place in range(len(layout.features)))
        # A constant has no rules, and learns nothing.
        self.learned: list[Integers] = [np.empty((0, len(layout.stages[-1].start)), np.int64)]

    def _unit(self, place: int) -> Unit:
        feature = self._layout.features[place]
        if feature.is_coded:
            return Unit(0, is_code=True)
        if feature.name in self._counts:
            counts = self._counts[feature.name]
            first, last = counts.unit.quantise(np.array([feature.peaks[0], feature.peaks[-1]]))
            if last < 0 or first >= 2**counts.bits:
                raise self._unreached(place)
            return counts.unit
        return choose_unit(np.array(feature.peaks), np.array(feature.mean_masses))

    def _unreached(self, place: int) -> ParameterError:
        feature = self._layout.features[place]
        counts = self._counts[feature.name]
        highest = counts.offset + counts.gain * (2**counts.bits - 1)
        return ParameterError(
            f"the counts of {shorten(feature.name)} reach {counts.offset:.6g} to {highest:.6g}, "
            f"and its words lie from {feature.peaks[0]:.6g} to {feature.peaks[-1]:.6g}; "
            "check the gain and the offset (--adc)"
        )

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

    def _array(self, numbers: Any) -> Integers:
        return np.array(numbers, dtype=np.int64)

    def _scores(self, values: Float) -> Integers:
        return _scaled(values, self.bits)

    def _sums(self, values: Float) -> Integers:
        return _scaled(values, self.bits, MOST_TOTAL)

    def _write_curve(self, curve: Curve) -> NDArray[np.int32]:
        unit = self.units[curve.feature]
        reached = unit.reaches(curve.knots)  # beyond the last knot that is, the curve is level
        if not reached.any():
            raise self._unreached(curve.feature)
        values, rules = self._scores(curve.values[reached]), curve.rules[reached]
        # Two units apart, so that the steepest slope has 16 bits.
        knots = _parted(unit.relative(curve.knots[reached]), 2)
        if len(knots) == 1:
            beside = knots[0] + (1 if knots[0] < REACH else -1)
            knots, values = np.sort([knots[0], beside]), np.repeat(values, 2, axis=0)
            rules = np.repeat(rules, 2)
        self._knots += knots.tolist()
        for k in range(len(knots) - 1):
            shift, slopes = _slopes(values[k + 1] - values[k], int(knots[k + 1] - knots[k]))
            self._values += [shift, *values[k].tolist(), *slopes]
        self._put(curve.unknown)
        return rules

    def _write_side(self, axis: Axis) -> None:
        peaks = self._peaks(axis)
        self._knots += peaks.tolist()
        for slope, shift in _inverses(peaks, _LARGEST)[:-1]:
            self._values += [shift, slope]

    def _described(self, axes: Sequence[Axis]) -> dict[str, Any]:
        peaks = [self._peaks(axis) for axis in axes]
        slopes = np.array([slope for one in peaks for slope in _inverses(one)], dtype=np.int64)
        inverses, shifts = slopes.reshape(-1, 2).T
        mean_masses = np.concatenate([_shares(axis.missing) for axis in axes])
        found = {"peaks": np.concatenate(peaks), "mean_masses": mean_masses}
        return {**found, "inverses": inverses, "shifts": shifts}

    def _walk(self, walk: WalkTerm) -> WalkTables:
        first_rule = sum(map(len, self.learned))
        return replace(super()._walk(walk), first_rule=first_rule)

    def _leaves(self, walk: WalkTerm) -> tuple[Integers, NDArray[np.intp]]:
        if not self._learns:
            return super()._leaves(walk)
        learned = _scaled(walk.values, LEARNT_BITS, MOST_LEARNT)  # a line for each rule
        self.learned.append(learned)
        return values_of(learned, self.bits), np.arange(len(learned))

    def _peaks(self, axis: Axis) -> Integers:
        if axis.is_read:
            relative = self.units[axis.source].relative(axis.peaks)
            return _parted(np.clip(relative, -REACH - 1, REACH + 1))
        if axis.kind is AxisKind.ALL_BELIEFS:  # the masses are given, and peaks only count them
            return np.arange(axis.size)
        return _parted(_scaled(axis.peaks, BELIEF_BITS))

    def _lost(self, lost: Lost, shares: Float) -> LostTables:
        whole = np.floor(shares * ONE + 0.5).astype(np.int64)
        is_all = np.isclose(shares.sum(), 1.0)  # then nothing is known without any of the parts
        whole[np.argmax(whole)] += (ONE if is_all else min(whole.sum(), ONE)) - whole.sum()
        shift = 0
        while shift < _MOST_SHIFT and lost.factor * 2.0 ** (shift - 2) < _MOST_FACTOR:
            shift += 1
        factor = min(round(lost.factor * 2.0 ** (shift - 3)), _MOST_FACTOR)
        prior = self._sums(np.concatenate([lost.prior, lost.lean]))
        return LostTables(whole, prior, factor, shift)

    def _preference(self, last: StageTables) -> Integers | None:
        thresholds = self._layout.program.thresholds
        if thresholds is None:
            return None
        if last.is_weighed:
            return _scaled(-np.log(thresholds), last.value_bits, MOST_TOTAL)
        inverse = 1.0 / thresholds
        return _scaled(inverse / inverse.max() * _LARGEST, 0)

    def warnings(self) -> Iterator[str]:
        for feature, unit in zip(self._layout.features, self.units, strict=True):
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
