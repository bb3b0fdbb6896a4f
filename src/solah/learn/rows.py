"""Training rows: the interface that the additive learner uses, and blocks of rows for passes.

The learner never iterates over all rows itself. It draws a sample, and requests sums of integers,
which do not depend on the order of the rows, their partition or the threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from solah.kernels.arrays import MASS_BITS, MASS_ONE, SPREAD, WEIGHT_ONE, Described
from solah.kernels.choose import kernel
from solah.model.features import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from solah.kernels.arrays import Float, Int64, Labels, Routes
    from solah.labels.drawing import Limits
    from solah.labels.targets import TargetFacts
    from solah.learn.memory import MemoryRows
    from solah.learn.tree import Tree
    from solah.model import Feature

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some of the rows.

    Attributes
    ----------
    features : the columns that are described
    labels : (n_rows, n_features) each value described
    targets : (n_rows,) the target, labelled like a value
    weights : (n_rows,) at most ``WEIGHT_ONE``
    outputs : the class probabilities of the nodes below, by name
    cache : results for these rows; None where they are read for one pass only
    """

    features: tuple[Feature, ...]
    labels: Labels
    targets: Labels
    weights: Int64
    outputs: Mapping[str, Float] = field(default_factory=dict)
    cache: dict[Hashable, object] | None = None

    @property
    def codes(self) -> Int64:
        """The place of each row's class."""
        return (self.targets >> MASS_BITS).astype(np.int64)

    def inputs(self, features: Sequence[Feature]) -> Described:
        """Describe the rows by the inputs of a node: features, and outputs of nodes below."""
        names = tuple(one.name for one in features)
        if len(names) == len(self._places) and names == tuple(self._places):
            return Described.plain(self.labels)
        return self._remembered(("inputs", names), lambda: self._gathered(features))

    def routes(self, tree: Tree) -> Routes:
        """Find the leaves that the rows with weight reach, and how much of each row does."""

        def walk() -> tuple[object, Routes]:
            whole = np.where(self.weights > 0, WEIGHT_ONE, 0)
            found = kernel().route(self.inputs(tree.inputs), whole, tree.sets, tree.shape)
            return tree.split, found

        # The splits stay in the cache with the routes, so that no later tree can have their id.
        return self._remembered(("routes", id(tree.split)), walk)[1]

    def _gathered(self, features: Sequence[Feature]) -> Described:
        labels: list[Labels] = []
        spread, width = [np.empty((len(self.labels), 0), dtype=np.uint32)], 0
        offsets = np.full(len(features), -1, dtype=np.int32)
        for j, one in enumerate(features):
            if one.origin not in self.outputs:
                labels.append(self.labels[:, self._places[one.name]])
            elif one.tree is not None:
                beliefs = self.outputs[one.tree][:, one.place]
                labels.append(label_readings(beliefs[:, None], [one])[:, 0])
            elif (beliefs := self.outputs[one.name]).shape[1] == 2:
                # Two classes are neighbours: one label holds the masses of both.
                labels.append(np.rint(beliefs[:, 1] * MASS_ONE).astype(np.uint32))
            else:
                labels.append(np.full(len(beliefs), SPREAD << MASS_BITS, dtype=np.uint32))
                sums = np.zeros((len(beliefs), beliefs.shape[1] + 1))
                np.cumsum(beliefs, axis=1, out=sums[:, 1:])
                sums[:, -1] = 1.0
                spread.append(np.rint(np.minimum(sums, 1.0) * MASS_ONE).astype(np.uint32))
                offsets[j], width = width, width + sums.shape[1]
        beside = np.column_stack(labels).astype(np.uint32, copy=False)
        return Described(beside, np.ascontiguousarray(np.hstack(spread)), offsets)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {feature.name: place for place, feature in enumerate(self.features)}

    def _remembered(self, key: Hashable, make: Callable[[], _T]) -> _T:
        if self.cache is None:
            return make()
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]  # type: ignore[return-value]


def label_readings(readings: Float, features: Sequence[Feature]) -> Labels:
    """Describe values ``(n_rows, n_features)`` by the focal sets of features."""
    labels = np.empty(readings.shape, dtype=np.uint32)
    kernel().label(np.ascontiguousarray(readings), flatten(features), labels)
    return labels


def joined_routes(routes: Routes, heads: Int64) -> Routes:
    """Replace leaves of one branch by the first of them."""
    return replace(routes, leaves=heads[routes.leaves].astype(np.int32))


Statistics: TypeAlias = dict[str, NDArray[Any]]
"""Sums of integers, by name."""


class BlockPass(ABC):
    """Sums over all rows; it can be pickled."""

    name: str
    """The name of the step, for progress bars."""
    inputs: Sequence[Sequence[Feature]]
    """The features that blocks of rows must have."""

    @abstractmethod
    def begin(self) -> Statistics:
        """Return the sums for zero rows."""

    @abstractmethod
    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add a block of rows."""


def add_up(one: Statistics, other: Statistics) -> Statistics:
    """Add sums to others."""
    for name, numbers in other.items():
        one[name] += numbers
    return one


class Rows(Protocol):
    """Rows that an additive model is trained on.

    ``MemoryRows`` are in memory; ``ScannedRows`` (solah.scale) are read from files, frames or a
    Dask collection for each pass. Both give the same model, bit for bit.
    """

    @property
    def limits(self) -> Limits:
        """The sizes at which learning changes its method."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns, described."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""

    @property
    def facts(self) -> TargetFacts:
        """The target, and the weight of all rows."""

    @property
    def is_many(self) -> bool:
        """Whether a sample replaces the rows where they would be read many times."""

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""

    def draw(self, n_rows: int) -> MemoryRows:
        """Draw distinct rows by their content, each with the weight of all equal rows."""

    def described_by(self, features: Sequence[Feature]) -> Self:
        """Return the same rows with the columns of these features, described by their words."""
