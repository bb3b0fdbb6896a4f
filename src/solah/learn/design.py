"""Terms over the rows of a sample: their columns, fitted scores, and the way to fewer rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.exceptions import ParameterError
from solah.learn.budget import Path
from solah.learn.cone import Cone
from solah.learn.objective import Pins, Scores, curvature
from solah.learn.terms import Given, PairTerm, SingleTerm, high_part, high_words
from solah.learn.vocabulary import place_words, split_gains
from solah.model.monotone import signs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.recipe import AdditiveRecipe, InteractionSettings, Strength
    from solah.learn.sample import Sample
    from solah.learn.terms import Term
    from solah.learn.vocabulary import SplitGains, Vocabulary


@dataclass(eq=False)
class Design:
    """Terms and their columns over the rows of a sample.

    Attributes
    ----------
    sample : the rows
    terms : single terms, then pairs
    memberships, means : of each single term, those of all rows and their means
    columns : (n_rows, n_parameters)
    scores : what was fitted last
    gains : what splits of the attributes gain, where that was asked
    """

    sample: Sample
    terms: list[Term]
    memberships: list[Float]
    means: list[Float]
    columns: Float
    scores: Scores | None = None
    gains: SplitGains | None = None
    _products: list[Product] = field(default_factory=list)
    _parts: list[Part] | None = None

    @classmethod
    def begin(
        cls, sample: Sample, recipe: AdditiveRecipe, gains: SplitGains | None = None
    ) -> Design:
        """Place the first words of all attributes; the gains of splits may be known already."""
        settings = recipe.words
        n_attributes = len(sample.attributes)
        is_asked = settings.is_learnt or n_attributes > settings.max_features
        if gains is None and is_asked:
            gains = split_gains(sample, settings.boosting)
        kept = _kept(gains, sample, settings.max_features, recipe.budget.required)
        found = place_words(sample, settings, gains if settings.is_learnt else None, kept)
        memberships = [one.memberships(sample.readings[:, one.place]) for one in found]
        design = cls._of(sample, [_begin(one, sample, recipe) for one in found], memberships)
        design.gains = gains
        return design

    @classmethod
    def _of(cls, sample: Sample, singles: list[SingleTerm], memberships: list[Float]) -> Design:
        means = [_means(masses, sample.weights) for masses in memberships]
        design = cls(sample, [*singles], memberships, means, np.empty((sample.n_rows, 0)))
        design.columns = design.columns_of(sample)
        return design

    def again(self) -> Design:
        """Begin again with all first words, and neither pairs nor missing readings."""
        return Design._of(self.sample, [term.again() for term in self.singles], self.memberships)

    def again_fitted(self) -> Design:
        """Return the same terms with all their words and the scores that were fitted."""
        other = self.again()
        for old, new in zip(self.singles, other.singles, strict=True):
            new.has_missing = old.has_missing
        other.means, other.columns = self.means, self.columns
        other.take_products(self, self.n_products)
        other.scores = self.scores
        return other

    @property
    def singles(self) -> list[SingleTerm]:
        """The terms of single attributes."""
        return [term for term in self.terms if isinstance(term, SingleTerm)]

    @property
    def n_parameters(self) -> int:
        """How many parameters the terms have at first."""
        return int(self.columns.shape[1])

    @property
    def totals(self) -> Float:
        """What rows add up to, with the scores that were fitted last."""
        assert self.scores is not None
        return self.scores.of(self.columns)

    def columns_of(self, sample: Sample) -> Float:
        """Return the columns of the terms over the rows of a sample."""
        if sample is self.sample:
            memberships = self.memberships
        else:
            memberships = [
                term.vocabulary.memberships(sample.readings[:, term.vocabulary.place])
                for term in self.singles
            ]
        parts = [np.empty((sample.n_rows, 0)), *self._columns(self.terms, memberships)]
        return np.hstack(parts)

    def penalty(self, strength: Strength) -> Float:
        """Return the price of all scores."""
        price, at = np.zeros((self.n_parameters, self.n_parameters)), 0
        for term in self.terms:
            own = slice(at, at + term.n_parameters)
            price[own, own] = term.penalty(strength)
            at = own.stop
        return price

    def high_mean(self, term: SingleTerm, boundary: int) -> float:
        """Return the mean of the high part of an attribute."""
        means = self.means[self.singles.index(term)]
        return float(means[high_words(term.vocabulary, boundary)].sum())

    def cone(self) -> Cone | None:
        """Return what scores are allowed: those that keep to the directions of attributes."""
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
                of_pair = pair.steps(side, self.high_mean)
                whole = np.zeros((len(of_pair), self.n_parameters))
                whole[:, part[id(pair)]] = of_pair
                add(whole, single.signs)
            add(own, single.signs)
        return Cone(np.vstack(steps), np.vstack(signs)) if signs else None

    def fit(self, strength: Strength, *, is_rough: bool = False) -> Scores:
        """Fit the scores of all terms, from those that were fitted last on."""
        pins = Pins.of(self.terms, self.sample.objective.n_outputs, is_first=True)
        self.scores = pins.fit(
            self.sample.objective,
            self.columns,
            self.sample.weights,
            self.penalty(strength),
            self.scores,
            cone=self.cone(),
            is_rough=is_rough,
        )
        return self.scores

    @property
    def pairs(self) -> list[PairTerm]:
        """The terms of pairs of attributes."""
        return [term for term in self.terms if isinstance(term, PairTerm)]

    @property
    def n_products(self) -> int:
        """How many products of two attributes there are."""
        return len(self._products)

    def add_products(self, n_products: int, settings: InteractionSettings) -> None:
        """Let there be so many products, the best first by what the scores leave unexplained."""
        self._add(islice(self._ranked(settings), n_products - self.n_products))

    def take_products(self, other: Design, n_products: int) -> None:
        """Take the first so many products of a design with the same words."""
        self._add(other._products[:n_products])

    def _add(self, products: Iterable[Product]) -> None:
        before = self._places()
        singles, pairs = self.singles, {pair.sides: pair for pair in self.pairs}
        for product in products:
            self._products.append(product)
            sides = (singles[product.terms[0]], singles[product.terms[1]])
            if sides not in pairs:
                pairs[sides] = PairTerm(*sides)
                self.terms.append(pairs[sides])
                for single in sides:
                    single.pairs.append(pairs[sides])
            pairs[sides].add(product.boundaries)
        width = sum(single.n_parameters for single in singles)
        of_pairs = self._columns(self.pairs, self.memberships)
        self.columns = np.hstack([self.columns[:, :width], *of_pairs])
        if self.scores is not None:
            self.scores = self._moved(self.scores, before)

    def _ranked(self, settings: InteractionSettings) -> Iterator[Product]:
        """Rank the products that settings allow, and that are not there yet."""
        few = slice(None, None, -(-self.sample.n_rows // settings.max_rows))
        weights = self.sample.weights[few]
        if self._parts is None:
            memberships = [masses[few] for masses in self.memberships]
            n_boundaries = settings.n_boundaries(len(self.singles))
            self._parts = parts_of(self.singles, memberships, self.means, weights, n_boundaries)
        slope, bend = self.sample.objective.gradient(self.totals)
        ranked = rank_products(self._parts, weights, slope[few], bend[few])
        names = [single.vocabulary.attribute.name for single in self.singles]
        is_free = [single.given is None for single in self.singles]
        ranked = (one for one in ranked if all(is_free[term] for term in one.terms))
        there: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for product in self._products:
            there.setdefault(product.terms, set()).add(product.boundaries)
        return settings.allowed(ranked, names, there)

    def _places(self) -> dict[int, slice]:
        """Return where the parameters of each term stand, by the term's id."""
        places, at = {}, 0
        for term in self.terms:
            places[id(term)] = slice(at, at + term.n_parameters)
            at += term.n_parameters
        return places

    def _moved(self, scores: Scores, before: Mapping[int, slice]) -> Scores:
        """Let new parameters begin at 0, and the others where they were."""
        weights = np.zeros((self.n_parameters, scores.weights.shape[1]))
        for term, place in self._places().items():
            if (old := before.get(term)) is not None:
                weights[place.start : place.start + old.stop - old.start] = scores.weights[old]
        return Scores(weights, scores.bias)

    def add_missing(self, statistic: float) -> None:
        """Give missing readings that tell something a rule of their own."""
        slope, bend = self.sample.objective.gradient(self.totals)
        weights = self.sample.weights
        for number, term in enumerate(self.singles):
            unknown = np.isnan(self.memberships[number][:, 0])
            if term.given is not None:
                continue
            share = float(weights @ unknown / weights.sum())
            if not 0.0 < share < 1.0:
                continue
            centred = weights * (unknown - share)
            score = centred @ slope
            spread = (weights * (unknown - share) ** 2) @ bend
            if float((score**2 / (spread + 1.0)).sum()) > statistic:
                term.has_missing = True
                self.means[number] = np.append(self.means[number], share)
        if any(term.has_missing for term in self.singles):
            self.columns = self.columns_of(self.sample)
            self.scores = None

    def path(self, strength: Strength, prices: Mapping[int, float]) -> Path:
        """Begin the way to fewer rules."""
        assert self.scores is not None
        bend = curvature(self.sample.objective, self.columns, self.sample.weights, self.totals)
        return Path(self.terms, self.scores.weights, bend + self.penalty(strength), prices)

    def refit(self, path: Path, strength: Strength, *, is_rough: bool = False) -> Scores:
        """Fit what a path has left; return the scores of the parameters that are left."""
        assert self.scores is not None
        shares = path.reduction()
        penalty = shares.T @ self.penalty(strength) @ shares
        start = np.asarray(np.linalg.lstsq(shares, path.weights, rcond=None)[0], dtype=np.float64)
        cone = self.cone()
        found = path.pins(self.sample.objective.n_outputs).fit(
            self.sample.objective,
            self.columns @ shares,
            self.sample.weights,
            penalty,
            Scores(start, self.scores.bias),
            cone=None if cone is None else cone.reduced(shares),
            is_rough=is_rough,
        )
        path.weights = shares @ found.weights
        return found

    def _columns(self, terms: Sequence[Term], memberships: list[Float]) -> Iterator[Float]:
        number = {id(term): place for place, term in enumerate(self.singles)}
        for term in terms:
            of = [term] if isinstance(term, SingleTerm) else [*term.sides]
            places = [number[id(one)] for one in of]
            yield term.columns([memberships[j] for j in places], [self.means[j] for j in places])


