"""The rows that select words, pairs and the number of rules, and content-based folds of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.data.digests import chain, mix
from solah.labels.drawing import digest_rows
from solah.learn.objective import ClassObjective
from solah.model.encode import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.learn.memory import MemoryRows
    from solah.learn.objective import Objective
    from solah.learn.rows import Rows
    from solah.model import Feature


OFTEN = 10
"""Equal rows that occur this often are observations of their own; fewer may be copies of one."""

# A class is rare if it has less than this part of what is even. Then more rows are drawn first.
_RARE, _LARGER = 0.25, 3


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows in an order that depends on their content alone.

    Attributes
    ----------
    features : the columns, described; by name
    readings : (n_rows, n_features) numbers, or the indices of categories; NaN for missing values
    objective : the target of each row
    weights : (n_rows,) how much each counts; in units that make them sum to the number of equally
        weighted rows that are as informative (Kish's effective sample size)
    pieces : (n_rows,) how many observations each is: 1, or how often it occurred if that was
        often; occurrences of different weight count as fewer
    digests : (n_rows,) a number that looks random, from the content of a row
    row_weight : what a weight of 1 is in integer weights of all rows
    share : the share of the weight of all rows that these rows have
    is_part : whether there are more rows than these
    groups : (n_rows,) digests of the groups that are kept together; None where there are none
    """

    features: tuple[Feature, ...]
    readings: Float
    objective: Objective
    weights: Float
    pieces: Int64
    digests: UInt64
    row_weight: float
    share: float = 1.0
    is_part: bool = False
    groups: UInt64 | None = None

    @classmethod
    def draw(cls, rows: Rows, max_rows: int) -> Sample:
        """Draw different rows by their content; of rare classes more than their share."""
        facts = rows.facts
        is_rare = facts.sums < _RARE * facts.sums.sum() / len(facts.sums)
        drawn = rows.draw((_LARGER if is_rare.any() else 1) * max_rows)
        target = drawn.target
        objective = ClassObjective(target.codes.astype(np.intp), target.target.size)
        sample = cls.of(drawn, objective)
        unit = target.weight_unit / facts.weight_unit
        share = min(float(target.weights.sum()) * unit / float(facts.sums.sum()), 1.0)
        sample = replace(sample, row_weight=sample.row_weight * unit, share=share)
        return replace(sample, is_part=share < 1 - 1e-6).first(max_rows)

    @classmethod
    def of(cls, drawn: MemoryRows, objective: Objective) -> Sample:
        """Take different rows in memory as they are."""
        digests, counts = drawn.digests, drawn.counts
        if digests is None:
            digests = digest_rows(drawn.table, drawn.target.digests)
        if counts is None:
            counts = np.ones(len(digests))
        # A sum of floats is a little off, by the order of the rows: a half must not go either way.
        whole = np.floor(counts + (0.5 + 1e-6)).astype(np.int64)
        pieces = np.where(whole >= OFTEN, whole, 1)
        weights = drawn.target.weights.astype(np.float64)
        row_weight = float(np.average(weights / pieces, weights=weights))
        return cls(
            drawn.features,
            encode(drawn.table, drawn.features),
            objective,
            weights / row_weight,
            pieces,
            digests,
            row_weight,
            groups=drawn.groups,
        )

    @property
    def n_rows(self) -> int:
        """How many different rows there are."""
        return len(self.weights)

    @property
    def _classes(self) -> Int64:
        """The class of each row; all rows are alike where the target is a number."""
        codes = getattr(self.objective, "codes", None)
        return np.zeros(self.n_rows, dtype=np.int64) if codes is None else np.asarray(codes)

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of the rows."""
        return replace(
            self,
            readings=self.readings[rows],
            objective=self.objective.take(rows),
            weights=self.weights[rows],
            pieces=self.pieces[rows],
            digests=self.digests[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def first(self, n_rows: int) -> Sample:
        """Return a pseudo-random sample of about ``n_rows`` rows.

        Rare classes have more rows than their share, and the others then weigh more: a rare class
        would have to be learned from a handful of rows otherwise.
        """
        if n_rows >= self.n_rows:
            return self
        order = np.argsort(self.digests, kind="stable")
        is_taken = np.zeros(self.n_rows, dtype=bool)
        is_taken[order[:n_rows]] = True
        classes = self._classes
        n_classes = int(classes.max()) + 1
        for code in range(n_classes):
            is_taken[order[classes[order] == code][: int(_RARE * n_rows / n_classes)]] = True
        taken = self.take(np.flatnonzero(is_taken))
        weights = taken.weights
        if taken.n_rows > n_rows:
            sums = np.bincount(classes, self.weights)
            drawn = np.bincount(taken._classes, weights, n_classes) / np.where(sums > 0, sums, 1.0)
            weights = weights * (drawn.max() / np.where(drawn > 0, drawn, 1.0))[taken._classes]
        share = self.share * float(weights.sum() / self.weights.sum())
        return replace(taken, weights=weights, share=share, is_part=True)

    def split(self, n_rows: int) -> tuple[Sample, Sample]:
        """Return the first rows and the others, in the order in which ``first`` takes them."""
        order = np.argsort(self.digests, kind="stable")
        return self.take(np.sort(order[:n_rows])), self.take(np.sort(order[n_rows:]))

    def folds(self, n_folds: int) -> list[Fold]:
        """Split the rows into folds, by their groups or their digests.

        An observation is either trained on or tested on, whatever it weighs. Without groups, equal
        rows share a fold, which does not change as other rows come or go. Only the occurrences of a
        row that occurred often are dealt out, so that a table of few different rows has every kind
        of row on both sides: as many to each fold as if each went to one at random. Equal parts
        would hold out what was learned.
        """
        tested = self._dealt(n_folds) if self.groups is None else self._dealt_by_group(n_folds)
        folds = [Fold(self._with(self.pieces - one), self._with(one)) for one in tested]
        return [fold for fold in folds if fold.is_usable]

    def _dealt(self, n_folds: int) -> Int64:
        """Return how many pieces of each row are in each fold: ``(n_folds, n_rows)``."""
        first = ((self.digests >> np.uint64(7)) % np.uint64(n_folds)).astype(np.int64)
        dealt: Int64 = (np.arange(n_folds)[:, None] == first).astype(np.int64)
        often = np.flatnonzero(self.pieces > 1)
        digests, left = self.digests[often], self.pieces[often].copy()
        for fold in range(n_folds - 1):
            digests, share = mix(digests), 1 / (n_folds - fold)
            spread = np.sqrt(left * share * (1 - share))
            taken = np.rint(left * share + spread * _normal(digests)).astype(np.int64)
            dealt[fold, often] = np.clip(taken, 0, left)
            left -= dealt[fold, often]
        dealt[-1, often] = left
        return dealt

    def _dealt_by_group(self, n_folds: int) -> Int64:
        """Return the same with each group in one fold."""
        assert self.groups is not None
        folds = group_folds(self.groups, self._classes, self.weights, n_folds)
        return np.where(np.arange(n_folds)[:, None] == folds[None, :], self.pieces, 0)

    def _with(self, pieces: Int64) -> Sample:
        """Return the rows of which there are pieces, with as much of their weight."""
        weights = self.weights * (pieces / self.pieces)
        return replace(self, weights=weights, pieces=pieces).take(np.flatnonzero(pieces))


def _normal(digests: UInt64) -> Float:
    """Turn digests into numbers that look drawn from a normal distribution: sums of even ones."""
    numbered = np.add.outer(digests, np.arange(1, 13, dtype=np.uint64)).astype(np.uint64)
    even = (mix(numbered) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(even.sum(axis=1) - 6.0)


def mean_and_error(
    values: Float, weights: Float, pieces: Int64, groups: UInt64 | None = None
) -> tuple[float, float]:
    """Return the weighted mean of a value per row, and its standard error.

    The rows of a group err alike, so that a group is one observation, as is a row with a weight.

    Parameters
    ----------
    values, weights, pieces, groups : (n_rows,) as :class:`Sample` has them
    """
    whole = float(weights.sum())
    mean = float(weights @ values) / whole
    parts = weights * (values - mean)
    if groups is None:
        return mean, math.sqrt(float(parts @ (parts / pieces))) / whole
    _, numbers = np.unique(groups, return_inverse=True)
    sums = np.bincount(numbers, parts)
    correction = len(sums) / max(len(sums) - 1, 1)
    return mean, math.sqrt(float(sums @ sums) * correction) / whole


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, and rows to test on."""

    learned: Sample
    tested: Sample

    @property
    def is_usable(self) -> bool:
        """Whether there is something to learn and something to test."""
        if not self.learned.n_rows or not self.tested.n_rows:
            return False
        objective = self.learned.objective
        return not isinstance(objective, ClassObjective) or len(np.unique(objective.codes)) > 1


