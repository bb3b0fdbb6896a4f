"""Fits and counts the rules of all rows, in a few passes over them.

A sample has selected the rules. It then replaces all rows, corrected by the slope of their loss
(the surrogate likelihood of Jordan, Lee and Yang, 2019)::

    minimise  loss of the sample(v) + < slope of all(v_k) - slope of the sample(v_k), v > + penalty

Every round takes one pass and brings the scores nearer to those that suit all rows by as much as
the sample's curvature is near to theirs, about twentyfold. The sums of passes are integers: neither
the order of the rows nor their partition leaves a trace.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import MASS_BITS, SLOPE_SCALE, WEIGHT_ONE, Described, Forest, TreeShape
from solah.kernels.choose import kernel
from solah.labels.describe import with_mean_masses
from solah.learn.assembly import (
    Draft,
    PairRules,
    SingleRules,
    Tally,
    constant_model,
    describe,
    with_weight,
)
from solah.learn.objective import Pins, Problem
from solah.learn.rows import BlockPass
from solah.model.features import flatten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.learn.learning import Structure
    from solah.learn.objective import Scores
    from solah.learn.rows import RowBlock, Rows, Statistics
    from solah.model import Feature, Model

MAX_ROUNDS = 5
NEAR_ENOUGH = 1e-3
_LIMB = 32
# Floats hold the sums of so few limbs exactly.
_PIECE_ROWS = 65_536


def assemble(structure: Structure, rows: Rows, groups: Mapping[str, Sequence[str]]) -> Model:
    """Make a model of classes of the terms that a sample of rows has chosen.

    Parameters
    ----------
    structure : Structure
    rows : Rows
        All rows.
    groups : the names of the features of each group
    """
    facts = rows.facts
    prior = np.array(facts.prior)
    target = replace(facts.target, shares=facts.prior)
    if not structure.live_singles:
        return constant_model(target, rows.features[0], target.log_prior)
    draft, described, tallies = draft_rules(structure, rows)
    scores = structure.reduced
    if rows.is_many or structure.design.sample.is_part:
        scores = _fit_all(draft, scores, described)
    draft.take(scores.weights, scores.bias)
    draft.centre()
    model = draft.model(target, prior, tallies, groups)
    return with_weight(model, facts.weight_unit * WEIGHT_ONE)


def draft_rules(structure: Structure, rows: Rows) -> tuple[Draft, Rows, list[Tally]]:
    """Draft the rules of all rows: return them, the rows described by their words, and counts."""
    described = rows.described_by([describe(term) for term in structure.live_singles])
    # Counted before the mean memberships are known: the same pass computes these.
    counter = _CountRules(
        Draft(structure, {one.name: one for one in described.features}), rows.facts.target.size
    )
    found = described.run(counter)
    known = np.concatenate(
        [found[f"single {j}"].sum(axis=1) for j in range(len(described.features))]
    )
    features = with_mean_masses(described.features, known)
    draft = Draft(structure, {one.name: one for one in features})
    return draft, described, counter.tallies(found)


# --- fitting -------------------------------------------------------------------------------------


def _fit_all(draft: Draft, start: Scores, rows: Rows) -> Scores:
    """Fit scores to all rows, from those that suit the sample on."""
    structure = draft.structure
    sample, columns = structure.design.sample, structure.reduced_columns
    penalty, cone = structure.reduced_penalty, structure.reduced_cone
    pins = Pins.of(structure.live, structure.n_outputs, is_first=False)
    fitted_rows = structure.with_copies or (sample.objective, columns, sample.weights)
    layout = _Layout(draft)
    scale = 1.0 / (sample.row_weight * SLOPE_SCALE)
    # Weighed as all rows are, so that the penalty is what it is beside all of them.
    objective, of_fitted, fitted_weights = fitted_rows
    fitted_weights = fitted_weights / sample.share
    weights = sample.weights / sample.share
    current = start
    for _ in range(MAX_ROUNDS):
        found = rows.run(_EvidenceLoss(layout, layout.rule_scores(current)))
        high, low = found["slope"].astype(np.float64)
        of_all = layout.transform.T @ ((high * 2.0**_LIMB + low) * scale)
        excess, _ = sample.objective.gradient(current.of(columns))
        excess *= weights[:, None]
        of_sample = np.vstack([columns.T @ excess, excess.sum(axis=0)])
        pull = of_all - of_sample
        problem = Problem(of_fitted, fitted_weights, penalty, current, pull, cone)
        fitted = pins.fit(objective, problem)
        moved = float(np.abs(fitted.weights - current.weights).max())
        current = fitted
        if moved < NEAR_ENOUGH:
            break
    return current


class _Layout:
    """The rules as a forest over described rows, and how their scores come from parameters.

    The last two scores are that of nothing, which is 0, and the bias.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.features = [_with_missing(rules) for rules in draft.singles]
        n_parameters = draft.structure.reduced_columns.shape[1]
        self._rows: list[Float] = []
        self._numbers: dict[object, int] = {}
        every: list[SingleRules | PairRules] = [*draft.singles, *draft.pairs]
        for each in every:
            self._add(each, n_parameters)
        self.nothing = len(self._rows)
        bias = np.zeros(n_parameters + 1)
        bias[-1] = 1.0
        for rules in draft.singles:
            bias[:-1] -= self._middle(rules, n_parameters)
        self.transform = np.vstack([*self._rows, np.zeros(n_parameters + 1), bias])
        self.forest = self._forest()

    def rule_scores(self, scores: Scores) -> Float:
        """Return the scores of all rules, of nothing and of the bias."""
        return np.asarray(self.transform @ np.vstack([scores.weights, scores.bias]))

    def _middle(self, rules: SingleRules, width: int) -> Float:
        """Return what the mean of a feature's columns takes off, by parameter."""
        structure, term = self.draft.structure, rules.term
        means, middle = structure.means_of(term), np.zeros(width)
        first = term.reduction()[: term.vocabulary.size, : len(rules.scores)]
        middle[rules.places] = means[: len(first)] @ first
        if rules.missing_place is not None:
            middle[rules.missing_place] = means[-1]
        return middle

    def _add(self, rules: SingleRules | PairRules, width: int) -> None:
        if isinstance(rules, SingleRules):
            for word in range(len(rules.scores)):
                row = np.zeros(width + 1)
                row[rules.places.start + word] = 1.0
                self._number((id(rules), word), row)
            if rules.missing_place is not None:
                row = np.append(self._middle(rules, width), 0.0)
                row[rules.missing_place] = 1.0
                self._number((id(rules), "missing"), row)
            return
        products = rules.products
        for cell in np.ndindex(*products.shape[:2]):
            row = np.zeros(width + 1)
            row[rules.product_places] = products[cell]
            self._number((id(rules), cell), row)

    def _number(self, key: object, row: Float) -> None:
        self._numbers[key] = len(self._rows)
        self._rows.append(row)

    def _forest(self) -> Forest:
        """Put all rules into one table of trees over the described features."""
        split: list[int] = []
        first_child: list[int] = []
        places: list[int] = []
        roots: list[int] = []
        place_of = {id(rules): j for j, rules in enumerate(self.draft.singles)}

        def add(node_split: int, place: int) -> int:
            split.append(node_split)
            first_child.append(0)
            places.append(place)
            return len(split) - 1

        for rules in self.draft.singles:
            root = add(place_of[id(rules)], 0)
            roots.append(root)
            first_child[root] = len(split)
            for word in rules.words:
                add(-1, self._numbers[id(rules), word])
            if rules.missing_place is not None:
                add(-1, self._numbers[id(rules), "missing"])
        for pair in self.draft.pairs:
            low, high = pair.sides
            root = add(place_of[id(low)], 0)
            roots.append(root)
            first_child[root] = len(split)
            sets = [[*pair.parts_of_sets(side).tolist()] for side in (0, 1)]
            for side, one in enumerate((low, high)):
                sets[side] += [-1] * (one.missing_place is not None)
            children = [add(place_of[id(high)], 0) for _ in sets[0]]
            for child, of_low in zip(children, sets[0], strict=True):
                first_child[child] = len(split)
                for of_high in sets[1]:
                    is_known = of_low >= 0 and of_high >= 0
                    place = self._numbers[id(pair), (of_low, of_high)] if is_known else self.nothing
                    add(-1, place)
        shape = TreeShape(
            np.array(split, dtype=np.int32),
            np.array(first_child, dtype=np.int32),
            2 if self.draft.pairs else 1,
        )
        return Forest(
            flatten(self.features),
            shape,
            np.array(roots, dtype=np.int32),
            np.array(places, dtype=np.int32),
            self.nothing + 1,
        )