def _begin(vocabulary: Vocabulary, sample: Sample, recipe: AdditiveRecipe) -> SingleTerm:
    """Begin with all words of an attribute, and what is asked of them."""
    name = vocabulary.attribute.name
    promises = [one for one in recipe.monotonic if one.attribute == name]
    n_outputs = sample.objective.n_outputs
    signs = signs_of(promises, n_outputs) if promises else None
    rules = [rule for rule in recipe.rules if rule.attribute == name]
    given = Given.read(vocabulary, rules, n_outputs) if rules else None
    if given is not None and signs is not None:
        if (np.diff(given.scores, axis=0) @ signs.T < 0).any():
            raise ParameterError(f"rules by hand break what 'monotonic_cst' says of {name!r}")
        signs = None  # it keeps them
    is_required = name in recipe.budget.required
    return SingleTerm(vocabulary, is_required=is_required, given=given, signs=signs)


def _kept(
    gains: SplitGains | None, sample: Sample, most: int, required: Set[str]
) -> NDArray[np.intp]:
    """Return the places of the attributes whose splits gain most, and of those that stay."""
    n_attributes = len(sample.attributes)
    if gains is None or n_attributes <= most:
        return np.arange(n_attributes)
    is_required = np.array([one.name in required for one in sample.attributes])
    most = max(most, int(is_required.sum()))
    return np.sort(np.lexsort((-gains.of_attributes, ~is_required))[:most])


