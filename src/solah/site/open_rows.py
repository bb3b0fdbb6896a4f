"""The rows that a node works on: bounded in number, with deadlines that run when they are reached.

A majority of a node's sources decides which rows a site is at (position.py): a row's deadline runs
when it is reached.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.site.evaluation import KEEP, Case
from solah.site.plan_versions import Versions
from solah.site.position import Position
from solah.site.state_file import Memory, OpenRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.site.bundle import Bundle
    from solah.site.evaluation import Version
    from solah.site.plan import NodePlan

MOST_GAP = 1_000


@dataclass(frozen=True)
class Settings:
    """How long a node waits, and how much it keeps.

    Attributes
    ----------
    deadline : seconds after which a row is decided with what is there; nodes below wait less
    patience : seconds after which what is missing is asked for again
    keep : the rows that are kept, open or to be sent again
    """

    deadline: float = 2.0
    patience: float = 0.25
    keep: int = KEEP


class Rows:
    """Cases by the numbers of their rows."""

    def __init__(self) -> None:
        self._cases: dict[int, Case] = {}  # in the order in which they came
        self._order: list[int] = []
        self._open: list[int] = []  # heaps, with rows that are long over
        self._waiting: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._cases

    def get(self, sequence: int) -> Case | None:
        """Return what is known of a row; None for nothing."""
        return self._cases.get(sequence)

    def add(self, case: Case) -> None:
        """Add a row."""
        self._cases[case.sequence] = case
        insort(self._order, case.sequence)
        heapq.heappush(self._open, case.sequence)

    def reopen(self, case: Case) -> None:
        """Reopen a finished row."""
        case.is_over = False
        heapq.heappush(self._open, case.sequence)

    def drop(self, sequence: int) -> Case:
        """Forget a row."""
        del self._order[bisect_left(self._order, sequence)]
        return self._cases.pop(sequence)

    def oldest(self) -> int:
        """Return the row that was added first."""
        return next(iter(self._cases))

    def ends(self) -> tuple[int, int]:
        """Return the lowest row and the highest."""
        return self._order[0], self._order[-1]

    def lowest_open(self) -> Case | None:
        """Return the lowest open row; None if there is none."""
        while self._open:
            case = self._cases.get(self._open[0])
            if case is not None and not case.is_over:
                return case
            heapq.heappop(self._open)
        return None

    def wait(self, case: Case, since: float) -> None:
        """Let the deadline of a row run since some time."""
        case.due = since
        heapq.heappush(self._waiting, (since, case.sequence))

    def first_waiting(self) -> Case | None:
        """Return the row whose deadline began first; None if none waits."""
        while self._waiting:
            since, sequence = self._waiting[0]
            case = self._cases.get(sequence)
            if case is not None and not case.is_over and case.due == since:
                return case
            heapq.heappop(self._waiting)
        return None


class OpenRows:
    """The rows of a node, from the first message about one until it is dropped.

    Parameters
    ----------
    bundle : Bundle
    name : str
        The node's own name in the plan.
    settings : Settings
    """

    def __init__(self, bundle: Bundle, name: str, settings: Settings) -> None:
        self.name, self.settings = name, settings
        self.counters: Counter[str] = Counter()
        self._versions = Versions(bundle, name, settings.keep)
        self._position = Position(settings.keep, self._versions.newest.n_sources)
        self._rows = Rows()
        self._unreached: list[int] = []  # a heap
        self._asking: deque[int] = deque()
        self._changed: dict[int, None] = {}

    @property
    def bundle(self) -> Bundle:
        """The newest plan and model."""
        return self._versions.newest.bundle

    @property
    def bundles(self) -> list[Bundle]:
        """All plans that rows may still need, from the first to the newest."""
        return self._versions.bundles

    @property
    def plan(self) -> NodePlan:
        """What this node does by the newest plan."""
        return self._versions.newest.plan

    @property
    def decides(self) -> bool:
        """Whether this node decides."""
        return self._versions.newest.decides

    @property
    def n_open(self) -> int:
        """How many rows wait for something."""
        return sum(not case.is_over for case in self._rows)

    @property
    def n_changed(self) -> int:
        """How many rows there are to evaluate."""
        return len(self._changed)

    @property
    def done(self) -> int:
        """The last row up to which all are done, of those that the site has reached."""
        reached = max(self._position.reached, self._position.floor)
        first = self._rows.lowest_open()
        return reached if first is None else min(reached, first.sequence - 1)

    @property
    def reached(self) -> int:
        """The row that a majority of this node's sources has come to; -1 for none."""
        return self._position.reached

    def holds(self, sequence: int) -> bool:
        """Whether a row is remembered, and can be sent again."""
        return sequence in self._rows

    def memory(self, brought: int = -1) -> Memory:
        """Return what the node must not forget."""
        done = self.done
        waiting = (case for case in self._rows if case.has_input and not case.is_over)
        over = (case.sequence for case in self._rows if case.is_over and case.sequence > done)
        decided = frozenset(over if self.decides else ())
        return Memory(done, brought, tuple(map(self._open_row, waiting)), decided)

    def _open_row(self, case: Case) -> OpenRow:
        version = self._versions.of(case.sequence)
        sources = version.sources
        return OpenRow(
            sequence=case.sequence,
            time=case.time,
            model=version.hash,
            readings=case.readings,
            signals={part: one for part, one in case.signals.items() if part in sources},
            missing=tuple(case.missing),
            unknown={part: of for part, of in case.unknown.items() if part in sources},
        )

    def resume(self, memory: Memory, now: float = 0.0) -> None:
        """Go on where this node was before it was restarted."""
        self._position.resume(memory.done, now)
        if self.decides:
            self._position.floor = memory.done
            for sequence in sorted(memory.decided)[-self.settings.keep :]:
                self._open(sequence, now, 0.0).is_over = True
        for row in memory.rows:
            case = self._open(row.sequence, now, row.time)
            case.readings, case.has_input = row.readings, True
            if row.model == self._versions.of(row.sequence).hash:
                case.signals, case.missing = dict(row.signals), list(row.missing)
                case.unknown = dict(row.unknown)
            self._changed[row.sequence] = None

    # --- opening ---------------------------------------------------------------------------------

    @property
    def _judges(self) -> bool:
        """Whether this node brings several sources together, or decides."""
        version = self._versions.newest
        return bool(version.sources) or version.decides

    def _case(self, source: str, sequence: int, now: float, time: float) -> Case | None:
        """Find the case of a row, or open one; None for one that is refused or long gone."""
        if self._judges and not self._is_here(source, sequence, now):
            return None
        case = self._rows.get(sequence)
        if case is not None:
            return case
        if sequence < self._versions.first or (self._judges and sequence <= self._position.floor):
            self.counters["late"] += 1
            return None
        return self._open(sequence, now, time)

    def _is_here(self, source: str, sequence: int, now: float) -> bool:
        """Whether the site is where this row is; note from which source it comes."""
        position = self._position
        if not position.is_elsewhere(sequence):
            if position.note(source, sequence, now):
                self._reach(now, since=now)
            return True
        if position.note_elsewhere(source, sequence, now):
            position.go(sequence, now)
            self.counters["moved"] += 1
            self._reach(now, since=now)
            return True
        is_ahead = sequence > position.reached
        self.counters["far_ahead" if is_ahead else "late"] += 1
        if is_ahead:
            self.counters[f"far_ahead_{source or self.name}"] += 1
        return False

    def _reach(self, now: float, since: float) -> None:
        """Let the deadlines of the rows run that are reached by now, since some time."""
        before = self._position.reached
        reached = self._position.update(now, self._patience())
        newest = self._versions.newest
        if before >= 0 and reached - before <= MOST_GAP and newest.sources and not newest.holding:
            for missed in range(before + 1, reached):  # rows that must have been there
                if missed not in self._rows and missed > self._position.floor:
                    self._open(missed, now, 0.0)
        while self._unreached and self._unreached[0] <= reached:
            case = self._rows.get(heapq.heappop(self._unreached))
            if case is not None and case.due is None and not case.is_over:
                self._wait(case, max(case.seen, since))

    def _open(self, sequence: int, now: float, time: float) -> Case:
        while len(self._rows) >= self.settings.keep:
            self._drop_one()
        case = Case(sequence, now, time)
        self._rows.add(case)
        self._asking.append(sequence)
        self._await(case, now)
        return case

    def _drop_one(self) -> None:
        """Forget a row: the one farthest from where the site is, or the first that was read."""
        gone = self._rows.oldest()
        if self._judges:
            reached = self._position.reached
            gone, highest = self._rows.ends()
            if highest - reached > reached - gone:
                gone = highest
            else:
                self._position.floor = max(self._position.floor, gone)
        case = self._rows.drop(gone)
        self.counters["dropped"] += not case.is_over and case.has_input

    def _begin_again(self, case: Case, now: float) -> None:
        """Evaluate a row by another plan."""
        case.forget_signals()
        case.asked, case.n_tried = 0.0, 0
        case.seen = max(case.seen, now)
        if case.is_over:
            self._rows.reopen(case)
            self._asking.append(case.sequence)
        self._await(case, case.seen)
        self._changed[case.sequence] = None

    def _await(self, case: Case, now: float) -> None:
        """Let the deadline of a row run from now on, or from when the site has reached it."""
        case.due = None
        if self._judges and case.sequence > self._position.reached:
            heapq.heappush(self._unreached, case.sequence)
        else:
            self._wait(case, now)

    def _wait(self, case: Case, since: float) -> None:
        """Let the deadline of a row run; rows about which nodes may be silent have their own."""
        if self._versions.of(case.sequence).holding is None:
            self._rows.wait(case, since)
        else:
            case.due = since

    def _deadline(self, version: Version) -> float:
        """Return how long this node waits; those below wait less, so that they are in time."""
        return self.settings.deadline * (version.level / version.height if version.height else 0.0)

    def _patience(self) -> float:
        """Return how long a source that sends nothing new is waited for."""
        return self._deadline(self._versions.newest)
