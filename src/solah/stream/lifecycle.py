"""Follow a stream: decide on rows, learn from them, detect drift and replace the model.

Every event happens at a row. Rows are taken in blocks for speed, but a block ends at an event, and
what the model learnt after that row is taken back. So the outcome does not depend on how rows are
batched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from solah.exceptions import DataError, shorten
from solah.stream.dependence import find_shift
from solah.stream.drift import make_detector
from solah.stream.events import Cause, Event, EventKind
from solah.stream.organising import Fit, compare_models
from solah.stream.persistence import Decided, Persistence
from solah.stream.planning import Plan
from solah.stream.reservoir import KeptRow, Reservoir
from solah.stream.scoring import Scoreboard
from solah.stream.values import split_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.data import Table
    from solah.stream.deciding import Decider, Verdicts
    from solah.stream.organising import Settled, Trainer
    from solah.stream.values import Reading, Value

_BLOCK_ROWS = 256
_NO_LOSS = float("nan")
DECIDED_AS_BEFORE = "decided as before"


@dataclass(frozen=True)
class NewClass:
    """A class that the model in use does not know.

    Attributes
    ----------
    first_at : how many labelled rows there were before its first
    n_rows : how many rows it has since
    """

    first_at: int
    n_rows: int


class ModelLifecycle:
    """The models of a stream, from row to row: in use, learning, replaced.

    Parameters
    ----------
    trainer : Trainer
        Fits new models.
    on_event : callable
        Called with each event when it happens.

    Attributes
    ----------
    counts : Counter
        Rows, labelled rows, and events by kind; drifts by cause.
    """

    def __init__(self, trainer: Trainer, on_event: Callable[[Event], None]) -> None:
        self.trainer, self._on_event = trainer, on_event
        settings = self.settings = trainer.settings
        self.decider: Decider | None = None
        self.detector = make_detector(settings.detector)
        self.kept = Reservoir(settings.window, settings.per_class, settings.random_state)
        self.compared_with: list[KeptRow] = []
        self.plan = Plan.at_start(settings)
        self.score = Scoreboard(settings.window)
        self.persistence = (
            None if settings.label_delay is None else Persistence(settings.label_delay)
        )
        self.fit: Fit | None = None
        self.settled: tuple[Settled, ...] = ()
        self.new_classes: dict[Value, NewClass] = {}
        self.counts: Counter[str] = Counter()

    def run(self, table: Table, labels: Sequence[Reading]) -> None:
        """Take the next rows."""
        start = 0
        while start < table.n_rows:
            stop = start + self._block_size(labels[start : start + _BLOCK_ROWS])
            start += self._take(table.rows(start, stop), labels[start:stop])
            self._do_what_is_due()

    def plan_to_resume(self) -> Plan:
        """Return the plan to go on with in another process: a fit under way begins there again."""
        if self.fit is None:
            return self.plan
        at = self.counts["labelled"] + 1
        return self.plan.with_change(self.plan.changed_at, at, self.fit.cause)

    def _block_size(self, labels: Sequence[Reading]) -> int:
        """Return how many rows to take: not beyond the next appointment."""
        next_stop = self._next_stop()
        if next_stop is None:
            return len(labels)
        labelled = accumulate((label is not None for label in labels), initial=0)
        missing = next_stop - self.counts["labelled"]
        return next((n for n, there in enumerate(labelled) if there >= missing), len(labels))

    def _next_stop(self) -> int | None:
        if self.fit is None:
            return self.plan.next_stop
        waiting = replace(self.plan, due=None)  # until the fit under way is answered
        stops = [at for at in (waiting.next_stop, self.fit.ends_at) if at is not None]
        return min(stops, default=None)

    def _take(self, block: Table, labels: Sequence[Reading]) -> int:
        """Take rows up to the first at which something happens; return how many these are."""
        if self.decider is None:
            self._count(block, labels, [_NO_LOSS] * block.n_rows)
            self._score(labels, None)
            return block.n_rows
        before = self.decider.remember()
        verdicts = self.decider.serve(block, labels)
        n_taken, event = self._watch(verdicts, labels)
        taken = block.rows(0, n_taken)
        if n_taken < block.n_rows:
            self.decider.go_back(before)
            self.decider.serve(taken, labels[:n_taken])
        self._count(taken, labels[:n_taken], verdicts.losses[:n_taken].tolist())
        self._score(labels[:n_taken], verdicts)
        if event is not None:
            self._emit(replace(event, row=self.counts["rows"]))
        return n_taken

    def _count(self, rows: Table, labels: Sequence[Reading], losses: Sequence[float]) -> None:
        """Count rows, and keep those with a class."""
        self.counts["rows"] += rows.n_rows
        for readings, label, loss in zip(split_rows(rows), labels, losses, strict=True):
            if label is not None:
                self.counts["labelled"] += 1
                self.kept.add(KeptRow(readings, label, loss))

    def _score(self, labels: Sequence[Reading], verdicts: Verdicts | None) -> None:
        """Score what was decided on rows that were counted just now."""
        decided = self._decide(labels, verdicts)
        for loss, is_right, is_as_before in decided.rows():
            if loss == loss:
                self.score.add(is_right, loss)
                self.counts[DECIDED_AS_BEFORE] += is_as_before
        n_before = self.counts["rows"] - len(labels)
        for n_taken, term in decided.switches:
            row, cause = n_before + n_taken, Cause.RECENT_LOSS
            self._emit(Event(row, EventKind.AS_BEFORE, cause, str(term)))

    def _decide(self, labels: Sequence[Reading], verdicts: Verdicts | None) -> Decided:
        if self.persistence is None:
            return Decided.by_model(verdicts, len(labels))
        goal = None if self.decider is None else self.decider.start.goal
        return self.persistence.serve(labels, verdicts, goal)

    def _watch(self, verdicts: Verdicts, labels: Sequence[Reading]) -> tuple[int, Event | None]:
        """Look at verdicts until a change shows; return how many were looked at, and the change."""
        now = self.counts["labelled"]
        for i, label in enumerate(labels):
            if label is None:
                continue
            now += 1
            has_risen = self.detector.update(float(not verdicts.is_right[i]))
            if verdicts.is_unseen[i] and self._is_due(label, now):
                return i + 1, self._new_class(label, now)
            if has_risen:
                return i + 1, self._risen_error(now)
        return len(labels), None

    def _is_due(self, label: Value, now: int) -> bool:
        """Count a row of an unknown class; tell whether these are enough now."""
        known = self.new_classes.get(label, NewClass(now - 1, 0))
        self.new_classes[label] = replace(known, n_rows=known.n_rows + 1)
        return self.new_classes[label].n_rows == max(self.settings.new_class_rows, 1)

    def _new_class(self, label: Value, now: int) -> Event:
        new = self.new_classes[label]
        self.plan = self.plan.with_change(new.first_at, now, Cause.NEW_CLASS)
        message = f"class {shorten(label)} is new, and there are {new.n_rows} rows of it"
        return Event(0, EventKind.DRIFT, Cause.NEW_CLASS, message)

    def _risen_error(self, now: int) -> Event:
        n_since = self.detector.n_recent
        changed_at = now - n_since
        self.detector.reset()
        at = max(now, changed_at + self.settings.min_rows)
        self.plan = self.plan.with_change(changed_at, at, Cause.ERROR)
        message = f"decisions have become worse, about {n_since} labelled rows ago"
        return Event(0, EventKind.DRIFT, Cause.ERROR, message)

    def _do_what_is_due(self) -> None:
        """Do what is to be done at this row."""
        now, plan = self.counts["labelled"], self.plan
        if plan.check_at == now:
            self._check_dependence(now)
        if plan.scheduled_at == now:
            self.plan = self.plan.with_change(plan.changed_at, now, Cause.SCHEDULE)
        if self.fit is not None and self.fit.is_due(now):
            self._answer(self.fit, now)
        due = self.plan.due
        if self.fit is None and due is not None and due.at <= now:
            self._organise(now, due.cause)

    def _check_dependence(self, now: int) -> None:
        assert self.settings.check_every is not None
        self.plan = replace(self.plan, check_at=now + self.settings.check_every)
        shift = find_shift(
            self.compared_with,
            self.kept.recent(self.settings.check_every),
            self.trainer.like,
            self.trainer.goal_name,
            kinds=self.trainer.kinds,
            seed=self.settings.random_state + now,
        )
        if shift is not None:
            changed_at = now - self.settings.check_every
            self.plan = self.plan.with_change(changed_at, now, Cause.DEPENDENCE)
            self._emit(Event(self.counts["rows"], EventKind.DRIFT, Cause.DEPENDENCE, str(shift)))

    def _organise(self, now: int, cause: Cause) -> None:
        """Learn a first model, or begin to learn a better one."""
        n_since = now - self.plan.changed_at
        self.compared_with = self.kept.recent(self.settings.window)
        if self.decider is None:
            self._begin(cause)
        else:
            self.fit = Fit.begin(self.trainer, self.kept, cause, now, n_since, self.settled)
        self.plan = self.plan.after(now, self.settings, has_model=self.decider is not None)
        if self.fit is not None and self.fit.is_due(now):
            self._answer(self.fit, now)

    def _begin(self, cause: Cause) -> None:
        rows = self.kept.rows()
        try:
            learnt = self.trainer.learn([rows], (), self.counts["labelled"])
        except DataError as error:  # of other errors more rows would not make a model
            self._fail(cause, error)
            return
        self.settled = learnt.settled
        self._use(learnt.deciders[0], [])
        self.new_classes.clear()
        message = f"the first model, of {len(rows)} rows, decides now"
        self._emit_now(EventKind.SWAPPED, Cause.START, message, n_rules=self._n_rules)

    def _answer(self, fit: Fit, now: int) -> None:
        """Compare what a fit has learnt with the model in use, and take the better one."""
        self.fit = None
        self.new_classes.clear()
        try:
            found = compare_models(self.trainer, self.kept, fit, now)
        except DataError as error:
            self._fail(fit.cause, error)
            return
        self.settled = fit.learnt.result().settled
        losses = f"{found.new_loss:.3f} against {found.old_loss:.3f}"
        kind, outcome = EventKind.REFUSED, "was no better, and is dropped"
        if found.is_better:
            self._use(found.decider, found.errors)
            kind, outcome = EventKind.SWAPPED, "took over"
        message = f"a new model {outcome}: log-loss {losses} on the last rows"
        n_rules = found.decider.start.n_rules
        self._emit_now(kind, fit.cause, message, found.old_loss, found.new_loss, n_rules)

    def _fail(self, cause: Cause, error: DataError) -> None:
        self.new_classes.clear()
        self._emit_now(EventKind.FAILED, cause, f"a new model could not be learnt: {error}")

    def _use(self, decider: Decider, errors: Sequence[float]) -> None:
        """Take a model into use; its errors on the last rows are where the detector begins."""
        self.decider = decider
        self.counts["swapped at"] = self.counts["labelled"]
        self.detector.reset()
        for error in errors:
            self.detector.update(error)

    @property
    def _n_rules(self) -> int:
        return 0 if self.decider is None else self.decider.start.n_rules

    def _emit_now(
        self,
        kind: EventKind,
        cause: Cause,
        message: str,
        old_loss: float | None = None,
        new_loss: float | None = None,
        n_rules: int | None = None,
    ) -> None:
        row = self.counts["rows"]
        self._emit(Event(row, kind, cause, message, old_loss, new_loss, n_rules))

    def _emit(self, event: Event) -> None:
        self.counts[event.kind] += 1
        if event.kind is EventKind.DRIFT:
            self.counts[drifts_by(event.cause)] += 1
        self._on_event(event)


def drifts_by(cause: Cause) -> str:
    """Name the count of drifts of a cause."""
    return f"drift by {cause}"
