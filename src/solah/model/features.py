"""Features: their words, the focal sets of these, and the ranges where words apply."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Kind
from solah.data.spelling import spell_number
from solah.kernels.arrays import FocalSets
from solah.kernels.sums import mixture
from solah.model.limits import are_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import State

    Ends = tuple[float, float]


# How far an edge may be moved by rounding, as a share of the way to the next one.
_MOST_MOVED = 0.02
_MOST_DIGITS = 17


@dataclass(frozen=True)
class WordRange:
    """Where a word describes a feature: fully, and at least partly.

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
        The width of the feature's range.
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
    ranges = zip(words, fully, partly, strict=True)
    return tuple(WordRange(*one, _range_text(one[1], one[2], texts)) for one in ranges)


def _range_text(fully: Ends, partly: Ends, texts: Mapping[float, str]) -> str:
    (low, high), (start, stop) = fully, partly
    if math.isinf(low) and math.isinf(high):
        return "all values"
    if math.isinf(low):
        return f"up to {texts[high]}, fading out by {texts[stop]}"
    if math.isinf(high):
        return f"from {texts[low]}, fading in from {texts[start]}"
    core = f"at {texts[low]}" if low == high else f"{texts[low]} to {texts[high]}"
    return f"{core}, fading in from {texts[start]} and out by {texts[stop]}"