def _with_missing(rules: SingleRules) -> Feature:
    """Give missing values with a rule a set of their own, which no value reaches."""
    feature = rules.feature
    if rules.missing_place is None:
        return feature
    nothing = (0.0,) * feature.n_focal_sets
    return replace(feature, peaks=(*feature.peaks, np.inf), mean_masses=(*nothing, 1.0))


class _EvidenceLoss(BlockPass):
    """Sums up how the loss of rows grows with the scores of rules."""

    name = "fitting weights"

    def __init__(self, layout: _Layout, scores: Float) -> None:
        self.features = tuple(rules.feature for rules in layout.draft.singles)
        self.inputs = [self.features]
        self.forest, self.scores = layout.forest, np.ascontiguousarray(scores)
        self.sizes = np.array([one.n_focal_sets for one in self.features], dtype=np.uint32)

    def begin(self) -> Statistics:
        """Return the sums of no rows; slopes are parted in two, so that they never overflow."""
        return {"slope": np.zeros((2, *self.scores.shape), dtype=np.int64)}

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add a block of rows."""
        labels = _relabelled(block, self.features, self.sizes, self.forest.sets.sizes)
        likelihood = np.empty(len(labels))
        slope = np.zeros(self.scores.shape, dtype=np.int64)
        kernel().score_labels(
            self.forest, labels, block.codes, block.weights, self.scores, likelihood, slope
        )
        sums["slope"] += np.array([slope >> _LIMB, slope & ((1 << _LIMB) - 1)])


def _relabelled(
    block: RowBlock,
    features: tuple[Feature, ...],
    sizes: NDArray[np.uint32],
    wanted: NDArray[np.int32],
) -> NDArray[np.uint32]:
    """Let missing values have the number behind all sets, where there is one set more."""
    labels = np.ascontiguousarray(block.inputs(features).labels)
    more = wanted.astype(np.uint32) - sizes
    if not more.any():
        return labels
    unknown = labels >> np.uint32(MASS_BITS) == sizes
    return np.asarray(labels + (unknown * (more << np.uint32(MASS_BITS))).astype(np.uint32))


# --- counting ------------------------------------------------------------------------------------


class _CountRules(BlockPass):
    """Counts rows by focal sets and classes; those with missing values apart, or not at all."""

    name = "counting rules"

    def __init__(self, draft: Draft, n_classes: int) -> None:
        self.features = tuple(rules.feature for rules in draft.singles)
        self.inputs = [self.features]
        self.n_classes = n_classes
        place_of = {id(rules): j for j, rules in enumerate(draft.singles)}
        self.pairs = [(place_of[id(a)], place_of[id(b)]) for a, b in (p.sides for p in draft.pairs)]

    def begin(self) -> Statistics:
        """Return the counts of no rows; those of pairs are parted in two, and never overflow."""
        sizes = [one.n_focal_sets for one in self.features]
        singles = {
            f"single {j}": np.zeros((size + 1, self.n_classes), dtype=np.int64)
            for j, size in enumerate(sizes)
        }
        pairs = {
            f"pair {j}": np.zeros((2, sizes[a], sizes[b], self.n_classes), dtype=np.int64)
            for j, (a, b) in enumerate(self.pairs)
        }
        return singles | pairs

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Count a block of rows."""
        labels = block.inputs(self.features).labels
        used = block.weights > 0
        labels, codes, weights = labels[used], block.codes[used], block.weights[used]
        targets = (codes << MASS_BITS).astype(np.uint32)
        sets = flatten(self.features)
        counts = np.zeros((1, int(sets.bins[-1]), self.n_classes), dtype=np.int64)
        root = np.zeros(1, dtype=np.int32)
        kernel().accumulate(
            Described.plain(np.ascontiguousarray(labels)),
            targets,
            np.ascontiguousarray(weights),
            sets,
            TreeShape.stump(),
            root,
            counts,
        )
        for j in range(len(self.features)):
            sums[f"single {j}"] += counts[0, sets.bins[j] : sets.bins[j + 1]]
        for start in range(0, len(codes), _PIECE_ROWS):
            rows = slice(start, start + _PIECE_ROWS)
            for j, (a, b) in enumerate(self.pairs):
                of_pair = sums[f"pair {j}"], labels[rows][:, [a, b]], codes[rows], weights[rows]
                self._add_pair(*of_pair, (a, b))

    def tallies(self, sums: Statistics) -> list[Tally]:
        """Return the rows of each rule by class; the heaviest row weighs about 1."""
        tallies = []
        for j in range(len(self.features)):
            told = sums[f"single {j}"] / WEIGHT_ONE
            weights = told.sum(axis=1)
            tallies.append(Tally(weights[:-1], told[:-1], float(weights[-1]), told[-1]))
        for j in range(len(self.pairs)):
            high, low = sums[f"pair {j}"].astype(np.float64)
            told = (high * 2.0**_LIMB + low) / WEIGHT_ONE / WEIGHT_ONE
            tallies.append(Tally(told.sum(axis=2), told))
        return tallies

    def _add_pair(
        self,
        counts: Int64,
        labels: NDArray[np.uint32],
        codes: Int64,
        weights: Int64,
        places: tuple[int, int],
    ) -> None:
        sizes = [self.features[place].n_focal_sets for place in places]
        lower = (labels >> MASS_BITS).astype(np.int64)
        known = (lower < sizes).all(axis=1)
        if not known.all():
            labels, lower = labels[known], lower[known]
            codes, weights = codes[known], weights[known]
        upper = (labels & ((1 << MASS_BITS) - 1)).astype(np.int64)
        masses = [((1 << MASS_BITS) - part, part) for part in upper.T]
        # A cell more on either axis: the last set has no upper neighbour, and no mass goes there.
        shape = (sizes[0] + 1, sizes[1] + 1, self.n_classes)
        n_cells, cell = math.prod(shape), np.ravel_multi_index((*lower.T, codes), shape)
        grid = np.zeros((2, 2 * n_cells), dtype=np.int64)
        for a, b in np.ndindex(2, 2):
            product = weights * ((masses[0][a] * masses[1][b]) >> (2 * MASS_BITS - 30))
            first = np.ravel_multi_index((a, b, 0), shape)
            limbs = product >> _LIMB, product & ((1 << _LIMB) - 1)
            for limb, part in zip(grid, limbs, strict=True):
                limb[first : first + n_cells] += np.bincount(cell, part, n_cells).astype(np.int64)
        counts += grid[:, :n_cells].reshape(2, *shape)[:, :-1, :-1]
