"""Training rows as integers: labels, goals and weights, and the counts that training sums up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.kernels.arrays import MASS_BITS, MASS_MASK, MASS_ONE, WEIGHT_ONE
from solah.kernels.choose import kernel, map_slices

if TYPE_CHECKING:
    from solah.kernels.arrays import Described, Float, FocalSets, Int32, Int64, Labels, TreeShape

# What rows may weigh, so that no sum of weights leaves the bounds of supports.
LEAST_ROW, MOST_ROW = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows ready for growth.

    Attributes
    ----------
    inputs : readings, and beliefs of trees below, described by focal sets
    goals : (n_rows,) the goal, labelled in the same way
    weights : (n_rows,) at most ``WEIGHT_ONE``
    sets : the attributes' focal sets
    n_goals : how many goal sets there are
    n_threads : how many threads count
    """

    inputs: Described
    goals: Labels
    weights: Int64
    sets: FocalSets
    n_goals: int
    n_threads: int = 1

    def goal_weights(self) -> Int64:
        """Sum the weights by goal."""
        lower, shares = split_weights(self.goals, self.weights)
        sums = np.zeros(self.n_goals + 1, dtype=np.int64)
        for place, share in enumerate(shares):
            np.add.at(sums, lower + place, share)
        return sums[:-1]

    def count(self, tree: TreeShape, slots: Int32) -> Int64:
        """Sum the weights at the leaves that have a slot: ``(slot, attribute's bin, goal)``.

        Integers are summed, so the result does not depend on rows' order, threads or kernel.
        """
        shape = (int(slots.max()) + 1, int(self.sets.bins[-1]), self.n_goals)
        accumulate = kernel().accumulate

        def count_part(rows: slice) -> Int64:
            counts = np.zeros(shape, dtype=np.int64)
            accumulate(
                self.inputs.rows(rows),
                self.goals[rows],
                self.weights[rows],
                self.sets,
                tree,
                slots,
                counts,
            )
            return counts

        first, *others = map_slices(count_part, len(self.inputs), self.n_threads)
        for counts in others:
            first += counts
        return first


def split_weights(labels: Labels, weights: Int64) -> tuple[Int64, tuple[Int64, Int64]]:
    """Share weights between the lower focal sets of labels and the sets above them."""
    upper = (weights * (labels & MASS_MASK).astype(np.int64) + (MASS_ONE >> 1)) >> MASS_BITS
    return (labels >> MASS_BITS).astype(np.int64), (weights - upper, upper)


def integer_weights(weights: Float) -> tuple[Int64, float]:
    """Scale weights to integers of at most ``WEIGHT_ONE``; return them and the size of one unit.

    The scale is a power of two, so that a row of weight two weighs exactly two rows.
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
    unit = math.ldexp(1.0, exponent) / WEIGHT_ONE
    return np.rint(weights / unit).astype(np.int64), unit
