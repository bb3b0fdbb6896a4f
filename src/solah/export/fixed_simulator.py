"""Decide as the fixed-point runtime does: the same steps, the same integers.

The simulator of ``export/c_runtime/solah_fixed.h``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.export.fixed_tables import BELIEF_BITS, ONE
from solah.export.simulator import Simulator
from solah.export.units import REACH, UNKNOWN
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.export.policy_tables import PolicyTables
    from solah.export.tables import CurveRow, LostTables, SideRow, StageTables, Tables, WalkTables
    from solah.export.units import Integers
    from solah.model.program import Axis

_EXP = (22670, 7600, 1316)
_LOG2_E = 23637


class FixedSimulator(Simulator):
    """Decides as the integer runtime does.

    Parameters
    ----------
    tables : what the device has in its flash
    policy : when it decides; None if it always does
    """

    belief_unit = 1 / ONE
    belief_type = np.uint16
    whole = np.int64(ONE)
    _one = np.int64(1 << BELIEF_BITS)

    def __init__(self, tables: Tables, policy: PolicyTables | None = None) -> None:
        super().__init__(tables, policy)
        self.unit = 2.0 ** -tables.stages[-1].value_bits
        self._values, self.units = tables.values, tables.units

    def prepare(self, rows: NDArray[np.floating]) -> NDArray[np.int32]:
        """Turn rows of readings into the integers that a device reads."""
        columns = [unit.quantise(column) for unit, column in zip(self.units, rows.T, strict=True)]
        return np.column_stack(columns).astype(np.int32)

    def clipped(self, rows: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Find the readings that stop short of a word, which they would reach in finer numbers."""
        columns = zip(self.units, self.features, rows.T, strict=True)
        return np.column_stack(
            [unit.clips(column, np.array(one.peaks)) for unit, one, column in columns]
        )

    def smooth(
        self, scores: Integers, mean: tuple[Integers, Integers] | None, bits: int
    ) -> tuple[Integers, tuple[Integers, Integers] | None]:
        """Average scores, as ``solah_average`` does: what a division leaves waits for the next."""
        smoothed = scores.copy()
        for row in smoothed:
            if mean is None:
                rest = np.full_like(row, (1 << bits) >> 1)
            else:
                way = row - mean[0] + mean[1]
                row[:], rest = mean[0] + (way >> bits), way & ((1 << bits) - 1)
            mean = row, rest
        return smoothed, mean

    def _read(self, rows: NDArray[np.floating]) -> Integers:
        return self.prepare(rows).astype(np.int64)

    def are_known(self, x: Integers) -> NDArray[np.bool_]:
        """Find the readings that are known."""
        return np.not_equal(x, UNKNOWN)

    def _state(self, x: Integers, n_states: int) -> Integers:
        return np.where((x >= 0) & (x < n_states), x, n_states)

    def _of_curve(self, curve: CurveRow, x: Integers) -> Integers:
        n_pieces, width = curve.n_knots - 1, 2 * self._n_values + 1
        end = curve.value + n_pieces * width
        pieces = self._values[curve.value : end].reshape(n_pieces, width)
        piece, way, _ = self._find(curve, x)
        left, slopes = pieces[piece, 1 : 1 + self._n_values], pieces[piece, 1 + self._n_values :]
        scores = left + shift(way[:, None] * slopes, pieces[piece, :1])
        unknown = self._values[end : end + self._n_values]
        return np.where(self.are_known(x)[:, None], scores, unknown)

    def _relative(self, feature: int, x: Integers) -> Integers:
        return np.clip(x - self.units[feature].zero, -REACH, REACH)

    def _masses(self, walk: WalkTables, a: int, x: Integers, beliefs: list[Integers]) -> Integers:
        axis = walk.inputs[a]
        if axis.kind is AxisKind.ALL_BELIEFS:
            return beliefs[axis.source]
        sets = slice(int(walk.offsets[a]), int(walk.offsets[a + 1]))
        return _describe(walk, sets, self._reading(axis, x, beliefs))

    def _reading(self, axis: Axis, x: Integers, beliefs: list[Integers]) -> Integers:
        if not axis.is_read:
            return beliefs[axis.source][:, axis.output] >> (15 - BELIEF_BITS)
        reading = x[:, axis.source]
        if axis.kind is AxisKind.CATEGORY:
            return np.where((reading >= 0) & (reading < axis.size), reading, UNKNOWN)
        return np.where(reading == UNKNOWN, UNKNOWN, self._relative(axis.source, reading))

    def _upper(self, side: SideRow, pieces: Integers, way: Integers) -> Integers:
        places = side.value + 2 * pieces
        upper = way * self._values[places + 1] >> self._values[places] | 1
        return np.asarray(np.minimum(upper, ONE))

    def _times(self, weight: Integers, mass: Integers) -> Integers:
        return (weight * mass + 16384) >> 15

    def _part(self, weight: Integers, values: Integers) -> Integers:
        return self._rounded(weight * values)

    def _rounded(self, total: Integers) -> Integers:
        return shift(total, np.int64(15))

    def _scaled(self, numbers: Integers, shares: Integers) -> Integers:
        return shift(numbers * shares, np.int64(15))

    def _damping(self, lost: LostTables, squares: Integers) -> Integers:
        return _inverse_root(4096 + ((squares * lost.factor >> 15) >> lost.shift))

    def _share(self, stage: StageTables, total: Integers) -> Integers:
        """Turn scores against the first class into probabilities."""
        scores = np.insert(total, 0, 0, axis=1)
        parts = _exp(scores.max(axis=1, keepdims=True) - scores, stage.value_bits)
        shares = (parts << 15) // parts.sum(axis=1, keepdims=True)
        # The first class has what rounding leaves, so that probabilities sum to one.
        shares[:, 0] = ONE - shares[:, 1:].sum(axis=1)
        return np.asarray(shares)

    def _as_belief(self, scores: Integers) -> Integers:
        return scores << (15 - BELIEF_BITS)


