"""Decide as the float runtime does: the same steps, the same bits.

The simulator of ``export/c_runtime/solah_float.h``, row by row the same operations in the same
order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.export.simulator import Simulator
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.export.float_tables import Float32
    from solah.export.policy_tables import PolicyTables
    from solah.export.tables import CurveRow, LostTables, SideRow, StageTables, Tables, WalkTables

_TERMS = [np.float32(term) for term in (1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1.0, 1.0)]


class FloatSimulator(Simulator):
    """Decides as the float runtime does.

    Parameters
    ----------
    tables : what the device has in its flash
    policy : when it decides; None if it always does
    """

    belief_type = np.float32
    whole = np.float32(1)
    _one = np.float32(1)

    def __init__(self, tables: Tables, policy: PolicyTables | None = None) -> None:
        super().__init__(tables, policy)
        self._values = tables.values

    def estimate(self, rows: NDArray[np.floating]) -> Float32:
        """Estimate a number for each row of readings."""
        total: Float32 = super().estimate(rows)
        if not self._tables.layout.takes_exp:
            return total
        bounded = np.clip(total, np.float32(-80), np.float32(80))
        power = _exp(-np.abs(bounded))
        return np.where(bounded > 0, np.float32(1) / power, power)

    def smooth(
        self, scores: Float32, mean: Float32 | None, bits: int
    ) -> tuple[Float32, Float32 | None]:
        """Average scores, as ``solah_average`` does."""
        share, smoothed = np.float32(2.0**-bits), scores.copy()
        for row in smoothed:
            if mean is not None:
                row[:] = mean + (row - mean) * share
            mean = row
        return smoothed, mean

    def _read(self, rows: NDArray[np.floating]) -> Float32:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, as on a device
            return np.asarray(rows, dtype=np.float32)

    def are_known(self, x: Float32) -> NDArray[np.bool_]:
        """Find the readings that are known."""
        return ~np.isnan(x)

    def _state(self, x: Float32, n_states: int) -> NDArray[np.intp]:
        """Return the index of a category; ``n_states`` for an unseen one."""
        with np.errstate(invalid="ignore"):
            is_state = (x >= 0) & (x < n_states) & (np.trunc(x) == x)
        return np.where(is_state, x, np.float32(n_states)).astype(np.intp)

    def _relative(self, feature: int, x: Float32) -> Float32:
        return x

    def _of_curve(self, curve: CurveRow, x: Float32) -> Float32:
        n_pieces, width = curve.n_knots - 1, 2 * self._n_values
        end = curve.value + n_pieces * width
        pieces = self._values[curve.value : end].reshape(n_pieces, 2, self._n_values)
        piece, way, _ = self._find(curve, x)
        scores = pieces[piece, 0] + way[:, None] * pieces[piece, 1]
        unknown = self._values[end : end + self._n_values]
        return np.where(self.are_known(x)[:, None], scores, unknown)

    def _masses(self, walk: WalkTables, a: int, x: Float32, beliefs: list[Float32]) -> Float32:
        axis = walk.inputs[a]
        if axis.kind is AxisKind.ALL_BELIEFS:
            return beliefs[axis.source]
        sets = slice(int(walk.offsets[a]), int(walk.offsets[a + 1]))
        peaks, mean_masses = walk.peaks[sets], walk.mean_masses[sets]
        reading = x[:, axis.source] if axis.is_read else beliefs[axis.source][:, axis.output]
        if axis.kind is AxisKind.CATEGORY:
            place = self._state(reading, len(peaks))
            reading = np.where(place == len(peaks), np.float32(np.nan), reading)
        return _describe(reading, peaks, mean_masses)

    def _upper(self, side: SideRow, pieces: Float32, way: Float32) -> Float32:
        return np.asarray(np.minimum(way * self._values[side.value + pieces], np.float32(1)))

    def _times(self, weight: Float32, mass: Float32) -> Float32:
        return weight * mass

    def _rounded(self, total: Float32) -> Float32:
        return total

    def _part(self, weight: Float32, values: Float32) -> Float32:
        return weight * values

    def _scaled(self, numbers: Float32, shares: Float32) -> Float32:
        return numbers * shares

    def _damping(self, lost: LostTables, squares: Float32) -> Float32:
        return _inverse_root(np.float32(1) + lost.factor * squares)

    def _share(self, stage: StageTables, total: Float32) -> Float32:
        """Turn scores against the first class into probabilities."""
        scores = np.insert(total, 0, np.float32(0), axis=1)
        shares = _exp(scores - scores.max(axis=1, keepdims=True))
        whole = np.zeros(len(shares), dtype=np.float32)
        for of_class in shares.T:
            whole += of_class
        return shares / whole[:, None]

    def _as_belief(self, scores: Float32) -> Float32:
        return scores


def _describe(x: Float32, peaks: Float32, mean_masses: Float32) -> Float32:
    """Spread readings over focal sets, as ``solah_describe`` does."""
    known = ~np.isnan(x)
    safe = np.where(known, x, peaks[0])
    lower = (safe[:, None] >= peaks[None, 1:]).sum(axis=1)
    above = np.minimum(lower + 1, len(peaks) - 1)
    is_between = (lower < len(peaks) - 1) & (safe > peaks[lower])
    rows = np.flatnonzero(is_between)
    upper = np.zeros(len(x), dtype=np.float32)
    low, high = peaks[lower[rows]], peaks[above[rows]]
    upper[rows] = (safe[rows] - low) / (high - low)
    masses = np.zeros((len(x), len(peaks)), dtype=np.float32)
    every = np.arange(len(x))
    masses[every, above] = upper
    masses[every, lower] = np.float32(1) - upper
    masses[~known] = mean_masses
    return masses


def _inverse_root(x: Float32) -> Float32:
    """Return 1 / sqrt(x) for x >= 1, as ``solah_inverse_root`` does."""
    bits = np.uint32(0x5F3759DF) - (x.view(np.uint32) >> np.uint32(1))
    half, root = np.float32(0.5) * x, bits.view(np.float32)
    for _ in range(2):
        root = root * (np.float32(1.5) - half * root * root)
    return root


def _exp(x: Float32) -> Float32:
    """Return e^x for x <= 0, as ``solah_exp`` does."""
    x = np.maximum(x, np.float32(-87))
    k = np.trunc(x * np.float32(1.44269504) - np.float32(0.5))
    r = (x - k * np.float32(0.693359375)) - k * np.float32(-2.12194440e-4)
    y = np.zeros_like(r)
    for term in _TERMS:
        y = y * r + term
    return np.asarray(y * np.ldexp(np.float32(1), k.astype(np.int32)), dtype=np.float32)