def _means(masses: Float, weights: Float) -> Float:
    known = ~np.isnan(masses[:, 0])
    return np.asarray(weights[known] @ masses[known] / weights[known].sum())


# Parts with a smaller share of the rows tell nothing of an interaction.
_LEAST_PART = 0.03


class Part(NamedTuple):
    """The high part of an attribute.

    Attributes
    ----------
    term : the number of the attribute's single term
    boundary : where it is parted
    values : (n_rows,) how far readings are in the high part, less the mean
    """

    term: int
    boundary: int
    values: Float


class Product(NamedTuple):
    """Two attributes by the numbers of their single terms, and where both are parted."""

    terms: tuple[int, int]
    boundaries: tuple[int, int]


def parts_of(
    terms: Sequence[SingleTerm],
    memberships: Sequence[Float],
    means: Sequence[Float],
    weights: Float,
    n_boundaries: int,
) -> list[Part]:
    """Part every attribute at its strongest cuts, then at even shares of the rows."""
    return [
        part
        for number, term in enumerate(terms)
        for part in _parts(number, term, memberships[number], means[number], weights, n_boundaries)
    ]


def rank_products(
    parts: Sequence[Part], weights: Float, slope: Float, bend: Float
) -> Iterator[Product]:
    """Rank products of parts, those first that explain most.

    Parameters
    ----------
    parts : those of all attributes
    weights : (n_rows,) what rows weigh
    slope, bend : (n_rows, n_outputs) how the loss of rows grows with their totals, and bends
    """
    if len(parts) < 2:
        return
    high = np.column_stack([part.values for part in parts])
    statistic = np.zeros((len(parts), len(parts)))
    for of_slope, of_bend in zip(slope.T, bend.T, strict=True):
        score = high.T @ (high * (weights * of_slope)[:, None])
        spread = (high**2).T @ (high**2 * (weights * of_bend)[:, None])
        statistic += score**2 / (spread + 1.0)
    first, second = np.triu_indices(len(parts), 1)
    order = np.argsort(-statistic[first, second], kind="stable")
    for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
        one, other = parts[i], parts[j]
        if one.term != other.term:
            yield Product((one.term, other.term), (one.boundary, other.boundary))


def _parts(
    number: int,
    term: SingleTerm,
    masses: Float,
    mean: Float,
    weights: Float,
    n_boundaries: int,
) -> Iterator[Part]:
    vocabulary = term.vocabulary
    known = np.nan_to_num(masses)
    shares = weights @ known / max(float(weights @ known.sum(axis=1)), 1e-300)
    if vocabulary.is_ordered:
        below = np.cumsum(shares)[:-1]
        wanted = [at for at, _ in sorted(vocabulary.cuts, key=lambda cut: (-cut[1], cut[0]))]
        even = np.arange(1, n_boundaries + 1) / (n_boundaries + 1)
        wanted += [int(np.argmin(np.abs(below - share))) for share in even]
        sizes = np.minimum(below, 1.0 - below)
    else:
        wanted = np.argsort(-shares, kind="stable").tolist()
        sizes = np.minimum(shares, 1.0 - shares)
        if vocabulary.size == 2:
            wanted = wanted[1:]
    wanted = [at for at in dict.fromkeys(wanted) if sizes[at] >= _LEAST_PART]
    for boundary in wanted[:n_boundaries]:
        yield Part(number, boundary, high_part(vocabulary, boundary, masses, mean))
