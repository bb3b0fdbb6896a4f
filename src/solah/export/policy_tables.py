"""The policy and the domain of a model as a device has them, and decisions by these tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.explain.importance import feature_importances
from solah.export.fixed_tables import ONE
from solah.model.policy import AbstainReason, Debouncer, Policy, cell_cuts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from solah.export.simulator import Evidence, Simulator
    from solah.export.tables import Tables
    from solah.model.document import Model
    from solah.model.features import Feature

    Numbers = NDArray[Any]


MOST_PLACES = 255
"""The maximum number of classes, and of categories; one more index means none of them."""


@dataclass(frozen=True)
class CellRow:
    """The cells of a feature.

    Attributes
    ----------
    low, high : outside, a reading is out of range; a low above the high means no range
    first_cut, n_cuts : its cuts among those of all features
    n_states : of a feature with states, which are its cells; else 0
    """

    low: Any
    high: Any
    first_cut: int
    n_cuts: int
    n_states: int

    @property
    def has_range(self) -> bool:
        """Whether readings can be out of range."""
        return bool(self.low <= self.high)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.n_states or self.n_cuts + 1


@dataclass(frozen=True)
class PairRow:
    """Two features by place, and the byte at which the bits of their cells begin."""

    first: int
    second: int
    byte: int


@dataclass(frozen=True)
class ShareRow:
    """What is lost with a feature that is unknown: its place, its states, its share."""

    feature: int
    n_states: int
    share: Any


@dataclass(frozen=True, eq=False)
class PolicyTables:
    """A domain and a policy, as a device has them in its flash.

    Attributes
    ----------
    cells : one row for each feature; none without a domain
    cuts : the cuts of all features
    pairs : features whose cells may never have occurred together
    seen : a bit for each two cells of each pair, the lowest bit of a byte first
    min_probability : for each class; empty for no limits
    shares : of features, if nothing is summed and the policy has ``min_completeness``
    min_completeness, hysteresis : as in :class:`~solah.model.policy.Policy`
    holding : the reasons for which a decision is withheld
    most_unseen : more pairs of cells than these are a reason to abstain
    smoothing_bits, votes, window, min_hold : as in the policy; two to the power of the bits
    """

    cells: tuple[CellRow, ...]
    cuts: NDArray[Any]
    pairs: tuple[PairRow, ...]
    seen: bytes
    min_probability: NDArray[Any]
    shares: tuple[ShareRow, ...]
    min_completeness: Any
    hysteresis: Any
    holding: AbstainReason
    most_unseen: int
    smoothing_bits: int
    votes: int
    window: int
    min_hold: int


def policy_tables(model: Model, tables: Tables) -> PolicyTables | None:
    """Lower the policy and the domain of a model.

    Parameters
    ----------
    model : Model
    tables : Tables or Tables
        Those of the model, whose units readings have.

    Returns
    -------
    tables : PolicyTables or None
        None if there is neither, or if the model estimates a number.

    Raises
    ------
    ParameterError
        There are too many classes, or states of a feature.
    """
    if (model.policy is None and model.domain is None) or tables.layout.is_number:
        return None
    _refuse_more("classes", len(model.target.classes))
    policy, importances = model.policy or Policy(), feature_importances(model)
    reading, share = _conversions(tables)
    cells = _cells(model, reading)
    pairs, seen = _pairs(model)
    return PolicyTables(
        cells=tuple(row for row, _ in cells),
        cuts=np.array(
            list(chain.from_iterable(cuts for _, cuts in cells)),
            dtype=np.int64 if tables.is_fixed else np.float32,
        ),
        pairs=pairs,
        seen=seen,
        min_probability=np.array([share(belief) for belief in policy.min_probability]),
        shares=_shares(model, policy, tables, [share(one) for one in importances]),
        min_completeness=share(policy.min_completeness),
        hysteresis=share(policy.hysteresis),
        holding=policy.holding,
        most_unseen=policy.max_unseen or 0,
        smoothing_bits=policy.smoothing.bit_length() - 1,
        votes=policy.votes,
        window=policy.window,
        min_hold=policy.min_hold,
    )


def state_bytes(policy: PolicyTables, n_values: int, *, is_fixed: bool) -> int:
    """Count what is remembered of decisions, as a device of 32 bits keeps it."""
    n_smoothed = n_values if policy.smoothing_bits else 0
    n_rests = n_smoothed if is_fixed else 0
    size = 4 * n_smoothed + 2 + n_rests + policy.window + 2 + bool(n_smoothed)
    to = 4 if n_smoothed else 2
    return -(-size // to) * to


def _conversions(tables: Tables) -> tuple[Callable[[int, float], Any], Callable[[float], Any]]:
    """Return what turns a reading of a feature, and a share of one, into a device's numbers."""
    if not tables.is_fixed:
        return lambda _, value: np.float32(value), np.float32
    units = tables.units
    return (
        lambda place, value: int(units[place].quantise(np.array([value]))[0]),
        lambda value: int(np.floor(value * ONE + 0.5)),
    )


