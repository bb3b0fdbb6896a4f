"""Hierarchies in, how well each decides on rows that it did not learn from out."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from solah.learn.levels import choices_of, share_rules, train_level
from solah.learn.memory import MemoryRows
from solah.learn.sample import group_folds, stratified_folds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.labels.describe import Description
    from solah.labels.targets import ClassTarget
    from solah.learn.growth import TreeSettings
    from solah.model.structure import Hierarchy, HierarchyNode

    Describe = Callable[[Table, NDArray[np.int64]], Description]
    Growth = Callable[[NDArray[np.int64], float], TreeSettings]
    Kinds = Callable[[Hierarchy], dict[str, Any]]
    Score = Callable[[NDArray[Any], Float, Float], float]

_MEMORY_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Fitness:
    """The cross-validated score of hierarchies, on rows described once for all of them.

    A tree depends on the trees below it and on nothing else, so its outputs are kept: a
    hierarchy that shares a part with an earlier one does not pay for it again.

    Attributes
    ----------
    folds : tuple of FoldRows
    target : the classes and weights of all rows
    kinds : determines the model at each node of a hierarchy
    score_beliefs : scores beliefs in the classes of rows; larger is better
    """

    folds: tuple[FoldRows, ...]
    target: ClassTarget
    kinds: Kinds
    score_beliefs: Score

    @classmethod
    def prepare(
        cls,
        rows: MemoryRows,
        describe: Describe,
        growth: Growth,
        *,
        kinds: Kinds,
        score_beliefs: Score,
        n_folds: int,
        cross_fit: int | None,
    ) -> Fitness | None:
        """Split the rows that have weight into stratified folds, and describe each fold's rows.

        Folds follow from the content of rows, not from their order: a row that occurs twice is the
        same as one of weight two. The rows of a group are in one fold. None if there are too few
        rows to split.
        """
        target, groups = rows.target, rows.groups
        used = np.flatnonzero(target.weights)
        codes = target.codes[used]
        if groups is None:
            of_rows = stratified_folds(rows.labels[used], codes, n_folds)
        else:
            of_rows = group_folds(groups[used], codes, target.weights[used], n_folds)
        if of_rows is None or not of_rows.any():
            return None
        folds = []
        for number in np.unique(of_rows):
            tested = used[of_rows == number]
            weights = target.weights.copy()
            weights[tested] = 0
            known = replace(target, weights=weights)
            data = MemoryRows(describe(rows.table, weights), known, groups=groups)
            if cross_fit is not None:
                data = data.with_folds(cross_fit)
            memory = Memory(_MEMORY_BYTES // n_folds)
            folds.append(FoldRows(data, growth(weights, target.weight_unit), tested, memory))
        return cls(tuple(folds), target, kinds, score_beliefs)

    def score(self, hierarchy: Hierarchy) -> float:
        """Return the score over all folds; larger is better."""
        target = self.target
        kinds = self.kinds(hierarchy)
        beliefs = np.full((len(target.codes), target.target.size), np.nan)
        for fold in self.folds:
            beliefs[fold.tested] = fold.decide(hierarchy, kinds)
        used = target.weights > 0
        weights = target.weights[used].astype(np.float64)
        return self.score_beliefs(target.codes[used], beliefs[used], weights)


@dataclass(frozen=True)
class FoldRows:
    """One fold: all rows, those that are tested without weight.

    Attributes
    ----------
    data : the rows, described by what is known of those to learn from
    growth : how trees grow
    tested : the rows to test on
    memory : what parts of hierarchies believe, once they are learned
    """

    data: MemoryRows
    growth: TreeSettings
    tested: NDArray[np.intp]
    memory: Memory

    def decide(self, hierarchy: Hierarchy, kinds: dict[str, Any]) -> Float:
        """Train a hierarchy, and return what its root believes of the tested rows."""
        growth = share_rules(self.growth, hierarchy)
        parts: dict[str, tuple[Any, ...]] = {}
        outputs: dict[str, Float] = {}
        for node in hierarchy.nodes:
            # Names of trees differ between hierarchies; what they are and what feeds them, all the
            # way down, counts.
            kind = kinds[node.name]
            below = tuple(parts.get(name, name) for name in node.inputs)
            parts[node.name] = (kind, below)
            is_top = node.name == hierarchy.root
            outputs[node.name] = self.memory.recall(
                (parts[node.name], growth.max_rules, is_top and self.data.folds is not None),
                partial(self._beliefs, node, outputs, kinds[node.name], growth, is_top=is_top),
            )
        return outputs[hierarchy.root][self.tested]

    def _beliefs(
        self,
        node: HierarchyNode,
        outputs: dict[str, Float],
        kind: Any,
        growth: TreeSettings,
        *,
        is_top: bool,
    ) -> Float:
        train = partial(train_level, [node], kinds={node.name: kind}, growth=growth)
        data = replace(self.data, outputs=outputs)
        models = train(data)
        if is_top:
            return models[0].beliefs(data.table, outputs, 1)
        return data.beliefs_of(models, partial(train, choices=choices_of(models)))[node.name]


class Memory:
    """Arrays by key, the least recently used forgotten where they take too much room.

    It does not travel: in another process, its simulator there takes its place.
    """

    def __init__(self, n_bytes: int, token: str = "") -> None:
        self.n_bytes = n_bytes
        self._token = token or uuid4().hex
        self._arrays: OrderedDict[Any, Float] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def recall(self, key: Any, make: Callable[[], Float]) -> Float:
        """Return what is kept under a key, or make it and keep it."""
        with self._lock:
            if key in self._arrays:
                self._arrays.move_to_end(key)
                return self._arrays[key]
        array = make()
        with self._lock:
            if key not in self._arrays:
                self._arrays[key] = array
                self._held += array.nbytes
            while self._held > self.n_bytes and len(self._arrays) > 1:
                self._held -= self._arrays.popitem(last=False)[1].nbytes
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return _memory_here, (self.n_bytes, self._token)


_MEMORIES: OrderedDict[str, Memory] = OrderedDict()
_MAX_MEMORIES = 10
"""How many memories a process keeps for others: those of the last search or two."""


def _memory_here(n_bytes: int, token: str) -> Memory:
    """Find the memory of another process's name in this one."""
    memory = _MEMORIES.setdefault(token, Memory(n_bytes, token))
    _MEMORIES.move_to_end(token)
    while len(_MEMORIES) > _MAX_MEMORIES:
        _MEMORIES.popitem(last=False)
    return memory
