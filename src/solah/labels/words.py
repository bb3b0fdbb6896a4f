"""The words of a feature, given by users or by default, and where their peaks are placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np

from solah.exceptions import DataError, did_you_mean
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model.features import numbered_words
from solah.model.limits import LEAST_GAP, MOST_NUMBER, are_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64


MAX_WORDS = (MAX_FOCAL_SETS + 1) // 2

WordsByHand = Mapping[str, float] | Sequence[str] | tuple[Sequence[str], Sequence[float]]

_NAMES = {
    1: ("any",),
    2: ("low", "high"),
    3: ("low", "medium", "high"),
    4: ("low", "medium-low", "medium-high", "high"),
    5: ("very low", "low", "medium", "high", "very high"),
    6: ("very low", "low", "medium-low", "medium-high", "high", "very high"),
    7: ("very low", "low", "medium-low", "medium", "medium-high", "high", "very high"),
}


@dataclass(frozen=True)
class WordPlan:
    """How to describe one feature: its words, and their peaks where the user gave them.

    ``names`` is missing when the default names of ``n_words`` (or fewer, where the data have fewer
    distinct values) will do.
    """

    n_words: int
    names: tuple[str, ...] | None = None
    peaks: tuple[float, ...] | None = None


def default_names(n_words: int) -> tuple[str, ...]:
    """Name overlapping words from low to high, as one word each."""
    return tuple(name.replace(" ", "-") for name in plain_names(n_words))


def plain_names(n_words: int) -> tuple[str, ...]:
    """Name words with cores from low to high; rules print more than seven as ranges.

    Examples
    --------
    >>> plain_names(4)
    ('low', 'medium-low', 'medium-high', 'high')
    >>> plain_names(9)[:2]
    ('w1', 'w2')
    """
    return _NAMES.get(n_words) or numbered_words(n_words)


def plan_words(
    columns: Iterable[str],
    n_words: int | Mapping[str, int] | None,
    given: Mapping[str, WordsByHand] | None,
    default: int = 3,
) -> dict[str, WordPlan]:
    """Return how many words each column gets, and which; with None, one unless users gave some."""
    columns = list(columns)
    given = given or {}
    counts = n_words if isinstance(n_words, Mapping) else {}
    for parameter, names in (("n_words", counts), ("words", given)):
        for name in names:
            if name not in columns:
                raise DataError(
                    f"'{parameter}' names the column {name!r}, which the data lack"
                    f"{did_you_mean(name, columns)}"
                )
    usual = default if isinstance(n_words, Mapping) else n_words
    plans = {name: _given_plan(name, words) for name, words in given.items()}
    for name in columns:
        if name in plans:
            continue
        number = counts.get(name, usual)
        is_proper = isinstance(number, Integral) and not isinstance(number, bool)
        if number is not None and not (is_proper and 1 < number <= MAX_WORDS):
            raise DataError(
                f"'n_words' must be from 2 to {MAX_WORDS}. Got {number!r} for column {name!r}."
            )
        plans[name] = WordPlan(1 if number is None else int(number))
    return plans


def _given_plan(column: str, given: object) -> WordPlan:
    """Read the three forms: names; names with word peaks; names with the peaks of all sets."""
    names, peaks = _names_and_peaks(column, given)
    proper = all(isinstance(name, str) and name for name in names)
    if not proper or len(set(names)) != len(names) or not 2 <= len(names) <= MAX_WORDS:
        raise DataError(
            f"the words of column {column!r} must be from 2 to {MAX_WORDS} different texts. "
            f"Got {list(names)}."
        )
    if peaks is None:
        return WordPlan(len(names), tuple(names))
    if not all(isinstance(peak, Real) for peak in peaks):
        raise DataError(f"the peaks of column {column!r} must be numbers. Got {list(peaks)}.")
    numbers = tuple(float(cast("float", peak)) for peak in peaks)
    if len(numbers) == len(names):  # the peak of two neighbouring words is midway between theirs
        pairs = pairwise(numbers)
        numbers = (*(p for low, high in pairs for p in (low, (low + high) / 2)), numbers[-1])
    if len(numbers) != 2 * len(names) - 1:
        raise DataError(
            f"column {column!r} has {len(names)} words, so it needs {len(names)} peaks (one per "
            f"word) or {2 * len(names) - 1} (one per focal set). Got {len(numbers)}."
        )
    if not are_apart(numbers):
        raise DataError(
            f"the peaks of column {column!r} must increase, by {LEAST_GAP:g} at least. "
            f"Got {list(numbers)}."
        )
    if not all(abs(number) <= MOST_NUMBER for number in numbers):
        raise DataError(
            f"the peaks of column {column!r} must be from {-MOST_NUMBER:g} to {MOST_NUMBER:g}. "
            f"Got {list(numbers)}."
        )
    return WordPlan(len(names), tuple(names), numbers)


def _names_and_peaks(column: str, given: object) -> tuple[Sequence[str], Sequence[object] | None]:
    if isinstance(given, Mapping):
        return list(given), list(given.values())
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) == 2 and all(isinstance(part, list | tuple) for part in given):
            return given[0], given[1]
        return given, None
    raise DataError(
        f"the words of column {column!r} must be a list of names, a mapping of names to peaks, or "
        f"a pair of names and peaks. Got {given!r}."
    )


Placement = Literal["uniform", "quantile"]


class Numbers(Protocol):
    """What must be known of numbers to place words on them."""

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None where there is none."""

    def quantiles(self, n_parts: int) -> Float:
        """Return the numbers that cut the weight into equal parts, the outermost included."""