def _cells(
    model: Model, reading: Callable[[int, float], Any]
) -> list[tuple[CellRow, tuple[Any, ...]]]:
    """Return the row of each feature with its cuts."""
    rows: list[tuple[CellRow, tuple[Any, ...]]] = []
    first_cut = 0
    described = () if model.domain is None else model.domain.cells
    for place, (feature, cells) in enumerate(zip(model.features, described, strict=False)):
        cuts = tuple(reading(place, cut) for cut in cell_cuts(feature, cells) or ())
        _refuse_more(f"cells of {feature.name!r}", len(cuts) + 1)
        ends: tuple[Any, Any] = 1, 0
        if cells.low is not None and cells.high is not None:
            ends = reading(place, cells.low), reading(place, cells.high)
        rows.append((CellRow(*ends, first_cut, len(cuts), _n_states(feature)), cuts))
        first_cut += len(cuts)
    return rows


def _n_states(feature: Feature) -> int:
    """Return how many states readings are the places of; 0 where they are measured."""
    n_states = feature.n_focal_sets if feature.is_coded else 0
    _refuse_more(f"states of {feature.name!r}", n_states)
    return n_states


def _pairs(model: Model) -> tuple[tuple[PairRow, ...], bytes]:
    places = {feature.name: place for place, feature in enumerate(model.features)}
    rows: list[PairRow] = []
    seen = b""
    for pair in () if model.domain is None else model.domain.pairs:
        rows.append(PairRow(places[pair.first], places[pair.second], len(seen)))
        seen += np.packbits(np.array(pair.seen).ravel(), bitorder="little").tobytes()
    return tuple(rows), seen


def _shares(
    model: Model, policy: Policy, tables: Tables, importances: list[Any]
) -> tuple[ShareRow, ...]:
    if policy.min_completeness == 0 or tables.stages[-1].lost is not None:
        return ()
    return tuple(
        ShareRow(place, _n_states(feature), share)
        for place, (feature, share) in enumerate(zip(model.features, importances, strict=True))
        if share > 0
    )


def _refuse_more(what: str, number: int) -> None:
    if number > MOST_PLACES:
        raise ParameterError(
            f"a policy on a device knows {MOST_PLACES} {what} at the most; there are {number:,}"
        )


