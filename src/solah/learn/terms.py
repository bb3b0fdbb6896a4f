"""The terms of an additive model: the words of single features, and grids for pairs of features.

A single term starts with all words of a feature. Two neighbours are then joined (one weight for
both) or a word is skipped (the weight changes linearly from the word before to the word after).
A pair parts both features into low and high at several places. It is a sum of products::

    sum of theta * (high_a - mean high_a) * (high_b - mean high_b)

It adds nothing where a value is missing, and 0 on average along either feature. All products of
two features make a grid of rules. Lines of the grid are then joined, or a word is skipped in the
single term and the grid together.

With a monotonic constraint, the steps of a feature from word to word and those of its pairs must
not be negative together. A pair that steps down for a part of the other feature takes over a
piece of the step of the single words, its lift. Then each term meets the inequality by itself::

    step of the words - sum of lifts >= 0
    sum of lift + theta * (high_b - mean high_b) >= 0    for each part of b

The sums are over the products that part the feature there. Lifts have no columns, because they
cancel in the sum of the terms.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.recipe import FixedRule, Strength
    from solah.learn.vocabulary import Vocabulary

Constraint = list[tuple[int, float]]
"""Parameters with factors whose sum is to be 0."""

_PRICE_OF_LIFT = 1e-3


@dataclass(frozen=True, eq=False)
class Given:
    """The user-defined scores of all words of a feature.

    Attributes
    ----------
    scores : (n_words, n_outputs)
    pinned : the places of the words that rules name
    """

    scores: Float
    pinned: frozenset[int]

    @classmethod
    def read(cls, vocabulary: Vocabulary, rules: Sequence[FixedRule], n_outputs: int) -> Given:
        """Resolve the words that rules name. Their scores are numbers already."""
        feature = vocabulary.feature
        if not (feature.is_coded or vocabulary.is_fixed):
            raise ParameterError(
                f"a user-defined rule has the condition {feature.name!r} is "
                f"{shorten(rules[0].word)}, but its words are learned; define them: "
                f"words={{{feature.name!r}: …}}"
            )
        words: list[Any] = list(feature.categories if feature.is_coded else feature.words)
        scores, pinned = np.zeros((len(words), n_outputs)), set[int]()
        for rule in rules:
            named = [place for place, word in enumerate(words) if rule.word in (word, str(word))]
            if not named:
                close = did_you_mean(str(rule.word), map(str, words))
                raise ParameterError(
                    f"a user-defined rule has the condition {feature.name!r} is "
                    f"{shorten(rule.word)}; its words are {', '.join(map(str, words))}{close}"
                )
            place = named[0]
            scores[place] = np.asarray(rule.scores)
            pinned |= {place} if rule.is_pinned else set()
        return cls(scores, frozenset(pinned))


@dataclass(frozen=True)
class Move:
    """A step towards fewer rules: constraints on a term's parameters.

    Attributes
    ----------
    kind : ``"join"`` two words, ``"skip"`` one, ``"merge"`` two parts of a pair's feature, or
        ``"drop"`` the term
    words : the places of the words that it is about; of parts, the side and the boundary
    """

    kind: str
    words: tuple[int, ...] = ()


@dataclass(eq=False)
class SingleTerm:
    """The words of one feature.

    Attributes
    ----------
    vocabulary : the words to begin with
    has_missing : whether the last parameter is that of a missing reading
    words : the words that are left, each the first words that it consists of
    pairs : the pairs that part the feature
    is_dropped : whether nothing is left
    is_required : whether it stays
    given : its user-defined scores; they are not fitted, and it has no pairs
    signs : (n, n_outputs) what its steps are multiplied with to give numbers that must not be
        negative; None where scores may go up and down
    """

    vocabulary: Vocabulary
    has_missing: bool = False
    words: list[tuple[int, ...]] = field(default_factory=list)
    pairs: list[PairTerm] = field(default_factory=list)
    is_dropped: bool = False
    is_required: bool = False
    given: Given | None = None
    signs: Float | None = None

    def __post_init__(self) -> None:
        self.words = list(self.vocabulary.first_words)

    def again(self) -> SingleTerm:
        """Return the term with all its first words and no pairs."""
        return replace(self, has_missing=False, pairs=[], is_dropped=False)

    @property
    def is_monotone(self) -> bool:
        """Whether the feature has a monotonic constraint."""
        return self.signs is not None

    def steps(self) -> Float:
        """Return the differences of neighbouring first words: ``(size - 1, n_parameters)``."""
        return np.diff(np.eye(self.vocabulary.size, self.n_parameters), axis=0)

    @property
    def n_parameters(self) -> int:
        """The number of parameters at first."""
        return self.vocabulary.size + self.has_missing

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return 0 if self.is_dropped else len(self.words) + self.has_missing

    @property
    def features(self) -> tuple[int, ...]:
        """The indices of the features."""
        return (self.vocabulary.place,)

    @property
    def sides(self) -> tuple[SingleTerm]:
        """The term itself; pairs have two."""
        return (self,)

    def columns(self, memberships: list[Float], means: list[Float]) -> Float:
        """Return the columns of rows: memberships less their means; 0 if missing."""
        (masses,), (mean,) = memberships, means
        unknown = np.isnan(masses[:, 0])
        centred = np.where(unknown[:, None], 0.0, masses - mean[: self.vocabulary.size])
        if not self.has_missing:
            return centred
        share = mean[-1]
        centred[unknown] = 0.0
        return np.hstack([centred, (unknown - share)[:, None]])

    def penalty(self, strength: Strength) -> Float:
        """Return the penalty: a ridge, and one on differences of neighbours."""
        size = self.vocabulary.size
        price = strength.ridge * np.eye(self.n_parameters)
        if self.vocabulary.is_ordered:
            differences = np.diff(np.eye(size), axis=0)
            price[:size, :size] += strength.smooth * (differences.T @ differences) * size / 3
        if self.vocabulary.feature.is_coded:
            price[np.diag_indices(self.n_parameters)] += strength.smooth / 2
        return price

    def reduction(self) -> Float:
        """Return the shares of remaining words in the first ones: ``(n_parameters, n_rules)``."""
        shares = np.zeros((self.n_parameters, self.n_rules))
        for place, members in enumerate(self.words):
            shares[list(members), place] = 1.0
        if self.vocabulary.is_ordered:
            for place in range(len(self.words) - 1):
                self._interpolate(shares, place)
        if self.has_missing:
            shares[-1, -1] = 1.0
        return shares

    def _interpolate(self, shares: Float, place: int) -> None:
        """Interpolate the skipped words between a word and the next one."""
        knots = self.vocabulary.knots
        low, high = self.words[place][-1], self.words[place + 1][0]
        for word in range(low + 1, high):
            upper = (knots[word] - knots[low]) / (knots[high] - knots[low])
            shares[word, place], shares[word, place + 1] = 1.0 - upper, upper

    def moves(self, joins: Iterable[tuple[int, int]] | None = None) -> list[Move]:
        """List the possible steps; of words without an order, only ``joins`` unless None."""
        if self.is_dropped or self.given is not None:
            return []
        live = self.live_pairs
        moves = [] if live or self.is_required else [Move("drop")]
        if self.vocabulary.is_fixed or len(self.words) < 3:
            return moves
        if not self.vocabulary.is_ordered:
            if live:
                return moves
            every = combinations(range(len(self.words)), 2) if joins is None else joins
            return moves + [Move("join", words) for words in every]
        locked = {step[0] for pair in live for step in pair.steps[pair.side_of(self)]}
        for place in range(len(self.words) - 1):
            low, high = self.words[place][-1], self.words[place + 1][0]
            if not any(low <= boundary < high for boundary in locked):
                moves.append(Move("join", (place, place + 1)))
        if self.vocabulary.feature.is_coded:
            return moves  # a state between two others has no score of its own to go over to
        for place in range(1, len(self.words) - 1):
            beside = [pair.steps_beside(self, place) for pair in live]
            if len(self.words[place]) == 1 and all(
                (before is None) == (behind is None) for before, behind in beside
            ):
                moves.append(Move("skip", (place,)))
        return moves

    @property
    def live_pairs(self) -> list[PairTerm]:
        """The pairs that have rules."""
        return [pair for pair in self.pairs if not pair.is_dropped]

    def upper_share(self, place: int) -> float:
        """Return the position of a word between its neighbours, from 0 to 1."""
        knots = self.vocabulary.knots
        low, high = knots[self.words[place - 1][-1]], knots[self.words[place + 1][0]]
        return float((knots[self.words[place][0]] - low) / (high - low))

    def constraints(self, move: Move) -> list[Constraint]:
        """Return the constraints of a move."""
        first = [members[0] for members in self.words]
        if move.kind == "join":
            return [[(first[move.words[0]], 1.0), (first[move.words[1]], -1.0)]]
        if move.kind == "skip":
            (place,) = move.words
            upper, low = self.upper_share(place), self.words[place - 1][-1]
            return [[(first[place], 1.0), (low, upper - 1.0), (first[place + 1], -upper)]]
        dropped = [[(first[0], 1.0), (other, -1.0)] for other in first[1:]]
        return [*dropped, [(self.n_parameters - 1, 1.0)]] if self.has_missing else dropped

    def saved(self, move: Move) -> int:
        """Return the number of rules that a move saves."""
        if move.kind == "skip":
            return 1 + sum(pair.skip_saved(self, move.words[0]) for pair in self.live_pairs)
        return self.n_rules if move.kind == "drop" else 1

    def apply(self, move: Move) -> None:
        """Take a step."""
        if move.kind == "drop":
            self.is_dropped = True
        elif move.kind == "skip":
            for pair in self.live_pairs:
                pair.skip(self, move.words[0])
            del self.words[move.words[0]]
        else:
            low, high = move.words
            members = self.words[low] + self.words[high]
            if self.vocabulary.is_ordered:
                members = tuple(range(members[0], members[-1] + 1))
            self.words[low] = tuple(sorted(members))
            del self.words[high]


@dataclass(eq=False)
class PairTerm:
    """The interaction of two features: a grid of rules.

    Attributes
    ----------
    low, high : the single terms of both features
    boundaries : where both are parted at first: behind these first words, or, without an order,
        these ones against all others
    steps : for either side, the steps from part to part that are left, each the first boundaries
        that it goes over; neither has any where nothing is left
    """

    low: SingleTerm
    high: SingleTerm
    boundaries: tuple[tuple[int, ...], tuple[int, ...]]
    steps: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.boundaries
        self.steps = [(one,) for one in low], [(one,) for one in high]

    @property
    def lifts(self) -> tuple[int | None, int | None]:
        """The offset of the lift of either side behind each product; None if there is no lift."""
        first, second = (side.is_monotone for side in self.sides)
        return (1 if first else None, 1 + first if second else None)

    @property
    def width(self) -> int:
        """The number of parameters of each product, with its lifts."""
        return 1 + self.low.is_monotone + self.high.is_monotone

    @property
    def products(self) -> list[tuple[int, int]]:
        """The boundaries of both features for each product."""
        return list(product(*self.boundaries))

    @property
    def n_parameters(self) -> int:
        """The number of parameters at first."""
        return self.width * len(self.boundaries[0]) * len(self.boundaries[1])

    @property
    def n_rules(self) -> int:
        """The number of rules: one for each combination of parts."""
        return 0 if self.is_dropped else (len(self.steps[0]) + 1) * (len(self.steps[1]) + 1)

    @property
    def is_dropped(self) -> bool:
        """Whether the pair has no rules."""
        return not self.steps[0]

    @property
    def sides(self) -> tuple[SingleTerm, SingleTerm]:
        """The single terms of both features."""
        return self.low, self.high

    @property
    def features(self) -> tuple[int, ...]:
        """The indices of the features."""
        return (self.low.vocabulary.place, self.high.vocabulary.place)

    def side_of(self, single: SingleTerm) -> int:
        """Return the side of a feature."""
        return 0 if single is self.low else 1

    def columns(self, memberships: list[Float], means: list[Float]) -> Float:
        """Return the products of high parts, each less its mean; 0 if one is missing."""
        low, high = (
            np.column_stack([high_part(single.vocabulary, one, masses, mean) for one in boundaries])
            for single, boundaries, masses, mean in zip(
                self.sides, self.boundaries, memberships, means, strict=True
            )
        )
        found = np.zeros((len(low), self.n_parameters))
        found[:, :: self.width] = (low[:, :, None] * high[:, None, :]).reshape(len(low), -1)
        return found

    def penalty(self, strength: Strength) -> Float:
        """Return the penalty: a ridge on steps, and one on cells.

        The second keeps cells with few rows near 0. Lifts cost next to nothing.
        """
        steps = (
            part_steps(single, np.full(len(one), 0.5 if single.vocabulary.is_ordered else 0.0))
            for single, one in zip(self.sides, self.boundaries, strict=True)
        )
        cells = np.kron(*steps)
        price = _PRICE_OF_LIFT * strength.of_pair * np.eye(self.n_parameters)
        price[:: self.width, :: self.width] = strength.of_pair * np.eye(
            len(cells.T)
        ) + strength.of_cell * (cells.T @ cells)
        return price

    def shares(self, side: int) -> Float:
        """Return the shares of remaining steps in those at the first boundaries.

        A step over several words rises in proportion to the distances of their knots.
        """
        boundaries, vocabulary = self.boundaries[side], self.sides[side].vocabulary
        found = np.zeros((len(boundaries), len(self.steps[side])))
        for number, step in enumerate(self.steps[side]):
            rises = np.ones(len(step))
            if vocabulary.is_ordered:
                rises = np.diff(vocabulary.knots)[list(step)]
                rises = rises / rises.sum()
            found[[boundaries.index(one) for one in step], number] = rises
        return found

    def reduction(self) -> Float:
        """Return the shares of remaining parameters in the first ones."""
        return np.kron(np.kron(self.shares(0), self.shares(1)), np.eye(self.width))

    def _start(self, side: int, number: int) -> tuple[int, float]:
        """Return where a remaining step begins, and the part of it that lies there."""
        step, part = self.steps[side][number], 1.0
        if len(step) > 1 and self.sides[side].vocabulary.is_ordered:
            knots = self.sides[side].vocabulary.knots
            rise = float(knots[step[0] + 1] - knots[step[0]])
            part = rise / float(knots[step[-1] + 1] - knots[step[0]])
        return self.boundaries[side].index(step[0]), part

    def _factors(self, side: int, number: int, factor: float) -> list[Constraint]:
        """Return a step of a side times a factor, for each step of the other side."""
        place, part = self._start(side, number)
        n_high, width, factor = len(self.boundaries[1]), self.width, factor / part
        places = [self.boundaries[1 - side].index(step[0]) for step in self.steps[1 - side]]
        cells = [one * n_high + place if side else place * n_high + one for one in places]
        return [[(width * cell + k, factor)] for cell in cells for k in range(width)]

    def _rises(self, side: int) -> Float:
        """Return the rise of each product's high part from word to word of a side."""
        vocabulary = self.sides[side].vocabulary
        is_high = np.zeros((vocabulary.size, len(self.products)))
        for place, boundaries in enumerate(self.products):
            is_high[high_words(vocabulary, boundaries[side]), place] = 1.0
        return np.diff(is_high, axis=0)

    def lifted(self, side: int) -> Float:
        """Return the lifts of the steps of a side: ``(size - 1, n_parameters)``."""
        rises = self._rises(side)
        found = np.zeros((len(rises), self.n_parameters))
        found[:, self.lifts[side] :: self.width] = rises
        return found

    def rises_by_part(self, side: int, high_mean: Callable[[SingleTerm, int], float]) -> Float:
        """Return the rise along a side for each part of the other side.

        Parameters
        ----------
        side : 0 or 1
        high_mean : returns the mean of the high part of a feature behind a boundary
        """
        other, boundaries = self.sides[1 - side], self.boundaries[1 - side]
        means = np.array([high_mean(other, boundary) for boundary in boundaries])
        places = [boundaries.index(one[1 - side]) for one in self.products]
        of_parts = part_steps(other, means)[:, places]
        rises, lifted = self._rises(side), self.lifted(side)
        steps = [lifted.copy() for _ in of_parts]
        for found, of_part in zip(steps, of_parts, strict=True):
            found[:, :: self.width] = rises * of_part
        return np.vstack(steps)

    def moves(self, joins: Iterable[tuple[int, int]] | None = None) -> list[Move]:
        """List the possible steps: drop the pair, or join lines of its grid."""
        del joins
        if self.is_dropped:
            return []
        places = [(side, number) for side in (0, 1) for number in range(len(self.steps[side]))]
        merges = [Move("merge", place) for place in places if len(self.steps[place[0]]) > 1]
        return [Move("drop"), *merges]

    def constraints(self, move: Move) -> list[Constraint]:
        """Return the constraints of a move: the parameters that it sets to 0."""
        gone = [(0, number) for number in range(len(self.steps[0]))]
        if move.kind == "merge":
            gone = [(move.words[0], move.words[1])]
        return [one for place in gone for one in self._factors(*place, 1.0)]

    def saved(self, move: Move) -> int:
        """Return the number of rules that a move saves."""
        if move.kind == "drop":
            return self.n_rules
        return len(self.steps[1 - move.words[0]]) + 1

    def apply(self, move: Move) -> None:
        """Take a step."""
        if move.kind == "drop":
            self.steps = [], []
        else:
            del self.steps[move.words[0]][move.words[1]]

    # The grid where a word of one of its features is skipped.

    def steps_beside(self, single: SingleTerm, place: int) -> tuple[int | None, int | None]:
        """Return the numbers of the steps before and behind a word; None if there is no step."""
        words, steps = single.words, self.steps[self.side_of(single)]

        def between(low: int, high: int) -> int | None:
            first, end = words[low][-1], words[high][0]
            return next((n for n, step in enumerate(steps) if first <= step[0] < end), None)

        return between(place - 1, place), between(place, place + 1)

    def skip_constraints(self, single: SingleTerm, place: int, upper: float) -> list[Constraint]:
        """Return the constraints of scores that are linear between the neighbours of a word."""
        before, behind = self.steps_beside(single, place)
        if before is None or behind is None:
            return []
        side = self.side_of(single)
        rising = self._factors(side, before, 1.0 - upper)
        return [a + b for a, b in zip(rising, self._factors(side, behind, -upper), strict=True)]

    def skip_saved(self, single: SingleTerm, place: int) -> int:
        """Return the number of rules that skipping a word saves."""
        is_parted = self.steps_beside(single, place)[0] is not None
        return (len(self.steps[1 - self.side_of(single)]) + 1) * is_parted

    def skip(self, single: SingleTerm, place: int) -> None:
        """Replace the two steps beside a word by one."""
        before, behind = self.steps_beside(single, place)
        if before is not None and behind is not None:
            steps = self.steps[self.side_of(single)]
            steps[before] += steps.pop(behind)


