"""Makes a model of terms that were settled: words, rules with evidence, groups.

Evidence is centred: what an attribute adds is 0 on average over the rows, and what a pair adds is 0
on average for either reading, so that an unknown reading says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.labels.words import plain_names
from solah.learn.terms import PairTerm, SingleTerm, part_of_words, part_steps
from solah.model import Fusion, Model, Tree
from solah.model.attributes import cored_attribute, parted_attribute, shares_of_peaks
from solah.model.document import MissingRule
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.additive import Structure
    from solah.model import Attribute, Goal, Node


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
    """What the rows of a tree's leaves are.

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
            (part_of_words(single, at_ends), self._steps(single, at_ends))
            for single, at_ends in zip(term.sides, ends, strict=True)
        )
        scores = np.zeros((len(low[1]), len(high[1]), len(self.bias)))
        places = slice(at, at + term.width * len(term.live))
        return PairRules(term, sides, (low[0], high[0]), (low[1], high[1]), places, scores)

    def _steps(self, single: SingleTerm, boundaries: list[int]) -> Float:
        means = [self.structure.high_mean(single, boundary) for boundary in boundaries]
        return part_steps(single, boundaries, np.array(means))

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
            self._centre_classes()

    def _centre_classes(self) -> None:
        self.bias -= self.bias.mean()
        every: list[SingleRules | PairRules] = [*self.singles, *self.pairs]
        for rules in every:
            rules.scores = rules.scores - rules.scores.mean(axis=-1, keepdims=True)
        for single in self.singles:
            single.missing = single.missing - single.missing.mean()

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
        taken = {rules.name for rules in self.singles} | {goal.name}
        variances = self.structure.variances()
        trees: dict[str, Tree] = {}
        every: list[SingleRules | PairRules] = [*self.singles, *self.pairs]
        for rules, tally in zip(every, tallies, strict=True):
            variance = variances[id(rules.term)]
            if isinstance(rules, SingleRules):
                name = fresh_name(f"evidence of {rules.name}", taken)
                trees[name] = _single_tree(name, rules, tally, start, variance)
            else:
                both = " & ".join(side.name for side in rules.sides)
                name = fresh_name(f"evidence of {both}", taken)
                trees[name] = _pair_tree(name, rules, tally, start, variance)
            taken.add(name)
        nodes = _wired(trees, groups, goal.name, {rules.name for rules in self.singles})
        root = Fusion(nodes[-1].name, nodes[-1].origins, tuple(self.bias.tolist()))
        attributes = tuple(rules.attribute for rules in self.singles)
        return Model(goal, attributes, (*nodes[:-1], root))


def with_weight(model: Model, weight: float) -> Model:
    """Multiply what rows weigh, after all ratios were taken, so that these do not round."""
    nodes = []
    for node in model.nodes:
        if isinstance(node, Tree):
            missing = node.missing
            if missing is not None:
                missing = replace(missing, support=missing.support * weight)
            node = replace(node, support=node.support * weight, missing=missing)
        nodes.append(node)
    return replace(model, nodes=tuple(nodes))


def _single_tree(
    name: str, rules: SingleRules, tally: Tally, start: Float, variance: float
) -> Tree:
    words, n_sets = np.array(rules.words), len(rules.words)
    told = np.zeros((len(rules.scores), tally.told.shape[-1]))
    np.add.at(told, words, tally.told)
    weights = np.bincount(words, tally.weights, len(told)).astype(float)
    beliefs = _shares(told, weights, start)
    missing = None
    if rules.missing_place is not None and tally.missing_told is not None:
        belief = _shares(tally.missing_told[None], np.array([tally.missing_weight]), start)[0]
        missing = MissingRule(
            tally.missing_weight, tuple(belief.tolist()), tuple(rules.missing.tolist())
        )
    split, first_child = np.full(n_sets + 1, -1, np.int32), np.zeros(n_sets + 1, np.int32)
    split[0], first_child[0] = 0, 1
    everything = _shares(tally.told.sum(axis=0)[None], np.array([tally.weights.sum()]), start)
    return Tree(
        name=name,
        inputs=(rules.attribute,),
        split=split,
        first_child=first_child,
        support=np.concatenate([[tally.weights.sum()], tally.weights]),
        belief=np.vstack([everything, beliefs[words]]),
        scores=np.vstack([np.zeros((1, rules.scores.shape[1])), rules.scores[words]]),
        variance=variance,
        missing=missing,
        pinned=_pinned(rules),
    )


