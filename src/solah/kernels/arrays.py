"""The arrays that the kernels read: focal sets end to end, trees as tables, and their units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Float = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Labels = NDArray[np.uint32]

MASS_BITS = 24
MASS_ONE = 1 << MASS_BITS
MASS_MASK = MASS_ONE - 1
WEIGHT_ONE = 1 << 30
SLOPE_SCALE = 64
MAX_FOCAL_SETS = 254
SPREAD = 255
MAX_DEPTH = 255
MISSING_BIN = 255
MAX_GROWN_LEAVES = 16


@dataclass(frozen=True, eq=False)
class FocalSets:
    """The focal sets of all features, end to end.

    Attributes
    ----------
    peaks : (n_sets,) where a focal set has all the mass; increasing within a feature
    mean_masses : (n_sets,) the masses of a missing value; they sum to 1 within a feature
    offsets : (n_features + 1,) the sets of feature ``a`` are ``offsets[a]:offsets[a + 1]``
    """

    peaks: Float
    mean_masses: Float
    offsets: Int32

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Int32:
        """How many focal sets each feature has."""
        return np.diff(self.offsets)

    @cached_property
    def bins(self) -> Int32:
        """Where each feature's counts begin: one bin a set, and one more for mean_masses."""
        return np.asarray(self.offsets + np.arange(len(self.offsets)), dtype=np.int32)

    @cached_property
    def cumulated_ignorance(self) -> Labels:
        """The mean masses summed up, in units of ``1 / MASS_ONE``, laid out like ``bins``."""
        cumulated = np.zeros(int(self.bins[-1]), dtype=np.uint32)
        for a in range(self.n_features):
            masses = self.mean_masses[self.offsets[a] : self.offsets[a + 1]]
            sums = np.cumsum(masses)
            sums[-1:] = 1.0
            cumulated[self.bins[a] + 1 : self.bins[a + 1]] = np.rint(sums * MASS_ONE)
        return cumulated


