"""Terms over the rows of a sample: their columns, fitted scores, and the way to fewer rules.

Pairs of features are ranked by what grids of rules could add to the words of single features. Every
feature is parted at a few places. The score statistics of the cells of a grid show how much of
the unexplained rest it would explain (as the FAST of Lou et al. does for boosted trees).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from solah.exceptions import ParameterError
from solah.learn.budget import Path
from solah.learn.cone import Cone
from solah.learn.objective import Pins, Problem, Scores, curvature, weighted_gram
from solah.learn.terms import Given, PairTerm, SingleTerm, high_words, part_memberships
from solah.learn.vocabulary import place_words, split_gains
from solah.model.monotone import signs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.recipe import AdditiveRecipe, Strength
    from solah.learn.sample import Sample
    from solah.learn.terms import Term
    from solah.learn.vocabulary import SplitGains, Vocabulary

# Parts with a smaller share of the rows do not show an interaction.
_LEAST_PART = 0.03


class Pair(NamedTuple):
    """Two features by the numbers of their single terms, and where both are parted."""

    terms: tuple[int, int]
    boundaries: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(eq=False)
class Design:
    """Terms and their columns over the rows of a sample.

    Attributes
    ----------
    sample : the rows
    recipe : how terms are made
    terms : single terms, then pairs
    memberships, means : of each single term, those of all rows and their means
    gains : what splits of the features gain, where that was asked
    columns : (n_rows, n_parameters)
    scores : what was fitted last
    """

    sample: Sample
    recipe: AdditiveRecipe
    terms: list[Term]
    memberships: list[Float]
    means: list[Float]
    gains: SplitGains | None = None
    columns: Float = field(default_factory=lambda: np.empty((0, 0)))
    scores: Scores | None = None
    _added: list[Pair] = field(default_factory=list)
    _parts: dict[int, Float] | None = None
    _gram: Float | None = None
    _priced: tuple[Strength | None, Float] = (None, np.empty((0, 0)))

    @classmethod
    def begin(
        cls, sample: Sample, recipe: AdditiveRecipe, gains: SplitGains | None = None
    ) -> Design:
        """Place the first words of all features; the gains of splits may be known already."""
        settings, required = recipe.words, recipe.budget.required
        kept = np.arange(len(sample.features))
        if gains is None and (settings.is_learned or len(kept) > settings.max_features):
            gains = split_gains(sample, settings.boosting)
        if gains is not None and len(kept) > settings.max_features:
            is_required = np.array([one.name in required for one in sample.features])
            most = max(settings.max_features, int(is_required.sum()))
            kept = np.sort(np.lexsort((-gains.of_features, ~is_required))[:most])
        found = place_words(sample, settings, gains if settings.is_learned else None, kept)
        terms = [_begin(vocabulary, sample, recipe) for vocabulary in found]
        memberships = [one.memberships(sample.readings[:, one.place]) for one in found]
        weights, means = sample.weights, []
        for masses in memberships:
            known = ~np.isnan(masses[:, 0])
            means.append(weights[known] @ masses[known] / weights[known].sum())
        new = cls(sample, recipe, [*terms], memberships, means, gains)
        new.columns = new.columns_of(sample)
        return new

    def again(self, n_pairs: int) -> Design:
        """Begin again with all first words and the first pairs; no missing value has a rule yet."""
        terms = [term.again() for term in self.singles]
        new = replace(self, terms=[*terms], means=[*self.means], scores=None, _added=[])
        new._link(self._added[:n_pairs])
        kept = slice(sum(term.n_parameters for term in new.terms))
        gram = self._known_gram()
        new.columns = self.columns[:, kept]
        new._gram = None if gram is None else gram[kept, kept]
        return new

    def copied(self) -> Design:
        """Return the design with terms of its own, so that they may change."""
        return replace(self, terms=deepcopy(self.terms))

    @property
    def singles(self) -> list[SingleTerm]:
        """The terms of single features."""
        return [term for term in self.terms if isinstance(term, SingleTerm)]

    @property
    def pairs(self) -> list[PairTerm]:
        """The terms of pairs of features."""
        return [term for term in self.terms if isinstance(term, PairTerm)]

    @property
    def n_parameters(self) -> int:
        """How many parameters the terms have at first."""
        return int(self.columns.shape[1])

    @property
    def totals(self) -> Float:
        """What rows add up to, with the scores that were fitted last."""
        assert self.scores is not None
        return self.scores.of(self.columns)

    def columns_of(self, sample: Sample, terms: Sequence[Term] | None = None) -> Float:
        """Return the columns of all terms, or of some, over the rows of a sample."""
        terms = self.terms if terms is None else terms
        number = {id(term): place for place, term in enumerate(self.singles)}
        known = dict(enumerate(self.memberships)) if sample is self.sample else {}
        width = sum(term.n_parameters for term in terms)
        found, at = np.empty((sample.n_rows, width), order="F"), 0
        for term in terms:
            places, end = [number[id(one)] for one in term.sides], at + term.n_parameters
            for place, words in zip(places, (one.vocabulary for one in term.sides), strict=True):
                if place not in known:
                    known[place] = words.memberships(sample.readings[:, words.place])
            masses, means = [known[j] for j in places], [self.means[j] for j in places]
            found[:, at:end] = term.columns(masses, means)
            at = end
        return found

    def _places(self) -> dict[int, slice]:
        """Return the indices of the parameters of each term, by the term's id."""
        places, at = {}, 0
        for term in self.terms:
            places[id(term)] = slice(at, at + term.n_parameters)
            at += term.n_parameters
        return places

    # --- fitting ---------------------------------------------------------------------------------

    def penalty(self, strength: Strength) -> Float:
        """Return the price of all scores."""
        known, price = self._priced
        if known != strength or len(price) != self.n_parameters:
            price = np.zeros((self.n_parameters, self.n_parameters))
            for term, own in zip(self.terms, self._places().values(), strict=True):
                price[own, own] = term.penalty(strength)
            self._priced = strength, price
        return price

    def high_mean(self, term: SingleTerm, boundary: int) -> float:
        """Return the mean of the high part of a feature."""
        means = self.means[self.singles.index(term)]
        return float(means[high_words(term.vocabulary, boundary)].sum())

    def cone(self) -> Cone | None:
        """Return what scores are allowed: those that keep to the directions of features."""
        part = self._places()
        steps, signs = [np.empty((0, self.n_parameters))], []

        def add(found: Float, of_outputs: Float) -> None:
            found = found[found.any(axis=1)]
            steps.append(np.repeat(found, len(of_outputs), axis=0))
            signs.append(np.tile(of_outputs, (len(found), 1)))

        for single in self.singles:
            if single.signs is None:
                continue
            own = np.zeros((single.vocabulary.size - 1, self.n_parameters))
            own[:, part[id(single)]] = single.steps()
            for pair in single.pairs:
                side = pair.sides.index(single)
                own[:, part[id(pair)]] -= pair.lifted(side)
                of_pair = pair.rises_by_part(side, self.high_mean)
                whole = np.zeros((len(of_pair), self.n_parameters))
                whole[:, part[id(pair)]] = of_pair
                add(whole, single.signs)
            add(own, single.signs)
        return Cone(np.vstack(steps), np.vstack(signs)) if signs else None

    def fit(self, strength: Strength, *, is_rough: bool = False) -> Scores:
        """Fit the scores of all terms, from those that were fitted last on."""
        sample, penalty = self.sample, self.penalty(strength)
        problem = Problem(
            self.columns,
            sample.weights,
            penalty,
            self.scores,
            None,
            self.cone(),
            is_rough,
            self._known_gram(),
        )
        pins = Pins.of(self.terms, sample.objective.n_outputs, is_first=True)
        self.scores = pins.fit(sample.objective, problem)
        return self.scores

    def _known_gram(self) -> Float | None:
        """Return the products of columns; columns that were added since cost what they are.

        Two classes have no use for them: their rows weigh as much as they are uncertain.
        """
        if self.sample.objective.n_outputs == 2:
            return None
        columns, weights, known = self.columns, self.sample.weights, self._gram
        n_known = 0 if known is None else len(known)
        if known is None:
            self._gram = weighted_gram(columns, weights)
        elif n_known < self.n_parameters:
            more = columns[:, n_known:]
            beside = (more * weights[:, None]).T @ columns[:, :n_known]
            self._gram = np.block([[known, beside.T], [beside, weighted_gram(more, weights)]])
        return self._gram

    def fit_all(self, strength: Strength, n_pairs: int) -> None:
        """Fit the single terms, then those of missing readings and of pairs; few rules later."""
        self.fit(strength, is_rough=True)
        if self.add_missing(self.totals):
            self.fit(strength, is_rough=True)
        for number in self.recipe.interactions.stages(n_pairs):
            self.add_pairs(number)
            self.fit(strength, is_rough=True)

    def add_missing(self, totals: Float) -> bool:
        """Give missing values rules of their own if they are informative beside these totals."""
        slope, bend = self.sample.objective.gradient(totals)
        weights = self.sample.weights
        for number, term in enumerate(self.singles):
            unknown = np.isnan(self.memberships[number][:, 0])
            share = float(weights @ unknown / weights.sum())
            if term.given is not None or not 0.0 < share < 1.0:
                continue
            centred = weights * (unknown - share)
            score = centred @ slope
            spread = (weights * (unknown - share) ** 2) @ bend
            if float((score**2 / (spread + 1.0)).sum()) > self.recipe.missing_statistic:
                term.has_missing = True
                self.means[number] = np.append(self.means[number], share)
        has_missing = any(term.has_missing for term in self.singles)
        if has_missing:
            self.columns, self._gram = self.columns_of(self.sample), None
            self.scores = None
        return has_missing

    # --- fewer rules -----------------------------------------------------------------------------

    def path(self, strength: Strength) -> Path:
        """Begin the way to fewer rules."""
        assert self.scores is not None
        costs = self.recipe.budget.costs
        names = [feature.name for feature in self.sample.features]
        prices = {place: costs[name] for place, name in enumerate(names) if name in costs}
        bend = curvature(self.sample.objective, self.columns, self.sample.weights, self.totals)
        return Path(self.terms, self.scores.weights, bend + self.penalty(strength), prices)

    def refit(self, path: Path, strength: Strength, *, is_rough: bool = False) -> Scores:
        """Fit what a path has left; return the scores of the parameters that are left."""
        assert self.scores is not None
        shares, sample = path.reduction(), self.sample
        penalty = shares.T @ self.penalty(strength) @ shares
        start = np.asarray(np.linalg.lstsq(shares, path.weights, rcond=None)[0], dtype=np.float64)
        begin, cone = Scores(start, self.scores.bias), self.cone()
        cone = cone and cone.reduced(shares)
        columns, gram = combined(self.columns, shares), self._known_gram()
        gram = None if gram is None else shares.T @ gram @ shares
        problem = Problem(columns, sample.weights, penalty, begin, None, cone, is_rough, gram)
        found = path.pins(sample.objective.n_outputs).fit(sample.objective, problem)
        path.weights = shares @ found.weights
        return found

    def reduced(
        self, strength: Strength, max_rules: int | None, allowance: float
    ) -> tuple[Scores, Path]:
        """Go to a number of rules, drop what is idle, and fit what is left."""
        path = self.path(strength)
        if max_rules is not None:
            path.walk(max_rules)
        if self.recipe.budget.max_features is not None:
            path.drop_features(self.recipe.budget.max_features)
        path.drop_idle(allowance * float(self.sample.weights.sum()))
        return self.refit(path, strength), path

    # --- pairs -----------------------------------------------------------------------------------

    def add_pairs(self, n_pairs: int) -> None:
        """Let there be this many pairs, the best first by what the scores leave unexplained."""
        self._add(islice(self._ranked(), n_pairs - len(self._added)))

    def _add(self, pairs: Iterable[Pair]) -> None:
        added = self._link(pairs)
        self.columns = np.hstack([self.columns, self.columns_of(self.sample, added)])
        if self.scores is not None:  # new parameters begin at 0
            more = self.n_parameters - len(self.scores.weights)
            weights = np.pad(self.scores.weights, ((0, more), (0, 0)))
            self.scores = Scores(weights, self.scores.bias)

    def _link(self, pairs: Iterable[Pair]) -> list[PairTerm]:
        """Add the terms of pairs, without their columns."""
        singles, added = self.singles, list[PairTerm]()
        for one in pairs:
            self._added.append(one)
            low, high = singles[one.terms[0]], singles[one.terms[1]]
            pair = PairTerm(low, high, one.boundaries)
            added.append(pair)
            low.pairs.append(pair)
            high.pairs.append(pair)
        self.terms += added
        return added

    def _ranked(self) -> Iterator[Pair]:
        """Rank the pairs that are allowed and not there yet."""
        settings, singles = self.recipe.interactions, self.singles
        few = slice(None, None, -(-self.sample.n_rows // settings.max_rows))
        weights = self.sample.weights[few]
        slope, bend = self.sample.objective.gradient(self.totals)
        names = [single.vocabulary.feature.name for single in singles]
        there = {pair.terms for pair in self._added}
        n_pairs = len(there)
        n_products = sum(len(one) * len(other) for _, (one, other) in self._added)
        if self._parts is None:
            n_ranked = settings.n_ranked_parts(len(singles))
            self._parts = {}
            for number, (term, masses) in enumerate(zip(singles, self.memberships, strict=True)):
                coarse = _boundaries(term, masses[few], weights, n_ranked)
                if coarse and term.given is None:
                    self._parts[number] = part_memberships(term.vocabulary, coarse, masses[few])
        numbers, parts = list(self._parts), list(self._parts.values())
        for first, second in rank_pairs(parts, weights, slope[few], bend[few]):
            low, high = numbers[first], numbers[second]
            if (low, high) in there or not settings.may_be(names[low], names[high]):
                continue
            n_parts = settings.n_fine_parts if n_pairs < settings.n_fine else settings.n_parts
            of_low, of_high = (
                _boundaries(singles[number], self.memberships[number][few], weights, n_parts)
                for number in (low, high)
            )
            n_pairs, n_products = n_pairs + 1, n_products + len(of_low) * len(of_high)
            if n_products > settings.max_products and not settings.least:
                return
            yield Pair((low, high), (of_low, of_high))


def combined(columns: Float, shares: Float) -> Float:
    """Return the columns that others are made of, as few shares are not 0."""
    return np.asarray((csr_array(shares.T) @ columns.T).T)


def _begin(vocabulary: Vocabulary, sample: Sample, recipe: AdditiveRecipe) -> SingleTerm:
    """Begin with all words of a feature, and what is asked of them."""
    name = vocabulary.feature.name
    promises = [one for one in recipe.monotonic if one.feature == name]
    n_outputs = sample.objective.n_outputs
    signs = signs_of(promises, n_outputs) if promises else None
    rules = [rule for rule in recipe.rules if rule.feature == name]
    given = Given.read(vocabulary, rules, n_outputs) if rules else None
    if given is not None and signs is not None:
        if (np.diff(given.scores, axis=0) @ signs.T < 0).any():
            raise ParameterError(f"user-defined rules violate 'monotonic_cst' for {name!r}")
        signs = None  # it keeps them
    is_required = name in recipe.budget.required
    return SingleTerm(vocabulary, is_required=is_required, given=given, signs=signs)


def rank_pairs(
    parts: Sequence[Float], weights: Float, slope: Float, bend: Float
) -> Iterator[tuple[int, int]]:
    """Rank pairs of features by what grids of their parts would explain, the best first.

    The score statistics of the cells are added up, each less what chance gives it. Sums over the
    lines of a grid are taken off before: single features explain those.

    Parameters
    ----------
    parts : of each feature, (n_rows, n_parts) how far readings are in each part
    weights : (n_rows,) what rows weigh
    slope, bend : (n_rows, n_outputs) how the loss of rows grows with their totals, and bends
    """
    if len(parts) < 2:
        return
    n_features, n_parts = len(parts), max(one.shape[1] for one in parts)
    cells = np.zeros((len(weights), n_features, n_parts))
    for number, one in enumerate(parts):
        cells[:, number, : one.shape[1]] = one
    flat = cells.reshape(len(weights), -1)
    statistic = np.zeros((n_features, n_features))
    shape = (n_features, n_parts, n_features, n_parts)
    for of_slope, of_bend in zip(slope.T, bend.T, strict=True):
        score = (flat.T @ (flat * (weights * of_slope)[:, None])).reshape(shape)
        spread = ((flat**2).T @ (flat**2 * (weights * of_bend)[:, None])).reshape(shape)
        spread = np.maximum(spread, 0.0)
        for axis in (3, 1):
            whole = spread.sum(axis=axis, keepdims=True)
            of_line = score.sum(axis=axis, keepdims=True) / np.maximum(whole, 1e-12)
            score = score - spread * of_line
        gained = (score**2 - spread) / (spread + 1.0)
        statistic += gained.sum(axis=(1, 3))
    first, second = np.triu_indices(n_features, 1)
    order = np.argsort(-statistic[first, second], kind="stable")
    yield from zip(first[order].tolist(), second[order].tolist(), strict=True)


def _boundaries(term: SingleTerm, masses: Float, weights: Float, n_parts: int) -> tuple[int, ...]:
    """Return where a feature is parted for its pairs: into a few parts of many rows."""
    vocabulary = term.vocabulary
    known = np.nan_to_num(masses)
    shares = weights @ known / max(float(weights @ known.sum(axis=1)), 1e-300)
    if vocabulary.is_ordered:
        below = np.cumsum(shares)[:-1]
        wanted = [at for at, _ in sorted(vocabulary.cuts, key=lambda cut: (-cut[1], cut[0]))]
        even = np.arange(1, n_parts) / n_parts
        wanted += [int(np.argmin(np.abs(below - share))) for share in even]
        sizes = np.minimum(below, 1.0 - below)
        ends = {words[-1] for words in vocabulary.first_words}
        wanted = [at for at in wanted if at in ends]
        if vocabulary.size <= n_parts:
            wanted = sorted(ends - {vocabulary.size - 1})
    else:
        wanted = np.argsort(-shares, kind="stable").tolist()
        sizes = np.minimum(shares, 1.0 - shares)
        if vocabulary.size <= n_parts:  # the others are the first part
            wanted = wanted[1:]
    wanted = [at for at in dict.fromkeys(wanted) if sizes[at] >= _LEAST_PART]
    return tuple(sorted(wanted[: n_parts - 1]))
