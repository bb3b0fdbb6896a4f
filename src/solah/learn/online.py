"""Move a model's rules towards labelled rows, as a device does.

The twin of ``export/c_runtime/solah_learn.h``: the same integers, row by row. The structure never
changes. A rule that a row takes moves by the row's weight times the error times a step. Where
evidence is weighed, the error is that of the node's belief: what was observed less what was
expected; elsewhere it is that of the rule's own belief, so that it becomes a mean which forgets. A
step that would break what a monotonic model promises is not taken.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import log2
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from solah.device.bounds import learnt_bounds
from solah.device.fixed_tables import (
    LEARNT_BITS,
    MOST_LEARNT,
    ONE,
    FixedTables,
    fixed_tables,
    values_of,
)
from solah.device.fixed_twin import FixedTwin, shift
from solah.device.layout import lay_out, leaf_rules
from solah.exceptions import DataError, ParameterError
from solah.kernels import native
from solah.kernels.choose import kernel
from solah.model.document import Fusion, Task, Tree
from solah.model.format import model_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.device.bounds import Bound
    from solah.device.fixed_tables import FixedStage, FixedWalk
    from solah.device.units import Integers
    from solah.kernels.arrays import Float
    from solah.model.document import Model

# How far a row that is wholly wrong moves the evidence for its class, in nats.
_EVIDENCE_A_ROW = 4.0
# How many rows the belief of a rule remembers.
_ROWS_REMEMBERED = 16.0
# Weights have 14 bits and errors 15 in the product that moves what is learnt.
_PRODUCT_BITS = 14 + 15 - LEARNT_BITS
_SLOWEST = 20
# How far rounding may take shares that are learnt beyond nothing and all.
_ROUNDING = 512
_BLOCK_ROWS = 512


@dataclass(frozen=True)
class Pace:
    """How fast a model learns.

    Attributes
    ----------
    pace : 1 is the usual one, 2 twice as fast; rounded to a power of two
    forgetting : the share of what was learnt that a row takes back, where evidence is weighed; 0
        for none, else rounded to a power of two
    """

    pace: float = 1.0
    forgetting: float = 0.0

    def __post_init__(self) -> None:
        if not 2.0**-10 <= self.pace <= 2.0**10:
            raise ParameterError(f"'pace' must be from 1/1024 to 1024. Got {self.pace!r} instead.")
        if not (self.forgetting == 0 or 2.0**-15 <= self.forgetting <= 0.5):
            raise ParameterError(
                f"'forgetting' must be 0, or from 1/32768 to 0.5. Got {self.forgetting!r} instead."
            )

    @property
    def forget_bits(self) -> int:
        """The share that is forgotten, as a power of two; 0 for none."""
        return round(-np.log2(self.forgetting)) if self.forgetting else 0

    def step_bits(self, stage: FixedStage) -> int:
        """How far products of weights and errors are shifted in a stage."""
        n_trees = max(stage.parts.walks.stop - stage.parts.walks.start, 1)
        slowness = n_trees / _EVIDENCE_A_ROW if stage.is_weighed else _ROWS_REMEMBERED
        return min(max(_PRODUCT_BITS + round(log2(slowness / self.pace)), 0), _SLOWEST)


class _Taken(NamedTuple):
    """The branches of a stage that rows take.

    Attributes
    ----------
    rules : (n_branches,) their rules, some of which have several branches
    weights : (n_rows, n_branches)
    turns : the places of the branches that move their rules first, second, …
    lost : (n_rows,) the shares of the trees that are unknown, and their squares, added up
    starts : the place of each tree's first branch
    """

    rules: Integers
    weights: Integers
    turns: list[NDArray[np.intp]]
    lost: tuple[Integers, Integers]
    starts: NDArray[np.intp]


class LearningTwin(FixedTwin):
    """Decides and learns as a device does that learns.

    Parameters
    ----------
    tables : what the device has in its flash
    pace : how fast it learns
    """

    def __init__(self, tables: FixedTables, pace: Pace) -> None:
        super().__init__(tables)
        assert tables.learnt is not None
        self._stages = tables.stages
        self._walks = tables.walks
        self._start = tables.learnt
        self._pace = pace
        self._bounds_of: dict[int, list[Bound]] = {}
        for bound in tables.bounds:
            self._bounds_of.setdefault(bound.lower, []).append(bound)
            self._bounds_of.setdefault(bound.higher, []).append(bound)
        self.learnt = tables.learnt.copy()

    def learn(self, rows: NDArray[np.floating], places: Sequence[int] | Integers) -> Integers:
        """Learn from rows of readings and the classes that were observed, one after the other.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_attributes)
        places : sequence of int
            The classes' places; one out of range teaches nothing.

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_classes)
            What was believed of each row before it was learnt from, in the device's unit.
        """
        x, observed = self._read(rows), np.asarray(places, dtype=np.int64)
        beliefs = [np.empty((0, self._n_values + 1), dtype=np.int64)]
        for start in range(0, len(x), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            beliefs.append(self._learn_block(x[block], observed[block]))
        return np.vstack(beliefs)

    def _learn_block(self, x: Integers, observed: Integers) -> Integers:
        # A stage reads what those below believed before they learnt, and changes none of them, so
        # that all rows can go through one stage before the next.
        beliefs: list[Integers] = []
        for stage in self._stages:
            beliefs.append(self._learn_stage(stage, self._taken(stage, x, beliefs), observed))
        return beliefs[-1]

    def _learn_stage(self, stage: FixedStage, taken: _Taken, observed: Integers) -> Integers:
        """Return what a stage believes of each row before it learns from it."""
        is_plain = stage.is_weighed and not self._bounds_of and not taken.lost[0].any()
        if is_plain and kernel().name == native.name:
            bits = self._pace.step_bits(stage), self._pace.forget_bits
            branches = taken.weights, taken.rules, taken.starts, stage.start, stage.value_bits
            return native.learn_rows(*branches, observed, bits, self._start, self.learnt)
        rows = (self._learn_row(stage, taken, i, int(place)) for i, place in enumerate(observed))
        return np.vstack(list(rows))

    def _taken(self, stage: FixedStage, x: Integers, beliefs: list[Integers]) -> _Taken:
        rules: list[int] = []
        weights, starts = [], []
        for walk in self._walks[stage.parts.walks]:
            starts.append(len(rules))
            for node, weight, _ in self._branches(walk, x, beliefs):
                rules.append(walk.first_rule + int(walk.first_child[node]))
                weights.append(weight)
        lost = self._lost(stage, x)
        return _Taken(
            np.array(rules), np.column_stack(weights), _turns(rules), lost, np.array(starts)
        )

    def _learn_row(self, stage: FixedStage, taken: _Taken, row: int, observed: int) -> Integers:
        """Return what a stage believes of one row, and let it learn then."""
        weights = taken.weights[row]
        values = values_of(self.learnt[taken.rules], stage.value_bits)
        of_trees = np.add.reduceat(weights[:, None] * values, taken.starts, axis=0)
        total = stage.start + self._rounded(of_trees).sum(axis=0)
        shares, squares = taken.lost
        total = self._without(stage, total[None], (shares[[row]], squares[[row]]))
        belief: Integers = self._to_belief(stage, total)[0]
        if 0 <= observed < len(belief):
            step_bits = np.int64(self._pace.step_bits(stage))
            for turn in self._in_turns(taken):
                active = turn[weights[turn] > 0]
                rules, fired = taken.rules[active], weights[active][:, None]
                if stage.is_weighed:
                    self._move_evidence(rules, fired, _error(belief, observed), step_bits)
                else:
                    self._move_beliefs(rules, fired, observed, step_bits)
        return belief

    def _in_turns(self, taken: _Taken) -> list[NDArray[np.intp]]:
        """Return which branches move at a time: one by one, where rules are compared."""
        if not self._bounds_of:
            return taken.turns
        return list(np.arange(len(taken.rules))[:, None])

    def _move_evidence(
        self, rules: Integers, weights: Integers, error: Integers, step_bits: np.int64
    ) -> None:
        values, forget_bits = self.learnt[rules], self._pace.forget_bits
        if forget_bits:
            gone = shift(values - self._start[rules], np.int64(15))
            values = values - shift(gone * weights, np.int64(forget_bits))
        moved = values + shift((weights >> 1) * error, step_bits)
        before = self.learnt[rules]
        self.learnt[rules] = np.minimum(np.maximum(moved, -MOST_LEARNT), MOST_LEARNT)
        if self._bounds_of and any(self._breaks(rule, before) for rule in rules.tolist()):
            self.learnt[rules] = before

    def _breaks(self, rule: int, before: Integers) -> bool:
        """Tell whether a rule that moved alone breaks what rules keep, more than before."""
        after = self.learnt[rule].copy()
        for bound in self._bounds_of.get(rule, ()):
            lower, higher = bound.gaps(self.learnt)
            if higher >= lower:
                continue
            self.learnt[rule] = before
            was_lower, was_higher = bound.gaps(self.learnt)
            self.learnt[rule] = after
            if higher < was_higher or lower > was_lower:
                return True
        return False

    def _move_beliefs(
        self, rules: Integers, weights: Integers, observed: int, step_bits: np.int64
    ) -> None:
        everything = 1 << LEARNT_BITS
        target = ONE * (np.arange(1, self._n_values + 1) == observed)
        beliefs = np.clip(self.learnt[rules], 0, everything)
        moved = beliefs + shift((weights >> 1) * (target - (beliefs >> 9)), step_bits)
        moved = np.clip(moved, 0, everything)
        if observed > 0:  # rounding may leave more than everything
            moved[:, observed - 1] -= np.maximum(moved.sum(axis=1) - everything, 0)
        self.learnt[rules] = np.maximum(moved, 0)

    def _leaf(self, walk: FixedWalk, number: int) -> Integers:  # type: ignore[override]
        return values_of(self.learnt[walk.first_rule + number], walk.value_bits)


def _centred(learnt: Float) -> Float:
    """Return the evidence for all classes, 0 on average, of that against the first."""
    evidence = np.insert(learnt, 0, 0.0, axis=1)
    return np.asarray(evidence - evidence.mean(axis=1, keepdims=True))


def _turns(rules: list[int]) -> list[NDArray[np.intp]]:
    """Find the places of each rule's first branch, then of each one's second, and so on."""
    n_before: Counter[int] = Counter()
    turns: list[list[int]] = []
    for place, rule in enumerate(rules):
        if n_before[rule] == len(turns):
            turns.append([])
        turns[n_before[rule]].append(place)
        n_before[rule] += 1
    return [np.array(turn, dtype=np.intp) for turn in turns]


def _may_be_learnt(lines: Integers, is_weighed: bool) -> bool:
    """Tell whether rules learn such numbers, as ``solah_is_learnt`` does."""
    if is_weighed:
        return bool((np.abs(lines) <= MOST_LEARNT).all())
    everything = (1 << LEARNT_BITS) + _ROUNDING
    shares = np.maximum(lines, 0).sum(axis=1)
    return bool((lines >= -_ROUNDING).all() and (shares <= everything).all())


def _error(belief: Integers, observed: int) -> Integers:
    """Return what was observed less what was expected, against the first class."""
    error = -belief
    error[observed] += ONE
    return np.asarray(error[1:] - error[0])


class Learner:
    """A model that learns from labelled rows, as a device does.

    Parameters
    ----------
    model : Model
        It decides between classes.
    pace, forgetting : float
        As in :class:`Pace`.

    Examples
    --------
    >>> from solah import SelfOrganisedHierarchyClassifier, datasets
    >>> from solah.learn.online import Learner
    >>> from solah.model.encode import encode
    >>> iris = datasets.load("iris")
    >>> model = SelfOrganisedHierarchyClassifier().fit(iris.table, iris.goal).model_
    >>> learner = Learner(model)
    >>> _ = learner.learn(encode(iris.table, model.attributes)[:10], [0] * 10)
    >>> learner.model().n_rules == model.n_rules
    True
    """

    def __init__(self, model: Model, *, pace: float = 1.0, forgetting: float = 0.0) -> None:
        if model.goal.task is Task.REGRESSION:
            raise ParameterError(
                f"{model.goal.name!r} is a number, and only decisions between classes learn from "
                "single rows; train the model again"
            )
        self._model = model
        tables = fixed_tables(lay_out(model, only_walks=True), learns=True)
        self.tables = replace(tables, bounds=learnt_bounds(model, tables))
        self.twin = LearningTwin(self.tables, Pace(pace, forgetting))

    def learn(self, rows: NDArray[np.floating], places: Sequence[int] | Integers) -> Integers:
        """Learn from rows of readings and the places of the classes that were observed.

        Returns what was believed of each row before, in the device's unit.
        """
        return self.twin.learn(rows, places)

    def model(self) -> Model:
        """Return the model with what was learnt."""
        walks = {walk.name: walk for walk in self.tables.walks}
        nodes = (
            node if isinstance(node, Fusion) else self._with_learnt(node, walks[node.name])
            for node in self._model.nodes
        )
        return replace(self._model, nodes=tuple(nodes))

    def save(self) -> bytes:
        """Return what was learnt, as a device saves it."""
        saved = model_hash(self._model).encode() + self.twin.learnt.astype("<i4").tobytes()
        return saved + crc32(saved).to_bytes(4, "little")

    def restore(self, saved: bytes) -> None:
        """Bring back what this model learnt on a device."""
        expected = 16 + 4 * self.twin.learnt.size + 4
        if len(saved) != expected:
            raise DataError(
                f"what a device learnt has {expected} bytes for this model. "
                f"Got {len(saved)} instead."
            )
        if crc32(saved[:-4]) != int.from_bytes(saved[-4:], "little"):
            raise DataError("what a device learnt is damaged: its checksum is another")
        if saved[:16] != model_hash(self._model).encode():
            raise DataError("this was learnt by a device with another model")
        learnt = np.frombuffer(saved[16:-4], "<i4").astype(np.int64)
        learnt = learnt.reshape(self.twin.learnt.shape)
        for stage in self.tables.stages:
            for walk in self.tables.walks[stage.parts.walks]:
                lines = learnt[walk.first_rule : walk.first_rule + len(walk.values)]
                if not _may_be_learnt(lines, stage.is_weighed):
                    raise DataError(
                        f"what a device learnt is damaged: {walk.name!r} has numbers that no rule "
                        "of it learns; let the device begin again"
                    )
        self.twin.learnt = learnt

    def _with_learnt(self, tree: Tree, walk: FixedWalk) -> Tree:
        lines = self.twin.learnt[walk.first_rule : walk.first_rule + len(walk.values)]
        numbers = lines / (1 << LEARNT_BITS)
        learnt = numbers[leaf_rules(tree)[tree.leaves]]
        if tree.scores is not None:
            scores, missing = tree.scores.copy(), tree.missing
            scores[tree.leaves] = _centred(learnt)
            if missing is not None:  # the last line of the walk
                missing = replace(missing, scores=tuple(_centred(numbers[-1:])[0].tolist()))
            return replace(tree, scores=scores, missing=missing)
        belief, shares = tree.belief.copy(), np.maximum(learnt, 0.0)
        belief[tree.leaves] = np.column_stack([np.maximum(1 - shares.sum(axis=1), 0.0), shares])
        return replace(tree, belief=belief)
