"""Writes where words apply, in units that people read, with as few digits as tell edges apart."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from solah.data.spelling import spell_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.attributes import Attribute

# How far an edge may be moved by rounding, as a share of the way to the next one.
_MOST_MOVED = 0.02
_MOST_DIGITS = 17


def spell_ranges(attribute: Attribute) -> list[tuple[str, str]]:
    """Write each word of a continuous attribute, and where it applies.

    The edges of cores are rounded to the fewest digits that move none by more than 2 % of the way
    to the next: the ramps between words stay as they are, for a reader. Nothing else is rounded so.

    Examples
    --------
    >>> from solah.model.attributes import cored_attribute
    >>> cores = [(-math.inf, 0.8599999), (0.9412, math.inf)]
    >>> distance = cored_attribute("distance", ("short", "long"), cores, (0.5, 0.5), 0.1, 5.0)
    >>> spell_ranges(distance)[0]
    ('short', 'fully up to 0.86, partly up to 0.94')
    """
    if not attribute.cores:
        return [
            (one.word, str(one).removeprefix(f"{one.word}: ")) for one in attribute.word_ranges()
        ]
    span = (attribute.high or 0.0) - (attribute.low or 0.0)
    rounded = dict(zip(attribute.peaks, rounded_edges(attribute.peaks, span), strict=True))
    return [
        (
            one.word,
            f"fully {_interval(one.fully, rounded)}, partly {_interval(one.partly, rounded)}",
        )
        if len(attribute.words) > 1
        else (one.word, "everywhere")
        for one in attribute.word_ranges()
    ]


def rounded_edges(edges: Sequence[float], span: float = 0.0) -> list[float]:
    """Round increasing numbers to the fewest digits that move none far towards the next one.

    Parameters
    ----------
    edges : sequence of float
    span : float, default=0.0
        The range that a single one stands in.

    Examples
    --------
    >>> rounded_edges([0.8599999, 0.9400001, 12.3456, 1234.56])
    [0.86, 0.94, 12.3, 1230.0]
    """
    gaps = [math.inf, *(after - before for before, after in pairwise(edges)), math.inf]
    nearest = [min(both) for both in pairwise(gaps)]
    return [
        _rounded(edge, _MOST_MOVED * (gap if math.isfinite(gap) else abs(span)))
        for edge, gap in zip(edges, nearest, strict=True)
    ]


def _rounded(number: float, most_moved: float) -> float:
    first = -math.floor(math.log10(abs(number))) if number else 0
    for digits in range(first, first + _MOST_DIGITS):
        rounded = round(number, digits)
        if abs(rounded - number) <= most_moved:
            return rounded
    return number


def _interval(ends: tuple[float, float], rounded: dict[float, float]) -> str:
    low, high = (spell_number(rounded.get(end, end), 15) for end in ends)
    if ends[0] == ends[1]:
        return f"at {low}"
    if math.isinf(ends[0]):
        return f"up to {high}"
    return f"from {low}" if math.isinf(ends[1]) else f"from {low} to {high}"
