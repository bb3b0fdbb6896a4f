"""Hash values to numbers that look random: the same for the same value, wherever it is.

What is drawn, dealt out or compared by these numbers depends on the values of rows, and neither on
their order nor on how they are spread over files and machines.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from solah.data.spelling import read_number, spell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.data.table import Column

UInt64 = NDArray[np.uint64]

LARGEST = np.uint64(2**64 - 1)
# Steele, Lea and Flood's SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)
_MISSING = np.uint64(0x6D697373696E6721)


def mix(state: UInt64) -> UInt64:
    """Turn numbers into others that look random; different ones stay different."""
    mixed = state + _STEP  # wraps around, as it should
    for shift, factor in _MIXERS:
        mixed ^= mixed >> shift
        mixed *= factor
    mixed ^= mixed >> _LAST_SHIFT
    return mixed


def digest_numbers(values: NDArray[Any]) -> UInt64:
    """Digest numbers by their value as float64; the two zeros are one, and so are all NaN."""
    numbers = values.astype(np.float64) + 0.0  # which makes -0.0 a 0.0
    digests = mix(numbers.view(np.uint64))
    digests[np.isnan(numbers)] = _MISSING
    return digests


def digest_texts(values: NDArray[Any]) -> UInt64:
    """Digest texts, numbers and booleans by their number; None is missing."""

    def digest(cell: Any) -> int:
        if cell is None:
            return int(_MISSING)
        text = spell(cell)
        number = read_number(text)
        if number is not None:
            return int(digest_numbers(np.array([number]))[0])
        encoded = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(encoded, digest_size=8).digest())

    cells = values.tolist()
    known = {cell: digest(cell) for cell in set(cells)}
    return np.fromiter(map(known.__getitem__, cells), np.uint64, len(cells))


def digest_column(column: Column) -> UInt64:
    """Digest the values of a column."""
    return digest_texts(column.values) if column.is_text else digest_numbers(column.values)


def chain(digests: Iterable[UInt64], start: UInt64) -> UInt64:
    """Make one digest a row of the digests of its values, in their order."""
    state = start
    for of_values in digests:
        state = mix(state ^ of_values)
    return state
