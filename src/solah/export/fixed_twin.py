"""Tables of integers and rows in, what the device decides out: the same steps, the same integers.

The twin of ``c_runtime/solah_fixed.h``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.export.fixed_tables import BELIEF_BITS, ONE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.export.fixed_tables import FixedStage, FixedTables, FixedWalk, Integers
    from solah.export.lowering import TreeInput
    from solah.export.places import CurveRow, StateRow
    from solah.kernels.arrays import Float

_EXP = (22670, 7600, 1316)
_LOG2_E = 23637


class FixedTwin:
    """Decides as the integer runtime does.

    Parameters
    ----------
    tables : what the device has in its flash
    """

    def __init__(self, tables: FixedTables) -> None:
        self._tables = tables
        self._n_values = tables.lowered.n_values

    def prepare(self, rows: Float) -> NDArray[np.int32]:
        """Turn rows of readings into the integers that a device reads."""
        columns = [
            unit.quantise(column) for unit, column in zip(self._tables.units, rows.T, strict=True)
        ]
        return np.column_stack(columns).astype(np.int32)

    def decide(self, rows: Float) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
        """Decide on rows of readings.

        Returns
        -------
        places : ndarray of shape (n_rows,)
            The classes' places.
        beliefs : ndarray of shape (n_rows, n_classes)
            In the unit 2^-15.
        """
        x = self.prepare(rows).astype(np.int64)
        beliefs: list[Integers] = []
        for stage in self._tables.stages:
            total = self._say(stage, x, beliefs)
            beliefs.append(
                _share(total, stage.value_bits) if stage.is_weighed else _complete(total)
            )
        return self._choose(total, beliefs[-1]), beliefs[-1].astype(np.uint16)

    def estimate(self, rows: Float) -> Integers:
        """Estimate a number for each row of readings, in the unit 2^-value_bits."""
        x = self.prepare(rows).astype(np.int64)
        return self._say(self._tables.stages[0], x, [])[:, 0]

    def _say(self, stage: FixedStage, x: Integers, beliefs: list[Integers]) -> Integers:
        tables, total = self._tables, np.tile(stage.start, (len(x), 1))
        for curve in tables.curves[stage.parts.curves]:
            self._add_curve(curve, x[:, curve.attribute], total)
        for states in tables.states[stage.parts.states]:
            self._add_states(states, x[:, states.attribute], total)
        for walk in tables.walks[stage.parts.walks]:
            total += self._walk(walk, x, beliefs)
        return total

    def _add_curve(self, curve: CurveRow, x: Integers, total: Integers) -> None:
        n_pieces, width = curve.n_knots - 1, 2 * self._n_values + 1
        knots = self._tables.knots[curve.knot : curve.knot + curve.n_knots]
        end = curve.value + n_pieces * width
        pieces = self._tables.values[curve.value : end].reshape(n_pieces, width)
        known = x != UNKNOWN
        inside = np.clip(self._relative(curve.attribute, x[known]), knots[0], knots[-1])
        piece = np.minimum(np.searchsorted(knots, inside, side="right") - 1, n_pieces - 1)
        left, slopes = pieces[piece, 1 : 1 + self._n_values], pieces[piece, 1 + self._n_values :]
        way = (inside - knots[piece])[:, None]
        total[known] += left + _shift(way * slopes, pieces[piece, :1])
        total[~known] += self._tables.values[end : end + self._n_values]

    def _add_states(self, states: StateRow, x: Integers, total: Integers) -> None:
        n_lines = states.n_states + 1
        lines = self._tables.values[states.value : states.value + n_lines * self._n_values]
        state = np.where((x >= 0) & (x < states.n_states), x, states.n_states)
        total += lines.reshape(n_lines, self._n_values)[state]

    def _relative(self, attribute: int, x: Integers) -> Integers:
        return np.clip(x - self._tables.units[attribute].zero, -32768, 32767)

    def _walk(self, walk: FixedWalk, x: Integers, beliefs: list[Integers]) -> Integers:
        masses = [self._masses(walk, a, one, x, beliefs) for a, one in enumerate(walk.inputs)]
        said = np.zeros((len(x), self._n_values), dtype=np.int64)
        for leaf, weight in _branches(walk, masses, len(x)):
            said += _shift(weight[:, None] * walk.values[leaf], np.int64(15))
        return said

    def _masses(
        self, walk: FixedWalk, a: int, asked: TreeInput, x: Integers, beliefs: list[Integers]
    ) -> Integers:
        if asked.stage is not None and asked.place is None:
            return beliefs[asked.stage]
        sets = slice(int(walk.offsets[a]), int(walk.offsets[a + 1]))
        if asked.stage is not None:
            reading = beliefs[asked.stage][:, asked.place] >> (15 - BELIEF_BITS)
        else:
            reading = self._reading(asked, x, sets.stop - sets.start)
        return _describe(walk, sets, reading)

    def _reading(self, asked: TreeInput, x: Integers, n_sets: int) -> Integers:
        assert asked.attribute is not None
        reading = x[:, asked.attribute]
        if asked.is_coded:
            return np.where((reading >= 0) & (reading < n_sets), reading, UNKNOWN)
        return np.where(reading == UNKNOWN, UNKNOWN, self._relative(asked.attribute, reading))

    def _choose(self, total: Integers, belief: Integers) -> NDArray[np.intp]:
        is_weighed = self._tables.stages[-1].is_weighed
        scores = np.insert(total, 0, 0, axis=1) if is_weighed else belief
        preference = self._tables.preference
        if preference is not None:
            scores = scores + preference if is_weighed else scores * preference
        return np.asarray(np.argmax(scores, axis=1))


def _shift(numbers: Integers, bits: Integers | np.int64) -> Integers:
    """Divide by a power of two, towards zero."""
    return np.where(numbers < 0, -(-numbers >> bits), numbers >> bits)


def _branches(
    walk: FixedWalk, masses: list[Integers], n_rows: int
) -> Iterator[tuple[int, Integers]]:
    stack = [(0, np.full(n_rows, ONE, dtype=np.int64))]
    while stack:
        node, weight = stack.pop()
        split, first = int(walk.split[node]), int(walk.first_child[node])
        if split < 0:
            yield first, weight
            continue
        stack += [
            (first + k, (weight * mass + 16384) >> 15) for k, mass in enumerate(masses[split].T)
        ]


def _describe(walk: FixedWalk, sets: slice, x: Integers) -> Integers:
    """Spread readings over focal sets, as ``solah_describe`` does."""
    peaks, inverses, shifts = walk.peaks[sets], walk.inverses[sets], walk.shifts[sets]
    known = x != UNKNOWN
    safe = np.where(known, x, peaks[0])
    lower = (safe[:, None] >= peaks[None, 1:]).sum(axis=1)
    way = np.maximum(safe - peaks[lower], 0)
    upper = np.minimum(way * inverses[lower] >> shifts[lower], ONE)
    upper = np.where(lower < len(peaks) - 1, upper, 0)
    masses = np.zeros((len(x), len(peaks)), dtype=np.int64)
    rows = np.arange(len(x))
    masses[rows, np.minimum(lower + 1, len(peaks) - 1)] = upper
    masses[rows, lower] = ONE - upper
    masses[~known] = walk.ignorance[sets]
    return masses


def _share(evidence: Integers, value_bits: int) -> Integers:
    """Turn evidence against the first class into shares of belief."""
    scores = np.insert(evidence, 0, 0, axis=1)
    parts = _exp(scores.max(axis=1, keepdims=True) - scores, value_bits)
    shares = (parts << 15) // parts.sum(axis=1, keepdims=True)
    # The first class has what rounding leaves, so that beliefs sum to one.
    shares[:, 0] = ONE - shares[:, 1:].sum(axis=1)
    return np.asarray(shares)


def _exp(x: Integers, value_bits: int) -> Integers:
    """Return e^-x for x >= 0, as ``solah_exp`` does."""
    finest = x >> (value_bits - 10) if value_bits > 10 else x << (10 - value_bits)
    halvings = (np.minimum(finest, 11264) * _LOG2_E) >> 14
    rest = halvings & 1023
    third = (rest * _EXP[2]) >> 10
    second = (rest * (_EXP[1] - third)) >> 10
    part = (ONE - ((rest * (_EXP[0] - second)) >> 10)) >> (halvings >> 10)
    return np.where(finest >= 11264, 0, part)


def _complete(said: Integers) -> Integers:
    """Give the first class what the others leave of a tree's belief."""
    left = np.full(len(said), ONE, dtype=np.int64)
    beliefs = []
    for of_class in said.T:
        beliefs.append(np.minimum(of_class << (15 - BELIEF_BITS), left))
        left = left - beliefs[-1]
    return np.column_stack([left, *beliefs])
