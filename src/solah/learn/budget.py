"""The path from many rules to few: each step removes what costs the least likelihood.

Near the fitted scores the loss is about a paraboloid. To set combinations E of parameters to 0
costs ``1/2 d' (E' C E)^-1 d`` with ``d = E' W`` and C the inverse of the curvature. All other
parameters move so that they compensate (the optimal brain surgeon of Hassibi and Stork). To join
two words, to skip one and to drop a term are such constraints.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from solah.learn.objective import Pins
from solah.learn.terms import Move, SingleTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.terms import Constraint, Term

_NUGGET = 1e-9
# A cost that was computed earlier still counts if the current one is higher by this factor at most.
_SLACK = 1.0001
_DROP = Move("drop")
# The number of joins of categories, the cheapest, that are compared at a time.
_MOST_JOINS = 16


class Path:
    """Terms that lose rules step by step.

    Parameters
    ----------
    terms : the terms, which change with every step
    weights : (n_parameters, n_outputs) the fitted scores
    curvature : (n_parameters, n_parameters) the second derivatives of the penalised loss
    prices : the costs of features by index; 1 by default
    """

    def __init__(
        self,
        terms: Sequence[Term],
        weights: Float,
        curvature: Float,
        prices: Mapping[int, float] | None = None,
    ) -> None:
        self.terms, self.weights = list(terms), weights.copy()
        self.prices = prices or {}
        nugget = 1e-7 * np.eye(len(curvature))
        self._inverse = np.linalg.inv(curvature + nugget)
        self._inverse = (self._inverse + self._inverse.T) / 2
        sizes = [term.n_parameters for term in self.terms]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self._numbers = {id(term): number for number, term in enumerate(self.terms)}
        self._versions = [0] * len(self.terms)
        self._ticket = count()
        self._queue: list[tuple[float, int, int, int, Move]] = []
        self._drop_losses: dict[int, float] = {}
        self._offer(range(len(self.terms)))

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return sum(term.n_rules for term in self.terms)

    @property
    def features(self) -> set[int]:
        """The indices of the features that rules use."""
        return {place for term in self.terms if term.n_rules for place in term.features}

    def walk(self, max_rules: int) -> None:
        """Take the cheapest steps until there are at most ``max_rules`` rules."""
        while self.n_rules > max_rules and self._step():
            pass

    def drop_features(self, max_features: int) -> None:
        """Drop the least useful features, with all their terms."""
        while len(self.features) > max_features:
            free = sorted(self.features - self._required)
            worth = {place: self._worth(place) for place in free}
            cheapest = min(worth, key=lambda place: worth[place] / self.prices.get(place, 1.0))
            self._drop_all(cheapest)

    def drop_idle(self, allowance: float) -> None:
        """Drop the least useful features while the loss rises by no more than this.

        The number of rules is a limit, so rules that hardly help are dropped as well.
        """
        while free := sorted(self.features - self._required):
            worth = {place: self._worth(place) for place in free}
            least = min(worth, key=lambda place: worth[place])
            allowance -= worth[least]
            if allowance < 0:
                break
            self._drop_all(least)

    def reduction(self) -> Float:
        """Return the shares of the remaining parameters in the first ones."""
        live = [number for number, term in enumerate(self.terms) if term.n_rules]
        parts = [self.terms[number].reduction() for number in live]
        width = sum(part.shape[1] for part in parts)
        shares = np.zeros((len(self.weights), width))
        at = 0
        for number, part in zip(live, parts, strict=True):
            start = self._starts[number]
            shares[start : start + part.shape[0], at : at + part.shape[1]] = part
            at += part.shape[1]
        return shares

    @property
    def _required(self) -> set[int]:
        """The indices of the features that stay."""
        singles = (term for term in self.terms if isinstance(term, SingleTerm))
        return {
            term.vocabulary.place for term in singles if term.is_required or term.given is not None
        }

    def pins(self, n_outputs: int) -> Pins:
        """Return which of the remaining parameters are given."""
        return Pins.of([term for term in self.terms if term.n_rules], n_outputs, is_first=False)

    def _step(self) -> bool:
        """Take the cheapest step. Return whether there was one."""
        while self._queue:
            _, _, number, version, move = heapq.heappop(self._queue)
            if version != self._versions[number]:
                continue
            (cost,) = self._costs(number, [move])
            if not self._queue or cost <= self._queue[0][0] * _SLACK + 1e-12:
                self._take(number, move)
                return True
            heapq.heappush(self._queue, (cost, next(self._ticket), number, version, move))
        return False

    def _take(self, number: int, move: Move) -> None:
        places, factors = _factors(self._asked(number, move))
        wanted = factors @ self.weights[places]
        along = self._inverse[:, places] @ factors.T
        system = factors @ along[places]
        system[np.diag_indices(len(system))] += _NUGGET
        solved = np.linalg.solve(system, np.hstack([wanted, along.T]))
        n_outputs = wanted.shape[1]
        self.weights -= along @ solved[:, :n_outputs]
        self._inverse -= along @ solved[:, n_outputs:]
        term = self.terms[number]
        changed: set[Term] = {term, *term.sides}  # words that a pair locked may change again
        if isinstance(term, SingleTerm):
            changed |= {*term.live_pairs} if move.kind == "skip" else set()
        term.apply(move)
        self._offer(sorted(self._numbers[id(one)] for one in changed))

    def _asked(self, number: int, move: Move) -> list[Constraint]:
        """Return the constraints of a step on all parameters."""
        term = self.terms[number]

        def placed(constraints: Iterable[Constraint], start: int) -> Iterator[Constraint]:
            return ([(start + at, factor) for at, factor in one] for one in constraints)

        found = list(placed(term.constraints(move), int(self._starts[number])))
        if move.kind == "skip" and isinstance(term, SingleTerm):
            (place,) = move.words
            for pair in term.live_pairs:
                asked = pair.skip_constraints(term, place, term.upper_share(place))
                found += placed(asked, int(self._starts[self._numbers[id(pair)]]))
        return found

    def _offer(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._versions[number] += 1
            nearest = self._nearest(number)
            moves = self.terms[number].moves(nearest)
            costs = self._costs(number, moves, is_near=nearest is not None)
            for cost, move in zip(costs, moves, strict=True):
                entry = (cost, next(self._ticket), number, self._versions[number], move)
                heapq.heappush(self._queue, entry)

    def _nearest(self, number: int) -> list[tuple[int, int]] | None:
        """Return the cheapest joins of very many words without an order; None for all.

        A join of two words costs at least as much as one with a word whose score is between
        theirs. So only neighbours by score are compared.
        """
        term = self.terms[number]
        if not isinstance(term, SingleTerm) or term.vocabulary.is_ordered:
            return None
        if len(term.words) ** 2 <= 2 * _MOST_JOINS:
            return None
        places = self._starts[number] + np.array([members[0] for members in term.words])
        weights, own = self.weights[places], self._inverse[places, places]
        order = np.argsort(weights, axis=0, kind="stable")
        pairs = np.unique(
            np.sort(np.stack([order[:-1], order[1:]], axis=-1).reshape(-1, 2)), axis=0
        )
        first, second = pairs.T
        between = self._inverse[places[first], places[second]]
        spread = own[first] + own[second] - 2 * between + _NUGGET
        costs = ((weights[first] - weights[second]) ** 2).sum(axis=1) / spread
        cheap = pairs[np.argsort(costs, kind="stable")[:_MOST_JOINS]]
        return [(int(one), int(other)) for one, other in cheap]

    def _costs(self, number: int, moves: Sequence[Move], *, is_near: bool = False) -> list[float]:
        """Return the costs of steps per rule that they save; lower for expensive features.

        If ``is_near``, the cost of dropping a term may be that of an earlier step.
        """
        term, losses = self.terms[number], np.empty(len(moves))
        is_known = [is_near and move == _DROP and number in self._drop_losses for move in moves]
        asked = [move for move, known in zip(moves, is_known, strict=True) if not known]
        losses[~np.array(is_known, dtype=bool)] = self._losses(number, asked)
        for place, move in enumerate(moves):
            if is_known[place]:
                losses[place] = self._drop_losses[number]
            elif move == _DROP:
                self._drop_losses[number] = float(losses[place])
        costs = losses / [term.saved(move) for move in moves]
        if len(term.features) == 1:
            price = self.prices.get(term.features[0], 1.0)
            costs /= [price if move.kind == "drop" else 1.0 for move in moves]
        return list(costs.tolist())

    def _losses(self, number: int, moves: Sequence[Move]) -> Float:
        """Return about how much likelihood each step of a term loses."""
        asked = [self._asked(number, move) for move in moves]
        losses = np.empty(len(moves))
        single = np.array([len(constraints) == 1 for constraints in asked], dtype=bool)
        if single.any():
            losses[single] = self._losses_of_one([one for one, *more in asked if not more])
        for place in np.flatnonzero(~single).tolist():
            places, factors = _factors(asked[place])
            wanted = factors @ self.weights[places]
            system = factors @ self._inverse[np.ix_(places, places)] @ factors.T
            system[np.diag_indices(len(system))] += _NUGGET
            losses[place] = 0.5 * (wanted * np.linalg.solve(system, wanted)).sum()
        return losses

    def _losses_of_one(self, asked: Sequence[Constraint]) -> Float:
        """Return the same for steps of one constraint each."""
        width = max(map(len, asked))
        padded = [[*one, *[(0, 0.0)] * (width - len(one))] for one in asked]
        places = np.array([[at for at, _ in one] for one in padded], dtype=np.intp)
        factors = np.array([[factor for _, factor in one] for one in padded])
        between = self._inverse[places[:, :, None], places[:, None, :]]
        spread = np.einsum("ma,mab,mb->m", factors, between, factors) + _NUGGET
        wanted = np.einsum("ma,mao->mo", factors, self.weights[places])
        return np.asarray(0.5 * (wanted**2).sum(axis=1) / spread)

    def _worth(self, place: int) -> float:
        """Return about how much likelihood is lost without a feature."""
        return sum(
            float(self._losses(number, [_DROP])[0])
            for number, term in enumerate(self.terms)
            if term.n_rules and place in term.features
        )

    def _drop_all(self, place: int) -> None:
        """Drop all terms of a feature, pairs first."""
        numbers = [n for n, term in enumerate(self.terms) if place in term.features]
        for number in sorted(numbers, key=lambda n: -len(self.terms[n].features)):
            if self.terms[number].n_rules:
                self._take(number, _DROP)


def _factors(constraints: Sequence[Constraint]) -> tuple[NDArray[np.intp], Float]:
    """Return the parameters that constraints name, and their factors: one constraint a line."""
    named = sorted({at for constraint in constraints for at, _ in constraint})
    place_of = {at: place for place, at in enumerate(named)}
    factors = np.zeros((len(constraints), len(named)))
    for row, constraint in zip(factors, constraints, strict=True):
        for at, factor in constraint:
            row[place_of[at]] += factor
    return np.array(named, dtype=np.intp), factors