def shift(numbers: Integers, bits: Integers | np.int64) -> Integers:
    """Divide by a power of two, towards zero."""
    return np.where(numbers < 0, -(-numbers >> bits), numbers >> bits)


def _describe(walk: WalkTables, sets: slice, x: Integers) -> Integers:
    """Spread readings over focal sets, as ``solah_describe`` does."""
    peaks, inverses, shifts = walk.peaks[sets], walk.inverses[sets], walk.shifts[sets]
    known = x != UNKNOWN
    safe = np.where(known, x, peaks[0])
    lower = (safe[:, None] >= peaks[None, 1:]).sum(axis=1)
    way = np.maximum(safe - peaks[lower], 0)
    # Odd masses leave no halves when branches are rounded, see ``solah_describe``.
    upper = np.minimum(way * inverses[lower] >> shifts[lower] | 1, ONE)
    upper = np.where((lower < len(peaks) - 1) & (way > 0), upper, 0)
    masses = np.zeros((len(x), len(peaks)), dtype=np.int64)
    rows = np.arange(len(x))
    masses[rows, np.minimum(lower + 1, len(peaks) - 1)] = upper
    masses[rows, lower] = ONE - upper
    masses[~known] = walk.mean_masses[sets]
    return masses


def _inverse_root(x: Integers) -> Integers:
    """Return 1 / sqrt(x) for x >= 1, as ``solah_inverse_root`` does."""
    halvings = np.zeros_like(x)
    while (is_far := x >= 16384).any():
        x, halvings = np.where(is_far, x >> 2, x), halvings + is_far
    root = 34944 - (x * 39 >> 5)
    for _ in range(2):
        root = root * (98304 - (x * (root * root >> 15) >> 12)) >> 16
    return root >> halvings


def _exp(x: Integers, value_bits: int) -> Integers:
    """Return e^-x for x >= 0, as ``solah_exp`` does."""
    finest = x >> (value_bits - 10) if value_bits > 10 else x << (10 - value_bits)
    halvings = (np.minimum(finest, 11264) * _LOG2_E) >> 14
    rest = halvings & 1023
    third = (rest * _EXP[2]) >> 10
    second = (rest * (_EXP[1] - third)) >> 10
    part = (ONE - ((rest * (_EXP[0] - second)) >> 10)) >> (halvings >> 10)
    return np.where(finest >= 11264, 0, part)
