"""The sums in C (``native/dependence.c``), called through ctypes, which releases the GIL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.kernels.coded import MAX_SMALL, N_SUMS
from solah.kernels.native import at, compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded, Side


def add_joint_counts(a: Coded, b: Coded, weights: Int64 | None, counts: Int64) -> None:
    """Add the rows of two small columns to ``counts[code_a, code_b]``."""
    compiled().solah_joint_counts(
        at(a.codes),
        at(b.codes),
        at(weights),
        len(a.codes),
        b.n_levels,
        at(counts),
    )


def count_sums(counts: Int64, a: Coded, b: Coded) -> Float:
    """Compute the nine sums of a table of joint counts; names come first."""
    sums = np.empty(N_SUMS)
    compiled().solah_count_sums(
        at(counts),
        a.n_levels,
        at(a.values),
        b.n_levels,
        at(b.values),
        at(sums),
    )
    return sums


def pair_sums(pairs: Sequence[tuple[Coded, Coded]], weights: Int64 | None) -> Float:
    """Compute the nine sums of pairs of small columns; names come first."""
    sums = np.empty((len(pairs), N_SUMS))
    counts = np.empty((MAX_SMALL + 1) ** 2, dtype=np.int64)
    sides = [_described(side) for side in zip(*pairs, strict=True)]
    compiled().solah_pair_sums(
        *(at(array) for side in sides for array in side),
        len(pairs),
        at(weights),
        len(pairs[0][0].codes),
        at(counts),
        at(sums),
    )
    return sums


def margins(a: Coded, b: Coded, weights: Int64 | None, work: Float) -> tuple[Float, Float]:
    """Compute the levels' sums of distances, and the margins, over the rows that have both."""
    rows, sums = np.empty(a.n_levels), np.empty(4)
    compiled().solah_margins(
        at(a.wide_codes),
        a.n_levels,
        at(a.values),
        at(b.wide_codes),
        b.n_levels,
        at(weights),
        len(a.codes),
        at(work),
        at(rows),
        at(sums),
    )
    return rows, sums


def point_products(pairs: Sequence[tuple[Side, Side]], weights: Int64 | None, work: Float) -> Float:
    """Compute the products of pairs from the rows; names come first, fewer levels before more."""
    products = np.empty((len(pairs), 2))
    first, second = zip(*pairs, strict=True)
    order = np.array([a.order_at for a, _ in first], dtype=np.uintp)
    described = [*_described_points(first), *_described_points(second), order]
    compiled().solah_many_products(
        *map(at, described),
        len(pairs),
        at(weights),
        len(first[0][0].codes),
        at(work),
        at(products),
    )
    return products


def _described_points(sides: Sequence[Side]) -> tuple[NDArray[Any], ...]:
    """Return addresses of codes, numbers of levels, and addresses of values and of rows."""
    return (
        np.array([column.wide_codes_at for column, _ in sides], dtype=np.uintp),
        np.array([column.n_levels for column, _ in sides], dtype=np.int32),
        np.array([column.values_at for column, _ in sides], dtype=np.uintp),
        np.array([at(rows) for _, rows in sides], dtype=np.uintp),
    )


def _described(columns: Sequence[Coded]) -> tuple[NDArray[Any], ...]:
    """Return addresses of columns' codes, their numbers of levels, and addresses of values."""
    return (
        np.array([at(column.codes) for column in columns], dtype=np.uintp),
        np.array([column.n_levels for column in columns], dtype=np.int32),
        np.array([at(column.values) or 0 for column in columns], dtype=np.uintp),
    )
