"""Update a model's rules from labelled rows, as a device does.

The simulator of ``export/c_runtime/solah_learn.h``: the same integers, row by row. The structure
never changes. A rule that applies to a row moves by its membership times the error times a step. In
an additive model, the error is the observed class minus its probability. In a tree, it is the
observed class minus the branch's own share, which makes the share a moving average. Steps that
would violate a monotonic constraint are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import log2
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from solah.exceptions import DataError, ParameterError
from solah.export.fixed_simulator import FixedSimulator, shift
from solah.export.fixed_tables import LEARNT_BITS, MOST_LEARNT, ONE, fixed_tables, values_of
from solah.export.layout import lay_out
from solah.kernels import native
from solah.kernels.arrays import FlatProgram
from solah.model.document import Task, TreeNode
from solah.model.format import model_hash
from solah.model.monotone import signs_of
from solah.model.program import Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.export.tables import StageTables, Tables, WalkTables
    from solah.export.units import Integers
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Node

# How far a row with probability 0 for its class moves the score of that class, in nats.
_EVIDENCE_A_ROW = 4.0
# The window of the moving average of a branch's share, in rows.
_ROWS_REMEMBERED = 16.0
# Weights have 14 bits and errors 15 in the product that moves what is learned.
_PRODUCT_BITS = 14 + 15 - LEARNT_BITS
_SLOWEST = 20
ROWS_AT_FIRST_PACE = 8
"""The number of rows after which the pace is halved, and again when it has doubled."""
WINS_TO_TRUST = 3
"""Learned weights are used once they predict this many more rows than the flashed model."""
_MOST_LOSSES = 8
_MOST_HALVINGS = 15
_MOST_ROWS = 2**32 - 1
# How far rounding may take shares that are learned beyond nothing and all.
_ROUNDING = 512


@dataclass(frozen=True)
class Pace:
    """How fast a model learns.

    Attributes
    ----------
    pace : 1 is the usual one, 2 twice as fast; rounded to a power of two
    forgetting : the share of what was learned that a row takes back, in additive models; 0 for
        none, else rounded to a power of two
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

    def step_bits(self, stage: StageTables, slower: int = 0) -> int:
        """How far products of weights and errors are shifted in a stage."""
        n_trees = max(stage.parts.walks.stop - stage.parts.walks.start, 1)
        slowness = n_trees / _EVIDENCE_A_ROW if stage.is_weighed else _ROWS_REMEMBERED
        first = max(_PRODUCT_BITS + round(log2(slowness / self.pace)), 0)
        return min(first + slower, _SLOWEST)


@dataclass(frozen=True)
class Trust:
    """Whether what a device learned is used, by the rows that it learned from.

    Attributes
    ----------
    n_rows : how many there were
    wins : how many more of the last ones it predicted right than the flashed model, from -8 to 3
    is_earned : whether it is used: from 3 wins on, until they are below 0
    """

    n_rows: int = 0
    wins: int = 0
    is_earned: bool = False

    def after(self, is_right: bool, was_right: bool) -> Trust:
        """Return the trust after one more row, which both models predicted."""
        wins = min(max(self.wins + is_right - was_right, -_MOST_LOSSES), WINS_TO_TRUST)
        is_earned = wins >= 0 if self.is_earned else wins >= WINS_TO_TRUST
        return Trust(min(self.n_rows + 1, _MOST_ROWS), wins, is_earned)


