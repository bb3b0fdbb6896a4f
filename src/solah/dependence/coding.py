"""Code columns as levels: distinct values, or bins of them.

A level is a distinct value, or a bin of them. Numbers are shifted and scaled, which no distance
correlation notices, so that sums of their products neither cancel nor overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Kind, states_of
from solah.data.spelling import spell
from solah.exceptions import DataError
from solah.kernels.choose import kernel
from solah.kernels.coded import MAX_SMALL, Coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Column, State
    from solah.kernels.arrays import Float, Int64

# A table costs time by the square of its bins; these keep the error well below 0.002.
N_BINS = 160


def code_column(
    column: Column, kind: Kind, weights: Int64 | None, *, in_bins: bool = False
) -> Coded:
    """Code a column of known type: categorical ones as names, others as numbers.

    Text that is binary or ordinal counts by the place of its state. Rows of weight zero are taken
    as missing, so they are as good as absent. With ``in_bins``, numbers with more than
    ``MAX_SMALL`` distinct values are put into bins.
    """
    if column.is_text:
        return _code_text(column.values, states_of(column, kind), kind)
    values = _finite(column)
    if weights is not None:
        values = np.where(weights > 0, values, np.nan)
    if kind is Kind.CATEGORICAL:
        levels, codes = _distinct(values)
        return Coded(codes, len(levels), None)
    return code_numbers(values, weights, in_bins=in_bins)


def _code_text(values: NDArray[Any], states: Sequence[State], kind: Kind) -> Coded:
    place = {spell(state): code for code, state in enumerate(states)} | {None: len(states)}
    codes = np.fromiter(map(place.__getitem__, values), _code_type(len(states)), len(values))
    if kind is Kind.CATEGORICAL:
        return Coded(codes, len(states), None)
    is_text = any(isinstance(state, str) for state in states)
    numbers = np.arange(len(states)) if is_text else np.array(states, dtype=np.float64)
    return Coded(codes, len(states), _standard(numbers))


def code_numbers(values: Float, weights: Int64 | None, *, in_bins: bool = False) -> Coded:
    """Code finite numbers; NaN is missing."""
    if not in_bins:
        levels, codes = _distinct(values)
        return Coded(codes, len(levels), _standard(levels))
    known = ~np.isnan(values)
    if weights is None:
        levels, counts = np.unique(values[known], return_counts=True)
    else:
        levels, codes = np.unique(values[known], return_inverse=True)
        counts = np.bincount(codes, weights[known], len(levels))
    first, centres = np.arange(len(levels)), _standard(levels)
    if len(levels) > MAX_SMALL:
        first = _first_of_bins(levels, counts.astype(np.float64))
        sums = np.add.reduceat(centres * counts, first)
        centres = sums / np.add.reduceat(counts, first)
    bins = np.zeros(len(values), dtype=np.int32)
    if len(first):
        kernel().find(values, levels[first], bins)
    return Coded(bins.astype(np.uint8), len(first), centres)


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
    """Mark the sorted values that differ from the one before."""
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
