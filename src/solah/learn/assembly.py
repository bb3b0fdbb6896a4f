"""Makes a model of selected terms: words, rules with weights, groups.

Weights are centred: those of a feature are 0 on average over the rows, and those of a pair are 0 on
average for either feature, so that a missing value adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import masses
from solah.labels.words import plain_names
from solah.learn.objective import NumberObjective
from solah.learn.terms import PairTerm, SingleTerm, part_of_words, part_steps
from solah.model import AdditiveNode, FeatureGroup, MissingRule, Model, Term, TermInput
from solah.model.features import cored_feature, flatten, shares_of_peaks
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.learning import Structure
    from solah.learn.sample import Sample
    from solah.model import Feature, Target


@dataclass(eq=False)
class SingleRules:
    """The rules of one feature.

    Attributes
    ----------
    term : the selected term
    feature : the feature, described with the words that are left
    words : the word of each focal set, by its number
    places : the indices of the words' weights among all parameters
    missing_place : that of the weight for a missing value; None if there is none
    scores : (n_words, n_outputs) the weights of each word
    missing : (n_outputs,) the weights for a missing value
    """

    term: SingleTerm
    feature: Feature
    words: list[int]
    places: slice
    missing_place: int | None
    scores: Float
    missing: Float

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    @property
    def shares(self) -> Float:
        """The share that each word has of the rows whose reading is known."""
        return np.bincount(self.words, self.feature.mean_masses, len(self.scores)).astype(float)


@dataclass(eq=False)
class PairRules:
    """The rules of a pair of features.

    Attributes
    ----------
    term : the selected term
    sides : the rules of both features
    parts : for each side, the part that each of its words is in
    steps : for each side, the high part of each step less its mean, by part
    places : the indices of the parameters of the kept products, each with its lifts
    scores : (n_parts, n_parts, n_outputs) what is added for the parts of both
    """

    term: PairTerm
    sides: tuple[SingleRules, SingleRules]
    parts: tuple[NDArray[np.intp], NDArray[np.intp]]
    steps: tuple[Float, Float]
    places: slice
    scores: Float

    @property
    def product_places(self) -> slice:
        """The indices of the parameters of the products, without their lifts."""
        return slice(self.places.start, self.places.stop, self.term.width)

    @property
    def products(self) -> Float:
        """What each product that is left is in each combination of parts."""
        low, high = self.steps_of_products(0), self.steps_of_products(1)
        return np.asarray(low[:, None, :] * high[None, :, :])

    def steps_of_products(self, side: int) -> Float:
        """Return the high part of each product that is left less its mean, by part of a side."""
        numbers = np.indices([steps.shape[1] for steps in self.steps])[side].ravel()
        return self.steps[side][:, numbers]

    def shares(self, side: int) -> Float:
        """Return the shares of the parts of a side."""
        n_parts = self.scores.shape[side]
        return np.bincount(self.parts[side], self.sides[side].shares, n_parts).astype(float)

    def parts_of_sets(self, side: int) -> NDArray[np.intp]:
        """Return the part that each focal set of a side is in."""
        return np.asarray(self.parts[side][self.sides[side].words], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Tally:
    """What the rows of a term's cells are.

    Attributes
    ----------
    weights : the weight of the rows in each cell; one axis for each input, by its focal sets
    told : the same, per target: ``(..., n_targets)`` weights of classes, or a sum of numbers
    missing_weight, missing_told : those of the rows whose reading is missing, for one input
    """

    weights: Float
    told: Float
    missing_weight: float = 0.0
    missing_told: Float | None = None


def describe(term: SingleTerm) -> Feature:
    """Describe a feature with the words that are left of it."""
    vocabulary = term.vocabulary
    feature = vocabulary.feature
    if feature.is_coded:
        return feature
    knots = vocabulary.knots
    cores = [(float(knots[word[0]]), float(knots[word[-1]])) for word in term.words]
    cores[0] = (-np.inf, cores[0][1])
    cores[-1] = (cores[-1][0], np.inf)
    names = feature.words if vocabulary.is_fixed else plain_names(len(cores))
    low = feature.peaks[0] if feature.low is None else feature.low
    high = feature.peaks[-1] if feature.high is None else feature.high
    found = cored_feature(feature.name, names, cores, (), low, high)
    return replace(found, mean_masses=(1.0 / found.n_focal_sets,) * found.n_focal_sets)


class Draft:
    """The selected terms and features from which the model is built.

    Parameters
    ----------
    structure : the selected terms
    features : the features that are left, with the mean memberships of all rows, by name
    """

    def __init__(self, structure: Structure, features: Mapping[str, Feature]) -> None:
        self.structure = structure
        self.singles: list[SingleRules] = []
        self.pairs: list[PairRules] = []
        self.bias = np.zeros(structure.n_outputs)
        of_term: dict[int, SingleRules] = {}
        at = 0
        for term in structure.live:
            if isinstance(term, SingleTerm):
                rules = self._single(term, features[term.vocabulary.feature.name], at)
                of_term[id(term)] = rules
                self.singles.append(rules)
            else:
                self.pairs.append(self._pair(term, of_term, at))
            at += term.reduction().shape[1]

    def _single(self, term: SingleTerm, feature: Feature, at: int) -> SingleRules:
        words = list(feature.set_words)
        if feature.is_coded:
            words = [0] * term.vocabulary.size
            for number, states in enumerate(term.words):
                for state in states:
                    words[state] = number
        n_words, nothing = len(term.words), np.zeros(len(self.bias))
        missing_place = at + n_words if term.has_missing else None
        scores = np.zeros((n_words, len(self.bias)))
        places = slice(at, at + n_words)
        return SingleRules(term, feature, words, places, missing_place, scores, nothing)

    def _pair(self, term: PairTerm, of_term: Mapping[int, SingleRules], at: int) -> PairRules:
        sides = (of_term[id(term.low)], of_term[id(term.high)])
        parts, steps = [], []
        for side, single in enumerate(term.sides):
            high = [self.structure.high_mean(single, one) for one in term.boundaries[side]]
            parts.append(part_of_words(single, term.steps[side]))
            steps.append(part_steps(single, np.array(high) @ term.shares(side)))
        scores = np.zeros((len(steps[0]), len(steps[1]), len(self.bias)))
        places = slice(at, at + term.reduction().shape[1])
        return PairRules(term, sides, (parts[0], parts[1]), (steps[0], steps[1]), places, scores)

    # --- scores ----------------------------------------------------------------------------------

    def take(self, weights: Float, bias: Float) -> None:
        """Take fitted parameters: those of columns that are centred by the means of the sample."""
        self.bias = bias.copy()
        for rules in self.singles:
            means = self.structure.means_of(rules.term)
            rules.scores = weights[rules.places].copy()
            first = rules.term.reduction()[: rules.term.vocabulary.size, : len(rules.scores)]
            middle = (means[: len(first)] @ first) @ rules.scores
            self.bias -= middle
            if rules.missing_place is not None:
                rules.missing = weights[rules.missing_place] + middle
                self.bias -= means[-1] * weights[rules.missing_place]
        for pair in self.pairs:
            pair.scores = pair.products @ weights[pair.product_places]
            self._lift(pair, weights[pair.places])

    def _lift(self, pair: PairRules, values: Float) -> None:
        """Let a pair take over what it needs to go one way only along a feature."""
        for side, place in enumerate(pair.term.lifts):
            if place is None:
                continue
            moved = pair.steps_of_products(side) @ values[place :: pair.term.width]
            pair.scores = pair.scores + np.expand_dims(moved, 1 - side)
            pair.sides[side].scores -= moved[pair.parts[side]]

    def centre(self) -> None:
        """Let what is added be 0 on average, over rows and over classes.

        What is user-defined stays as it is, and a pair keeps what it adds on average along an
        feature where scores go one way only: it does so by itself, as the feature's words do.
        """
        for pair in self.pairs:
            low, high = pair.shares(0), pair.shares(1)
            rows = np.einsum("j,ijc->ic", high, pair.scores)
            columns = np.einsum("i,ijc->jc", low, pair.scores)
            whole = low @ rows
            pair.scores = pair.scores - whole
            for side, moved in zip((0, 1), (rows - whole, columns - whole), strict=True):
                if not pair.sides[side].term.is_monotone:
                    pair.scores = pair.scores - np.expand_dims(moved, 1 - side)
                    pair.sides[side].scores += moved[pair.parts[side]]
            self.bias += whole
        for rules in self.singles:
            if rules.term.given is not None:
                continue
            middle = rules.shares @ rules.scores
            if rules.missing_place is not None:
                share = float(self.structure.means_of(rules.term)[-1])
                middle = (1.0 - share) * middle + share * rules.missing
                rules.missing = rules.missing - middle
            rules.scores = rules.scores - middle
            self.bias += middle
        if len(self.bias) > 1:
            self.bias -= self.bias.mean()
            for single in self.singles:
                single.scores = single.scores - single.scores.mean(axis=-1, keepdims=True)
                single.missing = single.missing - single.missing.mean()
            for pair in self.pairs:
                pair.scores = pair.scores - pair.scores.mean(axis=-1, keepdims=True)

    # --- the model -------------------------------------------------------------------------------

    def model(
        self,
        target: Target,
        start: Float,
        tallies: Sequence[Tally],
        groups: Mapping[str, Sequence[str]],
    ) -> Model:
        """Make the model.

        Parameters
        ----------
        target : Target
        start : what the target is where no row is: class shares, or a mean
        tallies : what the rows are, for singles, then for pairs
        groups : the names of the features of each group
        """
        variances, n_singles = self.structure.variances(), len(self.singles)
        of_singles = zip(self.singles, tallies[:n_singles], strict=True)
        of_pairs = zip(self.pairs, tallies[n_singles:], strict=True)
        terms = [_single_term(rules, tally, start) for rules, tally in of_singles]
        terms += [_pair_term(pair, tally, start) for pair, tally in of_pairs]
        every = [*(id(one.term) for one in self.singles), *(id(one.term) for one in self.pairs)]
        terms = [
            replace(term, variance=variances[one]) for term, one in zip(terms, every, strict=True)
        ]
        features = tuple(rules.feature for rules in self.singles)
        names = {feature.name for feature in features}
        root = fresh_name(target.name, names)
        node = AdditiveNode(
            root, tuple(self.bias.tolist()), tuple(terms), _grouped(terms, groups, {*names, root})
        )
        return Model(target, features, (node,))


def with_weight(model: Model, weight: float) -> Model:
    """Multiply what rows weigh, after all ratios were taken, so that these do not round."""
    terms = []
    for term in model.terms:
        missing = term.missing
        if missing is not None:
            missing = replace(missing, support=missing.support * weight)
        terms.append(replace(term, counts=term.counts * weight, missing=missing))
    return model.with_terms(terms)


def _single_term(rules: SingleRules, tally: Tally, start: Float) -> Term:
    words, n_words = np.array(rules.words), len(rules.scores)
    told = np.zeros((n_words, tally.told.shape[-1]))
    np.add.at(told, words, tally.told)
    counts = np.bincount(words, tally.weights, n_words).astype(float)
    missing = None
    if rules.missing_place is not None and tally.missing_told is not None:
        shares = _shares(tally.missing_told[None], np.array([tally.missing_weight]), start)[0]
        missing = MissingRule(
            tally.missing_weight, tuple(shares.tolist()), tuple(rules.missing.tolist())
        )
    given = rules.term.given
    return Term(
        (_input(rules.feature, words),),
        rules.scores,
        _shares(told, counts, start),
        counts,
        missing=missing,
        pinned=frozenset((word,) for word in (given.pinned if given is not None else ())),
    )


def _input(feature: Feature, part_of_set: NDArray[np.intp]) -> TermInput:
    """Use the words of a feature by the parts that their focal sets are in."""
    if not feature.is_coded:
        part_of_word = dict(zip(feature.set_words, part_of_set.tolist(), strict=True))
        part_of_set = np.array([part_of_word[word] for word in range(len(feature.words))])
    numbers = dict.fromkeys(part_of_set.tolist())
    parts = (np.flatnonzero(part_of_set == number).tolist() for number in numbers)
    return TermInput(feature, tuple(map(tuple, parts)))


def _pair_term(pair: PairRules, tally: Tally, start: Float) -> Term:
    """Make a term of two features; one with categories comes last."""
    order = (1, 0) if pair.sides[0].feature.is_coded else (0, 1)
    inputs, lines, of_lines = [], [], []
    for side in order:
        feature, part_of_set = pair.sides[side].feature, pair.parts_of_sets(side)
        one = _input(feature, part_of_set)
        inputs.append(one)
        # Parts by their first words, without those that no word is in.
        lines.append(list(dict.fromkeys(part_of_set.tolist())))
        masses = np.equal.outer(one.part_of_set, np.arange(len(one.parts))).astype(float)
        of_lines.append(shares_of_peaks(feature.peaks, one.asked.peaks) @ masses)
    weights, told = tally.weights.transpose(order), tally.told.transpose(*order, 2)
    counts = np.einsum("ab,ai,bj->ij", weights, *of_lines)
    shares = _shares(np.einsum("abc,ai,bj->ijc", told, *of_lines), counts, start)
    scores = pair.scores.transpose(*order, 2)[np.ix_(*lines)]
    return Term(tuple(inputs), scores, shares, counts)


def _shares(told: Float, weights: Float, start: Float) -> Float:
    """Divide what rows are by their weight; where there is none, take what all rows are."""
    found = np.broadcast_to(start, told.shape).copy()
    np.divide(told, weights[..., None], out=found, where=weights[..., None] > 0)
    return found


def _grouped(
    terms: Sequence[Term], groups: Mapping[str, Sequence[str]], taken: set[str]
) -> tuple[FeatureGroup, ...]:
    """Put the terms whose features are all of one group into it."""
    group_of = {name: group for group, names in groups.items() for name in names}
    members: dict[str | None, list[int]] = {}
    for number, term in enumerate(terms):
        homes = {group_of.get(name) for name in term.features}
        members.setdefault(homes.pop() if len(homes) == 1 else None, []).append(number)
    made = []
    for group, numbers in members.items():
        if group is not None and len(numbers) > 1 and len(members) > 1:
            name = fresh_name(group, taken)
            taken.add(name)
            made.append(FeatureGroup(name, tuple(numbers)))
    return tuple(made)


def constant_model(target: Target, feature: Feature, baseline: Float) -> Model:
    """Make a model without rules, which predicts alike whatever it reads."""
    node = AdditiveNode(fresh_name(target.name, {feature.name}), tuple(baseline.tolist()))
    return Model(target, (feature,), (node,))


def name_groups(clusters: Sequence[Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name groups after their members.

    Examples
    --------
    >>> list(name_groups([["hue", "ash"], ["alcohol"], ["a", "b", "c", "d", "e"]]))
    [('hue + ash', ('hue', 'ash')), ('a + b + 3 more', ('a', 'b', 'c', 'd', 'e'))]
    """
    for members in clusters:
        if len(members) < 2:
            continue
        shown = [*members] if len(members) < 5 else [*members[:2], f"{len(members) - 2} more"]
        yield " + ".join(shown), tuple(members)


