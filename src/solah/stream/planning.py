"""Plan when to organise again, and why, by the number of labelled rows.

A change is answered as soon as ``min_rows`` rows have come since, and again each time their number
has doubled, until the window is full of them: the first answer is quick, and the later ones know
more. The start of a stream is such a change.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from solah.stream.events import Cause

if TYPE_CHECKING:
    from solah.stream.settings import Settings


@dataclass(frozen=True)
class Appointment:
    """When to organise again, in labelled rows, and why."""

    at: int
    cause: Cause


@dataclass(frozen=True)
class Plan:
    """When to organise again, and when to look at dependences; all in labelled rows.

    Attributes
    ----------
    changed_at : how many rows had come when the world changed last
    due : the next re-organisation; None if there is none
    check_at : the next look at dependences; None for never
    scheduled_at : the next re-organisation that needs no reason; None for never
    """

    changed_at: int
    due: Appointment | None
    check_at: int | None
    scheduled_at: int | None

    @classmethod
    def at_start(cls, settings: Settings) -> Plan:
        """Plan the first fit."""
        return cls(0, Appointment(settings.min_rows, Cause.START), None, None)

    @property
    def next_stop(self) -> int | None:
        """The row at which the first of all appointments is."""
        due = self.due.at if self.due else None
        stops = [at for at in (due, self.check_at, self.scheduled_at) if at is not None]
        return min(stops, default=None)

    def with_change(self, changed_at: int, at: int, cause: Cause) -> Plan:
        """Plan the answer to a change; one that is planned already comes first."""
        answers_change = self.due is not None and self.due.cause is not Cause.MORE_ROWS
        if answers_change:
            return self
        return replace(self, changed_at=changed_at, due=Appointment(at, cause))

    def after(self, now: int, settings: Settings, *, has_model: bool) -> Plan:
        """Plan what comes after an organisation."""
        since = now - self.changed_at
        due = None
        if since < settings.window:
            due = Appointment(now + max(since, settings.min_rows), Cause.MORE_ROWS)
        if not has_model:
            due = Appointment(now + settings.min_rows, Cause.START)
        return Plan(
            self.changed_at,
            due,
            _later(now, settings.check_every) if has_model else None,
            _later(now, settings.reorganise_every) if has_model else None,
        )

    def state(self) -> dict[str, Any]:
        """Return all parts, as JSON has them."""
        return asdict(self)

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Plan:
        """Make a plan of what :meth:`state` returned."""
        due = state["due"]
        appointment = Appointment(int(due["at"]), Cause(due["cause"])) if due else None
        return cls(state["changed_at"], appointment, state["check_at"], state["scheduled_at"])


def _later(now: int, every: int | None) -> int | None:
    return None if every is None else now + every