def halvings(n_rows: Integers) -> Integers:
    """Return how often the pace was halved after some rows."""
    halved: Integers = np.frexp(n_rows // ROWS_AT_FIRST_PACE + 1)[1].astype(np.int64) - 1
    return np.minimum(halved, _MOST_HALVINGS)


class LearningSimulator(FixedSimulator):
    """Simulator of a device that learns.

    Parameters
    ----------
    tables : the tables in the device's flash
    pace : how fast it learns
    is_guarded : as of :class:`Learner`

    Attributes
    ----------
    learned : (n_rules, n_values) what the rules of all terms add, in the unit 2^-LEARNT_BITS
    trust : until it is earned, predictions are those of the flashed model
    """

    def __init__(
        self,
        tables: Tables,
        pace: Pace,
        *,
        is_guarded: bool = True,
    ) -> None:
        super().__init__(tables)
        assert tables.learned is not None
        self._integers = tables
        self._stages = tables.stages
        self._walks = tables.walks
        self._start = tables.learned
        self._pace = pace
        self._bounds_of = _by_rule(tables.bounds, len(tables.learned))
        self._is_guarded = is_guarded
        self._flats: dict[int, FlatProgram] = {}
        self._used = self._start
        self.learned = tables.learned.copy()
        self.trust = Trust()

    @property
    def is_trusted(self) -> bool:
        """Whether predictions are of what was learned, rather than of the flashed model."""
        return self.trust.is_earned or not self._is_guarded

    def flat(self, slower: int = 0) -> FlatProgram:
        """Return the learner as two arrays, for the C kernel."""
        if slower not in self._flats:
            self._flats[slower] = _Packing(self._integers, self._pace, slower).flat(self._bounds_of)
        return self._flats[slower]

    def _read(self, rows: NDArray[np.floating]) -> Integers:
        self._used = self.learned if self.is_trusted else self._start
        return super()._read(rows)

    def learn(self, rows: NDArray[np.floating], places: Sequence[int] | Integers) -> Integers:
        """Learn from rows of readings and the classes that were observed, one after the other.

        The C kernel (``native/learning.c``) and NumPy learn the same integers.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
        places : sequence of int
            The indices of the classes; rows with an index out of range are skipped.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            The prediction for each row before the update, in the device's unit.
        """
        observed = np.ascontiguousarray(places, dtype=np.int64)
        beliefs = np.empty((len(rows), self._n_values + 1), dtype=np.int64)
        is_class = (observed >= 0) & (observed <= self._n_values)
        slower = halvings(self.trust.n_rows + np.cumsum(is_class) - is_class)
        slower *= self._is_guarded
        starts = np.flatnonzero(np.diff(slower, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(rows)]):  # rows that are learned at one pace
            part = slice(start, end)
            self._learn_rows(rows[part], observed[part], int(slower[start]), beliefs[part])
        self._weigh(rows, observed, is_class, beliefs)
        return beliefs

    def _learn_rows(
        self, rows: NDArray[np.floating], observed: Integers, slower: int, beliefs: Integers
    ) -> None:
        """Learn from rows at one pace, and write the probabilities before the updates."""
        if native.is_used():
            readings = np.require(rows, np.float64, "A")
            native.learn(self.flat(slower), readings, observed, self._start, self.learned, beliefs)
            return
        x = self._read(rows)
        for i, place in enumerate(observed.tolist()):
            beliefs[i] = self._learn_row(x[i : i + 1], place, slower)

    def _weigh(
        self,
        rows: NDArray[np.floating],
        observed: Integers,
        is_class: NDArray[np.bool_],
        beliefs: Integers,
    ) -> None:
        """Compare predictions before the updates with those of the flashed model."""
        is_right = beliefs.argmax(axis=1) == observed
        was_right = self._flashed(rows).argmax(axis=1) == observed
        for i in np.flatnonzero(is_class).tolist():
            self.trust = self.trust.after(bool(is_right[i]), bool(was_right[i]))

    def _flashed(self, rows: NDArray[np.floating]) -> Integers:
        """Return the probabilities of the flashed model ``(n_rows, n_classes)``."""
        if not native.is_used():
            x = self._read(rows)
            self._used = self._start
            return np.asarray(self._believe(x)[1][-1])
        readings, start = np.require(rows, np.float64, "A"), self._start
        beliefs = np.empty((len(rows), self._n_values + 1), dtype=np.int64)
        nothing = np.full(len(rows), -1, dtype=np.int64)  # without a class, no rule moves
        native.learn(self.flat(), readings, nothing, start, start.copy(), beliefs)
        return beliefs

    def _learn_row(self, x: Integers, observed: int, slower: int) -> Integers:
        """Return the probabilities for one row, and update all stages with it."""
        self._used = self.learned
        beliefs: list[Integers] = []
        for stage in self._stages:
            belief = self._to_belief(stage, self._add_up(stage, x, beliefs))
            if 0 <= observed <= self._n_values:
                step_bits = np.int64(self._pace.step_bits(stage, slower))
                error = _error(belief[0], observed)
                for rule, weight in self._taken(stage, x, beliefs):
                    if stage.is_weighed:
                        self._move_evidence(rule, weight, error, step_bits)
                    else:
                        self._move_belief(rule, weight, observed, step_bits)
            beliefs.append(belief)
        return np.asarray(beliefs[-1][0])

    def _taken(
        self, stage: StageTables, x: Integers, beliefs: list[Integers]
    ) -> Iterator[tuple[int, Integers]]:
        """Yield the rules of the branches that one row takes, with its weights."""
        for walk in self._walks[stage.parts.walks]:
            for node, weight, _ in self._branches(walk, x, beliefs):
                yield walk.first_rule + int(walk.first_child[node]), weight

    def _move_evidence(
        self, rule: int, weight: Integers, error: Integers, step_bits: np.int64
    ) -> None:
        before, forget_bits = self.learned[rule].copy(), self._pace.forget_bits
        values = before
        if forget_bits:
            gone = shift(before - self._start[rule], np.int64(15))
            values = before - shift(gone * weight, np.int64(forget_bits))
        moved = values + shift((weight >> 1) * error, step_bits)
        self.learned[rule] = np.clip(moved, -MOST_LEARNT, MOST_LEARNT)
        if self._breaks(rule, before):
            self.learned[rule] = before

    def _breaks(self, rule: int, before: Integers) -> bool:
        """Whether an update violates a bound between rules more than before."""
        after = self.learned[rule].copy()
        for bound in self._bounds_of[rule]:
            lower, higher = bound.gaps(self.learned)
            if higher >= lower:
                continue
            self.learned[rule] = before
            was_lower, was_higher = bound.gaps(self.learned)
            self.learned[rule] = after
            if higher < was_higher or lower > was_lower:
                return True
        return False

    def _move_belief(self, rule: int, weight: Integers, observed: int, step_bits: np.int64) -> None:
        everything = 1 << LEARNT_BITS
        target = ONE * (np.arange(1, self._n_values + 1) == observed)
        belief = np.clip(self.learned[rule], 0, everything)
        moved = belief + shift((weight >> 1) * (target - (belief >> 9)), step_bits)
        moved = np.clip(moved, 0, everything)
        if observed > 0:  # rounding may leave more than everything
            moved[observed - 1] -= np.maximum(moved.sum() - everything, 0)
        self.learned[rule] = np.maximum(moved, 0)

    def _leaf(self, walk: WalkTables, number: int) -> Integers:
        return values_of(self._used[walk.first_rule + number], walk.value_bits)


class Bound(NamedTuple):
    """An inequality: the higher rule is no less than the lower one.

    Attributes
    ----------
    lower, higher : the rules, by their lines
    more, less : the two classes; the difference of their scores is compared
    """

    lower: int
    higher: int
    more: int
    less: int

    def gaps(self, learned: Integers) -> tuple[int, int]:
        """Return what is compared, of the lower rule and of the higher one."""
        lower, higher = (
            _of(learned[rule], self.more) - _of(learned[rule], self.less)
            for rule in (self.lower, self.higher)
        )
        return lower, higher


def _of(line: Integers, state: int) -> int:
    """Return the score of a class against the first."""
    return int(line[state - 1]) if state else 0


def learned_bounds(model: Model, tables: Tables) -> tuple[Bound, ...]:
    """List what the rules of a model keep while they learn."""
    program = model.program
    walks = {walk.name: walk for walk in tables.walks}
    terms = [term for stage in program.stages for term in stage.terms]
    found: dict[Bound, None] = {}
    for promise in model.monotonic:
        feature = program.features.index(promise.feature)
        signs = signs_of([promise], model.target.size)
        classes = list(
            zip(signs.argmax(axis=1).tolist(), signs.argmin(axis=1).tolist(), strict=True)
        )
        for term in terms:
            axes = [program.axes[axis] for axis in term.axes]
            sides = [j for j, axis in enumerate(axes) if axis.is_read and axis.source == feature]
            if not sides or not isinstance(term.cells, Grid):
                continue
            lines = walks[term.name].first_rule + np.moveaxis(term.cells.rules, sides[0], 0)
            steps = np.stack([lines[:-1].ravel(), lines[1:].ravel()], axis=1)
            for more, less in classes:
                for lower, higher in steps[steps[:, 0] != steps[:, 1]].tolist():
                    found[Bound(lower, higher, more, less)] = None
    return tuple(found)


def _by_rule(bounds: Sequence[Bound], n_rules: int) -> list[list[Bound]]:
    """Return the bounds that each rule has to keep."""
    found: list[list[Bound]] = [[] for _ in range(n_rules)]
    for bound in bounds:
        found[bound.lower].append(bound)
        found[bound.higher].append(bound)
    return found


class _Packing:
    """Lays a learner out as records with offsets (see ``native/learning.c``)."""

    _N_HEADER = 12

    def __init__(self, tables: Tables, pace: Pace, slower: int) -> None:
        self._tables, self._pace, self._slower = tables, pace, slower
        self._code = [0] * self._N_HEADER

    def flat(self, bounds: Sequence[Sequence[Bound]]) -> FlatProgram:
        tables, layout = self._tables, self._tables.layout
        stages = [self._stage(stage) for stage in tables.stages]
        walks = [self._walk(walk) for walk in tables.walks]
        n_leaves = [int((walk.split < 0).sum()) for walk in tables.walks]
        self._code[: self._N_HEADER] = [
            layout.n_classes,
            len(stages),
            len(tables.units),
            max((len(walk.inputs) for walk in tables.walks), default=0),
            max((walk.depth for walk in tables.walks), default=0),
            max(sum(n_leaves[stage.parts.walks]) for stage in tables.stages),
            self._pace.forget_bits,
            self._put(number for unit in tables.units for number in (unit.zero, int(unit.is_code))),
            self._put(number for stage in stages for number in stage),
            self._put(number for walk in walks for number in walk),
            self._put(number for of_rule in bounds for bound in of_rule for number in bound),
            self._put(accumulate(map(len, bounds), initial=0)),
        ]
        scales = np.array([1.0 if unit.is_code else 2.0**unit.bits for unit in tables.units])
        return FlatProgram(np.array(self._code, dtype=np.int32), scales)

    def _stage(self, stage: StageTables) -> tuple[int, ...]:
        walks, lost = stage.parts.walks, stage.lost
        record = (
            int(stage.is_weighed),
            stage.value_bits,
            self._pace.step_bits(stage, self._slower),
            self._put(stage.start),
            walks.start,
            walks.stop - walks.start,
        )
        if lost is None:
            return *record, -1, -1, 0, 0
        return *record, self._put(lost.shares), self._put(lost.prior), lost.factor, lost.shift

    def _walk(self, walk: WalkTables) -> tuple[int, ...]:
        per_word = walk.peaks, walk.inverses, walk.shifts, walk.mean_masses
        places = [self._put(numbers) for numbers in per_word]
        axes = [
            (axis.kind, axis.source, axis.output, axis.size, *(place + first for place in places))
            for axis, first in zip(walk.inputs, walk.offsets.tolist(), strict=False)
        ]
        return (
            len(axes),
            self._put(number for axis in axes for number in axis),
            self._put(walk.split),
            self._put(walk.first_child),
            walk.first_rule,
            LEARNT_BITS - walk.value_bits,
        )

    def _put(self, numbers: Iterable[int] | Integers) -> int:
        start = len(self._code)
        self._code.extend(int(number) for number in numbers)
        return start


def _may_be_learned(lines: Integers, is_weighed: bool) -> bool:
    """Whether rules can learn such numbers, as ``solah_is_learned`` checks."""
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


def _with_weights(model: Model, weights: Mapping[str, Float]) -> Model:
    """Return a model whose rules have other weights or, in trees, other shares.

    Parameters
    ----------
    model : Model
    weights : mapping of term name to ndarray of shape (n_rules, n_outputs)
        For each term of the program. If a missing value has a rule, that comes last.
    """
    nodes: list[Node] = []
    for node, stage in zip(model.nodes, model.program.stages, strict=True):
        if isinstance(node, TreeNode):
            pairs = zip(node.branches, weights[node.name].tolist(), strict=True)
            branches = tuple(replace(one, belief=tuple(belief)) for one, belief in pairs)
            nodes.append(replace(node, branches=branches))
            continue
        terms = []
        for term, compiled in zip(node.terms, stage.terms, strict=True):
            found, missing = weights[compiled.name], term.missing
            if missing is not None:
                missing = replace(missing, scores=tuple(found[-1].tolist()))
            cells = found[: term.counts.size].reshape(term.weights.shape)
            terms.append(replace(term, weights=cells, missing=missing))
        nodes.append(replace(node, terms=tuple(terms)))
    return replace(model, nodes=tuple(nodes), uncertainty=None)


class Learner:
    """A model that learns from labelled rows, as a device does.

    Parameters
    ----------
    model : Model
        A classifier.
    pace, forgetting : float
        As in :class:`Pace`.
    is_guarded : bool, default=True
        Whether the pace falls with the rows, and the model stays as it was until what was learned
        predicted three more of the last rows right.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export.online import Learner
    >>> from solah.model.encode import encode
    >>> iris = datasets.load("iris")
    >>> model = RuleClassifier().fit(iris.table, iris.target).model_
    >>> learner = Learner(model)
    >>> _ = learner.learn(encode(iris.table, model.features)[:10], [0] * 10)
    >>> learner.model().n_rules == model.n_rules
    True
    """

    def __init__(
        self, model: Model, *, pace: float = 1.0, forgetting: float = 0.0, is_guarded: bool = True
    ) -> None:
        if model.target.task is Task.REGRESSION:
            raise ParameterError(
                f"{model.target.name!r} is a number, and only decisions between classes learn from "
                "single rows; train the model again"
            )
        self._model = model
        self.pace = Pace(pace, forgetting)
        tables = fixed_tables(lay_out(model, only_walks=True), learns=True)
        self.tables = replace(tables, bounds=learned_bounds(model, tables))
        self.simulator = LearningSimulator(self.tables, self.pace, is_guarded=is_guarded)

    def learn(self, rows: NDArray[np.floating], places: Sequence[int] | Integers) -> Integers:
        """Learn from rows of readings and the places of the classes that were observed.

        Returns the prediction for each row before the update, in the device's unit.
        """
        return self.simulator.learn(rows, places)

    def model(self) -> Model:
        """Return the model with what was learned; as it was, while that is not trusted."""
        if not self.simulator.is_trusted:
            return self._model
        weights: dict[str, Float] = {}
        for stage in self.tables.stages:
            walks = self.tables.walks[stage.parts.walks]
            if not walks:  # a constant
                continue
            first = walks[0].first_rule
            of_stage = self._weights(stage, first, walks[-1].first_rule + len(walks[-1].values))
            for walk in walks:
                start = walk.first_rule - first
                weights[walk.name] = of_stage[start : start + len(walk.values)]
        return _with_weights(self._model, weights)

    def save(self) -> bytes:
        """Return what was learned, as a device saves it."""
        trust = self.simulator.trust
        judged = trust.wins + _MOST_LOSSES + 256 * trust.is_earned
        saved = model_hash(self._model).encode() + self.simulator.learned.astype("<i4").tobytes()
        saved += np.array([trust.n_rows, judged], dtype="<u4").tobytes()
        return saved + crc32(saved).to_bytes(4, "little")

    def restore(self, saved: bytes) -> None:
        """Bring back what this model learned on a device."""
        expected = 16 + 4 * self.simulator.learned.size + 8 + 4
        if len(saved) != expected:
            raise DataError(
                f"what a device learned has {expected} bytes for this model. "
                f"Got {len(saved)} instead."
            )
        if crc32(saved[:-4]) != int.from_bytes(saved[-4:], "little"):
            raise DataError("what a device learned is damaged: its checksum is another")
        if saved[:16] != model_hash(self._model).encode():
            raise DataError("this was learned by a device with another model")
        n_rows, judged = np.frombuffer(saved[-12:-4], "<u4").tolist()
        is_earned, wins = judged >> 8, (judged & 255) - _MOST_LOSSES
        if is_earned > 1 or wins > WINS_TO_TRUST:
            raise DataError("what a device learned is damaged; let the device begin again")
        learned = np.frombuffer(saved[16:-12], "<i4").astype(np.int64)
        learned = learned.reshape(self.simulator.learned.shape)
        for stage in self.tables.stages:
            for walk in self.tables.walks[stage.parts.walks]:
                lines = learned[walk.first_rule : walk.first_rule + len(walk.values)]
                if not _may_be_learned(lines, stage.is_weighed):
                    raise DataError(
                        f"what a device learned is damaged: {walk.name!r} has numbers that no rule "
                        "of it learns; let the device begin again"
                    )
        self.simulator.learned = learned
        self.simulator.trust = Trust(n_rows, wins, bool(is_earned))

    def _weights(self, stage: StageTables, first: int, end: int) -> Float:
        """Return what rules of a stage add, or their shares."""
        numbers = self.simulator.learned[first:end] / (1 << LEARNT_BITS)
        if stage.is_weighed:  # 0 on average, of what is against the first class
            weights = np.insert(numbers, 0, 0.0, axis=1)
            return np.asarray(weights - weights.mean(axis=1, keepdims=True))
        shares = np.maximum(numbers, 0.0)
        return np.column_stack([np.maximum(1 - shares.sum(axis=1), 0.0), shares])