def _pinned(rules: SingleRules) -> frozenset[int]:
    """Return the leaves of the words that rules by hand name."""
    given = rules.term.given
    pinned = frozenset() if given is None else given.pinned
    return frozenset(1 + place for place, word in enumerate(rules.words) if word in pinned)


def _pair_tree(name: str, pair: PairRules, tally: Tally, start: Float, variance: float) -> Tree:
    """Make a tree of two splits; an attribute with states comes last, where its leaves join."""
    order = (1, 0) if pair.sides[0].attribute.is_coded else (0, 1)
    weights, told = tally.weights.transpose(order), tally.told.transpose(*order, 2)
    scores = pair.scores.transpose(*order, 2)
    asked, joined, part_of = zip(*(_asked(pair, side) for side in order), strict=True)
    of_parts = [
        one @ np.equal.outer(parts, np.arange(n_parts))
        for one, parts, n_parts in zip(joined, part_of, scores.shape[:2], strict=True)
    ]
    cell_told = np.einsum("abc,ai,bj->ijc", told, *of_parts)
    beliefs = _shares(cell_told, np.einsum("ab,ai,bj->ij", weights, *of_parts), start)
    support = np.einsum("ab,ai,bj->ij", weights, *joined)
    n_first, n_second = support.shape
    n_nodes = 1 + n_first + n_first * n_second
    split, first_child = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    split[0], first_child[0] = 0, 1
    split[1 : 1 + n_first] = 1
    first_child[1 : 1 + n_first] = 1 + n_first + n_second * np.arange(n_first)
    of_first = np.einsum("abc,ai->ic", told, joined[0])
    leaf = (part_of[0][:, None], part_of[1][None, :])
    n_scores = scores.shape[2]
    whole = np.array([support.sum()])
    return Tree(
        name=name,
        inputs=tuple(asked),
        split=split,
        first_child=first_child,
        support=np.concatenate([whole, support.sum(axis=1), support.ravel()]),
        belief=np.vstack(
            [
                _shares(told.sum(axis=(0, 1))[None], whole, start),
                _shares(of_first, support.sum(axis=1), start),
                beliefs[leaf].reshape(-1, told.shape[2]),
            ]
        ),
        scores=np.vstack([np.zeros((1 + n_first, n_scores)), scores[leaf].reshape(-1, n_scores)]),
        variance=variance,
    )


def _asked(pair: PairRules, side: int) -> tuple[Attribute, Float, NDArray[np.intp]]:
    """Return what a pair asks of an attribute.

    Returns
    -------
    asked : the attribute as the tree asks for it
    shares : the masses of its focal sets for each focal set of the attribute
    parts : the part that each of its focal sets is in
    """
    attribute = pair.sides[side].attribute
    if attribute.is_coded:
        return attribute, np.eye(attribute.n_focal_sets), pair.parts_of_sets(side)
    starts = np.searchsorted(pair.parts[side], np.arange(1, pair.scores.shape[side]))
    asked = parted_attribute(attribute, starts.tolist())
    return asked, shares_of_peaks(attribute.peaks, asked.peaks), np.array(asked.set_words)


def _shares(told: Float, weights: Float, start: Float) -> Float:
    """Divide what rows are by their weight; where there is none, take what all rows are."""
    found = np.broadcast_to(start, told.shape).copy()
    np.divide(told, weights[..., None], out=found, where=weights[..., None] > 0)
    return found


def _wired(
    trees: Mapping[str, Tree],
    groups: Mapping[str, Sequence[str]],
    goal: str,
    attributes: set[str],
) -> list[Node]:
    """Put trees below their groups, and all below the goal."""
    group_of = {name: group for group, names in groups.items() for name in names}
    below: dict[str | None, list[str]] = {}
    for name, tree in trees.items():
        homes = {group_of.get(attribute.name) for attribute in tree.inputs}
        below.setdefault(homes.pop() if len(homes) == 1 else None, []).append(name)
    taken = attributes | set(trees)
    root = fresh_name(goal, taken)
    taken.add(root)
    nodes: list[Node] = list(trees.values())
    tops = []
    for group, members in below.items():
        if group is None or len(members) == 1 or len(below) == 1:
            tops += members
            continue
        name = fresh_name(group, taken)
        taken.add(name)
        nodes.append(Fusion(name, tuple(members)))
        tops.append(name)
    return [*nodes, Fusion(root, tuple(tops))]


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