@dataclass(frozen=True, eq=False)
class NumbersAtHand:
    """Known numbers, and their weights where these differ.

    Results have no negative zero, since which of two equal numbers comes first is chance.
    """

    values: NDArray[np.floating]
    weights: Int64 | None = None

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None where there is none."""
        if not len(self.values):
            return None
        return float(self.values.min()) + 0.0, float(self.values.max()) + 0.0

    def quantiles(self, n_parts: int) -> Float:
        """Return the numbers that cut the weight into equal parts, the outermost included."""
        return weighted_quantiles(self.values, self.weights, n_parts) + 0.0


def place_peaks(numbers: Numbers, n_words: int, placement: Placement) -> tuple[float, ...]:
    """Place ``2 * n_words - 1`` peaks over numbers, or fewer where they coincide."""
    span = numbers.span
    if span is None:
        return (0.0,)
    if placement == "uniform":
        return uniform_peaks(*span, n_words)
    return merge_peaks(numbers.quantiles(2 * n_words - 2))


def check_span(what: str, numbers: Numbers) -> tuple[float, float]:
    """Return the range of numbers; refuse one that is too wide or too narrow for a document."""
    low, high = numbers.span or (0.0, 0.0)
    if max(-low, high) > MOST_NUMBER:
        raise DataError(
            f"{what} has {high if high > -low else low:g}, and numbers may go from "
            f"{-MOST_NUMBER:g} to {MOST_NUMBER:g}; scale it down"
        )
    if 0 < high - low < LEAST_GAP:
        raise DataError(
            f"{what} spans {high - low:g} only, and words need {LEAST_GAP:g} at least; scale it up"
        )
    return low, high


def uniform_peaks(low: float, high: float, n_words: int) -> tuple[float, ...]:
    """Place peaks at equal distances over a range."""
    return merge_peaks(np.linspace(low, high, 2 * n_words - 1))


def weighted_quantiles(values: NDArray[np.floating], weights: Int64 | None, n_parts: int) -> Float:
    """Return the values that cut the weight into equal parts, the smallest and largest included.

    Each is one of the values, found by integer arithmetic, so that a row of weight two counts
    exactly as two rows, and neither the order of the rows nor their partition matters.
    """
    ranks = quantile_ranks(len(values) if weights is None else int(weights.sum()), n_parts)
    if weights is None:
        return np.asarray(np.partition(values, ranks - 1)[ranks - 1], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    places = np.searchsorted(np.cumsum(weights[order]), ranks, side="left")
    return np.asarray(values[order[places]], dtype=np.float64)


def quantile_ranks(total: int, n_parts: int) -> Int64:
    """Return the weight at or before each quantile, at least 1."""
    return np.array([max(1, -(-part * total // n_parts)) for part in range(n_parts + 1)])


def merge_peaks(peaks: Float) -> tuple[float, ...]:
    """Make peaks increase: words whose peaks coincide become one.

    A pair's peak that falls on one of its words' moves midway between the two, so that a word
    is lost only where there is no room for it.
    """
    merged = [float(peaks[0])]
    for pair, word in zip(peaks[1::2], peaks[2::2], strict=True):
        low, high = merged[-1], float(word)
        middle = float(pair) if are_apart((low, pair, high)) else low + (high - low) / 2
        if are_apart((low, middle, high)):
            merged += [middle, high]
    return tuple(merged)
