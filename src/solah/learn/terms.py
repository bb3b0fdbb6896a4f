"""The parts of an additive model: the words of single features, and pairs of features.

A single term begins with all words of a feature. Words are then joined (neighbours get one
score) or left out (the score goes over linearly from the word before to the word behind). A pair is
a sum of products: two features, each parted into low and high somewhere, and one number::

    evidence = sum of theta * (high_a - mean high_a) * (high_b - mean high_b)

so that it says nothing where either is unknown, and nothing on average whatever the other reads.
Several products of the same two features make a grid of rules.

Where scores must not fall along a feature, its steps from word to word and those of its pairs
must not be negative together. A pair that steps down for some part of the other feature takes
over a piece of the step of the single words, its lift. Then each keeps the inequality by itself::

    step of the words - sum of lifts >= 0
    sum of lift + theta * (high_b - mean high_b) >= 0    for each part of b

The sums are over the products that part the feature there. Lifts have no columns: single words
and pairs together say the same for any.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
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
    """The scores of all words of a feature, by hand.

    Attributes
    ----------
    scores : (n_words, n_outputs)
    pinned : the places of the words that rules name
    """

    scores: Float
    pinned: frozenset[int]

    @classmethod
    def read(cls, vocabulary: Vocabulary, rules: Sequence[FixedRule], n_outputs: int) -> Given:
        """Put rules, whose scores are resolved, beside the words of their feature."""
        feature = vocabulary.feature
        if not (feature.is_coded or vocabulary.is_fixed):
            raise ParameterError(
                f"a rule by hand asks whether {feature.name!r} is {shorten(rules[0].word)}, and "
                f"its words are learned; give it words by hand: words={{{feature.name!r}: …}}"
            )
        words: list[Any] = list(feature.categories if feature.is_coded else feature.words)
        scores, pinned = np.zeros((len(words), n_outputs)), set[int]()
        for rule in rules:
            named = [place for place, word in enumerate(words) if rule.word in (word, str(word))]
            if not named:
                close = did_you_mean(str(rule.word), map(str, words))
                raise ParameterError(
                    f"a rule by hand asks whether {feature.name!r} is {shorten(rule.word)}; it "
                    f"is {', '.join(map(str, words))}{close}"
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
    given : its scores, where they are given by hand; they are not fitted, and it has no pairs
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
        """Return the term with all its first words, and without pairs."""
        return replace(self, has_missing=False, pairs=[], is_dropped=False)

    @property
    def is_monotone(self) -> bool:
        """Whether scores must not fall, or rise, along the feature."""
        return self.signs is not None

    def steps(self) -> Float:
        """Return what each first word has more than the one before it."""
        return np.diff(np.eye(self.vocabulary.size, self.n_parameters), axis=0)

    @property
    def n_parameters(self) -> int:
        """How many parameters the term has at first."""
        return self.vocabulary.size + self.has_missing

    @property
    def n_rules(self) -> int:
        """How many rules are left."""
        return 0 if self.is_dropped else len(self.words) + self.has_missing

    @property
    def features(self) -> tuple[int, ...]:
        """The places of the features."""
        return (self.vocabulary.place,)

    @property
    def sides(self) -> tuple[SingleTerm]:
        """The term itself, as pairs have two."""
        return (self,)

    def columns(self, memberships: list[Float], means: list[Float]) -> Float:
        """Return the columns of rows: memberships less their means; 0 where unknown."""
        (masses,), (mean,) = memberships, means
        unknown = np.isnan(masses[:, 0])
        centred = np.where(unknown[:, None], 0.0, masses - mean[: self.vocabulary.size])
        if not self.has_missing:
            return centred
        share = mean[-1]
        centred[unknown] = 0.0
        return np.hstack([centred, (unknown - share)[:, None]])

    def penalty(self, strength: Strength) -> Float:
        """Return the price of scores: a ridge, and one on differences of neighbours."""
        size = self.vocabulary.size
        price = strength.ridge * np.eye(self.n_parameters)
        if self.vocabulary.is_ordered:
            differences = np.diff(np.eye(size), axis=0)
            price[:size, :size] += strength.smooth * (differences.T @ differences) * size / 3
        if self.vocabulary.feature.is_coded:
            price[np.diag_indices(self.n_parameters)] += strength.smooth / 2
        return price

    def reduction(self) -> Float:
        """Return how first words are made of those that are left: ``(n_parameters, n_rules)``."""
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
        """Let the words that were left out behind a word go over to the next one."""
        knots = self.vocabulary.knots
        low, high = self.words[place][-1], self.words[place + 1][0]
        for word in range(low + 1, high):
            upper = (knots[word] - knots[low]) / (knots[high] - knots[low])
            shares[word, place], shares[word, place + 1] = 1.0 - upper, upper

    def moves(self, joins: Iterable[tuple[int, int]] | None = None) -> list[Move]:
        """List the steps that are possible; of words without an order, those joins or all."""
        if self.is_dropped or self.given is not None:
            return []
        live = [pair for pair in self.pairs if not pair.is_dropped]
        moves = [] if live or self.is_required else [Move("drop")]
        if self.vocabulary.is_fixed or len(self.words) < 3:
            return moves
        if not self.vocabulary.is_ordered:
            if live:
                return moves
            every = combinations(range(len(self.words)), 2) if joins is None else joins
            return moves + [Move("join", words) for words in every]
        locked = {boundary for pair in live for boundary in pair.boundaries_of(self)}
        for place in range(len(self.words) - 1):
            low, high = self.words[place][-1], self.words[place + 1][0]
            if not any(low <= boundary < high for boundary in locked):
                moves.append(Move("join", (place, place + 1)))
        if self.vocabulary.feature.is_coded:
            return moves  # a state between two others has no score of its own to go over to
        for place in range(1, len(self.words) - 1):
            if len(self.words[place]) == 1 and not (
                {self.words[place][0], self.words[place][0] - 1} & locked
            ):
                moves.append(Move("skip", (place,)))
        return moves

    def constraints(self, move: Move) -> list[Constraint]:
        """Return what a move asks of the parameters."""
        if move.kind == "join":
            low, high = move.words
            return [[(self.words[low][0], 1.0), (self.words[high][0], -1.0)]]
        first = [members[0] for members in self.words]
        if move.kind == "skip":
            (place,) = move.words
            knots = self.vocabulary.knots
            low, word, high = self.words[place - 1][-1], first[place], first[place + 1]
            upper = float((knots[word] - knots[low]) / (knots[high] - knots[low]))
            return [[(word, 1.0), (low, upper - 1.0), (high, -upper)]]
        dropped = [[(first[0], 1.0), (other, -1.0)] for other in first[1:]]
        return [*dropped, [(self.n_parameters - 1, 1.0)]] if self.has_missing else dropped

    def saved(self, move: Move) -> int:
        """Return how many rules a move saves."""
        return self.n_rules if move.kind == "drop" else 1

    def apply(self, move: Move) -> None:
        """Take a step."""
        if move.kind == "drop":
            self.is_dropped = True
        elif move.kind == "skip":
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
    """The interaction of two features.

    Attributes
    ----------
    low, high : the single terms of both features
    products : where both are parted, for each parameter: behind this first word, or, without an
        order, this one against all others
    live : the places of the products that are left
    """

    low: SingleTerm
    high: SingleTerm
    products: list[tuple[int, int]] = field(default_factory=list)
    live: list[int] = field(default_factory=list)

    def add(self, product: tuple[int, int]) -> None:
        """Add a product, which is left at first."""
        self.live.append(len(self.products))
        self.products.append(product)

    @property
    def lifts(self) -> tuple[int | None, int | None]:
        """Where the lift of either side stands behind each product; None if it needs none."""
        first, second = (side.is_monotone for side in self.sides)
        return (1 if first else None, 1 + first if second else None)

    @property
    def width(self) -> int:
        """How many parameters each product has: its own, and lifts."""
        return 1 + self.low.is_monotone + self.high.is_monotone

    @property
    def n_parameters(self) -> int:
        """How many parameters the term has at first."""
        return self.width * len(self.products)

    @property
    def n_rules(self) -> int:
        """How many rules are left: one for each combination of parts."""
        return _n_cells(self._left()) if self.live else 0

    @property
    def is_dropped(self) -> bool:
        """Whether nothing is left."""
        return not self.live

    @property
    def sides(self) -> tuple[SingleTerm, SingleTerm]:
        """The single terms of both features."""
        return self.low, self.high

    @property
    def features(self) -> tuple[int, ...]:
        """The places of the features."""
        return (self.low.vocabulary.place, self.high.vocabulary.place)

    def boundaries(self, side: int) -> list[int]:
        """Return where a feature is parted by what is left."""
        return sorted({product[side] for product in self._left()})

    def boundaries_of(self, single: SingleTerm) -> list[int]:
        """Return where a feature is parted by what is left."""
        return self.boundaries(0 if single is self.low else 1)

    def _left(self) -> list[tuple[int, int]]:
        return [self.products[place] for place in self.live]

    def columns(self, memberships: list[Float], means: list[Float]) -> Float:
        """Return the products of high parts, each less its mean; 0 where one is unknown."""
        parts = [
            {
                boundary: high_part(single.vocabulary, boundary, masses, mean)
                for boundary in {product[side] for product in self.products}
            }
            for side, (single, masses, mean) in enumerate(
                zip(self.sides, memberships, means, strict=True)
            )
        ]
        found = np.zeros((len(memberships[0]), self.n_parameters))
        for place, (a, b) in enumerate(self.products):
            found[:, self.width * place] = parts[0][a] * parts[1][b]
        return found

    def penalty(self, strength: Strength) -> Float:
        """Return the price of scores: a ridge; next to nothing for lifts, which are then least."""
        prices = np.full(self.n_parameters, _PRICE_OF_LIFT * strength.of_pair)
        prices[:: self.width] = strength.of_pair
        return np.diag(prices)

    def reduction(self) -> Float:
        """Return which parameters stay."""
        return np.eye(self.n_parameters)[:, self._parameters(self.live)]

    def _parameters(self, products: Iterable[int]) -> list[int]:
        """Return the places of the parameters of products."""
        return [self.width * place + k for place in products for k in range(self.width)]

    def _rises(self, side: int) -> Float:
        """Return how the high part of each product rises from word to word of a side."""
        vocabulary = self.sides[side].vocabulary
        is_high = np.zeros((vocabulary.size, len(self.products)))
        for place, product in enumerate(self.products):
            is_high[high_words(vocabulary, product[side]), place] = 1.0
        return np.diff(is_high, axis=0)

    def lifted(self, side: int) -> Float:
        """Return what it takes over of the steps of a side: ``(size - 1, n_parameters)``."""
        rises = self._rises(side)
        found = np.zeros((len(rises), self.n_parameters))
        found[:, self.lifts[side] :: self.width] = rises
        return found

    def steps(self, side: int, high_mean: Callable[[SingleTerm, int], float]) -> Float:
        """Return its steps along a side, for one part of the other side after another.

        Parameters
        ----------
        side : 0 or 1
        high_mean : tells the mean of the high part of a feature behind a boundary
        """
        other, places = self.sides[1 - side], [product[1 - side] for product in self.products]
        boundaries = sorted(set(places))
        means = np.array([high_mean(other, boundary) for boundary in boundaries])
        of_parts = part_steps(other, boundaries, means)[:, [boundaries.index(b) for b in places]]
        rises, lifted = self._rises(side), self.lifted(side)
        steps = [lifted.copy() for _ in of_parts]
        for found, of_part in zip(steps, of_parts, strict=True):
            found[:, :: self.width] = rises * of_part
        return np.vstack(steps)

    def moves(self, joins: Iterable[tuple[int, int]] | None = None) -> list[Move]:
        """Return that the pair may go, or be parted at fewer places."""
        del joins
        if self.is_dropped:
            return []
        places = [(side, boundary) for side in (0, 1) for boundary in self.boundaries(side)]
        fewer = [Move("merge", place) for place in places if self._without(Move("merge", place))]
        return [Move("drop"), *fewer]

    def constraints(self, move: Move) -> list[Constraint]:
        """Return that the parameters of what goes are to be 0."""
        left = self._without(move)
        gone = [place for place in self.live if place not in left]
        return [[(place, 1.0)] for place in self._parameters(gone)]

    def saved(self, move: Move) -> int:
        """Return how many rules a move saves."""
        left = [self.products[place] for place in self._without(move)]
        return self.n_rules - (_n_cells(left) if left else 0)

    def apply(self, move: Move) -> None:
        """Take a step."""
        self.live = self._without(move)

    def _without(self, move: Move) -> list[int]:
        """Return the places of the products that a move leaves."""
        if move.kind == "drop":
            return []
        side, boundary = move.words
        return [place for place in self.live if self.products[place][side] != boundary]


def _n_cells(products: list[tuple[int, int]]) -> int:
    """Count the combinations of parts that products make."""
    first, second = zip(*products, strict=True)
    return (len(set(first)) + 1) * (len(set(second)) + 1)


Term = SingleTerm | PairTerm


def high_words(vocabulary: Vocabulary, boundary: int) -> slice:
    """Return the first words of the high part of a feature."""
    end = vocabulary.size if vocabulary.is_ordered else boundary + 1
    return slice(boundary + vocabulary.is_ordered, end)


def part_of_words(single: SingleTerm, boundaries: list[int]) -> NDArray[np.intp]:
    """Return the part that each word that is left is in.

    Boundaries of words with an order part them into runs, from low to high. Without an order, part
    0 has the words that no boundary names.
    """
    if single.vocabulary.is_ordered:
        return np.array([int(np.searchsorted(boundaries, word[0])) for word in single.words])
    part_of = {boundary: number for number, boundary in enumerate(boundaries, 1)}
    return np.array([max(part_of.get(state, 0) for state in word) for word in single.words])


def part_steps(single: SingleTerm, boundaries: list[int], means: Float) -> Float:
    """Return the high part of each boundary less its mean: ``(n_parts, n_boundaries)``."""
    parts, numbers = np.arange(len(boundaries) + 1)[:, None], np.arange(len(boundaries))
    high = parts > numbers if single.vocabulary.is_ordered else parts == numbers + 1
    return np.asarray(high - means)


def high_part(vocabulary: Vocabulary, boundary: int, masses: Float, mean: Float) -> Float:
    """Return how far readings are in the high part of a feature, less the mean of all rows."""
    chosen = high_words(vocabulary, boundary)
    high = masses[:, chosen].sum(axis=1) - mean[chosen].sum()
    return np.where(np.isnan(masses[:, 0]), 0.0, high)
