"""Sums that are the same on every processor, and logarithms that stay finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from solah.kernels.arrays import Float


def mixture(shares: Float, lines: Float) -> Float:
    """Return the weighted sum of lines, added from first to last.

    A matrix product adds in an order that depends on the processor. Model files, exported code
    and their hashes must not.
    """
    total = np.zeros(lines.shape[1:])
    for share, line in zip(shares, lines, strict=True):
        total = total + share * line
    return total


def negative_log(likelihood: Float) -> Float:
    """Return the negative logarithm of likelihoods; finite for what was thought impossible."""
    return np.asarray(-np.log(np.clip(likelihood, np.finfo(np.float64).eps, 1.0)))
