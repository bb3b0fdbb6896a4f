"""Writes readings as people read them: states by name, numbers with few digits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from solah.data.spelling import spell

if TYPE_CHECKING:
    from solah.data import State
    from solah.model.attributes import Attribute

N_ROUNDINGS = 13
_FEWEST_DIGITS = 2
# Beyond, powers of ten with the digits above them would not be floats.
_MOST_SCALE = 290


def as_read(attribute: Attribute, number: float) -> State:
    """Return what a number stands for: itself, or a state of the attribute."""
    if attribute.is_continuous or number not in attribute.peaks:
        return number
    return attribute.states[attribute.peaks.index(number)]


def spell_reading(reading: State | None) -> str:
    """Write a reading with six digits at most, a state as it is, and nothing as unknown."""
    if reading is None:
        return "unknown"
    return f"{reading:.6g}" if isinstance(reading, float) else spell(reading)


def rounded_outward(value: float, *, upward: bool, span: float) -> list[float]:
    """Round a number away from where it came from, with more and more digits.

    Parameters
    ----------
    value : what to round
    upward : whether it was reached by going up
    span : the range of such numbers, which sets what a coarse step is

    Examples
    --------
    >>> rounded_outward(13.12345, upward=True, span=4.0)[:3]
    [13.13, 13.124, 13.1235]
    """
    scale = math.floor(math.log10(span)) if 0 < span < math.inf else 0
    scale = min(max(scale, -_MOST_SCALE), _MOST_SCALE)
    outward = math.ceil if upward else math.floor
    rounded = []
    for digits in range(_FEWEST_DIGITS - scale, _FEWEST_DIGITS - scale + N_ROUNDINGS):
        steps = value * 10.0**digits
        whole = outward(steps) / 10.0**digits if math.isfinite(steps) else value
        rounded.append(round(whole, digits))
    return rounded
