"""The path from many rules to few: what costs least likelihood goes first.

At fitted scores the loss is about a paraboloid. Asking that combinations E of parameters be 0
then costs ``1/2 d' (E' C E)^-1 d`` with ``d = E' W`` and C the inverse of the curvature, and moves
all other parameters along, so that they take over what they can (the optimal brain surgeon of
Hassibi and Stork). Joining two words, leaving one out, or dropping a term are such constraints.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from solah.learn.objective import Pins
from solah.learn.terms import Move, PairTerm, SingleTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.terms import Constraint, Term

_NUGGET = 1e-9
# A cost that was computed earlier is still good enough if it is beaten by no more than this.
_SLACK = 1.0001
_DROP = Move("drop")
# Of states without an order, so many joins, the cheapest, are considered at a time.
_MOST_JOINS = 64


class Path:
    """Terms on their way to fewer rules.

    Parameters
    ----------
    terms : the terms, which change on the way
    weights : (n_parameters, n_outputs) the fitted scores
    curvature : (n_parameters, n_parameters) how the penalised loss bends
    prices : what the features at places cost; 1 where nothing is said
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
        self._versions = [0] * len(self.terms)
        self._ticket = count()
        self._queue: list[tuple[float, int, int, int, Move]] = []
        self._offer(range(len(self.terms)))

    @property
    def n_rules(self) -> int:
        """How many rules are left."""
        return sum(term.n_rules for term in self.terms)

    @property
    def features(self) -> set[int]:
        """The places of the features that are left."""
        return {place for term in self.terms if term.n_rules for place in term.features}

    def walk(self, max_rules: int) -> None:
        """Take the cheapest steps until there are no more rules than asked for."""
        while self.n_rules > max_rules and self._step():
            pass

    def drop_features(self, max_features: int) -> None:
        """Drop the features that are worth least, with all their terms."""
        while len(self.features) > max_features:
            free = sorted(self.features - self._required)
            worth = {place: self._worth(place) for place in free}
            cheapest = min(worth, key=lambda place: worth[place] / self.prices.get(place, 1.0))
            self._drop_all(cheapest)

    def drop_idle(self, allowance: float) -> None:
        """Drop the features that are worth least while all of them are worth no more than this.

        A number of rules is a limit, not an aim: rules that are worth next to nothing go as well.
        """
        while free := sorted(self.features - self._required):
            worth = {place: self._worth(place) for place in free}
            least = min(worth, key=lambda place: worth[place])
            allowance -= worth[least]
            if allowance < 0:
                break
            self._drop_all(least)

    def reduction(self) -> Float:
        """Return how first parameters are made of those that are left."""
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
        """The places of the features that stay."""
        singles = (term for term in self.terms if isinstance(term, SingleTerm))
        return {
            term.vocabulary.place for term in singles if term.is_required or term.given is not None
        }

    def pins(self, n_outputs: int) -> Pins:
        """Return what is given of the parameters that are left."""
        return Pins.of([term for term in self.terms if term.n_rules], n_outputs, is_first=False)

    def _step(self) -> bool:
        """Take the cheapest step; tell whether there was one."""
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
        own = slice(self._starts[number], self._starts[number + 1])
        factors = _factors(self.terms[number].constraints(move), own.stop - own.start)
        wanted = factors @ self.weights[own]
        along = self._inverse[:, own] @ factors.T
        system = factors @ along[own]
        system[np.diag_indices(len(system))] += _NUGGET
        solved = np.linalg.solve(system, np.hstack([wanted, along.T]))
        n_outputs = wanted.shape[1]
        self.weights -= along @ solved[:, :n_outputs]
        self._inverse -= along @ solved[:, n_outputs:]
        term = self.terms[number]
        term.apply(move)
        touched = {number}
        if not term.n_rules or isinstance(term, PairTerm):
            # What a pair locked is free again.
            touched |= {
                other
                for other, one in enumerate(self.terms)
                if one.n_rules and set(one.features) & set(term.features)
            }
        self._offer(sorted(touched))

    def _offer(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._versions[number] += 1
            moves = self.terms[number].moves(self._nearest(number))
            for cost, move in zip(self._costs(number, moves), moves, strict=True):
                entry = (cost, next(self._ticket), number, self._versions[number], move)
                heapq.heappush(self._queue, entry)

    def _nearest(self, number: int) -> list[tuple[int, int]] | None:
        """Return the cheapest joins of very many words without an order; None for all."""
        term = self.terms[number]
        if not isinstance(term, SingleTerm) or term.vocabulary.is_ordered:
            return None
        first, second = np.triu_indices(len(term.words), 1)
        if len(first) <= _MOST_JOINS:
            return None
        places = self._starts[number] + np.array([members[0] for members in term.words])
        inverse, weights = self._inverse[np.ix_(places, places)], self.weights[places]
        own = np.diag(inverse)
        spread = own[first] + own[second] - 2 * inverse[first, second] + _NUGGET
        costs = ((weights[first] - weights[second]) ** 2).sum(axis=1) / spread
        cheap = np.flatnonzero(costs <= np.partition(costs, _MOST_JOINS)[_MOST_JOINS])
        chosen = cheap[np.argsort(costs[cheap], kind="stable")[:_MOST_JOINS]]
        return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))

    def _costs(self, number: int, moves: Sequence[Move]) -> list[float]:
        """Return what steps cost for each rule that they save, cheap where features are dear."""
        term = self.terms[number]
        costs = self._losses(number, moves) / [term.saved(move) for move in moves]
        if len(term.features) == 1:
            price = self.prices.get(term.features[0], 1.0)
            costs /= [price if move.kind == "drop" else 1.0 for move in moves]
        return list(costs.tolist())

    def _losses(self, number: int, moves: Sequence[Move]) -> Float:
        """Return about how much likelihood each of a term's steps loses."""
        term = self.terms[number]
        own = slice(self._starts[number], self._starts[number + 1])
        inverse, weights = self._inverse[own, own], self.weights[own]
        asked = [term.constraints(move) for move in moves]
        losses = np.empty(len(moves))
        single = np.array([len(constraints) == 1 for constraints in asked], dtype=bool)
        factors = _factors([one for many in asked if len(many) == 1 for one in many], len(weights))
        spread = ((factors @ inverse) * factors).sum(axis=1) + _NUGGET
        losses[single] = 0.5 * ((factors @ weights) ** 2).sum(axis=1) / spread
        for place in np.flatnonzero(~single).tolist():
            factors = _factors(asked[place], len(weights))
            used = np.flatnonzero(factors.any(axis=0))
            factors = factors[:, used]
            wanted, system = (
                factors @ weights[used],
                factors @ inverse[np.ix_(used, used)] @ factors.T,
            )
            system[np.diag_indices(len(system))] += _NUGGET
            losses[place] = 0.5 * (wanted * np.linalg.solve(system, wanted)).sum()
        return losses

    def _worth(self, place: int) -> float:
        """Return about what is lost without a feature."""
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


def _factors(constraints: Sequence[Constraint], n_parameters: int) -> Float:
    """Return the combinations of a term's parameters that are to be 0."""
    factors = np.zeros((len(constraints), n_parameters))
    for row, constraint in zip(factors, constraints, strict=True):
        for parameter, factor in constraint:
            row[parameter] += factor
    return factors
