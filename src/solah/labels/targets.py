"""Targets of learning: the classes or numbers of all rows, and their weights as integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.digests import digest_texts
from solah.data.spelling import spell
from solah.exceptions import DataError
from solah.kernels.arrays import MASS_BITS, MASS_MASK, MASS_ONE, WEIGHT_ONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.model import Target


@dataclass(frozen=True, eq=False)
class TargetFacts:
    """The target, and what all rows weigh together.

    Attributes
    ----------
    target : its name and states
    classes : (n_classes,) the classes as the user gave them
    sums : (n_classes,) the weight of each class in all rows, in integers
    weight_unit : how much one of them weighs
    """

    target: Target
    classes: NDArray[Any]
    sums: Int64
    weight_unit: float

    @property
    def prior(self) -> tuple[float, ...]:
        """The share of each class in the weights."""
        shares: list[float] = (self.sums.astype(np.float64) / float(self.sums.sum())).tolist()
        return tuple(shares)


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """The classes of rows, and their weights.

    Attributes
    ----------
    target : its name and states
    classes : (n_classes,) the classes as the user gave them
    codes : (n_rows,) each row's place among the classes
    weights : (n_rows,) integers of at most ``WEIGHT_ONE``
    weight_unit : how much one of them weighs
    """

    target: Target
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    weights: Int64
    weight_unit: float

    @cached_property
    def facts(self) -> TargetFacts:
        """What all rows weigh together."""
        sums = np.zeros(len(self.classes), dtype=np.int64)
        np.add.at(sums, self.codes, self.weights)
        return TargetFacts(self.target, self.classes, sums, self.weight_unit)

    @property
    def labels(self) -> Labels:
        """The target of each row, labelled like a reading."""
        return np.asarray(self.codes << MASS_BITS, dtype=np.uint32)

    @property
    def digests(self) -> UInt64:
        """What each row's class is, as a number that looks random."""
        return digest_classes(self.target)[self.codes]

    def take(self, rows: NDArray[np.intp], weights: Int64) -> ClassTarget:
        """Return the target of some rows, which have other weights in the same unit."""
        integers, unit = integer_weights(weights.astype(np.float64) * self.weight_unit)
        return replace(self, codes=self.codes[rows], weights=integers, weight_unit=unit)


@dataclass(frozen=True, eq=False)
class NumberTarget(ClassTarget):
    """The numbers of rows, described with words; their classes are focal sets.

    Attributes
    ----------
    described : (n_rows,) each row's number, labelled like a reading
    """

    described: Labels

    @classmethod
    def of(cls, target: Target, labels: Labels, weights: Int64, weight_unit: float) -> NumberTarget:
        """Take each number's lower focal set for its class."""
        sets = np.arange(target.size)
        codes = (labels >> MASS_BITS).astype(np.intp)
        return cls(target, sets, codes, weights, weight_unit, labels)

    @property
    def labels(self) -> Labels:
        """The target of each row, labelled like a reading."""
        return self.described

    @cached_property
    def facts(self) -> TargetFacts:
        """What all rows weigh together."""
        lower, shares = split_weights(self.described, self.weights)
        sums = np.zeros(self.target.size + 1, dtype=np.int64)
        for place, share in enumerate(shares):
            np.add.at(sums, lower + place, share)
        return TargetFacts(self.target, self.classes, sums[:-1], self.weight_unit)


def digest_classes(target: Target) -> UInt64:
    """Digest the classes of a target."""
    states = np.empty(target.size, dtype=object)
    states[:] = [spell(state) for state in target.classes]
    return digest_texts(states)


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
