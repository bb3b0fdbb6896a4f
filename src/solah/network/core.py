"""Readings and what others say in, what a node says and decides out; without a network or a clock.

Rows are told apart by their sequence number. A node evaluates what it can of a row as soon as all
inputs are there, and says it. When the deadline of a row passes, ignorance takes the place of what
is missing. Everything is counted and bounded, so that nothing that comes in can do harm.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import spell
from solah.model.document import Task
from solah.network.answering import Answers
from solah.network.evaluating import ROWS_A_MESSAGE, Case, Version, as_reading
from solah.network.messages import (
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
    from solah.network.bundle import Bundle
    from solah.network.plan import NodePlan

_MOST_VERSIONS = 4
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


@dataclass
class Outbox:
    """What a node has to say."""

    beliefs: list[Beliefs] = field(default_factory=list)
    decisions: list[Decisions] = field(default_factory=list)
    asks: list[tuple[str, Ask]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.beliefs or self.decisions or self.asks)


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
        self._versions = [Version(bundle, name)]
        self._cases: dict[int, Case] = {}
        self._order: list[int] = []
        self._waiting: deque[int] = deque()
        self._changed: dict[int, None] = {}
        self._floor = -1
        self._highest = -1
        self._settled = -1
        self._answers = Answers()

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
        version = Version(bundle, self.name)
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

    def _fitting(self, version: Version, readings: Mapping[str, Reading]) -> dict[str, Reading]:
        """Keep what is measured here; what cannot be a reading of its attribute is unknown."""
        kept: dict[str, Reading] = {}
        for one in version.attributes:
            if one.name in readings:
                kept[one.name] = value = as_reading(readings[one.name], one)
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
        """Note which rows are to be said again, as far as they are still known."""
        wanted = set(ask.sequences)
        held = {one for one in wanted if one in self._cases}
        self.counters["forgotten"] += len(wanted) - len(held)
        if ask.since is not None:
            held.update(one for one in self._cases if one >= ask.since)
        self.counters["unanswered"] += self._answers.want(held)

    def advance(self, now: float) -> Outbox:
        """Evaluate what can be evaluated; return what is to be said."""
        self._give_up(now)
        self._answer(now)
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
        answer = self._answers.next_time()
        times = [] if answer is None else [answer]
        if self._waiting:
            first = self._cases[self._waiting[0]]
            version = self._version_for(first.sequence)
            times.append(first.seen + self._deadline(version))
            if version.hears:
                times.append(max(first.seen, first.asked) + self.settings.patience)
        return min(times, default=None)

    # --- rows ------------------------------------------------------------------------------------

    def _sequence_of(self, row: Measured, wall: float) -> int | None:
        if self.settings.window is not None:
            return int((row.time if row.time is not None else wall) // self.settings.window)
        return row.sequence

    def _case(self, sequence: int, now: float, time: float) -> Case | None:
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

    def _open(self, sequence: int, now: float, time: float) -> Case:
        while len(self._cases) >= self.settings.keep:
            gone = heapq.heappop(self._order)
            case = self._cases.pop(gone)
            self._floor = max(self._floor, gone)
            self.counters["dropped"] += not case.is_over and case.is_heard
        heapq.heappush(self._order, sequence)
        if self._highest < 0:
            self._settled = sequence - 1
        case = self._cases[sequence] = Case(sequence, now, time)
        self._waiting.append(sequence)
        self._highest = max(self._highest, sequence)
        return case

    def _begin_anew(self, case: Case, now: float) -> None:
        case.signals, case.missing, case.unsaid, case.asked = {}, [], [], 0.0
        case.seen = max(case.seen, now)
        if case.unread:
            case.readings, case.unread = None, []
        case.is_filled = False
        if case.is_over:
            case.is_over = False
            self._waiting.append(case.sequence)
        self._changed[case.sequence] = None

    def _version_for(self, sequence: int) -> Version:
        for version in reversed(self._versions):
            if version.starts <= sequence:
                return version
        return self._versions[0]

    def _by_version(self, cases: list[Case]) -> Iterator[tuple[Version, list[Case]]]:
        for version in self._versions:
            mine = [case for case in cases if self._version_for(case.sequence) is version]
            if mine:
                yield version, mine

    # --- hearing ---------------------------------------------------------------------------------

    def _is_expected(self, version: Version, node: str, row: Said) -> bool:
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

    def _hear_row(self, case: Case, row: Said) -> None:
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

    def _evaluate(self, version: Version, cases: list[Case]) -> None:
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

    def _has_readings(self, version: Version, case: Case) -> bool:
        """Whether the readings of a row are there; in a window, some may still come."""
        if case.readings is None or self.settings.window is None or case.is_filled:
            return case.readings is not None
        return all(one.name in case.readings for one in version.attributes)

    def _say(self, version: Version, cases: list[Case], outbox: Outbox) -> None:
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

    def _decide(self, version: Version, cases: list[Case]) -> list[Decided]:
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

    def _deadline(self, version: Version) -> float:
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

    def _fill(self, version: Version, case: Case) -> None:
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

    def _answer(self, now: float) -> None:
        """Let rows be said again that were asked for."""
        for sequence in self._answers.due(now, lambda one: self._version_for(one).rows_a_message):
            case = self._cases.get(sequence)
            if case is None:
                self.counters["forgotten"] += 1
                continue
            sends = self._version_for(sequence).plan.sends
            case.unsaid = [part for part in sends if part in case.signals]
            self._changed[sequence] = None
            self.counters["repeated"] += 1

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
            for part in _batched(sequences, ROWS_A_MESSAGE):
                outbox.asks.append((node, Ask(tuple(part))))
                self.counters["asked"] += len(part)


def _is_belief(signal: tuple[float, ...]) -> bool:
    """Whether a tree can take a signal for masses."""
    return min(signal) >= -_NEARLY and abs(sum(signal) - 1.0) <= _NEARLY


def _is_done(version: Version, case: Case) -> bool:
    return all(part.name in case.signals for part in version.parts)


def _spelt(version: Version, beliefs: Float) -> Iterator[tuple[str, dict[str, float]]]:
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
