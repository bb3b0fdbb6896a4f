"""Readings and what others say in, what a node says and decides out; without a network or a clock.

Rows are told apart by their sequence number. A node evaluates what it can of a row as soon as all
inputs are there, and says it. When the deadline of a row passes, ignorance takes the place of what
is missing. Everything is counted and bounded, so that nothing that comes in can do harm.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data import Table, as_column
from solah.data.spelling import is_number, spell
from solah.explain.importance import attribute_importances
from solah.model.beliefs import heard_by_fusions, signal_of, signals_of
from solah.model.document import Task
from solah.model.encode import Coded, code
from solah.network.messages import (
    MAX_BYTES,
    Ask,
    Beliefs,
    Decided,
    Decisions,
    Measured,
    Reading,
    Said,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Node
    from solah.network.bundle import Bundle
    from solah.network.plan import NodePlan

_MOST_VERSIONS = 4
_ROWS_A_MESSAGE = 200
_BYTES_A_MESSAGE = MAX_BYTES // 2
_MOST_GAP = 1_000
_NEARLY = 1e-6


@dataclass(frozen=True)
class Settings:
    """How long a node waits, and how much it keeps.

    Attributes
    ----------
    deadline : seconds after which a row is decided with what is there; nodes below wait less
    patience : seconds after which what is missing is asked for again
    window : seconds of a row, where rows are told apart by time; None where they have numbers
    keep : the rows that are kept, open or to be said again
    """

    deadline: float = 2.0
    patience: float = 0.25
    window: float | None = None
    keep: int = 4_096


@dataclass(eq=False)
class _Case:
    """What a node knows of one row."""

    sequence: int
    seen: float  # on the node's clock
    time: float = 0.0  # of its newest reading, on the wall
    readings: Mapping[str, Reading] | None = None
    signals: dict[str, tuple[float, ...]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    asked: float = 0.0
    is_heard: bool = False  # whether anything came in
    is_filled: bool = False  # whether ignorance stands for what did not come
    unread: list[str] = field(default_factory=list)  # trees whose readings did not come
    is_over: bool = False


@dataclass
class Outbox:
    """What a node has to say."""

    beliefs: list[Beliefs] = field(default_factory=list)
    decisions: list[Decisions] = field(default_factory=list)
    asks: list[tuple[str, Ask]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.beliefs or self.decisions or self.asks)


class _Version:
    """A bundle as one node sees it."""

    def __init__(self, bundle: Bundle, name: str) -> None:
        self.bundle, self.hash, self.starts = bundle, bundle.hash, bundle.starts
        model = bundle.model
        self.plan: NodePlan = bundle.plan.node(name)
        self.goal = model.goal
        self.heard_by_fusions = heard_by_fusions(model.nodes)
        nodes = {node.name: node for node in model.nodes}
        self.parts = [nodes[part] for part in self.plan.runs]
        self.attributes: list[Attribute] = [
            one for one in model.attributes if one.name in self.plan.reads
        ]
        self.hears = dict(self.plan.hears)
        own = {one.name: one for one in self.attributes}
        self.inputs = {
            node.name: _Inputs(
                [name for name in node.origins if name not in own],
                [own[name] for name in node.origins if name in own],
            )
            for node in self.parts
        }
        self.ignorance = self._ignorance()
        self.decides = model.root.name in self.plan.runs
        self.root = model.root.name
        self.below = _attributes_below(bundle)
        self.importance = dict(
            zip(
                (one.name for one in model.attributes),
                attribute_importances(model).tolist(),
                strict=True,
            )
        )
        self.rows_a_message = _rows_a_message(bundle, self.plan)
        self.level, self.height = _levels(bundle, name)

    def _ignorance(self) -> dict[str, tuple[float, ...]]:
        """Return what trees and fusions say of a row of which nothing is known."""
        model = self.bundle.model
        unknown = {one.name: np.full(1, np.nan) for one in model.attributes}
        signals = signals_of(model.nodes, Coded(unknown, 1))
        return {part: tuple(signals[part][0].tolist()) for part in self.hears}

    def known_share(self, case: _Case) -> float:
        """Return the share of the model's knowledge that a row's readings reached."""
        unknown: set[str] = set()
        for part in case.missing:
            if part in case.unread:
                unknown.update(one.name for one in self.inputs[part].measured)
            else:
                unknown |= self.below[part]
        lost: float = sum(self.importance[name] for name in sorted(unknown))
        return max(0.0, 1.0 - lost)

    def evaluate(self, node: Node, cases: Sequence[_Case]) -> Float:
        """Evaluate a tree or a fusion on rows whose inputs are all there."""
        inputs = self.inputs[node.name]
        below = {name: np.array([case.signals[name] for case in cases]) for name in inputs.heard}
        rows = _coded(inputs.measured, cases)
        return signal_of(node, rows, below, node.name in self.heard_by_fusions)


class _Inputs(NamedTuple):
    """What a tree or a fusion asks: other parts, and attributes that are measured here."""

    heard: list[str]
    measured: list[Attribute]


class NodeCore:
    """A node of a network, without the network.

    Parameters
    ----------
    bundle : Bundle
        The plan and the model to begin with.
    name : str
        The node's own name in the plan.
    settings : Settings
    """

    def __init__(self, bundle: Bundle, name: str, settings: Settings | None = None) -> None:
        self.name = name
        self.settings = settings or Settings()
        self.counters: Counter[str] = Counter()
        self._versions = [_Version(bundle, name)]
        self._cases: dict[int, _Case] = {}
        self._order: list[int] = []
        self._waiting: deque[int] = deque()
        self._changed: dict[int, None] = {}
        self._floor = -1
        self._highest = -1
        self._settled = -1

    @property
    def bundle(self) -> Bundle:
        """The newest plan and model."""
        return self._versions[-1].bundle

    @property
    def plan(self) -> NodePlan:
        """What this node does by the newest plan."""
        return self._versions[-1].plan

    @property
    def decides(self) -> bool:
        """Whether this node decides."""
        return self._versions[-1].decides

    @property
    def n_open(self) -> int:
        """How many rows wait for something."""
        return len(self._waiting)

    @property
    def settled(self) -> int:
        """The last row up to which all are done."""
        self._settled = max(self._settled, self._floor)
        while (following := self._settled + 1) <= self._highest:
            case = self._cases.get(following)
            if (case is None and following > self._floor) or (case and not case.is_over):
                break
            self._settled = following
        return self._settled

    def resume(self, sequence: int) -> None:
        """Take rows up to this one for done."""
        self._floor = max(self._floor, sequence)
        self._highest = max(self._highest, sequence)
        self._settled = max(self._settled, sequence)

    def adopt(self, bundle: Bundle, now: float = 0.0) -> bool:
        """Take another plan and model for the rows from its start on; return whether it is new."""
        newest = self._versions[-1]
        if (bundle.hash, bundle.starts) == (newest.hash, newest.starts):
            return False
        version = _Version(bundle, self.name)
        self._versions = [*self._versions[1 - _MOST_VERSIONS :], version]
        for case in self._cases.values():
            decided = case.is_over and version.decides
            if case.sequence >= version.starts and not decided:
                self._begin_anew(case, now)
        self.counters["adopted"] += 1
        return True

    def read(self, rows: Iterable[Measured], now: float, wall: float) -> list[int]:
        """Take readings in; return the sequence numbers of the rows that they belong to."""
        taken = []
        for row in rows:
            sequence = self._sequence_of(row, wall)
            if sequence is None:
                self.counters["unnumbered"] += 1
                continue
            case = self._case(sequence, now, row.time or wall)
            if case is None:
                continue
            if case.readings is not None and self.settings.window is None:
                self.counters["duplicates"] += 1
                continue
            fitting = self._fitting(self._version_for(sequence), row.readings)
            case.readings = {**(case.readings or {}), **fitting}
            case.is_heard = True
            self._changed[sequence] = None
            self.counters["readings"] += 1
            taken.append(sequence)
        return taken

    def _fitting(self, version: _Version, readings: Mapping[str, Reading]) -> dict[str, Reading]:
        """Keep what is measured here; what cannot be a reading of its attribute is unknown."""
        kept: dict[str, Reading] = {}
        for one in version.attributes:
            if one.name in readings:
                kept[one.name] = value = _as_reading(readings[one.name], one)
                self.counters["unfit_readings"] += value is None and readings[one.name] is not None
        return kept

    def hear(self, said: Beliefs, now: float) -> None:
        """Take in what another node says."""
        for row in said.rows:
            version = self._version_for(row.sequence)
            if said.model != version.hash:
                self.counters["other_model"] += 1
            elif not self._is_expected(version, said.node, row):
                self.counters["refused"] += 1
            elif (case := self._case(row.sequence, now, row.time)) is not None:
                self._hear_row(case, row)

    def repeat(self, ask: Ask) -> None:
        """Say some rows again, as far as they are still known."""
        later = [] if ask.since is None else [one for one in self._cases if one >= ask.since]
        for sequence in (*ask.sequences, *later):
            case = self._cases.get(sequence)
            if case is None:
                self.counters["forgotten"] += 1
                continue
            sends = self._version_for(sequence).plan.sends
            case.unsaid = [part for part in sends if part in case.signals]
            self._changed[sequence] = None
            self.counters["repeated"] += 1

    def advance(self, now: float) -> Outbox:
        """Evaluate what can be evaluated; return what is to be said."""
        self._give_up(now)
        outbox = Outbox()
        changed = [self._cases[one] for one in self._changed if one in self._cases]
        self._changed = {}
        for version, cases in self._by_version(changed):
            self._evaluate(version, cases)
            self._say(version, cases, outbox)
        self._ask(now, outbox)
        return outbox

    def next_deadline(self) -> float | None:
        """Return when something is to be done though nothing comes in; None for never."""
        self._drop_finished()
        if not self._waiting:
            return None
        first = self._cases[self._waiting[0]]
        version = self._version_for(first.sequence)
        times = [first.seen + self._deadline(version)]
        if version.hears:
            times.append(max(first.seen, first.asked) + self.settings.patience)
        return min(times)

    # --- rows ------------------------------------------------------------------------------------

    def _sequence_of(self, row: Measured, wall: float) -> int | None:
        if self.settings.window is not None:
            return int((row.time if row.time is not None else wall) // self.settings.window)
        return row.sequence

    def _case(self, sequence: int, now: float, time: float) -> _Case | None:
        """Find the case of a row, or open one; None for one that is long gone."""
        case = self._cases.get(sequence)
        if case is not None:
            return case
        if sequence <= self._floor:
            self.counters["late"] += 1
            return None
        if self._version_for(sequence).hears and self.settings.window is None:
            self._open_gaps(sequence, now)
        return self._open(sequence, now, time)

    def _open_gaps(self, sequence: int, now: float) -> None:
        """Open the rows that must have been there in between."""
        if self._highest < 0 or sequence > self._highest + _MOST_GAP:
            return
        for missed in range(self._highest + 1, sequence):
            if missed not in self._cases and missed > self._floor:
                self._open(missed, now, 0.0)

    def _open(self, sequence: int, now: float, time: float) -> _Case:
        while len(self._cases) >= self.settings.keep:
            gone = heapq.heappop(self._order)
            case = self._cases.pop(gone)
            self._floor = max(self._floor, gone)
            self.counters["dropped"] += not case.is_over and case.is_heard
        heapq.heappush(self._order, sequence)
        if self._highest < 0:
            self._settled = sequence - 1
        case = self._cases[sequence] = _Case(sequence, now, time)
        self._waiting.append(sequence)
        self._highest = max(self._highest, sequence)
        return case

    def _begin_anew(self, case: _Case, now: float) -> None:
        case.signals, case.missing, case.unsaid, case.asked = {}, [], [], 0.0
        case.seen = max(case.seen, now)
        if case.unread:
            case.readings, case.unread = None, []
        case.is_filled = False
        if case.is_over:
            case.is_over = False
            self._waiting.append(case.sequence)
        self._changed[case.sequence] = None

    def _version_for(self, sequence: int) -> _Version:
        for version in reversed(self._versions):
            if version.starts <= sequence:
                return version
        return self._versions[0]

    def _by_version(self, cases: list[_Case]) -> Iterator[tuple[_Version, list[_Case]]]:
        for version in self._versions:
            mine = [case for case in cases if self._version_for(case.sequence) is version]
            if mine:
                yield version, mine

    # --- hearing ---------------------------------------------------------------------------------

    def _is_expected(self, version: _Version, node: str, row: Said) -> bool:
        """Whether this node waits for exactly such signals of that one."""
        size = version.goal.size
        return (
            bool(row.signals)
            and version.below.keys() >= set(row.missing)
            and all(
                version.hears.get(part) == node
                and len(signal) == size
                and (part in version.heard_by_fusions or _is_belief(signal))
                for part, signal in row.signals.items()
            )
        )

    def _hear_row(self, case: _Case, row: Said) -> None:
        if case.is_over:
            self.counters["late"] += 1
            return
        case.is_heard = True
        case.time = max(case.time, row.time)
        for part, signal in row.signals.items():
            if part in case.signals:
                self.counters["duplicates"] += 1
                continue
            case.signals[part] = signal
            self.counters["heard"] += 1
        case.missing += [part for part in row.missing if part not in case.missing]
        self._changed[case.sequence] = None

    # --- evaluating ------------------------------------------------------------------------------

    def _evaluate(self, version: _Version, cases: list[_Case]) -> None:
        """Evaluate all parts, from bottom to top, on the rows that have their inputs."""
        for node in version.parts:
            inputs = version.inputs[node.name]
            ready = [
                case
                for case in cases
                if node.name not in case.signals
                and (not inputs.measured or self._has_readings(version, case))
                and all(name in case.signals for name in inputs.heard)
            ]
            if not ready:
                continue
            signals = version.evaluate(node, ready).tolist()
            for case, signal in zip(ready, signals, strict=True):
                case.signals[node.name] = tuple(signal)
                if node.name in version.plan.sends:
                    case.unsaid.append(node.name)

    def _has_readings(self, version: _Version, case: _Case) -> bool:
        """Whether the readings of a row are there; in a window, some may still come."""
        if case.readings is None or self.settings.window is None or case.is_filled:
            return case.readings is not None
        return all(one.name in case.readings for one in version.attributes)

    def _say(self, version: _Version, cases: list[_Case], outbox: Outbox) -> None:
        rows = [
            Said(
                case.sequence,
                case.time,
                {part: case.signals[part] for part in case.unsaid},
                tuple(case.missing),
            )
            for case in cases
            if case.unsaid
        ]
        for case in cases:
            case.unsaid = []
        for part in _batched(rows, version.rows_a_message):
            outbox.beliefs.append(Beliefs(self.name, version.hash, tuple(part)))
        ending = [case for case in cases if not case.is_over and _is_done(version, case)]
        for case in ending:
            case.is_over = True
        if version.decides and ending:
            decided = self._decide(version, ending)
            for part in _batched(decided, version.rows_a_message):
                outbox.decisions.append(Decisions(self.name, version.hash, tuple(part)))

    def _decide(self, version: _Version, cases: list[_Case]) -> list[Decided]:
        beliefs = np.array([case.signals[version.root] for case in cases])
        self.counters["decisions"] += len(cases)
        self.counters["incomplete"] += sum(bool(case.missing) for case in cases)
        return [
            Decided(
                sequence=case.sequence,
                time=case.time,
                decision=decision,
                beliefs=belief,
                missing=tuple(case.missing),
                known=version.known_share(case),
            )
            for case, (decision, belief) in zip(cases, _spelt(version, beliefs), strict=True)
        ]

    # --- waiting ---------------------------------------------------------------------------------

    def _deadline(self, version: _Version) -> float:
        """Return how long this node waits; those below wait less, so that they are heard."""
        share = version.level / version.height if version.height else 0.0
        own = self.settings.window if self.settings.window and version.attributes else 0.0
        return max(self.settings.deadline * share, own)

    def _drop_finished(self) -> None:
        while self._waiting:
            case = self._cases.get(self._waiting[0])
            if case is not None and not case.is_over:
                return
            self._waiting.popleft()

    def _give_up(self, now: float) -> None:
        """Let ignorance take the place of what rows past their deadline still miss."""
        self._drop_finished()
        while self._waiting:
            case = self._cases[self._waiting[0]]
            version = self._version_for(case.sequence)
            if now < case.seen + self._deadline(version):
                return
            self._waiting.popleft()
            if case.is_heard:
                self._fill(version, case)
            else:
                case.is_over = True
                self.counters["gaps"] += 1
            self._drop_finished()

    def _fill(self, version: _Version, case: _Case) -> None:
        silent = [part for part in version.hears if part not in case.signals]
        case.missing += silent
        for part in silent:
            case.signals[part] = version.ignorance[part]
        case.is_filled = True
        if case.readings is None:
            case.readings = {}
            case.unread = [name for name, inputs in version.inputs.items() if inputs.measured]
            case.missing += case.unread
        self._changed[case.sequence] = None

    def _ask(self, now: float, outbox: Outbox) -> None:
        """Ask again for what is missing for a while."""
        wanted: dict[str, list[int]] = {}
        for sequence in self._waiting:
            case = self._cases.get(sequence)
            if case is None or case.is_over:
                continue
            if now < max(case.seen, case.asked) + self.settings.patience:
                if case.asked == 0.0:
                    break  # those behind it came later
                continue
            version = self._version_for(sequence)
            for node in {home for part, home in version.hears.items() if part not in case.signals}:
                wanted.setdefault(node, []).append(sequence)
            case.asked = now
        for node, sequences in wanted.items():
            for part in _batched(sequences, _ROWS_A_MESSAGE):
                outbox.asks.append((node, Ask(tuple(part))))
                self.counters["asked"] += len(part)


def _is_belief(signal: tuple[float, ...]) -> bool:
    """Whether a tree can take a signal for masses."""
    return min(signal) >= -_NEARLY and abs(sum(signal) - 1.0) <= _NEARLY


def _is_done(version: _Version, case: _Case) -> bool:
    return all(part.name in case.signals for part in version.parts)


def _coded(attributes: Sequence[Attribute], cases: Sequence[_Case]) -> Coded:
    """Turn readings into columns of numbers, as files and frames are."""
    columns = [
        as_column(one.name, _column([(case.readings or {}).get(one.name) for case in cases]))
        for one in attributes
    ]
    return code(Table(tuple(columns), len(cases)), attributes)


def _as_reading(value: object, attribute: Attribute) -> Reading:
    """Return a reading as its attribute takes it; None for what it cannot take."""
    if isinstance(value, bool):
        value = float(value)
    if isinstance(value, int):
        value = float(value)
    if attribute.is_coded:
        return value if isinstance(value, str | float) else None
    if isinstance(value, str):
        return float(value) if is_number(value) else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _column(values: list[Reading]) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    if all(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    return np.array(values, dtype=object)


def _spelt(version: _Version, beliefs: Float) -> Iterator[tuple[str, dict[str, float]]]:
    goal = version.goal
    if goal.task is Task.REGRESSION:
        for number in (beliefs @ np.array(goal.centres)).tolist():
            yield repr(number), {}
        return
    names = [spell(state) for state in goal.states]
    for place, belief in zip(goal.decide(beliefs).tolist(), beliefs.tolist(), strict=True):
        yield names[place], dict(zip(names, belief, strict=True))


def _batched(rows: Sequence[object], most: int) -> Iterator[list]:  # type: ignore[type-arg]
    pending = iter(rows)
    while part := list(islice(pending, most)):
        yield part


def _attributes_below(bundle: Bundle) -> dict[str, frozenset[str]]:
    """Name the attributes that each tree and fusion hears of, itself or through others."""
    below: dict[str, frozenset[str]] = {}
    for node in bundle.model.nodes:
        below[node.name] = frozenset(
            name for origin in node.origins for name in below.get(origin, {origin})
        )
    return below


def _rows_a_message(bundle: Bundle, plan: NodePlan) -> int:
    """Return how many rows surely fit into one message."""
    goal = bundle.model.goal
    names = sum(len(spell(state).encode()) for state in goal.states)
    everything = sum(len(node.name.encode()) + 8 for node in bundle.model.nodes)
    said = sum(len(part.encode()) + 30 * goal.size + 10 for part in plan.sends)
    row = 200 + everything + max(6 * names + 35 * goal.size, said)
    return max(1, min(_ROWS_A_MESSAGE, _BYTES_A_MESSAGE // row))


def _levels(bundle: Bundle, name: str) -> tuple[int, int]:
    """Return how many nodes stand one above the other up to this one, and in all."""
    levels: dict[str, int] = {}
    for node in reversed(bundle.plan.nodes):
        below = [levels.get(home, 0) for _, home in node.hears]
        levels[node.name] = 1 + max(below) if below else 0
    return levels[name], max(levels.values())
