"""The loop of a stream: predict a row, learn from it, detect drift, refit.

Every event happens at a row. Rows are taken in blocks for speed, but a block ends at an event, and
what the model learned after that row is taken back. So the outcome does not depend on batches.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import DataError, ParameterError, shorten
from solah.export.online import Pace
from solah.stream.drift import COMPARED_ROWS, AdaptiveWindow, find_dependence_shift
from solah.stream.metrics import Cause, Event, EventKind, Score
from solah.stream.reservoir import KeptRow, Reservoir, split_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.data import Table
    from solah.stream.refit import OnlineModel, Tested, Trainer
    from solah.stream.reservoir import Cell, Value

_BLOCK_ROWS = 256
_MINIMA = {"window": 40, "min_rows": 20, "check_every": 50, "refit_every": 20}


@dataclass(frozen=True)
class StreamSettings:
    """The parameters of :class:`solah.stream.StreamLearner`, validated."""

    window: int = 2000
    per_class: int = 50
    min_rows: int = 200
    new_class_rows: int = 20
    check_every: int | None = 1000
    refit_every: int | None = None
    pace: float = 1 / 32
    forgetting: float = 0.0
    random_state: int = 0

    def __post_init__(self) -> None:
        for name in ("window", "per_class", "min_rows", "new_class_rows", "random_state"):
            if not isinstance(getattr(self, name), int):
                raise ParameterError(f"{name!r} must be an integer; got {getattr(self, name)!r}")
        minima = {**_MINIMA, "per_class": 0, "new_class_rows": 1, "random_state": 0}
        for name, minimum in minima.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise ParameterError(f"{name!r} must be {minimum} or more; got {value!r}")
        if self.min_rows > self.window:
            raise ParameterError(
                "'min_rows' must be at most 'window', since no more rows are kept; got "
                f"{self.min_rows!r} and {self.window!r}"
            )
        Pace(self.pace, self.forgetting)


@dataclass
class Schedule:
    """The next fit and the next check of dependences, in labelled rows.

    A change is answered as soon as ``min_rows`` rows have come since, and again each time their
    number has doubled, until the window is full of them: the first answer is quick, and later ones
    are based on more. The start of a stream is such a change.

    Attributes
    ----------
    changed_at : the row of the last change
    refit_at : the row of the next fit, and its cause; None if none is due
    check_at : the row of the next check; None for never
    scheduled_at : the row of the next fit without a cause; None for never
    """

    changed_at: int
    refit_at: int | None
    cause: Cause
    check_at: int | None = None
    scheduled_at: int | None = None

    def answer(self, cause: Cause, changed_at: int, refit_at: int) -> None:
        """Schedule the answer to a change, unless another one is due before."""
        if self.refit_at is None or self.cause is Cause.MORE_ROWS:
            self.changed_at, self.refit_at, self.cause = changed_at, refit_at, cause

    def next_stop(self) -> int | None:
        """Return the first row at which something is due."""
        stops = (self.refit_at, self.check_at, self.scheduled_at)
        return min((at for at in stops if at is not None), default=None)


class StreamLoop:
    """The models of a stream, row by row: in use, learning, replaced.

    ``counts`` are of rows, labelled rows, events by kind and drifts by cause.
    """

    def __init__(
        self, trainer: Trainer, settings: StreamSettings, on_event: Callable[[Event], None]
    ) -> None:
        self.trainer, self.settings, self._on_event = trainer, settings, on_event
        self.model: OnlineModel | None = None
        self.detector = AdaptiveWindow(only_rises=True)
        self.kept = Reservoir(settings.window, settings.per_class, settings.random_state)
        self.reference: list[KeptRow] = []  # the latest rows at the last fit
        self.schedule = Schedule(0, settings.min_rows, Cause.START)
        self.score = Score(settings.window)
        # The first row and the number of rows of each class that the model does not have.
        self.new_classes: dict[Value, tuple[int, int]] = {}
        self.counts: Counter[str] = Counter()

    def run(self, table: Table, labels: Sequence[Cell]) -> None:
        """Take the next rows."""
        start = 0
        while start < table.n_rows:
            stop = start + self._block_size(labels[start : start + _BLOCK_ROWS])
            start += self._take(table.rows(start, stop), labels[start:stop])
            self._do_what_is_due()

    def _block_size(self, labels: Sequence[Cell]) -> int:
        """Return the number of rows up to the next one at which something is due."""
        next_stop = self.schedule.next_stop()
        if next_stop is None:
            return len(labels)
        labelled = accumulate((label is not None for label in labels), initial=0)
        missing = next_stop - self.counts["labelled"]
        return next((n for n, there in enumerate(labelled) if there >= missing), len(labels))

    def _take(self, block: Table, labels: Sequence[Cell]) -> int:
        """Predict and learn rows up to the first event; return their number."""
        if self.model is None:
            self._keep(block, labels, [np.nan] * block.n_rows)
            return block.n_rows
        before = self.model.weights()
        tested = self.model.test_then_learn(block, labels)
        n_taken, drift = self._detect(tested, labels)
        taken = block.rows(0, n_taken)
        if n_taken < block.n_rows:
            self.model.go_back(before)
            self.model.test_then_learn(taken, labels[:n_taken])
        losses = tested.losses[:n_taken].tolist()
        for loss, is_right in zip(losses, tested.is_right.tolist(), strict=False):
            if loss == loss:
                self.score.add(is_right, loss)
        self._keep(taken, labels[:n_taken], losses)
        if drift is not None:
            self._emit(EventKind.DRIFT, *drift)
        return n_taken

    def _keep(self, rows: Table, labels: Sequence[Cell], losses: Sequence[float]) -> None:
        """Count rows, and keep those with a class."""
        self.counts["rows"] += rows.n_rows
        for values, label, loss in zip(split_rows(rows), labels, losses, strict=True):
            if label is not None:
                self.counts["labelled"] += 1
                self.kept.add(KeptRow(values, label, loss))

    def _detect(
        self, tested: Tested, labels: Sequence[Cell]
    ) -> tuple[int, tuple[Cause, str] | None]:
        """Return the number of rows up to the first drift, and its cause and message."""
        now = self.counts["labelled"]
        for i, label in enumerate(labels):
            if label is None:
                continue
            now += 1
            has_risen = self.detector.update(float(not tested.is_right[i]))
            if tested.is_unseen[i]:
                first_at, n_rows = self.new_classes.get(label, (now - 1, 0))
                self.new_classes[label] = first_at, n_rows + 1
                if n_rows + 1 == self.settings.new_class_rows:
                    self.schedule.answer(Cause.NEW_CLASS, first_at, now)
                    message = f"new class {shorten(label)}, with {n_rows + 1} rows so far"
                    return i + 1, (Cause.NEW_CLASS, message)
            if has_risen:
                changed_at = now - self.detector.n_recent
                self.detector.reset()
                refit_at = max(now, changed_at + self.settings.min_rows)
                self.schedule.answer(Cause.ERROR, changed_at, refit_at)
                message = f"the error rate rose about {now - changed_at} labelled rows ago"
                return i + 1, (Cause.ERROR, message)
        return len(labels), None

    def _do_what_is_due(self) -> None:
        now, schedule = self.counts["labelled"], self.schedule
        is_scheduled = schedule.scheduled_at == now
        if schedule.check_at == now:
            self._check_dependences(now)
        if is_scheduled:
            schedule.answer(Cause.SCHEDULE, schedule.changed_at, now)
        if schedule.refit_at is not None and schedule.refit_at <= now:
            self._refit(now, schedule.cause)

    def _check_dependences(self, now: int) -> None:
        every = self.settings.check_every
        assert every is not None
        self.schedule.check_at = now + every
        shift = find_dependence_shift(
            self.reference,
            self.kept.recent(every),
            self.trainer.like,
            self.trainer.target_name,
            feature_types=self.trainer.estimator.feature_types,
            seed=self.settings.random_state + now,
        )
        if shift is not None:
            self.schedule.answer(Cause.DEPENDENCE, now - every, now)
            self._emit(EventKind.DRIFT, Cause.DEPENDENCE, str(shift))

    def _refit(self, now: int, cause: Cause) -> None:
        """Train the first model, or a new one that is used if it is better."""
        self.reference = self.kept.recent(COMPARED_ROWS)
        n_since = now - self.schedule.changed_at
        try:
            if self.model is None:
                rows = self.kept.rows()
                (model,) = self.trainer.train([rows], now)
                self._use(model, ())
                message = f"first model, trained on {len(rows)} rows"
                self._emit(EventKind.SWAPPED, cause, message, n_rules=model.start.n_rules)
            else:
                self._train_next(now, n_since, cause)
        except DataError as error:  # more rows may help; after other errors they would not
            self._emit(EventKind.FAILED, cause, f"no new model could be trained: {error}")
        self.new_classes.clear()
        settings, has_model = self.settings, self.model is not None
        self.schedule.refit_at, self.schedule.cause = None, Cause.MORE_ROWS
        if not has_model:
            self.schedule.refit_at, self.schedule.cause = now + settings.min_rows, Cause.START
        elif n_since < settings.window:
            self.schedule.refit_at = now + max(n_since, settings.min_rows)
        if has_model:
            check, refit = settings.check_every, settings.refit_every
            self.schedule.check_at = None if check is None else now + check
            self.schedule.scheduled_at = None if refit is None else now + refit

    def _train_next(self, now: int, n_since: int, cause: Cause) -> None:
        found = self.trainer.refit(self.kept, n_since, now, self.settings.min_rows)
        if found.is_better:
            self._use(found.model, found.errors)
        kind = EventKind.SWAPPED if found.is_better else EventKind.REJECTED
        outcome = "swapped in" if found.is_better else "rejected"
        self._emit(
            kind,
            cause,
            f"new model {outcome}: log-loss {found.new_loss:.3f}, the one in use "
            f"{found.old_loss:.3f}, on the latest rows",
            old_loss=found.old_loss,
            new_loss=found.new_loss,
            n_rules=found.model.start.n_rules,
        )

    def _use(self, model: OnlineModel, errors: Sequence[float]) -> None:
        """Take a model into use; the detector starts from its errors on the held-out rows."""
        self.model = model
        self.counts["swapped at"] = self.counts["labelled"]
        self.detector.reset()
        for error in errors:
            self.detector.update(error)

    def _emit(self, kind: EventKind, cause: Cause, message: str, **figures: Any) -> None:
        self.counts[kind] += 1
        if kind is EventKind.DRIFT:
            self.counts[f"drift by {cause}"] += 1
        self._on_event(Event(self.counts["rows"], kind, cause, message, **figures))

    def state(self) -> dict[str, Any]:
        """Return everything but the model as JSON values."""
        return {
            "target": self.trainer.target_name,
            "counts": dict(self.counts),
            "schedule": asdict(self.schedule),
            "score": self.score.state(),
            "detector": self.detector.state(),
            "selections": [one.state() for one in self.trainer.selections],
            "new_classes": [[label, *counts] for label, counts in self.new_classes.items()],
            "kept": self.kept.state(),
            "reference": self.reference,
        }