def assemble_numbers(
    structure: Structure,
    target: Target,
    numbers: Float,
    groups: Mapping[str, Sequence[str]],
    sample: Sample,
) -> Model:
    """Make a model of the selected terms.

    Parameters
    ----------
    structure : Structure
        Selected on scaled numbers.
    target : Target
    numbers : (n_rows,) the numbers of the rows below as they came
    groups : the names of the features of each group
    sample : the rows that rules are counted on: all of them
    """
    weights = sample.weights
    objective = structure.design.sample.objective
    assert isinstance(objective, NumberObjective)
    origin, unit = objective.of_scores
    mean = np.array([weights @ numbers / weights.sum()])
    is_mean = objective.loss.is_quadratic
    if not structure.live_singles:
        baseline = mean if is_mean else structure.reduced.bias * unit + origin
        return constant_model(target, sample.features[0], baseline)
    described, memberships = {}, {}
    for term in structure.live_singles:
        feature, readings = describe(term), sample.readings[:, term.vocabulary.place]
        found, known = masses(readings, flatten([feature]), 0), ~np.isnan(readings)
        mean_masses = weights[known] @ found[known] / weights[known].sum()
        found[~known] = np.nan
        mean_masses = tuple((mean_masses / mean_masses.sum()).tolist())
        described[feature.name] = replace(feature, mean_masses=mean_masses)
        memberships[feature.name] = found
    draft = Draft(structure, described)
    draft.take(structure.reduced.weights * unit, structure.reduced.bias * unit)
    draft.centre()
    draft.bias = draft.bias + origin
    if is_mean:
        # What is added is 0 on average, but for user-defined rules, so rows begin at their mean.
        given = (rules for rules in draft.singles if rules.term.given is not None)
        draft.bias = mean - sum(rules.shares @ rules.scores for rules in given)
    tallies = [_tally([memberships[rules.name]], weights, numbers) for rules in draft.singles] + [
        _tally([memberships[side.name] for side in pair.sides], weights, numbers)
        for pair in draft.pairs
    ]
    model = draft.model(target, mean, tallies, groups)
    return model.with_terms(replace(term, variance=term.variance * unit**2) for term in model.terms)


def _tally(memberships: Sequence[Float], weights: Float, numbers: Float) -> Tally:
    known = ~np.any([np.isnan(one[:, 0]) for one in memberships], axis=0)
    shares = memberships[0][known] * weights[known, None]
    told = numbers[known]
    missing = weights[~known]
    if len(memberships) == 1:
        lost = np.array([missing @ numbers[~known]])
        summed = (shares * told[:, None]).sum(axis=0)
        return Tally(shares.sum(axis=0), summed[:, None], float(missing.sum()), lost)
    other = memberships[1][known]
    return Tally(shares.T @ other, ((shares * told[:, None]).T @ other)[:, :, None])
