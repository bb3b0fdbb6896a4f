"""The logic of a node, without a network or a clock: readings and messages to decisions.

Rows are told apart by their sequence number. A node evaluates what it can of a row as soon as all
inputs are there, and sends it. When the deadline of a row passes, mean_masses takes the place of
what
is missing. A majority of its sources decides which rows a site is at (position.py); a node whose
only source is its readings, and which does not decide, passes on whatever it reads. Everything is
counted and bounded, so that no message can do harm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from solah.site.evaluation import ROWS_A_MESSAGE, as_signal
from solah.site.messages import Ask, Beliefs, Decisions, Measured, Terms
from solah.site.open_rows import MOST_GAP, OpenRows, Settings
from solah.site.resend import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.site.bundle import Bundle
    from solah.site.evaluation import Case, Version
    from solah.site.held_rows import Lead
    from solah.site.messages import NodeOutput

__all__ = ["NodeCore", "Outbox", "Settings"]

_MOST_TRIES = 4  # to decide a row in spite of what silence may hide
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
        self._answers = Answers()
        self._unsent: dict[
            str, list[NodeOutput]
        ] = {}  # of a node that sends on change, by the plan
        self._exact: dict[str, dict[int, None]] = {}  # the rows that nodes are asked for exactly
        self._now = 0.0  # when it last worked

    def note_progress(self, sequence: int) -> None:
        """Note up to which row the node that decides is done."""
        self._progress = sequence

    def adopt(self, bundle: Bundle, now: float = 0.0) -> bool:
        """Take another plan and model for the rows from its start on; return whether it is new.

        Raises
        ------
        NoRoomError
            So many plans wait for rows to come that there is no room for another.
        """
        version = self._versions.adopt(bundle, self._first_needed())
        if version is None:
            return False
        self._position.n_sources = version.n_sources
        for case in self._rows:
            decided = case.is_over and version.decides
            if case.sequence >= version.starts and not decided:
                self._begin_again(case, now)
        self.counters["adopted"] += 1
        return True

    def _first_needed(self) -> int:
        """Return the first row that may still be evaluated, or sent again."""
        done = self.settled if self.decides else self._progress
        return done + 1 - MOST_GAP

    def read(self, rows: Iterable[Measured], now: float, wall: float) -> list[int]:
        """Take readings in; return the numbers of the rows that they belong to."""
        taken = []
        for row in rows:
            sequence = self._sequence_of(row, wall)
            if sequence is None:
                self.counters["unnumbered"] += 1
                continue
            case = self._case(_OWN, sequence, now, row.time or wall)
            if case is None:
                continue
            if case.readings is not None and self.settings.window is None:
                self.counters["duplicates"] += 1
                continue
            fitting, n_unfit = self._versions.of(sequence).fitting(row.readings)
            self.counters["unfit_readings"] += n_unfit
            self.counters["unknown_names"] += len(row.readings) - len(fitting)
            case.readings = {**(case.readings or {}), **fitting}
            case.has_input = True
            case.note_age(_OWN, row.oldest)
            unfit = (
                name for name in fitting if fitting[name] is None and row.readings[name] is not None
            )
            case.unmeasured = (*row.missing, *unfit)
            case.missing += [name for name in case.unmeasured if name not in case.missing]
            self._changed[sequence] = None
            self.counters["readings"] += 1
            taken.append(sequence)
        return taken

    def hear(self, message: Beliefs, now: float) -> None:
        """Receive the beliefs of another node."""
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

    def take_terms(self, terms: Terms) -> None:
        """Take how much silence may hide, by the node that decides."""
        version = self._versions.of(terms.row)
        if terms.model != version.hash or version.reporter is None:
            self.counters["other_model"] += 1
            return
        self._unsent.setdefault(version.hash, []).extend(version.reporter.take_terms(terms))

    def repeat(self, ask: Ask) -> None:
        """Note which rows are to be sent again, as far as they are still known."""
        wanted = set(ask.sequences)
        held = {one for one in wanted if self._has(one)}
        self.counters["forgotten"] += len(wanted) - len(held)
        if ask.since is not None:
            reporter = self._versions.of(ask.since).reporter
            later = (case.sequence for case in self._rows if case.sequence >= ask.since)
            held.update(later if reporter is None else reporter.since(ask.since))
        self.counters["unanswered"] += self._answers.want(held)

    def _has(self, sequence: int) -> bool:
        """Whether a row can be sent again."""
        reporter = self._versions.of(sequence).reporter
        return sequence in self._rows if reporter is None else reporter.holds(sequence)

    def advance(self, now: float) -> Outbox:
        """Evaluate what can be evaluated; return the messages to send."""
        self._now = now
        if self._unreached:
            self._reach(now, since=self._position.lost(now, self._patience()))
        self._give_up(now)
        self._answer(now)
        outbox = Outbox()
        changed = self._rows.known(self._changed)
        self._changed = {}
        for version, cases in self._versions.split(changed):
            version.run(cases, self.settings.window is not None)
            self._send(version, cases, outbox)
        self._end_in_order(outbox)
        self._settle(now, outbox)
        self._report(outbox)
        self._ask(now, outbox)
        return outbox

    def next_deadline(self) -> float | None:
        """Return when something is to be done though nothing comes in; None for never."""
        answer = self._answers.next_time()
        times = [] if answer is None else [answer]
        if (case := self._rows.first_waiting()) is not None and case.due is not None:
            times.append(case.due + self._deadline(self._versions.of(case.sequence)))
        if (case := self._lowest_held()) is not None:
            times.append(self._settled_at(case))
        if (case := self._first_asking()) is not None:
            times.append(max(case.seen, case.asked) + self.settings.patience)
        if self._unreached:
            loss = self._position.next_loss(self._now, self._patience())
            times += [] if loss is None else [loss]
        return min(times, default=None)

    # --- rows ------------------------------------------------------------------------------------

    def _sequence_of(self, row: Measured, wall: float) -> int | None:
        if self.settings.window is not None:
            return int((row.time if row.time is not None else wall) // self.settings.window)
        return row.sequence

    # --- receiving -------------------------------------------------------------------------------

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
        case.missing += [part for part in row.missing if part not in case.missing]
        self._changed[case.sequence] = None

    # --- sending ---------------------------------------------------------------------------------

    def _send(self, version: Version, cases: list[Case], outbox: Outbox) -> None:
        if version.reporter is not None:
            self._choose(version, cases)
        rows = [version.said(case) for case in cases if case.unsent]
        for case in cases:
            case.unsent = []
        self._pack(version, rows, outbox)
        if version.is_ordered and version.holding is None:
            return  # in order, when all rows are evaluated that are there
        self._end(version, [case for case in cases if version.is_done(case)], outbox)

    def _end(self, version: Version, cases: Sequence[Case], outbox: Outbox) -> None:
        """Decide rows, where this node does; all is done on them then."""
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
        while (sequence := self._rows.lowest_open()) is not None:
            version, case = self._versions.of(sequence), self._rows.get(sequence)
            if not version.is_ordered or version.holding is not None or case is None:
                return
            if not version.is_done(case):
                return
            self._end(version, [case], outbox)

    def _pack(self, version: Version, rows: Sequence[NodeOutput], outbox: Outbox) -> None:
        for part in _batched(rows, version.rows_a_message):
            outbox.beliefs.append(Beliefs(self.name, version.hash, tuple(part)))

    # --- sending on change -----------------------------------------------------------------------

    def _choose(self, version: Version, cases: list[Case]) -> None:
        """Let only those rows be sent that matter, in order."""
        assert version.reporter is not None
        for case in sorted(cases, key=lambda case: case.sequence):
            if case.unsent and version.is_done(case):
                rows = [*version.reporter.take(version.said(case), self._now)]
                self._unsent.setdefault(version.hash, []).extend(rows)
                if not rows:
                    self.counters["silent"] += 1
                case.unsent = []

    def _report(self, outbox: Outbox) -> None:
        """Send the rows that were chosen."""
        for bundle_hash, rows in self._unsent.items():
            version = self._versions.named(bundle_hash)
            if version is not None:
                self._pack(version, rows, outbox)
        self._unsent = {}

    def _settle(self, now: float, outbox: Outbox) -> None:
        """Decide, one after the other, the rows for which nothing more is to be waited for."""
        while (case := self._next_settled(now)) is not None:
            version = self._versions.of(case.sequence)
            assert version.holding is not None
            version.hold(case, self._patience())
            self._fill_readings(version, case)
            version.run([case], self.settings.window is not None)
            lead = version.lead(case)
            if not version.stands(case, lead) and self._put_off(version, case, lead, now, outbox):
                continue
            self._send(version, [case], outbox)
            terms = version.holding.next_terms(version.hash, case.sequence, lead, now)
            outbox.terms += [] if terms is None else [terms]

    def _put_off(
        self, version: Version, case: Case, lead: Lead, now: float, outbox: Outbox
    ) -> bool:
        """Wait for what silence may hide of a row; return whether that is any use."""
        assert version.holding is not None
        n_tried, case.n_tried = case.n_tried, case.n_tried + 1
        terms = None
        if n_tried <= _MOST_TRIES:
            terms = version.holding.tighten(version.hash, case.sequence, lead, now, n_tried)
        if terms is None:
            self.counters["unsure"] += 1
            return False
        outbox.terms.append(terms)
        self._forget_signals(case)
        self._changed[case.sequence] = None
        return True

    def _next_settled(self, now: float) -> Case | None:
        """Return the lowest open row, if nodes may be silent about it and it can be decided."""
        case = self._lowest_held()
        return case if case is not None and now >= self._settled_at(case) else None

    def _lowest_held(self) -> Case | None:
        """Return the lowest open row that is reached, if nodes may be silent about it."""
        sequence = self._rows.lowest_open()
        case = None if sequence is None else self._rows.get(sequence)
        if case is None or case.due is None:
            return None
        return case if self._versions.of(case.sequence).holding is not None else None

    def _settled_at(self, case: Case) -> float:
        """Return when a row can be decided; silence tells nothing before messages can be there."""
        version = self._versions.of(case.sequence)
        assert version.holding is not None
        if version.is_whole(case) and case.n_tried:
            return case.due or 0.0
        answered = version.holding.issued + self._deadline(version)  # by rows below it, too
        if version.is_whole(case):
            return max(case.due or 0.0, answered)
        return max((case.due or 0.0) + self._deadline(version), answered)

    # --- waiting ---------------------------------------------------------------------------------

    def _give_up(self, now: float) -> None:
        """Let mean_masses take the place of what rows past their deadline still miss."""
        while (case := self._rows.first_waiting()) is not None and case.due is not None:
            version = self._versions.of(case.sequence)
            if now < case.due + self._deadline(version):
                return
            case.due = None
            if case.has_input:
                self._fill(version, case)
            else:
                case.is_over = True
                self.counters["gaps"] += 1

    def _fill(self, version: Version, case: Case) -> None:
        version.lose(case, [part for part in version.sources if part not in case.signals])
        self._fill_readings(version, case)
        self._changed[case.sequence] = None

    def _fill_readings(self, version: Version, case: Case) -> None:
        """Let mean_masses take the place of readings that did not come."""
        case.is_filled = True
        if case.readings is None:
            case.readings = {}
            case.unread = [name for name, inputs in version.inputs.items() if inputs.measured]
            case.missing += case.unread

    def _answer(self, now: float) -> None:
        """Let rows be sent again that were asked for."""
        for sequence in self._answers.due(now, lambda one: self._versions.of(one).rows_a_message):
            version = self._versions.of(sequence)
            if version.reporter is not None:
                rows = version.reporter.answer(sequence)
                self._unsent.setdefault(version.hash, []).extend(rows)
                self.counters["repeated"] += 1
                continue
            case = self._rows.get(sequence)
            if case is None:
                self.counters["forgotten"] += 1
                continue
            case.unsent = [part for part in version.plan.sends if part in case.signals]
            self._changed[sequence] = None
            self.counters["repeated"] += 1

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
            if case.sequence > self._position.reached + MOST_GAP:
                continue
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