Term = SingleTerm | PairTerm


def high_words(vocabulary: Vocabulary, boundary: int) -> slice:
    """Return the first words of the high part of a feature."""
    end = vocabulary.size if vocabulary.is_ordered else boundary + 1
    return slice(boundary + vocabulary.is_ordered, end)


def part_of_words(single: SingleTerm, steps: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """Return the part of each remaining word.

    Steps part words with an order into runs, from low to high. Without an order, part 0 has the
    words that no step names.
    """
    if single.vocabulary.is_ordered:
        begins = [step[0] for step in steps]
        return np.array([int(np.searchsorted(begins, word[0])) for word in single.words])
    part_of = {state: number for number, step in enumerate(steps, 1) for state in step}
    return np.array([max(part_of.get(state, 0) for state in word) for word in single.words])


def part_steps(single: SingleTerm, means: Float) -> Float:
    """Return the high part of each step less its mean: ``(n_parts, n_steps)``."""
    parts, numbers = np.arange(len(means) + 1)[:, None], np.arange(len(means))
    high = parts > numbers if single.vocabulary.is_ordered else parts == numbers + 1
    return np.asarray(high - means)


def high_part(vocabulary: Vocabulary, boundary: int, masses: Float, mean: Float) -> Float:
    """Return memberships of the high part of a feature, less their mean."""
    chosen = high_words(vocabulary, boundary)
    high = masses[:, chosen].sum(axis=1) - mean[chosen].sum()
    return np.where(np.isnan(masses[:, 0]), 0.0, high)


def part_memberships(vocabulary: Vocabulary, boundaries: Sequence[int], masses: Float) -> Float:
    """Return memberships of each part of a feature; 0 if missing."""
    known = np.nan_to_num(masses)
    high = np.column_stack(
        [known[:, high_words(vocabulary, one)].sum(axis=1) for one in boundaries]
    )
    whole = known.sum(axis=1, keepdims=True)
    if vocabulary.is_ordered:
        return np.asarray(-np.diff(np.hstack([whole, high, np.zeros_like(whole)]), axis=1))
    return np.hstack([whole - high.sum(axis=1, keepdims=True), high])
