"""Where words apply, in as few digits as distinguish their edges."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from solah.data.spelling import spell_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Ends = tuple[float, float]

# How far an edge may be moved by rounding, as a share of the way to the next one.
_MOST_MOVED = 0.02
_MOST_DIGITS = 17


@dataclass(frozen=True)
class WordRange:
    """Where a word describes an attribute: fully, and at least partly.

    Attributes
    ----------
    word : the word
    fully, partly : the ends of both ranges; infinite where open
    text : both ranges as rules and reports print them
    """

    word: str
    fully: Ends
    partly: Ends
    text: str = field(default="", compare=False)

    def outline(self, low: float, high: float) -> list[Ends]:
        """Return the corners of the word's shape: readings from low to high, and how far it fits.

        Examples
        --------
        >>> WordRange("small", (-math.inf, 2.0), (-math.inf, 3.0)).outline(0.0, 9.0)
        [(0.0, 1.0), (2.0, 1.0), (3.0, 0.0)]
        """
        (rise, gone), (full, fall) = self.partly, self.fully
        left = [(low, 1.0)] if math.isinf(full) else [(rise, 0.0), (full, 1.0)]
        right = [(high, 1.0)] if math.isinf(fall) else [(fall, 1.0), (gone, 0.0)]
        return list(dict.fromkeys(left + right))  # a core may be a point

    def __str__(self) -> str:
        return f"{self.word}: {self.text}"


def overlapping_ranges(words: Sequence[str], peaks: Sequence[float]) -> tuple[WordRange, ...]:
    """Return where words apply that overlap, given the peaks of their focal sets."""
    ends = (-math.inf, -math.inf, *peaks, math.inf, math.inf)
    places = range(0, 2 * len(words), 2)
    fully = [(ends[i + 1], ends[i + 3]) for i in places]
    partly = [(ends[i], ends[i + 4]) for i in places]
    return _spelt(words, fully, partly, {edge: spell_number(edge) for edge in peaks})


def cored_ranges(words: Sequence[str], cores: Sequence[Ends], span: float) -> tuple[WordRange, ...]:
    """Return where words with cores apply.

    Texts round the edges of cores to the fewest digits that move none by more than 2% of the way
    to the next, so a reader sees the ramps between words as they are.

    Parameters
    ----------
    words : sequence of str
    cores : sequence of (low, high)
    span : float
        The width of the attribute's range.
    """
    edges = sorted({end for core in cores for end in core if math.isfinite(end)})
    rounded = zip(edges, rounded_edges(edges, span) if edges else (), strict=True)
    before = (-math.inf, *(high for _, high in cores[:-1]))
    after = (*(low for low, _ in cores[1:]), math.inf)
    partly = list(zip(before, after, strict=True))
    return _spelt(words, cores, partly, {edge: spell_number(one, 15) for edge, one in rounded})


def _spelt(
    words: Sequence[str],
    fully: Sequence[Ends],
    partly: Sequence[Ends],
    texts: Mapping[float, str],
) -> tuple[WordRange, ...]:
    if len(words) == 1:
        return (WordRange(words[0], fully[0], partly[0], "everywhere"),)
    return tuple(
        WordRange(*one, f"fully {_interval(one[1], texts)}, partly {_interval(one[2], texts)}")
        for one in zip(words, fully, partly, strict=True)
    )


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


def _interval(ends: Ends, texts: Mapping[float, str]) -> str:
    low, high = ends
    if low == high:
        return f"at {texts[low]}"
    if math.isinf(low):
        return f"up to {texts[high]}"
    return f"from {texts[low]}" if math.isinf(high) else f"from {texts[low]} to {texts[high]}"
