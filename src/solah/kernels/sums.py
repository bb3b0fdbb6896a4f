"""Sums of numbers that depend neither on their order nor on their partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from solah.kernels.arrays import Float, Int64

_PARTS = 2.0**20


def exact_sum(values: Float) -> Int64:
    """Sum numbers that are not negative, as whole numbers and parts of ``2**-20``.

    Such sums add up to those of all numbers, in any order.
    """
    wholes = np.floor(values)
    rest = np.rint((values - wholes) * _PARTS)
    return np.array([wholes.astype(np.int64).sum(), rest.astype(np.int64).sum()])


def mixture(shares: Float, lines: Float) -> Float:
    """Return the weighted sum of lines, added from first to last.

    A matrix product adds in an order that depends on the processor. Model files, exported code
    and their hashes must not.
    """
    total = np.zeros(lines.shape[1:])
    for share, line in zip(shares, lines, strict=True):
        total = total + share * line
    return total


def whole_and_parts(summed: Int64) -> float:
    """Return the sum that ``exact_sum`` found."""
    return float(summed[0]) + float(summed[1]) / _PARTS


def negative_log(likelihood: Float) -> Float:
    """Return the negative logarithm of likelihoods; finite for what was thought impossible."""
    return np.asarray(-np.log(np.clip(likelihood, np.finfo(np.float64).eps, 1.0)))