def stratified_folds(labels: Labels, codes: Int64, n_folds: int) -> Int64 | None:
    """Put rows into folds by their content, the classes spread evenly.

    Equal rows are in one fold, so that no row is predicted by a model that has learned
    from its like; and neither the order of the rows nor their partition matters.

    Parameters
    ----------
    labels : (n_rows, n_features) the rows described
    codes : (n_rows,) their classes
    n_folds : int

    Returns
    -------
    folds : (n_rows,) numbers from 0, or None
        None where no class has two rows that differ, and nothing can be compared.
    """
    digests = row_digests(labels, codes)
    folds = np.empty(len(codes), dtype=np.int64)
    start = most = 0
    for code in np.unique(codes):
        of_class = codes == code
        different, numbers = np.unique(digests[of_class], return_inverse=True)
        folds[of_class] = (start + numbers) % n_folds
        start += len(different)
        most = max(most, len(different))
    return folds if most > 1 else None


def group_folds(groups: UInt64, codes: Int64, weights: Int64 | Float, n_folds: int) -> Int64:
    """Deal groups of rows out to folds, so that no group is learned from and tested on.

    Groups are dealt out in turn in the order of their digests, so that neither the order of the
    rows nor the names' order matters, and as if at random: folds with even classes would report
    too little loss. Only where all groups of a class would be in one fold, and the others could
    not learn it, are groups dealt out by the class that most of each is of.

    Parameters
    ----------
    groups : (n_rows,) the digests of the groups' names
    codes : (n_rows,) the classes
    weights : (n_rows,) what the rows weigh
    n_folds : int

    Returns
    -------
    folds : (n_rows,) numbers from 0; there are as many as groups, if these are fewer than folds
    """
    names, numbers = np.unique(groups, return_inverse=True)
    folds = np.arange(len(names)) % n_folds
    of_classes = np.zeros((len(names), int(codes.max()) + 1))
    np.add.at(of_classes, (numbers, codes), weights)
    is_of, in_folds = of_classes > 0, np.eye(n_folds, dtype=bool)[folds]
    n_folds_of_class = (is_of.T[:, :, None] & in_folds).any(axis=1).sum(axis=1)
    if (n_folds_of_class < np.minimum(is_of.sum(axis=0), 2)).any():
        folds[np.lexsort((names, of_classes.argmax(axis=1)))] = np.arange(len(names)) % n_folds
    return folds[numbers]


def row_digests(labels: Labels, codes: Int64) -> UInt64:
    """Turn the content of each row into one number that looks random."""
    columns = (column.astype(np.uint64) for column in labels.T)
    return chain(columns, mix(codes.astype(np.uint64)))
