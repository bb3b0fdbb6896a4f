"""The parts of an additive model: the words of single attributes, and pairs of attributes.

A single term begins with all words of an attribute. Words are then joined (neighbours get one
score) or left out (the score goes over linearly from the word before to the word behind). A pair is
one interaction: two attributes, each parted into low and high, and one number::

    evidence = theta * (high_a - mean high_a) * (high_b - mean high_b)

so that it says nothing where either is unknown, and nothing on average whatever the other reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.kernels.arrays import Float
    from solah.learn.recipe import Strength
    from solah.learn.vocabulary import Vocabulary

Constraint = list[tuple[int, float]]
"""Parameters with factors whose sum is to be 0."""


@dataclass(frozen=True)
class Move:
    """A step towards fewer rules: constraints on a term's parameters.

    Attributes
    ----------
    kind : ``"join"`` two words, ``"skip"`` one, or ``"drop"`` the term
    words : the places of the words that it is about
    """

    kind: str
    words: tuple[int, ...] = ()


@dataclass(eq=False)
class SingleTerm:
    """The words of one attribute.

    Attributes
    ----------
    vocabulary : the words to begin with
    has_missing : whether the last parameter is that of a missing reading
    words : the words that are left, each the first words that it consists of
    pairs : the pairs that part the attribute
    is_dropped : whether nothing is left
    """

    vocabulary: Vocabulary
    has_missing: bool = False
    words: list[tuple[int, ...]] = field(default_factory=list)
    pairs: list[PairTerm] = field(default_factory=list)
    is_dropped: bool = False

    def __post_init__(self) -> None:
        self.words = [(word,) for word in range(self.vocabulary.size)]

    @property
    def n_parameters(self) -> int:
        """How many parameters the term has at first."""
        return self.vocabulary.size + self.has_missing

    @property
    def n_rules(self) -> int:
        """How many rules are left."""
        return 0 if self.is_dropped else len(self.words) + self.has_missing

    @property
    def attributes(self) -> tuple[int, ...]:
        """The places of the attributes."""
        return (self.vocabulary.place,)

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
        if self.vocabulary.attribute.is_coded:
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
        if self.is_dropped:
            return []
        live = [pair for pair in self.pairs if not pair.is_dropped]
        moves = [] if live else [Move("drop")]
        if self.vocabulary.is_fixed or len(self.words) < 3:
            return moves
        if not self.vocabulary.is_ordered:
            if live:
                return moves
            every = combinations(range(len(self.words)), 2) if joins is None else joins
            return moves + [Move("join", words) for words in every]
        locked = {pair.boundary_of(self) for pair in live}
        for place in range(len(self.words) - 1):
            low, high = self.words[place][-1], self.words[place + 1][0]
            if not any(low <= boundary < high for boundary in locked):
                moves.append(Move("join", (place, place + 1)))
        if self.vocabulary.attribute.is_coded:
            return moves  # a state between two others has no score of its own to go over to
        for place in range(1, len(self.words) - 1):
            if len(self.words[place]) == 1 and not (
                {self.words[place][0], self.words[place][0] - 1} & locked
            ):
                moves.append(Move("skip", (place,)))
        return moves

    def constraints(self, move: Move) -> list[Constraint]:
        """Return what a move asks of the parameters."""
        first = [members[0] for members in self.words]
        if move.kind == "join":
            return [[(first[move.words[0]], 1.0), (first[move.words[1]], -1.0)]]
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
    """One interaction of two attributes.

    Attributes
    ----------
    low, high : the single terms of both attributes
    boundaries : where each is parted: behind this first word, or, without an order, this one
        against all others
    is_dropped : whether it is left out
    """

    low: SingleTerm
    high: SingleTerm
    boundaries: tuple[int, int]
    is_dropped: bool = False

    n_parameters = 1

    @property
    def n_rules(self) -> int:
        """How many rules there are: one for each combination."""
        return 0 if self.is_dropped else 4

    @property
    def attributes(self) -> tuple[int, ...]:
        """The places of the attributes."""
        return (self.low.vocabulary.place, self.high.vocabulary.place)

    def boundary_of(self, single: SingleTerm) -> int:
        """Return where an attribute is parted."""
        return self.boundaries[0] if single is self.low else self.boundaries[1]

    def columns(self, memberships: list[Float], means: list[Float]) -> Float:
        """Return the product of both high parts, each less its mean; 0 where one is unknown."""
        parts = [
            high_part(single.vocabulary, boundary, masses, mean)
            for single, boundary, masses, mean in zip(
                (self.low, self.high), self.boundaries, memberships, means, strict=True
            )
        ]
        return np.asarray(parts[0] * parts[1])[:, None]

    def penalty(self, strength: Strength) -> Float:
        """Return the price of the score."""
        return np.array([[strength.of_pair]])

    def reduction(self) -> Float:
        """Return that the parameter stays."""
        return np.ones((1, 1))

    def moves(self, joins: Iterable[tuple[int, int]] | None = None) -> list[Move]:
        """Return that it may go."""
        del joins
        return [] if self.is_dropped else [Move("drop")]

    def constraints(self, move: Move) -> list[Constraint]:
        """Return that the parameter is to be 0."""
        del move
        return [[(0, 1.0)]]

    def saved(self, move: Move) -> int:
        """Return how many rules a move saves."""
        del move
        return self.n_rules

    def apply(self, move: Move) -> None:
        """Leave the pair out."""
        del move
        self.is_dropped = True


Term = SingleTerm | PairTerm


def high_words(vocabulary: Vocabulary, boundary: int) -> slice:
    """Return the first words of the high part of an attribute."""
    end = vocabulary.size if vocabulary.is_ordered else boundary + 1
    return slice(boundary + vocabulary.is_ordered, end)


def high_part(vocabulary: Vocabulary, boundary: int, masses: Float, mean: Float) -> Float:
    """Return how far readings are in the high part of an attribute, less the mean of all rows."""
    chosen = high_words(vocabulary, boundary)
    high = masses[:, chosen].sum(axis=1) - mean[chosen].sum()
    return np.where(np.isnan(masses[:, 0]), 0.0, high)