# --- decisions -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The decisions of a device on rows, one after the other.

    Attributes
    ----------
    decisions : (n_rows,) the index of the class of each row; -1 for "don't know"
    settled : (n_rows,) that of the stable decision after it
    abstain_reasons : (n_rows,) the flags of :class:`~solah.model.policy.AbstainReason`, also of
        decisions that are not withheld
    n_unseen : (n_rows,) how many pairs of cells never occurred together
    beliefs : (n_rows, n_classes) in the device's numbers, from smoothed scores
    """

    decisions: NDArray[np.intp]
    settled: NDArray[np.intp]
    abstain_reasons: NDArray[np.uint8]
    n_unseen: NDArray[np.uint8]
    beliefs: Numbers


class Judge:
    """Applies the policy to rows in order, and keeps the state that it needs of earlier ones.

    Parameters
    ----------
    simulator : computes as the device does
    tables : its policy and domain
    """

    def __init__(self, simulator: Simulator, tables: PolicyTables) -> None:
        self._simulator, self._tables = simulator, tables
        self._mean: Any = None
        self._debouncer = Debouncer(tables)

    def take(self, rows: NDArray[np.floating]) -> Verdicts:
        """Decide on the next rows ``(n_rows, n_features)``."""
        evidence = self._simulator.evidence(rows)
        scores = evidence.scores
        if self._tables.smoothing_bits:
            scores, self._mean = self._simulator.smooth(
                scores, self._mean, self._tables.smoothing_bits
            )
        beliefs, preferences = self._simulator.conclude(scores)
        abstain_reasons, n_unseen = self._of_readings(evidence)
        decisions, settled = np.empty((2, len(rows)), dtype=np.intp)
        for i, best in enumerate(preferences.argmax(axis=1).tolist()):
            _, decisions[i], abstain_reasons[i] = self._debouncer.decide(
                best, beliefs[i], int(abstain_reasons[i])
            )
            settled[i] = self._debouncer.stable
        stored = beliefs.astype(self._simulator.belief_type)
        return Verdicts(decisions, settled, abstain_reasons.astype(np.uint8), n_unseen, stored)

    def _of_readings(self, evidence: Evidence) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the reasons to abstain, and the number of unseen pairs of cells."""
        x, tables = evidence.readings, self._tables
        abstain_reasons = np.zeros(len(x), dtype=np.intp)
        known = self._simulator.whole - self._lost(evidence)
        abstain_reasons[known < tables.min_completeness] |= AbstainReason.FEW_READINGS
        for place, row in enumerate(tables.cells):
            if row.has_range:
                column = x[:, place]
                is_beyond = (column < row.low) | (column > row.high)
                abstain_reasons[is_beyond & self._simulator.are_known(column)] |= (
                    AbstainReason.OUT_OF_RANGE
                )
        n_unseen = self._unseen(x)
        abstain_reasons[n_unseen > tables.most_unseen] |= AbstainReason.UNSEEN
        return abstain_reasons, n_unseen

    def _lost(self, evidence: Evidence) -> Numbers:
        """Return the missing share of all scores."""
        lost = evidence.lost
        for row in self._tables.shares:
            is_known = self._is_known(evidence.readings[:, row.feature], row.n_states)
            lost = lost + np.where(is_known, 0 * row.share, row.share)
        return lost

    def _is_known(self, column: Numbers, n_states: int) -> Numbers:
        if n_states:
            return self._simulator.states(column, n_states) >= 0
        return self._simulator.are_known(column)

    def _unseen(self, x: Numbers) -> NDArray[np.uint8]:
        n_unseen = np.zeros(len(x), dtype=np.uint8)
        places = [self._cells(row, x[:, place]) for place, row in enumerate(self._tables.cells)]
        bits = np.unpackbits(np.frombuffer(self._tables.seen, np.uint8), bitorder="little")
        for pair in self._tables.pairs:
            first, second = places[pair.first], places[pair.second]
            bit = 8 * pair.byte + first * self._tables.cells[pair.second].size + second
            are_known = (first >= 0) & (second >= 0)
            n_unseen += are_known & (bits[np.where(are_known, bit, 0)] == 0)
        return n_unseen

    def _cells(self, row: CellRow, column: Numbers) -> NDArray[np.intp]:
        """Return the cells of readings; -1 where they are unknown."""
        if row.n_states:
            return self._simulator.states(column, row.n_states).astype(np.intp)
        cuts = self._tables.cuts[row.first_cut : row.first_cut + row.n_cuts]
        cells = np.searchsorted(cuts, column, side="right")
        return np.where(self._simulator.are_known(column), cells, -1)