@dataclass(frozen=True, eq=False)
class TreeShape:
    """A tree as a table of nodes, the root first.

    Attributes
    ----------
    feature : (n_nodes,) the feature that an inner node splits on; -1 for a leaf
    first_child : (n_nodes,) the child of the feature's first focal set; the others follow it
    depth : the splits on the longest branch
    """

    feature: Int32
    first_child: Int32
    depth: int

    @classmethod
    def stump(cls) -> TreeShape:
        """Return a tree that is one leaf."""
        return cls(np.full(1, -1, np.int32), np.zeros(1, np.int32), 0)

    @classmethod
    def of(cls, feature: Int32, first_child: Int32, sets: FocalSets) -> TreeShape:
        """Measure the depth of a table whose nodes are each reached once from the root."""
        depth, level = 0, np.zeros(1, dtype=np.int32)
        while len(level := level[feature[level] >= 0]):
            counts = sets.sizes[feature[level]]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            level = np.repeat(first_child[level], counts) + within
            depth += 1
        return cls(feature, first_child, depth)


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees over the same features, their nodes in one table, and the scores of their leaves.

    Attributes
    ----------
    sets : the focal sets of all features
    trees : the table; ``first_child`` counts through it
    roots : (n_trees,) where each tree begins
    places : (n_nodes,) the number of each leaf's score
    bias_place : the number of the score that all rows add
    """

    sets: FocalSets
    trees: TreeShape
    roots: Int32
    places: Int32
    bias_place: int


@dataclass(frozen=True, eq=False)
class Routes:
    """The leaves that rows reach, as a sparse matrix by rows.

    Row ``i`` reaches ``leaves[starts[i]:starts[i + 1]]`` with the ``weights`` beside them.
    """

    starts: Int64
    leaves: Int32
    weights: Int64


@dataclass(frozen=True, eq=False)
class Readings:
    """Inputs of a tree before labelling: readings, and beliefs of trees below.

    Attributes
    ----------
    values : (n_rows, n_inputs) the readings; entries of beliefs are ignored
    given : (n_rows, width) the beliefs' masses on their focal sets, end to end
    offsets : (n_inputs,) where an input's masses begin in ``given``; -1 for a reading
    """

    values: Float
    given: Float
    offsets: Int32

    @classmethod
    def plain(cls, values: Float) -> Readings:
        """Return inputs that are all readings."""
        none = np.full(values.shape[1], -1, dtype=np.int32)
        return cls(values, np.empty((len(values), 0)), none)


@dataclass(frozen=True, eq=False)
class Described:
    """Inputs of a tree described by their focal sets, in integers.

    Attributes
    ----------
    labels : (n_rows, n_inputs) the lower focal set and the mass of the one above it, or ``SPREAD``
    spread : (n_rows, width) masses on all focal sets, summed up, in units of ``1 / MASS_ONE``:
        one number more than there are sets, from 0 to ``MASS_ONE``
    offsets : (n_inputs,) where an input's sums begin in ``spread``; -1 for one with labels
    """

    labels: Labels
    spread: Labels
    offsets: Int32

    @classmethod
    def plain(cls, labels: Labels) -> Described:
        """Return inputs that all have labels."""
        none = np.full(labels.shape[1], -1, dtype=np.int32)
        return cls(labels, np.empty((len(labels), 0), dtype=np.uint32), none)

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, part: slice) -> Described:
        """Return a slice of the rows, without copying."""
        return Described(self.labels[part], self.spread[part], self.offsets)


@dataclass(frozen=True, eq=False)
class FlatProgram:
    """A program as two arrays, for the C kernel: ``native/run.c`` describes the records.

    Attributes
    ----------
    code : (n_codes,) records and lists of indices; offsets count from the start of their array
    numbers : (n_numbers,) peaks, memberships, weights
    """

    code: Int32
    numbers: Float

    @cached_property
    def addresses(self) -> tuple[int, int]:
        """Where both arrays are in memory."""
        return self.code.ctypes.data, self.numbers.ctypes.data

    def __reduce__(self) -> tuple[type[FlatProgram], tuple[Int32, Float]]:
        return FlatProgram, (self.code, self.numbers)  # addresses are those of this process


class Kernel(Protocol):
    """What both kernels do; outputs are the caller's, inputs have been checked."""

    name: str

    def label(self, values: Float, sets: FocalSets, out: Labels) -> None:
        """Describe readings ``(n, features)`` by their focal sets; NaN is mean_masses."""

    def accumulate(
        self,
        rows: Described,
        targets: Labels,
        weights: Int64,
        sets: FocalSets,
        tree: TreeShape,
        slots: Int32,
        out: Int64,
    ) -> None:
        """Add the rows that reach a leaf with a slot to ``out[slot, bin, target]``."""

    def route(self, rows: Described, weights: Int64, sets: FocalSets, tree: TreeShape) -> Routes:
        """Find the leaves that rows reach, and with which weight."""

    def share_weights(
        self, routes: Routes, classes: Int64, weights: Int64, beliefs: Float, out: Int64
    ) -> None:
        """Share rows' weights among their leaves by how likely each made the row's class.

        The shares are added to ``out[leaf, class]``. A row whose class no leaf thinks possible
        gives nothing.
        """

    def score_labels(
        self,
        forest: Forest,
        labels: Labels,
        classes: Int64,
        weights: Int64,
        scores: Float,
        likelihood: Float,
        out: Int64,
    ) -> None:
        """Compute the likelihood of rows' classes under the scores of forests, and its slope.

        The ``scores`` ``(place, class)`` of the leaves that a row reaches, and that of the bias,
        are summed and turned into probabilities; ``likelihood`` gets the probability of the row's
        class. The slope of its negative logarithm, times the row's weight, is added to
        ``out[place, class]``, in units of ``1 / SLOPE_SCALE`` of a weight. Rows without weight are
        skipped.
        """

    def find(self, values: Float, edges: Float, out: Int32) -> None:
        """Find the bins of numbers, which begin at the edges; one past the last for NaN.

        There is one edge at least; what is below the first is in the first bin.
        """

    def predict(
        self, rows: Readings, sets: FocalSets, tree: TreeShape, beliefs: Float, out: Float
    ) -> None:
        """Average the leaves' beliefs over the branches that readings take (Jeffrey's rule)."""

    def grow(
        self,
        bins: Bytes,
        sizes: Int32,
        nominal: Bytes,
        gradient: Int32,
        curvature: Int32,
        weights: Int32,
        n_leaves: int,
        ridge: float,
        least: int,
        leaf: Int32,
        gains: Float,
    ) -> int:
        """Grow one small regression tree of a boosted ensemble; return how many leaves it has.

        Row ``i`` has its reading of feature ``a`` in bin ``bins[a, i]``, below ``sizes[a]``, or
        ``MISSING_BIN``. A split of an ordered feature sends the bins up to ``b`` left, one of a
        ``nominal`` feature the bin ``b`` alone; missing readings go right, or left if that gains
        more. Both sides weigh ``least`` or more. With the sums G of gradients and H of curvatures,
        which are not negative, a side counts ``G * G / (H + ridge)``, ``ridge > 0``; a split gains
        what its sides count together more than the whole does, which must be above 0. The leaf
        whose split gains most is split next, until there are ``n_leaves``, 2 to
        ``MAX_GROWN_LEAVES``; equal gains: the lowest leaf, feature, then bin. The left part
        keeps the leaf's number, the right one gets the next.

        ``leaf`` gets the number of each row's leaf; -1 for rows without weight, which take no part.
        The gain of every split made is added to ``gains[a, b]``, 256 bins a feature.
        """
