"""Columns as codes, as the kernels of distance correlation take them, and the sums they return."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int32

# As many levels as a byte can number, with one code left for missing values.
MAX_SMALL = 255
N_SUMS = 9


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as levels and codes.

    Attributes
    ----------
    codes : (n_rows,) each row's level, ``n_levels`` where the value is missing; bytes where a
        byte is enough
    n_levels : how many levels there are
    values : (n_levels,) the levels as increasing numbers; None for names, whose distances are
        0 and 1
    """

    codes: NDArray[Any]
    n_levels: int
    values: Float | None

    @property
    def is_small(self) -> bool:
        """Whether the codes are bytes."""
        return self.n_levels <= MAX_SMALL

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not np.any(self.codes == self.n_levels)

    @cached_property
    def wide_codes(self) -> Int32:
        """The codes as 32-bit integers."""
        return self.codes.astype(np.int32, copy=False)

    @cached_property
    def order(self) -> Int32:
        """The rows sorted by their level."""
        return np.argsort(self.codes, kind="stable").astype(np.int32)

    # Addresses of arrays, looked up once: C gets a pair of columns for every two of them.

    @cached_property
    def wide_codes_at(self) -> int:
        """The address of the codes as 32-bit integers."""
        return self.wide_codes.ctypes.data

    @cached_property
    def values_at(self) -> int:
        """The address of the values; 0 for names."""
        return 0 if self.values is None else self.values.ctypes.data

    @cached_property
    def order_at(self) -> int:
        """The address of the order of the rows."""
        return self.order.ctypes.data


Side: TypeAlias = tuple[Coded, "Float"]
"""A column of a pair, and its levels' sums of distances over the rows that have both values."""


def nine_sums(margins_a: Float, margins_b: Float, pair: Float) -> Float:
    """Put the sums of a pair of columns into the order that correlations are made of."""
    return np.concatenate([margins_a[:1], pair, margins_a[1:], margins_b[1:]])
