"""Tables of float32 and rows in, what the device decides out: the same steps, the same bits.

The twin of ``c_runtime/solah_float.h``, row by row the same operations in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.export.float_tables import Float32, FloatTables, StageRow, WalkTables
    from solah.export.lowering import TreeInput
    from solah.export.places import CurveRow, StateRow

_TERMS = [np.float32(term) for term in (1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1.0, 1.0)]


class FloatTwin:
    """Decides as the float runtime does.

    Parameters
    ----------
    tables : what the device has in its flash
    """

    def __init__(self, tables: FloatTables) -> None:
        self._tables = tables
        self._n_values = tables.lowered.n_values

    def decide(self, rows: NDArray[np.floating]) -> tuple[NDArray[np.intp], Float32]:
        """Decide on rows of readings ``(n_rows, n_attributes)``.

        Returns
        -------
        places : ndarray of shape (n_rows,)
            The classes' places.
        beliefs : ndarray of shape (n_rows, n_classes) of float32
        """
        x = np.asarray(rows, dtype=np.float32)
        beliefs: list[Float32] = []
        for stage in self._tables.stages:
            total = self._say(stage, x, beliefs)
            beliefs.append(_share(total) if stage.is_weighed else _complete(total))
        return self._choose(total, beliefs[-1]), beliefs[-1]

    def estimate(self, rows: NDArray[np.floating]) -> Float32:
        """Estimate a number for each row of readings."""
        return self._say(self._tables.stages[0], np.asarray(rows, dtype=np.float32), [])[:, 0]

    def _say(self, stage: StageRow, x: Float32, beliefs: list[Float32]) -> Float32:
        total = np.tile(stage.start, (len(x), 1))
        tables = self._tables
        for curve in tables.curves[stage.parts.curves]:
            self._add_curve(curve, x[:, curve.attribute], total)
        for states in tables.states[stage.parts.states]:
            self._add_states(states, x[:, states.attribute], total)
        for walk in tables.walks[stage.parts.walks]:
            total += _walk(walk, x, beliefs, self._n_values)
        return total

    def _add_curve(self, curve: CurveRow, x: Float32, total: Float32) -> None:
        n_pieces, width = curve.n_knots - 1, 2 * self._n_values
        knots = self._tables.knots[curve.knot : curve.knot + curve.n_knots]
        end = curve.value + n_pieces * width
        pieces = self._tables.values[curve.value : end].reshape(n_pieces, 2, self._n_values)
        known = ~np.isnan(x)
        inside = np.minimum(np.maximum(x[known], knots[0]), knots[-1])
        piece = np.minimum(np.searchsorted(knots, inside, side="right") - 1, n_pieces - 1)
        way = inside - knots[piece]
        total[known] += pieces[piece, 0] + way[:, None] * pieces[piece, 1]
        total[~known] += self._tables.values[end : end + self._n_values]

    def _add_states(self, states: StateRow, x: Float32, total: Float32) -> None:
        n_lines = states.n_states + 1
        lines = self._tables.values[states.value : states.value + n_lines * self._n_values]
        total += lines.reshape(n_lines, self._n_values)[_state(x, states.n_states)]

    def _choose(self, total: Float32, belief: Float32) -> NDArray[np.intp]:
        is_weighed = self._tables.stages[-1].is_weighed
        scores = np.insert(total, 0, np.float32(0), axis=1) if is_weighed else belief
        preference = self._tables.preference
        if preference is not None:
            scores = scores + preference if is_weighed else scores * preference
        return np.asarray(np.argmax(scores, axis=1))


def _state(x: Float32, n_states: int) -> NDArray[np.intp]:
    """Return the place of a state; ``n_states`` for what is none of them."""
    with np.errstate(invalid="ignore"):
        is_state = (x >= 0) & (x < n_states) & (np.trunc(x) == x)
    return np.where(is_state, x, np.float32(n_states)).astype(np.intp)


def _walk(walk: WalkTables, x: Float32, beliefs: list[Float32], n_values: int) -> Float32:
    """Average what leaves say, branch after branch."""
    masses = [_masses(walk, a, one, x, beliefs) for a, one in enumerate(walk.inputs)]
    said = np.zeros((len(x), n_values), dtype=np.float32)
    for leaf, weight in _branches(walk, masses, len(x)):
        said += np.where(weight > 0, weight, np.float32(0))[:, None] * walk.values[leaf]
    return said


def _branches(
    walk: WalkTables, masses: list[Float32], n_rows: int
) -> Iterator[tuple[int, Float32]]:
    stack = [(0, np.ones(n_rows, dtype=np.float32))]
    while stack:
        node, weight = stack.pop()
        split = int(walk.split[node])
        first = int(walk.first_child[node])
        if split < 0:
            yield first, weight
            continue
        below = [(first + k, weight * mass) for k, mass in enumerate(masses[split].T)]
        stack += reversed([(child, part) for child, part in below if (part > 0).any()])


def _masses(
    walk: WalkTables, a: int, asked: TreeInput, x: Float32, beliefs: list[Float32]
) -> Float32:
    if asked.stage is not None and asked.place is None:
        return beliefs[asked.stage]
    sets = slice(int(walk.offsets[a]), int(walk.offsets[a + 1]))
    peaks, ignorance = walk.peaks[sets], walk.ignorance[sets]
    if asked.stage is not None:
        reading = beliefs[asked.stage][:, asked.place]
    else:
        reading = x[:, asked.attribute]
    if asked.is_coded:
        place = _state(reading, len(peaks))
        reading = np.where(place == len(peaks), np.float32(np.nan), reading)
    return _describe(reading, peaks, ignorance)


def _describe(x: Float32, peaks: Float32, ignorance: Float32) -> Float32:
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
    masses[~known] = ignorance
    return masses


def _share(evidence: Float32) -> Float32:
    """Turn evidence against the first class into shares of belief."""
    scores = np.insert(evidence, 0, np.float32(0), axis=1)
    shares = _exp(scores - scores.max(axis=1, keepdims=True))
    total = np.zeros(len(shares), dtype=np.float32)
    for of_class in shares.T:
        total += of_class
    return shares / total[:, None]


def _exp(x: Float32) -> Float32:
    """Return e^x for x <= 0, as ``solah_exp`` does."""
    x = np.maximum(x, np.float32(-87))
    k = np.trunc(x * np.float32(1.44269504) - np.float32(0.5))
    r = (x - k * np.float32(0.693359375)) - k * np.float32(-2.12194440e-4)
    y = np.zeros_like(r)
    for term in _TERMS:
        y = y * r + term
    return np.asarray(y * np.ldexp(np.float32(1), k.astype(np.int32)), dtype=np.float32)


def _complete(said: Float32) -> Float32:
    """Give the first class what the others leave of a tree's belief."""
    left = np.ones(len(said), dtype=np.float32)
    for of_class in said.T:
        left -= of_class
    return np.column_stack([left, said])
