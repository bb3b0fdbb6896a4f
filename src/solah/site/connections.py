"""Connections of a server: few may wait for a whole request, and not for long.

Uvicorn counts every connection and keeps one that never sends a whole request for ever, so that a
few dozen of them would keep everybody else out. Here a request has a deadline, with its body, and
where many wait, the oldest is closed for the newest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MOST_WAITING = 64
SECONDS_TO_ASK = 10.0
SECONDS_TO_READ = 30.0


def bounded_protocol() -> type[H11Protocol]:
    """Return the protocol of one server, whose connections know of each other."""

    class Bounded(H11Protocol):
        """A connection that is closed if it does not ask, or does not read."""

        waiting: ClassVar[dict[Bounded, asyncio.TimerHandle]] = {}  # the oldest is the first
        unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._note_waiting()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._note_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._note_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            self._stop_reading()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stop_reading()
            self.unread = self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_reading()

        def _note_waiting(self) -> None:
            """Begin to wait for a whole request, or end it; some bytes more do not change it."""
            cycle = self.cycle
            is_whole = cycle and not cycle.more_body and not cycle.response_complete
            if self.transport.is_closing() or is_whole:
                self._stop_waiting()
            elif self not in self.waiting:
                if len(self.waiting) >= MOST_WAITING:
                    next(iter(self.waiting)).give_up()
                self.waiting[self] = self.loop.call_later(SECONDS_TO_ASK, self.give_up)

        def give_up(self) -> None:
            """Close the connection, once the other side has read what it was sent."""
            self._stop_waiting()
            self._stop_reading()
            self.transport.close()
            self.unread = self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

        def _stop_waiting(self) -> None:
            if timer := self.waiting.pop(self, None):
                timer.cancel()

        def _stop_reading(self) -> None:
            if self.unread is not None:
                self.unread.cancel()
                self.unread = None

    return Bounded
