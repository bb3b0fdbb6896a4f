"""Choose the unit in which a device reads a feature, from the peaks of its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from solah.kernels.arrays import Float

Integers = NDArray[np.int64]

UNKNOWN = -(2**31)
REACH = 2**15 - 2
"""Readings are clipped to this many units from the zero; a peak beyond is never reached."""
_MOST = 2**31 - 1
# Peaks that are so much farther from nothing than from each other get a zero of their own.
_FAR = 4.0
_LEAST = 1e-30
_MOST_COUNT_BITS = 16
_MOST_OF_COUNTS = 1e30


@dataclass(frozen=True)
class Counts:
    """The counts of an analog-digital converter: a value is ``offset + gain * count``.

    Attributes
    ----------
    bits : how many bits a count has, up to 16
    gain : what one count is worth
    offset : the value at the count 0
    """

    bits: int
    gain: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= _MOST_COUNT_BITS:
            raise ParameterError(f"an ADC must have 1 to 16 bits. Got {self.bits!r} instead.")
        if not 1 / _MOST_OF_COUNTS <= self.gain <= _MOST_OF_COUNTS or not (
            abs(self.offset) <= _MOST_OF_COUNTS
        ):
            raise ParameterError(
                "the gain of an ADC must be 1e-30 to 1e30, and its offset at most as far from 0. "
                f"Got {self.gain!r} and {self.offset!r} instead."
            )

    @property
    def unit(self) -> Unit:
        """How a count becomes an integer: as it is, from the middle of 16 bits on."""
        return Unit(0, 2**15 if self.bits == _MOST_COUNT_BITS else 0, counts=self)


@dataclass(frozen=True)
class Unit:
    """How a reading becomes an integer: times two to the power of ``bits``, rounded.

    Attributes
    ----------
    bits : the power of two; below 0 for large readings
    zero : what is taken off the integer, so that peaks fit into 16 bits
    is_code : whether the reading is the place of a state, which is taken as it is
    counts : where the reading is the count of an analog-digital converter, which is taken as it is
    """

    bits: int
    zero: int = 0
    is_code: bool = False
    counts: Counts | None = None

    @property
    def step(self) -> float:
        """What one unit is worth."""
        if self.counts is not None:
            return self.counts.gain
        return 1.0 if self.is_code else 2.0**-self.bits

    def value_of(self, relative: float) -> float:
        """Return the value of an integer that is counted from the zero on."""
        offset = 0.0 if self.counts is None else self.counts.offset
        return offset + (relative + self.zero) * self.step

    def quantise(self, values: Float) -> Integers:
        """Turn readings into integers, as ``solah_reading_of`` does; unknown ones into UNKNOWN.

        Halves are rounded up, and what does not fit into 32 bits becomes the nearest that does.
        """
        if self.counts is not None:
            with np.errstate(over="ignore"):
                values = (values - self.counts.offset) / self.counts.gain
        known = ~np.isnan(values)
        if self.is_code:
            known &= (values == np.floor(values)) & (np.abs(values) < 2**31)
        with np.errstate(over="ignore"):
            scaled = np.where(known, values, 0.0) * (1.0 if self.is_code else 2.0**self.bits)
        limited = np.clip(scaled, -_MOST, _MOST)
        whole = np.floor(limited)
        # Not the floor of the number plus a half: that sum may itself be rounded up.
        rounded = whole + (limited - whole >= 0.5)
        return np.where(known, rounded, UNKNOWN).astype(np.int64)

    def relative(self, peaks: Float) -> Integers:
        """Turn peaks into integers from the zero on."""
        return self.quantise(peaks) - self.zero

    def reaches(self, peaks: Float) -> NDArray[np.bool_]:
        """Find which peaks readings can reach."""
        return np.abs(self.relative(peaks)) <= REACH

    def clips(self, values: Float, peaks: Float) -> NDArray[np.bool_]:
        """Find which readings lie beyond reach, on a side where a peak does, too.

        Examples
        --------
        >>> Unit(bits=11).clips(np.array([14.0, 17.0, -17.0]), np.array([11.0, 14.8, 1e9]))
        array([False,  True, False])
        """
        if self.is_code:
            return np.zeros(len(values), dtype=np.bool_)
        numbers = self.quantise(values)
        far, ends = numbers - self.zero, self.relative(peaks[[0, -1]])
        is_beyond = ((far > REACH) & (ends[1] > REACH)) | ((far < -REACH) & (ends[0] < -REACH))
        return np.asarray(is_beyond & (numbers != UNKNOWN))


def choose_unit(peaks: Float, masses: Float) -> Unit:
    """Choose the unit of a reading that loses least of its memberships.

    A unit that reaches all peaks may be too coarse to distinguish most of them: one
    outlier in the training rows is enough, since the last word peaks there. Then readings are
    clipped before the first or the last peak, which is never reached.

    Parameters
    ----------
    peaks : ndarray of shape (n_sets,)
        Where the focal sets peak, in increasing order.
    masses : ndarray of shape (n_sets,)
        The mean masses of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> choose_unit(np.array([11.0, 14.8]), np.array([0.5, 0.5]))
    Unit(bits=11, zero=0, is_code=False, counts=None)
    >>> choose_unit(np.array([1013.2, 1013.9]), np.array([0.5, 0.5])).zero != 0
    True
    >>> choose_unit(np.array([11.0, 12.3, 14.8, 1e9]), np.array([0.4, 0.3, 0.29, 0.01]))
    Unit(bits=11, zero=0, is_code=False, counts=None)
    """
    last = len(peaks)
    reached = [slice(0, last)]
    if last > 2:
        reached += [slice(0, last - 1), slice(1, last)]
    if last > 3:
        reached.append(slice(1, last - 1))
    units = [_unit_reaching(peaks[part]) for part in reached]
    return min(units, key=lambda unit: _expected_error(unit, peaks, masses))


def largest_bits(largest: float) -> int:
    """Return the largest power of two that keeps a number within 16 bits."""
    return int(np.floor(np.log2(REACH / largest)))


def _unit_reaching(peaks: Float) -> Unit:
    """Return the finest unit in which all peaks have 16 bits."""
    low, high = float(peaks[0]), float(peaks[-1])
    # Halves, so that neither the largest numbers nor their sum overflow.
    half_span = max(high / 2 - low / 2, _LEAST)
    farthest = max(abs(low), abs(high), _LEAST)
    if farthest / 2 <= _FAR * half_span:
        return Unit(largest_bits(farthest))
    # A little less than 16 bits, since the zero is rounded, too.
    bits = min(largest_bits(1.0001 * half_span), largest_bits(farthest) + 15)
    return Unit(bits, int(np.floor((low / 2 + high / 2) * 2.0**bits + 0.5)))


def _expected_error(unit: Unit, peaks: Float, masses: Float) -> float:
    """Return about how far the memberships of a training row are off, on average."""
    reached = unit.reaches(peaks)
    lost = float(masses[~reached].sum())
    gaps = np.maximum(np.diff(peaks[reached] / 2), _LEAST)
    between = (masses[reached][:-1] + masses[reached][1:]) / 2
    return lost + float(between @ (np.minimum(unit.step / 8, gaps) / gaps))
