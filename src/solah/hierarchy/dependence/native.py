"""The sums in C (``native/dependence.c``), called through ctypes, which lets go of the GIL."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.hierarchy.dependence.columns import MAX_SMALL
from solah.hierarchy.dependence.statistics import N_SUMS
from solah.kernels import native as kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.hierarchy.dependence.columns import Coded
    from solah.kernels.arrays import Float, Int64

_P = ctypes.c_void_p
_I32 = ctypes.c_int32
_I64 = ctypes.c_int64
_SIGNATURES = {
    "solah_joint_counts": [_P, _P, _P, _I64, _I32, _P],
    "solah_count_sums": [_P, _I32, _P, _I32, _P, _P],
    "solah_pair_sums": [_P, _P, _P, _P, _P, _P, _I64, _P, _I64, _P, _P],
    "solah_margins": [_P, _I32, _P, _P, _I32, _P, _I64, _P, _P, _P],
    "solah_point_products": [_P, _I32, _P, _P, _P, _I32, _P, _P, _P, _P, _I64, _P, _P],
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


def point_products(
    a: Coded, rows_a: Float, b: Coded, rows_b: Float, weights: Int64 | None, work: Float
) -> Float:
    """Compute the products from the rows; names come first, fewer levels before more."""
    pair = np.empty(2)
    _library().solah_point_products(
        _at(a.wide_codes),
        a.n_levels,
        _at(a.values),
        _at(rows_a),
        _at(b.wide_codes),
        b.n_levels,
        _at(b.values),
        _at(rows_b),
        _at(a.order),
        _at(weights),
        len(a.codes),
        _at(work),
        _at(pair),
    )
    return pair


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
