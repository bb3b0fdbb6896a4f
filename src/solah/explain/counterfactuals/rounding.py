"""Tells which readings are whole numbers, and rounds readings to few digits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from solah.model.attributes import Attribute

N_ROUNDINGS = 13
_FEWEST_DIGITS = 2
# Beyond, powers of ten with the digits above them would not be floats.
_MOST_SCALE = 290


def has_whole_numbers(attribute: Attribute) -> bool:
    """Return whether the training values of an attribute were whole numbers, as far as visible.

    The ends of its range are whole, with whole numbers between them, and so are the edges of its
    words, which are values of training rows unless they divide the range evenly.
    """
    low, high, edges = attribute.low, attribute.high, attribute.peaks
    if low is None or high is None or not high - low > 1:
        return False
    values = () if np.allclose(edges, np.linspace(low, high, len(edges))) else edges
    return all(float(number).is_integer() for number in (low, high, *values))


def rounded_outward(value: float, *, upward: bool, span: float, whole: bool = False) -> list[float]:
    """Round a number away from where it came from, with more and more digits.

    Parameters
    ----------
    value : what to round
    upward : whether it was reached by going up
    span : the range of such numbers, which sets what a coarse step is
    whole : whether to round to whole numbers only

    Examples
    --------
    >>> rounded_outward(13.12345, upward=True, span=4.0)[:3]
    [13.13, 13.124, 13.1235]
    """
    scale = math.floor(math.log10(span)) if 0 < span < math.inf else 0
    scale = min(max(scale, -_MOST_SCALE), _MOST_SCALE)
    outward = math.ceil if upward else math.floor
    rounded = []
    for extra in range(N_ROUNDINGS):
        digits = _FEWEST_DIGITS - scale + extra
        digits = min(digits, 0) if whole else digits
        steps = value * 10.0**digits
        number = outward(steps) / 10.0**digits if math.isfinite(steps) else value
        rounded.append(round(number, digits))
    return rounded