def rounded_edges(edges: Sequence[float], span: float = 0.0) -> list[float]:
    """Round increasing numbers to the fewest digits that move none far towards the next one.

    Parameters
    ----------
    edges : sequence of float
    span : float, default=0.0
        The range of a single one.

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


def numbered_words(n_words: int) -> tuple[str, ...]:
    """Return names for words that have none: ``w1``, ``w2`` and so on."""
    return tuple(f"w{number}" for number in range(1, n_words + 1))


@dataclass(frozen=True)
class Feature:
    """A feature described with words.

    Attributes
    ----------
    name : the column's name
    kind : continuous, binary, categorical or ordinal
    words : the words, from low to high; one per state for a discrete feature
    peaks : where each focal set has all the mass. A continuous feature with ``n`` words has
        the ``2n - 1`` sets {w1} {w1, w2} {w2} … {wn}; a discrete one has one singleton per word;
        one with ``cores`` has a singleton of the word for each finite end of its core
    mean_masses : the masses of a missing value: the training rows' mean
    categories : the values behind a discrete feature's words
    low, high : the range of a continuous feature's training values
    tree : the tree whose belief the words describe; None for a feature that is measured
    place : the class, by number, that the belief is in
    cores : the intervals in which each word of a continuous feature describes a reading fully;
        between two of them, memberships go over linearly. None if words overlap instead
    parted_at : where a tree asks only in which part a reading is: the first word of each part but
        the lowest, by its number; none for a feature that is not parted
    is_moved : whether a person moved the words after rows were counted, or those that a tree
        decides by whose belief this is: supports, shares and ``mean_masses`` are those from before
    """

    name: str
    kind: Kind
    words: tuple[str, ...]
    peaks: tuple[float, ...]
    mean_masses: tuple[float, ...]
    categories: tuple[State, ...] = ()
    low: float | None = None
    high: float | None = None
    tree: str | None = None
    place: int = 0
    cores: tuple[tuple[float, float], ...] = ()
    parted_at: tuple[int, ...] = ()
    is_moved: bool = False

    @property
    def origin(self) -> str:
        """The name of the column or tree that the feature comes from."""
        return self.name if self.tree is None else self.tree

    @property
    def is_continuous(self) -> bool:
        """Whether neighbouring words overlap."""
        return self.kind is Kind.CONTINUOUS

    @property
    def is_ordered(self) -> bool:
        """Whether the focal sets have an order, from low to high."""
        return self.kind in (Kind.CONTINUOUS, Kind.ORDINAL)

    @cached_property
    def is_coded(self) -> bool:
        """Whether a value is looked up among the categories rather than measured."""
        return not (self.is_continuous or _measured(self.kind, self.categories))

    @property
    def n_focal_sets(self) -> int:
        """How many focal sets describe the feature."""
        return len(self.peaks)

    @property
    def n_paper_edges(self) -> int:
        """How many edges the paper counts for a split: 2n - 1, also where the pairs are empty."""
        return 2 * len(self.words) - 1

    @cached_property
    def focal_sets(self) -> tuple[tuple[str, ...], ...]:
        """The focal sets as tuples of words, in the order of ``peaks``."""
        singletons = [(word,) for word in self.words]
        if self.cores:
            return tuple(singletons[place] for place in self.set_words)
        if not self.is_continuous:
            return tuple(singletons)
        between = [
            part for both in zip(singletons, pairwise(self.words), strict=False) for part in both
        ]
        return (*between, singletons[-1])

    @cached_property
    def set_words(self) -> tuple[int, ...]:
        """The place of the word of each focal set, for words with cores; none for others."""
        return tuple(place for place, core in enumerate(self.cores) for _ in _core_peaks(core))

    def word_ranges(self) -> tuple[WordRange, ...]:
        """Return where each word applies; nothing for categories, which have no ranges.

        Examples
        --------
        >>> cores = [(-np.inf, 0.8599999), (0.9412, np.inf)]
        >>> distance = cored_feature("distance", ("short", "long"), cores, (0.5, 0.5), 0.1, 5.0)
        >>> print(distance.word_ranges()[0])
        short: up to 0.86, fading out by 0.94
        """
        if not self.is_continuous:
            return ()
        if not self.cores:
            return overlapping_ranges(self.words, self.peaks)
        return cored_ranges(self.words, self.cores, self._span)

    @property
    def _span(self) -> float:
        return (self.high or 0.0) - (self.low or 0.0)

    @cached_property
    def shown_words(self) -> tuple[str, ...]:
        """The words as rules print them: numbered ones as ranges.

        Examples
        --------
        >>> cores = [(-np.inf, 1.0), (2.0, 3.0), (5.0, np.inf)]
        >>> cored_feature("size", ("w1", "w2", "w3"), cores, (0.25,) * 4, 0.0, 9.0).shown_words
        ('below 1.5', '1.5 to 4', 'above 4')
        """
        if not self.cores or len(self.words) < 2 or self.words != numbered_words(len(self.words)):
            return self.words
        return tuple(self.range_between(place, place) for place in range(len(self.words)))

    def range_between(self, first: int, last: int) -> str:
        """Write where words with cores, from one to another, fit better than all others.

        The range ends at the crossovers, where neighbouring words fit equally.

        Examples
        --------
        >>> cores = [(-np.inf, 1.0), (2.0, 3.0), (5.0, np.inf)]
        >>> feature = cored_feature("size", ("s", "m", "l"), cores, (0.25,) * 4, 0.0, 9.0)
        >>> feature.range_between(0, 1), feature.range_between(1, 1), feature.range_between(1, 2)
        ('below 4', '1.5 to 4', 'above 1.5')
        """
        ends = [spell_number(one, 15) for one in self.crossovers]
        is_first, is_last = first == 0, last == len(self.words) - 1
        if is_first:
            return "anything" if is_last else f"below {ends[last]}"
        return f"above {ends[first - 1]}" if is_last else f"{ends[first - 1]} to {ends[last]}"

    @cached_property
    def crossovers(self) -> list[float]:
        """Where neighbouring words with cores fit equally, rounded as cores are."""
        pairs = pairwise(self.cores)
        # Halves first: the sum of two large numbers may be too large.
        middles = [low[1] / 2 + high[0] / 2 for low, high in pairs]
        return rounded_edges(middles, self._span) if middles else []


def cored_feature(
    name: str,
    words: tuple[str, ...],
    cores: Sequence[tuple[float, float]],
    mean_masses: tuple[float, ...],
    low: float,
    high: float,
) -> Feature:
    """Describe a measured feature with words that have cores.

    Parameters
    ----------
    name : str
    words : tuple of str
        From low to high.
    cores : sequence of (low, high)
        The interval in which each word describes a reading fully. They increase; the first begins
        at minus infinity and the last ends at infinity. Between two, memberships go over linearly.
    mean_masses : tuple of float
        The masses of a missing value, one for each finite end of a core: a core of a single
        point has one end, and a single word, which applies everywhere, one mass.
    low, high : float
        The range of the training values.

    Examples
    --------
    >>> words = ("short", "medium", "long")
    >>> cores = [(-np.inf, 1.0), (2.0, 3.0), (5.0, np.inf)]
    >>> distance = cored_feature("distance", words, cores, (0.25,) * 4, 0.0, 9.0)
    >>> distance.peaks, distance.set_words
    ((1.0, 2.0, 3.0, 5.0), (0, 1, 1, 2))
    >>> print(*distance.word_ranges(), sep="; ")
    short: up to 1, fading out by 2; medium: 2 to 3, fading in from 1 and out by 5; \
