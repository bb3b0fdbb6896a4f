"""Makes a model of terms that were settled: words, rules with weights, groups.

Evidence is centred: what an attribute adds is 0 on average over the rows, and what a pair adds is 0
on average for either reading, so that an unknown reading says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import masses
from solah.labels.words import plain_names
from solah.learn.terms import PairTerm, SingleTerm, part_of_words, part_steps
from solah.model import AdditiveNode, FeatureGroup, MissingRule, Model, Term, TermInput
from solah.model.attributes import cored_attribute, flatten, shares_of_peaks
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.learning import Structure
    from solah.learn.sample import Sample
    from solah.model import Attribute, Goal


@dataclass(eq=False)
class SingleRules:
    """The rules of one attribute.

    Attributes
    ----------
    term : what was settled
    attribute : the attribute, described with the words that are left
    words : the word of each focal set, by its number
    places : where the scores of the words stand among all parameters
    missing_place : where that of a missing reading stands; None where it is unknown
    scores : (n_words, n_outputs) what each word adds
    missing : (n_outputs,) what a missing reading adds
    """

    term: SingleTerm
    attribute: Attribute
    words: list[int]
    places: slice
    missing_place: int | None
    scores: Float
    missing: Float

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.attribute.name

    @property
    def shares(self) -> Float:
        """The share that each word has of the rows whose reading is known."""
        return np.bincount(self.words, self.attribute.ignorance, len(self.scores)).astype(float)


@dataclass(eq=False)
class PairRules:
    """The rules of a pair of attributes.

    Attributes
    ----------
    term : what was settled
    sides : the rules of both attributes
    parts : for each side, the part that each of its words is in
    steps : for each side, the high part of each boundary less its mean, by part
    places : where the parameters of the products that are left stand, each with its lifts
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
        """Where the parameters of the products stand, without their lifts."""
        return slice(self.places.start, self.places.stop, self.term.width)

    @property
    def products(self) -> Float:
        """What each product that is left is in each combination of parts."""
        low, high = self.steps_of_products(0), self.steps_of_products(1)
        return np.asarray(low[:, None, :] * high[None, :, :])

    def steps_of_products(self, side: int) -> Float:
        """Return the high part of each product that is left less its mean, by part of a side."""
        boundaries = self.term.boundaries(side)
        left = [self.term.products[place][side] for place in self.term.live]
        return self.steps[side][:, [boundaries.index(boundary) for boundary in left]]

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
    told : the same, times what they are: ``(..., n_goals)`` weights of classes, or a sum of numbers
    missing_weight, missing_told : those of the rows whose reading is missing, for one input
    """

    weights: Float
    told: Float
    missing_weight: float = 0.0
    missing_told: Float | None = None


def describe(term: SingleTerm) -> Attribute:
    """Describe an attribute with the words that are left of it."""
    vocabulary = term.vocabulary
    attribute = vocabulary.attribute
    if attribute.is_coded:
        return attribute
    knots = vocabulary.knots
    cores = [(float(knots[word[0]]), float(knots[word[-1]])) for word in term.words]
    cores[0] = (-np.inf, cores[0][1])
    cores[-1] = (cores[-1][0], np.inf)
    names = attribute.words if vocabulary.is_fixed else plain_names(len(cores))
    low = attribute.peaks[0] if attribute.low is None else attribute.low
    high = attribute.peaks[-1] if attribute.high is None else attribute.high
    found = cored_attribute(attribute.name, names, cores, (), low, high)
    return replace(found, ignorance=(1.0 / found.n_focal_sets,) * found.n_focal_sets)


class Draft:
    """Rules on their way to a model.

    Parameters
    ----------
    structure : what was settled
    attributes : the attributes that are left, with the mean memberships of all rows, by name
    """

    def __init__(self, structure: Structure, attributes: Mapping[str, Attribute]) -> None:
        self.structure = structure
        self.singles: list[SingleRules] = []
        self.pairs: list[PairRules] = []
        self.bias = np.zeros(structure.n_outputs)
        of_term: dict[int, SingleRules] = {}
        at = 0
        for term in structure.live:
            if isinstance(term, SingleTerm):
                rules = self._single(term, attributes[term.vocabulary.attribute.name], at)
                of_term[id(term)] = rules
                self.singles.append(rules)
            else:
                self.pairs.append(self._pair(term, of_term, at))
            at += term.reduction().shape[1]

    def _single(self, term: SingleTerm, attribute: Attribute, at: int) -> SingleRules:
        words = list(attribute.set_words)
        if attribute.is_coded:
            words = [0] * term.vocabulary.size
            for number, states in enumerate(term.words):
                for state in states:
                    words[state] = number
        n_words, nothing = len(term.words), np.zeros(len(self.bias))
        missing_place = at + n_words if term.has_missing else None
        scores = np.zeros((n_words, len(self.bias)))
        places = slice(at, at + n_words)
        return SingleRules(term, attribute, words, places, missing_place, scores, nothing)

    def _pair(self, term: PairTerm, of_term: Mapping[int, SingleRules], at: int) -> PairRules:
        sides = (of_term[id(term.low)], of_term[id(term.high)])
        ends = [term.boundaries(side) for side in (0, 1)]
        low, high = (
            (part_of_words(single, at_ends), part_steps(single, at_ends, np.array(means)))
            for single, at_ends in zip(term.sides, ends, strict=True)
            for means in [[self.structure.high_mean(single, one) for one in at_ends]]
        )
        scores = np.zeros((len(low[1]), len(high[1]), len(self.bias)))
        places = slice(at, at + term.width * len(term.live))
        return PairRules(term, sides, (low[0], high[0]), (low[1], high[1]), places, scores)

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
        """Let a pair take over what it needs to go one way only along an attribute."""
        for side, place in enumerate(pair.term.lifts):
            if place is None:
                continue
            moved = pair.steps_of_products(side) @ values[place :: pair.term.width]
            pair.scores = pair.scores + np.expand_dims(moved, 1 - side)
            pair.sides[side].scores -= moved[pair.parts[side]]

    def centre(self) -> None:
        """Let what is added be 0 on average, over rows and over classes.

        What is given by hand stays as it is, and a pair keeps what it adds on average along an
        attribute where scores go one way only: it does so by itself, as the attribute's words do.
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
        goal: Goal,
        start: Float,
        tallies: Sequence[Tally],
        groups: Mapping[str, Sequence[str]],
    ) -> Model:
        """Make the model.

        Parameters
        ----------
        goal : Goal
        start : what the goal is where no row is: class shares, or a mean
        tallies : what the rows are, for singles, then for pairs
        groups : the names of the attributes of each group
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
        attributes = tuple(rules.attribute for rules in self.singles)
        names = {attribute.name for attribute in attributes}
        root = fresh_name(goal.name, names)
        node = AdditiveNode(
            root, tuple(self.bias.tolist()), tuple(terms), _grouped(terms, groups, {*names, root})
        )
        return Model(goal, attributes, (node,))


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
        (_input(rules.attribute, words),),
        rules.scores,
        _shares(told, counts, start),
        counts,
        missing=missing,
        pinned=frozenset((word,) for word in (given.pinned if given is not None else ())),
    )


def _input(attribute: Attribute, part_of_set: NDArray[np.intp]) -> TermInput:
    """Use the words of a feature by the parts that their focal sets are in."""
    if not attribute.is_coded:
        part_of_word = dict(zip(attribute.set_words, part_of_set.tolist(), strict=True))
        part_of_set = np.array([part_of_word[word] for word in range(len(attribute.words))])
    numbers = dict.fromkeys(part_of_set.tolist())
    parts = (np.flatnonzero(part_of_set == number).tolist() for number in numbers)
    return TermInput(attribute, tuple(map(tuple, parts)))


def _pair_term(pair: PairRules, tally: Tally, start: Float) -> Term:
    """Make a term of two features; one with categories comes last."""
    order = (1, 0) if pair.sides[0].attribute.is_coded else (0, 1)
    inputs, lines, of_lines = [], [], []
    for side in order:
        attribute, part_of_set = pair.sides[side].attribute, pair.parts_of_sets(side)
        one = _input(attribute, part_of_set)
        inputs.append(one)
        # Parts by their first words, without those that no word is in.
        lines.append(list(dict.fromkeys(part_of_set.tolist())))
        masses = np.equal.outer(one.part_of_set, np.arange(len(one.parts))).astype(float)
        of_lines.append(shares_of_peaks(attribute.peaks, one.asked.peaks) @ masses)
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


def constant_model(goal: Goal, attribute: Attribute, baseline: Float) -> Model:
    """Make a model without rules, which predicts alike whatever it reads."""
    node = AdditiveNode(fresh_name(goal.name, {attribute.name}), tuple(baseline.tolist()))
    return Model(goal, (attribute,), (node,))


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
    goal: Goal,
    numbers: Float,
    unit: float,
    groups: Mapping[str, Sequence[str]],
    sample: Sample,
) -> Model:
    """Make a model of what was settled.

    Parameters
    ----------
    structure : Structure
        Settled on numbers in the unit below, from their mean on.
    goal : Goal
    numbers : (n_rows,) the numbers of the rows below as they came
    unit : what 1 is worth in the goal's unit
    groups : the names of the attributes of each group
    sample : the rows that rules are counted on: all of them
    """
    weights = sample.weights
    mean = np.array([weights @ numbers / weights.sum()])
    if not structure.live_singles:
        return constant_model(goal, sample.attributes[0], mean)
    described, memberships = {}, {}
    for term in structure.live_singles:
        attribute, readings = describe(term), sample.readings[:, term.vocabulary.place]
        found, known = masses(readings, flatten([attribute]), 0), ~np.isnan(readings)
        mean_masses = weights[known] @ found[known] / weights[known].sum()
        found[~known] = np.nan
        ignorance = tuple((mean_masses / mean_masses.sum()).tolist())
        described[attribute.name] = replace(attribute, ignorance=ignorance)
        memberships[attribute.name] = found
    draft = Draft(structure, described)
    draft.take(structure.reduced.weights * unit, structure.reduced.bias * unit)
    draft.centre()
    # What is added is 0 on average, but for rules by hand, so the rows begin at their mean.
    given = (rules for rules in draft.singles if rules.term.given is not None)
    draft.bias = mean - sum(rules.shares @ rules.scores for rules in given)
    tallies = [_tally([memberships[rules.name]], weights, numbers) for rules in draft.singles] + [
        _tally([memberships[side.name] for side in pair.sides], weights, numbers)
        for pair in draft.pairs
    ]
    model = draft.model(goal, mean, tallies, groups)
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
