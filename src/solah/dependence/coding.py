"""Code columns as levels: distinct values, or bins of them.

A level is a distinct value, or a bin of them. Numbers are shifted and scaled, which no distance
correlation notices, so that sums of their products neither cancel nor overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Kind, states_of
from solah.data.spelling import spell
from solah.exceptions import DataError
from solah.kernels.choose import kernel
from solah.kernels.coded import MAX_SMALL, Coded
from solah.labels.sketches import FineCounts, Sketch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Column, State
    from solah.kernels.arrays import Float, Int64
    from solah.labels.drawing import Limits

# A table costs time by the square of its bins; these keep the error well below 0.002.
N_BINS = 160


def code_column(
    column: Column, kind: Kind, weights: Int64 | None, bins: Limits | None = None
) -> Coded:
    """Code a settled column: categorical ones as names, others as numbers.

    Text that is binary or ordinal counts by the place of its state. Rows of weight zero are taken
    as missing, so they are as good as absent. With ``bins``, numbers with more than ``MAX_SMALL``
    distinct values are put into bins, chosen by a sketch within these limits.
    """
    if column.is_text:
        return _code_text(column.values, states_of(column, kind), kind)
    values = _finite(column)
    if weights is not None:
        values = np.where(weights > 0, values, np.nan)
    if kind is Kind.CATEGORICAL:
        levels, codes = _distinct(values)
        return Coded(codes, len(levels), None)
    return code_numbers(values, weights, bins)


def _code_text(values: NDArray[Any], states: Sequence[State], kind: Kind) -> Coded:
    place = {spell(state): code for code, state in enumerate(states)} | {None: len(states)}
    codes = np.fromiter(map(place.__getitem__, values), _code_type(len(states)), len(values))
    return Coded(codes, len(states), values_of_states(states, kind))


def values_of_states(states: Sequence[State], kind: Kind) -> Float | None:
    """Return the numbers that states count as, text by its place; None for mere names."""
    if kind is Kind.CATEGORICAL:
        return None
    is_text = any(isinstance(state, str) for state in states)
    return _standard(np.arange(len(states)) if is_text else np.array(states, dtype=np.float64))


def code_numbers(values: Float, weights: Int64 | None, bins: Limits | None = None) -> Coded:
    """Code finite numbers; NaN is missing."""
    if bins is None:
        levels, codes = _distinct(values)
        return Coded(codes, len(levels), _standard(levels))
    sketch = Sketch.of(values, bins)
    return Bins.of(sketch, FineCounts.of(values, weights, sketch)).code(values)


@dataclass(frozen=True, eq=False)
class Bins:
    """How the numbers of a column are coded where there are many rows.

    They are chosen by a sketch of the numbers and counts of them, which add up over partitions.

    Attributes
    ----------
    first : (n_bins,) where each bin begins
    values : (n_bins,) the number that stands for each, as ``Coded`` has it
    """

    first: Float
    values: Float

    @classmethod
    def of(cls, sketch: Sketch, counts: FineCounts) -> Bins:
        """Choose bins by the weights of a sketch's fine bins."""
        edges, centres = sketch.edges, sketch.centres(counts)
        if not len(edges):
            return cls(edges, edges)
        weights = counts.weights.astype(np.float64)
        if sketch.is_complete and len(edges) <= MAX_SMALL:
            return cls(edges, _standard(edges))
        used = np.flatnonzero(weights)
        edges, centres, weights = edges[used], centres[used], weights[used]
        first = _first_of_bins(centres, weights)
        sums = np.add.reduceat(_standard(centres) * weights, first)
        return cls(edges[first], sums / np.add.reduceat(weights, first))

    def code(self, values: Float) -> Coded:
        """Find the bin of each number; NaN is one past the last."""
        bins = np.zeros(len(values), dtype=np.int32)
        if len(self.first):
            kernel().find(values, self.first, bins)
        return Coded(bins.astype(np.uint8), len(self.first), self.values)


def _finite(column: Column) -> Float:
    """Return numbers as float64; refuse infinities."""
    values = column.values.astype(np.float64, copy=False)
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            f"column {column.name!r} has an infinite value (row {int(infinite.argmax()) + 1}); "
            f"replace it with a number or mark it as missing"
        )
    return values


def _code_type(n_levels: int) -> type[np.uint8 | np.int32]:
    return np.uint8 if n_levels <= MAX_SMALL else np.int32


def _distinct(values: Float) -> tuple[Float, NDArray[Any]]:
    """Return the distinct numbers, and each row's number among them."""
    order = np.argsort(values)  # NaN come last
    ordered = values[order]
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))]
    is_new = _is_new(ordered)
    n_levels = int(np.count_nonzero(is_new))
    codes = np.full(len(values), n_levels, dtype=_code_type(n_levels))
    codes[order[: len(ordered)]] = np.cumsum(is_new) - 1
    return ordered[is_new], codes


def _is_new(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which of sorted values differ from the one before."""
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return is_new


def _standard(levels: NDArray[Any]) -> Float:
    """Shift increasing numbers to their middle one and scale them to at most one, exactly."""
    scaled = _scaled(np.asarray(levels, dtype=np.float64))
    return _scaled(scaled - scaled[len(scaled) // 2]) if len(scaled) else scaled


def _scaled(numbers: Float) -> Float:
    """Divide by a power of two, which rounds nothing."""
    exponent = int(np.frexp(np.max(np.abs(numbers), initial=0.0))[1])
    if abs(exponent) < 1000:
        return numbers * 2.0**-exponent
    scaled: Float = np.ldexp(numbers, -exponent)  # slower, but of any size
    return scaled


def _first_of_bins(levels: Float, weights: Float) -> NDArray[np.intp]:
    """Choose at most ``N_BINS`` runs of levels; return where each begins.

    Each run has an equal share of a measure that is one quarter rank, three quarters distance from
    the median. Rank alone would put the far values of a heavy tail, which carry most of the
    distances, into one bin; distance alone would leave no bins to the middle. The quarter had the
    least error of several shares tried.
    """
    rank = weights / weights.sum()
    median = levels[np.searchsorted(np.cumsum(rank), 0.5)]
    away = weights * np.abs(_scaled(levels - median))
    measure = rank + 3 * away / away.sum()
    middle = np.cumsum(measure) - measure / 2
    return np.flatnonzero(_is_new(np.floor(middle * (N_BINS / measure.sum()))))