long: from 5, fading in from 3
    """
    cores = tuple((float(start), float(end)) for start, end in cores)
    return Feature(
        name=name,
        kind=Kind.CONTINUOUS,
        words=words,
        peaks=tuple(peak for core in cores for peak in _core_peaks(core)),
        mean_masses=mean_masses,
        low=low,
        high=high,
        cores=cores,
    )


def parted_feature(feature: Feature, starts: Sequence[int]) -> Feature:
    """Part a feature whose words have cores, for a tree that asks only for the part.

    Parameters
    ----------
    feature : Feature
    starts : sequence of int
        The number of the first word of each part but the lowest, ascending, from 1 on.

    Examples
    --------
    >>> cores = [(-np.inf, 1.0), (2.0, 3.0), (5.0, np.inf)]
    >>> words = ("short", "medium", "long")
    >>> distance = cored_feature("distance", words, cores, (0.4, 0.2, 0.1, 0.3), 0.0, 9.0)
    >>> parted = parted_feature(distance, [2])
    >>> parted.words, parted.peaks
    (('short or medium', 'long'), (3.0, 5.0))
    """
    words, cores = feature.words, feature.cores
    runs = [range(*ends) for ends in pairwise((0, *starts, len(words)))]
    parts = tuple((cores[run[0]][0], cores[run[-1]][1]) for run in runs)
    peaks = tuple(peak for part in parts for peak in _core_peaks(part))
    masses = mixture(np.asarray(feature.mean_masses), shares_of_peaks(feature.peaks, peaks))
    return replace(
        feature,
        words=tuple(phrase(words, run) for run in runs),
        cores=parts,
        peaks=peaks,
        mean_masses=tuple(masses.tolist()),
        parted_at=tuple(starts),
    )


def shares_of_peaks(peaks: Sequence[float], fewer: Sequence[float]) -> NDArray[np.float64]:
    """Return the masses that focal sets with fewer peaks have at each of some peaks."""
    hats = np.eye(len(fewer))
    return np.column_stack([np.interp(peaks, fewer, hat) for hat in hats])


def phrase(words: Sequence[str], places: Sequence[int]) -> str:
    """Call neighbouring words together.

    Examples
    --------
    >>> words = ("very low", "low", "medium", "high")
    >>> phrase(words, [0, 1]), phrase(words, [0, 1, 2]), phrase(words, [1, 2, 3])
    ('very low or low', 'at most medium', 'at least low')
    """
    first, last = words[places[0]], words[places[-1]]
    if len(places) == 1:
        return first
    if len(places) == 2:
        return f"{first} or {last}"
    if places[0] == 0:
        return f"at most {last}"
    return f"at least {first}" if places[-1] == len(words) - 1 else f"from {first} to {last}"


def are_cores(cores: Sequence[tuple[float, float]]) -> bool:
    """Whether intervals are the cores of words: increasing, and without an end outside."""
    if not cores or cores[0][0] != -np.inf or cores[-1][1] != np.inf:
        return False
    ends = [end for core in cores for end in core][1:-1]
    return (
        bool(np.isfinite(ends).all())
        and all(low <= high for low, high in cores)
        and are_apart(peak for core in cores for peak in _core_peaks(core))
    )


def _core_peaks(core: tuple[float, float]) -> tuple[float, ...]:
    """Return the finite ends of a core; one that has none peaks anywhere."""
    return tuple(sorted({end for end in core if np.isfinite(end)})) or (0.0,)


def discrete_feature(
    name: str, kind: Kind, states: tuple[State, ...], mean_masses: tuple[float, ...]
) -> Feature:
    """Describe a feature with one word per state.

    The states of a numeric ordinal are its peaks, so that a number between two of them shares
    its mass; other categories differ by their code. One that never had a value keeps a
    single word, so that it can be split on without effect.
    """
    places = states if _measured(kind, states) else range(len(states))
    return Feature(
        name=name,
        kind=kind,
        words=tuple(map(str, states)) or ("unknown",),
        peaks=tuple(map(float, places)) or (0.0,),
        mean_masses=mean_masses,
        categories=states,
    )


def belief_feature(name: str, states: tuple[State, ...], mean_masses: tuple[float, ...]) -> Feature:
    """Describe what a tree believes: a focal set a class, with the belief as its mass."""
    return Feature(
        name=name,
        kind=Kind.CATEGORICAL,
        words=tuple(map(str, states)),
        peaks=tuple(map(float, range(len(states)))),
        mean_masses=mean_masses,
        categories=states,
    )


BELIEF_WORDS = {
    2: ("unlikely", "likely"),
    3: ("unlikely", "open", "likely"),
    4: ("very unlikely", "unlikely", "likely", "very likely"),
    5: ("very unlikely", "unlikely", "open", "likely", "very likely"),
}
"""The words of belief, by how many they are."""


def belief_words(tree: str, states: tuple[State, ...], n_words: int) -> tuple[Feature, ...]:
    """Describe what a tree believes with words over probabilities, from unlikely to likely.

    Two states share one feature, the belief in the second; more have one each. What to assume of
    an unknown belief is left open.
    """
    places = [len(states) - 1] if len(states) < 3 else range(len(states))
    n_sets = 2 * n_words - 1
    return tuple(
        Feature(
            name=f"{tree}({states[place]})",
            kind=Kind.CONTINUOUS,
            words=BELIEF_WORDS[n_words],
            peaks=tuple(k / (n_sets - 1) for k in range(n_sets)),
            mean_masses=(1.0 / n_sets,) * n_sets,
            low=0.0,
            high=1.0,
            tree=tree,
            place=place,
        )
        for place in places
    )


def _measured(kind: Kind, states: Sequence[State]) -> bool:
    """Whether states are numbers that differ and have an order as floats."""
    if kind is not Kind.ORDINAL or not all(isinstance(state, int | float) for state in states):
        return False
    return are_apart(map(float, states))


def flatten(features: Sequence[Feature]) -> FocalSets:
    """Lay the focal sets of features end to end, for the kernels."""
    sizes = [feature.n_focal_sets for feature in features]
    return FocalSets(
        peaks=np.array([peak for a in features for peak in a.peaks], dtype=np.float64),
        mean_masses=np.array([mass for a in features for mass in a.mean_masses], dtype=np.float64),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
    )
