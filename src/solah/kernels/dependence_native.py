"""The sums in C (``native/dependence.c``), called through ctypes, which releases the GIL."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.kernels import native as kernels
from solah.kernels.coded import MAX_SMALL, N_SUMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded, Side

_P = ctypes.c_void_p
_I32 = ctypes.c_int32
_I64 = ctypes.c_int64
_SIGNATURES = {
    "solah_joint_counts": [_P, _P, _P, _I64, _I32, _P],
    "solah_count_sums": [_P, _I32, _P, _I32, _P, _P],
    "solah_pair_sums": [_P, _P, _P, _P, _P, _P, _I64, _P, _I64, _P, _P],
    "solah_margins": [_P, _I32, _P, _P, _I32, _P, _I64, _P, _P, _P],
    "solah_many_products": [_P, _P, _P, _P, _P, _P, _P, _P, _P, _I64, _P, _I64, _P, _P],
}


def add_joint_counts(a: Coded, b: Coded, weights: Int64 | None, counts: Int64) -> None:
    """Add the rows of two small columns to ``counts[code_a, code_b]``."""
    _library().solah_joint_counts(
        _at(a.codes), _at(b.codes), _at(weights), len(a.codes), b.n_levels, _at(counts)
    )


def count_sums(counts: Int64, a: Coded, b: Coded) -> Float:
    """Compute the nine sums of a table of joint counts; names come first."""
    sums = np.empty(N_SUMS)
    _library().solah_count_sums(
        _at(counts), a.n_levels, _at(a.values), b.n_levels, _at(b.values), _at(sums)
    )
    return sums


def pair_sums(pairs: Sequence[tuple[Coded, Coded]], weights: Int64 | None) -> Float:
    """Compute the nine sums of pairs of small columns; names come first."""
    sums = np.empty((len(pairs), N_SUMS))
    counts = np.empty((MAX_SMALL + 1) ** 2, dtype=np.int64)
    sides = [_described(side) for side in zip(*pairs, strict=True)]
    _library().solah_pair_sums(
        *(_at(array) for side in sides for array in side),
        len(pairs),
        _at(weights),
        len(pairs[0][0].codes),
        _at(counts),
        _at(sums),
    )
    return sums


def margins(a: Coded, b: Coded, weights: Int64 | None, work: Float) -> tuple[Float, Float]:
    """Compute the levels' sums of distances, and the margins, over the rows that have both."""
    rows, sums = np.empty(a.n_levels), np.empty(4)
    _library().solah_margins(
        _at(a.wide_codes),
        a.n_levels,
        _at(a.values),
        _at(b.wide_codes),
        b.n_levels,
        _at(weights),
        len(a.codes),
        _at(work),
        _at(rows),
        _at(sums),
    )
    return rows, sums


def point_products(pairs: Sequence[tuple[Side, Side]], weights: Int64 | None, work: Float) -> Float:
    """Compute the products of pairs from the rows; names come first, fewer levels before more."""
    products = np.empty((len(pairs), 2))
    first, second = zip(*pairs, strict=True)
    order = np.array([a.order_at for a, _ in first], dtype=np.uintp)
    described = [*_described_points(first), *_described_points(second), order]
    _library().solah_many_products(
        *map(_at, described),
        len(pairs),
        _at(weights),
        len(first[0][0].codes),
        _at(work),
        _at(products),
    )
    return products


def _described_points(sides: Sequence[Side]) -> tuple[NDArray[Any], ...]:
    """Return where codes stand, how many levels there are, where values and rows stand."""
    return (
        np.array([column.wide_codes_at for column, _ in sides], dtype=np.uintp),
        np.array([column.n_levels for column, _ in sides], dtype=np.int32),
        np.array([column.values_at for column, _ in sides], dtype=np.uintp),
        np.array([_at(rows) for _, rows in sides], dtype=np.uintp),
    )


@cache
def _library() -> ctypes.CDLL:
    library = kernels.load()
    assert library is not None, "choose.py offers this kernel only where it loads"
    for function, arguments in _SIGNATURES.items():
        getattr(library, function).argtypes = arguments
        getattr(library, function).restype = None
    return library


def _described(columns: Sequence[Coded]) -> tuple[NDArray[Any], ...]:
    """Return where the codes of columns stand, how many levels they have, where their values do."""
    return (
        np.array([_at(column.codes) for column in columns], dtype=np.uintp),
        np.array([column.n_levels for column in columns], dtype=np.int32),
        np.array([_at(column.values) or 0 for column in columns], dtype=np.uintp),
    )


def _at(array: NDArray[Any] | None) -> int | None:
    """Return where an array's values stand."""
    return None if array is None else array.ctypes.data
