"""Weights of rows as integers, and how they are shared between focal sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.kernels.arrays import MASS_BITS, MASS_MASK, MASS_ONE, WEIGHT_ONE

if TYPE_CHECKING:
    from solah.kernels.arrays import Float, Int64, Labels

# What rows may weigh, so that no sum of weights leaves the bounds of supports.
LEAST_ROW, MOST_ROW = 1e-100, 1e100


def split_weights(labels: Labels, weights: Int64) -> tuple[Int64, tuple[Int64, Int64]]:
    """Share weights between the lower focal sets of labels and the sets above them."""
    upper = (weights * (labels & MASS_MASK).astype(np.int64) + (MASS_ONE >> 1)) >> MASS_BITS
    return (labels >> MASS_BITS).astype(np.int64), (weights - upper, upper)


def integer_weights(weights: Float) -> tuple[Int64, float]:
    """Scale weights to integers of at most ``WEIGHT_ONE``; return them and the size of one unit.

    The scale is a power of two, so that a row of weight two weighs exactly two rows. Where all
    weights are the same, it is that weight, so that such weights change nothing.
    """
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"sample_weight must be finite and not negative. Got {weights[row]} in row {row + 1}."
        )
    heaviest = float(weights.max())
    if not LEAST_ROW < heaviest < MOST_ROW:
        raise DataError(
            "the heaviest row (sample_weight times class_weight) must weigh between "
            f"{LEAST_ROW:g} and {MOST_ROW:g}. Got {heaviest:g}."
        )
    mantissa, exponent = math.frexp(heaviest)
    exponent -= mantissa == 0.5  # a power of two needs no room above itself
    is_constant = heaviest == float(weights[weights > 0].min())
    unit = (heaviest if is_constant else math.ldexp(1.0, exponent)) / WEIGHT_ONE
    return np.rint(weights / unit).astype(np.int64), unit
