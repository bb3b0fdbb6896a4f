"""The logic of a node, without a network or a clock: readings and messages to decisions.

Rows are distinguished by their sequence number. A node evaluates what it can of a row as soon as
all inputs are there, and sends it. When the deadline of a row passes, averages replace what is
missing. Everything is counted and bounded, so that no message can do harm.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from solah.site.evaluation import ROWS_A_MESSAGE, as_signal
from solah.site.messages import Ask, Beliefs, Decisions, Measured, Terms
from solah.site.open_rows import MOST_GAP, OpenRows, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.site.bundle import Bundle
    from solah.site.evaluation import Case, Version
    from solah.site.messages import NodeOutput

__all__ = ["NodeCore", "Outbox", "Settings"]

_MOST_TRIES = 4  # to decide a row in spite of what silence may hide
_MOST_ANSWERED = 1_000  # rows that wait to be sent again
_ANSWERS_A_SECOND = 5.0  # messages, of which a second's worth can be saved up
_OWN = ""  # the source of what is measured here


@dataclass
class Outbox:
    """The messages that a node has to send."""

    beliefs: list[Beliefs] = field(default_factory=list)
    decisions: list[Decisions] = field(default_factory=list)
    asks: list[tuple[str, Ask]] = field(default_factory=list)
    terms: list[Terms] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.beliefs or self.decisions or self.asks or self.terms)


class NodeCore(OpenRows):
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
        super().__init__(bundle, name, settings or Settings())
        self._progress = -1
        self._wanted: dict[int, None] = {}  # rows to send again
        self._allowed, self._counted_at = _ANSWERS_A_SECOND, 0.0
        self._unsent: dict[str, list[NodeOutput]] = {}  # rows that changed, by the plan
        self._exact: dict[str, dict[int, None]] = {}  # the rows that nodes are asked for exactly
        self._now = 0.0  # when it last worked

    # --- taking in -------------------------------------------------------------------------------

    def note_progress(self, sequence: int) -> None:
        """Note up to which row the node that decides is done."""
        self._progress = sequence

    def adopt(self, bundle: Bundle, now: float = 0.0) -> bool:
        """Take another plan and model for the rows from its start on; return whether it is new.

        Raises
        ------
        NoRoomError
            The maximum number of plans that wait for rows has been reached.
        """
        done = self.done if self.decides else self._progress
        version = self._versions.adopt(bundle, done + 1 - MOST_GAP)
        if version is None:
            return False
        self._position.n_sources = version.n_sources
        for case in self._rows:
            if case.sequence >= version.starts and not (case.is_over and version.decides):
                self._begin_again(case, now)
        self.counters["adopted"] += 1
        return True

    def read(self, rows: Iterable[Measured], now: float, wall: float) -> None:
        """Take readings that are measured here."""
        for row in rows:
            if row.sequence is None:
                self.counters["unnumbered"] += 1
                continue
            case = self._case(_OWN, row.sequence, now, row.time or wall)
            if case is None:
                continue
            if case.readings is not None:
                self.counters["duplicates"] += 1
                continue
            fitting = self._versions.of(row.sequence).fitting(row.readings)
            unfit = [name for name, one in fitting.items() if one is None is not row.readings[name]]
            self.counters["unfit_readings"] += len(unfit)
            self.counters["unknown_names"] += len(row.readings) - len(fitting)
            case.readings, case.has_input = fitting, True
            case.note_age(_OWN, row.oldest)
            case.unmeasured = (*row.missing, *unfit)
            case.miss(case.unmeasured)
            self._changed[row.sequence] = None
            self.counters["readings"] += 1

    def hear(self, message: Beliefs, now: float) -> None:
        """Receive the outputs of another node."""
        if not message.rows and all(message.model != one.hash for one in self.bundles):
            self.counters["other_model"] += 1
        for row in message.rows:
            version = self._versions.of(row.sequence)
            if message.model != version.hash:
                self.counters["other_model"] += 1
            elif not version.is_expected(message.node, row):
                self.counters["refused"] += 1
            else:
                if version.holding is not None:
                    for sequence in version.holding.take(message.node, row, now):
                        self._exact.setdefault(message.node, {})[sequence] = None
                if (case := self._case(message.node, row.sequence, now, row.time)) is not None:
                    self._receive_row(version, case, message.node, row)

    def _receive_row(self, version: Version, case: Case, node: str, row: NodeOutput) -> None:
        if case.is_over:
            self.counters["late"] += 1
            return
        case.has_input = True
        case.time = max(case.time, row.time)
        case.note_age(node, row.oldest)
        case.abstain_reasons[node] = row.abstain_reasons
        if version.holding is not None:
            self.counters["heard"] += 1
            return
        readings = {name: as_signal(reading) for name, reading in row.readings.items()}
        for part, signal in (*row.signals.items(), *readings.items()):
            if part not in version.sources:  # another node takes it
                continue
            if part in case.signals:
                self.counters["duplicates"] += 1
                continue
            case.signals[part] = signal
            if part in row.unknown:
                case.unknown[part] = row.unknown[part]
            self.counters["heard"] += 1
        case.miss(row.missing)
        self._changed[case.sequence] = None

    def take_terms(self, terms: Terms) -> None:
        """Take how much silence may hide, by the node that decides."""
        version = self._versions.of(terms.row)
        if terms.model != version.hash or version.reporter is None:
            self.counters["other_model"] += 1
            return
        self._unsent.setdefault(version.hash, []).extend(version.reporter.take_terms(terms))

    def repeat(self, ask: Ask) -> None:
        """Note the rows to send again, the newest of those that are remembered."""
        wanted = set()
        for sequence in set(ask.sequences):
            reporter = self._versions.of(sequence).reporter
            is_held = sequence in self._rows if reporter is None else reporter.holds(sequence)
            wanted |= {sequence} if is_held else set()
            self.counters["forgotten"] += not is_held
        if ask.since is not None:
            reporter = self._versions.of(ask.since).reporter
            later = (case.sequence for case in self._rows if case.sequence >= ask.since)
            wanted.update(later if reporter is None else reporter.since(ask.since))
        wanted -= self._wanted.keys()
        room = _MOST_ANSWERED - len(self._wanted)
        self._wanted |= dict.fromkeys(sorted(heapq.nlargest(room, wanted)))
        self.counters["unanswered"] += max(len(wanted) - room, 0)

    # --- working ---------------------------------------------------------------------------------

    def advance(self, now: float) -> Outbox:
        """Evaluate what can be evaluated; return the messages to send."""
        self._now = now
        if self._unreached:
            self._reach(now, since=self._position.lost(now, self._patience()))
        self._give_up(now)
        self._answer(now)
        outbox = Outbox()
        changed = [case for one in self._changed if (case := self._rows.get(one)) is not None]
        self._changed = {}
        for version, cases in self._versions.split(changed):
            version.run(cases)
            self._send(version, cases, outbox)
        self._end_in_order(outbox)
        self._decide_silent(now, outbox)
        for bundle_hash, rows in self._unsent.items():
            if (named := self._versions.named(bundle_hash)) is not None:
                self._pack(named, rows, outbox)
        self._unsent = {}
        self._ask(now, outbox)
        return outbox

    def next_deadline(self) -> float | None:
        """Return when something is to be done though nothing comes in; None for never."""
        times = [self._counted_at + 1.0 / _ANSWERS_A_SECOND] if self._wanted else []
        if (case := self._rows.first_waiting()) is not None and case.due is not None:
            times.append(case.due + self._deadline(self._versions.of(case.sequence)))
        if (case := self._rows.lowest_open()) is not None:
            time = self._decidable_at(case, self._versions.of(case.sequence))
            times += [] if time is None else [time]
        if (case := self._first_asking()) is not None:
            times.append(max(case.seen, case.asked) + self.settings.patience)
        if self._unreached:
            loss = self._position.next_loss(self._now, self._patience())
            times += [] if loss is None else [loss]
        return min(times, default=None)

    def _give_up(self, now: float) -> None:
        """Let averages replace what rows past their deadline still miss."""
        while (case := self._rows.first_waiting()) is not None and case.due is not None:
            version = self._versions.of(case.sequence)
            if now < case.due + self._deadline(version):
                return
            case.due = None
            if case.has_input:
                version.lose(case, [part for part in version.sources if part not in case.signals])
                version.fill_readings(case)
                self._changed[case.sequence] = None
            else:
                case.is_over = True
                self.counters["gaps"] += 1

    def _answer(self, now: float) -> None:
        """Send rows again, within the number of messages that a second allows."""
        earned = max(now - self._counted_at, 0.0) * _ANSWERS_A_SECOND
        self._allowed = min(self._allowed + earned, _ANSWERS_A_SECOND)
        self._counted_at = now
        for sequence in [*self._wanted]:
            version = self._versions.of(sequence)
            if self._allowed * version.rows_a_message < 1.0:
                return
            self._allowed -= 1.0 / version.rows_a_message
            del self._wanted[sequence]
            if version.reporter is not None:
                rows = version.reporter.answer(sequence)
                self._unsent.setdefault(version.hash, []).extend(rows)
            elif (case := self._rows.get(sequence)) is not None:
                case.unsent = [part for part in version.plan.sends if part in case.signals]
                self._changed[sequence] = None
            else:
                self.counters["forgotten"] += 1
                continue
            self.counters["repeated"] += 1

    # --- sending ---------------------------------------------------------------------------------

    def _send(self, version: Version, cases: list[Case], outbox: Outbox) -> None:
        if version.reporter is not None:
            for case in sorted(cases, key=lambda case: case.sequence):
                if case.unsent and version.is_done(case):
                    changed = [*version.reporter.take(version.said(case), self._now)]
                    self._unsent.setdefault(version.hash, []).extend(changed)
                    self.counters["silent"] += not changed
                    case.unsent = []
        rows = [version.said(case) for case in cases if case.unsent]
        for case in cases:
            case.unsent = []
        self._pack(version, rows, outbox)
        if version.is_ordered and version.holding is None:
            return  # in order, when all rows are evaluated that are there
        self._end(version, [case for case in cases if version.is_done(case)], outbox)

    def _end(self, version: Version, cases: Sequence[Case], outbox: Outbox) -> None:
        """Decide rows, if this node does; all is done on them then."""
        ending = [case for case in cases if not case.is_over]
        for case in ending:
            case.is_over = True
        if version.decides and ending:
            self.counters["decisions"] += len(ending)
            self.counters["incomplete"] += sum(bool(case.missing) for case in ending)
            for part in _batched(version.decide(ending), version.rows_a_message):
                outbox.decisions.append(Decisions(self.name, version.hash, tuple(part)))

    def _end_in_order(self, outbox: Outbox) -> None:
        """Decide rows for a policy that remembers: none before a lower one that is open."""
        while (case := self._rows.lowest_open()) is not None:
            version = self._versions.of(case.sequence)
            if not version.is_ordered or version.holding is not None or not version.is_done(case):
                return
            self._end(version, [case], outbox)

    def _pack(self, version: Version, rows: Sequence[NodeOutput], outbox: Outbox) -> None:
        for part in _batched(rows, version.rows_a_message):
            outbox.beliefs.append(Beliefs(self.name, version.hash, tuple(part)))

    # --- nodes that are silent about rows --------------------------------------------------------

    def _decide_silent(self, now: float, outbox: Outbox) -> None:
        """Decide rows in order, with the last scores of nodes that are silent about them."""
        while (case := self._rows.lowest_open()) is not None:
            version = self._versions.of(case.sequence)
            time = self._decidable_at(case, version)
            if time is None or now < time or version.holding is None:
                return
            version.hold(case, self._patience())
            version.fill_readings(case)
            version.run([case])
            lead = version.lead(case)
            if not version.is_final(case, lead):
                n_tried, case.n_tried = case.n_tried, case.n_tried + 1
                terms = None
                if n_tried <= _MOST_TRIES:
                    terms = version.holding.tighten(case.sequence, lead, now, n_tried)
                if terms is not None:  # nodes that hid more than these terms allow send the row
                    outbox.terms.append(terms)
                    case.forget_signals()
                    self._changed[case.sequence] = None
                    continue
                self.counters["unsure"] += 1
            self._send(version, [case], outbox)
            terms = version.holding.next_terms(case.sequence, lead, now)
            outbox.terms += [] if terms is None else [terms]

    def _decidable_at(self, case: Case, version: Version) -> float | None:
        """Return when a row can be decided; silence has no meaning before messages can arrive."""
        if version.holding is None or case.due is None:
            return None
        is_whole = version.is_whole(case)
        if is_whole and case.n_tried:
            return case.due
        answered = version.holding.issued + self._deadline(version)  # by rows below it, too
        return max(case.due + (0.0 if is_whole else self._deadline(version)), answered)

    # --- asking ----------------------------------------------------------------------------------

    def _first_asking(self) -> Case | None:
        """Return the row for which to ask next."""
        while self._asking:
            case = self._rows.get(self._asking[0])
            if case is not None and not case.is_over:
                version = self._versions.of(case.sequence)
                if version.sources and version.holding is None:
                    return case
            self._asking.popleft()
        return None

    def _ask(self, now: float, outbox: Outbox) -> None:
        """Ask again for what has been missing for a while, of rows that others are near."""
        wanted = {node: list(rows) for node, rows in self._exact.items() if rows}
        self._exact = {}
        for _ in range(len(self._asking)):
            case = self._first_asking()
            if case is None or now < max(case.seen, case.asked) + self.settings.patience:
                break
            case.asked = now
            self._asking.rotate(-1)
            if case.sequence <= self._position.reached + MOST_GAP:
                sources = self._versions.of(case.sequence).sources
                for node in {home for part, home in sources.items() if part not in case.signals}:
                    wanted.setdefault(node, []).append(case.sequence)
        for node, sequences in wanted.items():
            for part in _batched(sequences, ROWS_A_MESSAGE):
                outbox.asks.append((node, Ask(tuple(part))))
                self.counters["asked"] += len(part)


def _batched(rows: Sequence[object], most: int) -> Iterator[list]:  # type: ignore[type-arg]
    pending = iter(rows)
    while part := list(islice(pending, most)):
        yield part
