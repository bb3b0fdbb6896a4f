"""Save what a node received and did before the broker may forget it.

A message is acknowledged when its rows are safe: their decisions are with the broker, or the rows
are in the file. Decisions are written before they are sent (decided_log.py). So a
node that is killed loses nothing, and decides no row again otherwise than before. Where the file
cannot be written, a node goes on from memory, reports it, and tries again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.site.decision_log import DecidedLog
from solah.site.logs import Event
from solah.site.state_file import Memory, write_memory, write_plans

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from solah.site.client import Client, Receipt

_EVERY = 0.2
_MOST_RECEIPTS = 10  # brokers have few messages under way, 20 by default
_TRY_AGAIN = 5.0
_LAST_WAIT = 5.0


@dataclass
class _Pending:
    """What is to be written when all messages that were sent before are confirmed."""

    memory: Memory
    receipts: list[Receipt]
    published: int


class Keeper:
    """Keeps what a node must not forget.

    Parameters
    ----------
    path : the file; None where nothing is kept
    client : acknowledges messages that are safe
    counters : where failures are counted
    log : called with what an operator should know
    """

    def __init__(
        self,
        path: Path | None,
        client: Client,
        counters: Counter[str],
        log: Callable[[str], None],
    ) -> None:
        self.settled = -1  # the last row up to which all are done and confirmed
        self._path, self._client = path, client
        self._decided = None if path is None else DecidedLog(path)
        self._counters, self._log = counters, log
        self._receipts: list[Receipt] = []
        self._pending: _Pending | None = None
        self._written = Memory()
        self._plans: Sequence[bytes] | None = None
        self._next = self._next_try = 0.0
        self._is_failing = False

    def begin(self, memory: Memory) -> None:
        """Begin with what was read from the file."""
        self._written = memory
        self.settled = memory.settled

    def resume_decided(self, memory: Memory) -> tuple[Memory, list[bytes]]:
        """Return a memory with what was decided since, and the messages to send again."""
        return (memory, []) if self._decided is None else self._decided.resume(memory)

    def keep_decided(self, payload: bytes) -> None:
        """Keep a message of decisions that is about to be sent."""
        if self._decided is not None and time.monotonic() >= self._next_try:
            decided = self._decided
            self._is_written(lambda: decided.append(payload), time.monotonic())

    def add(self, receipt: Receipt) -> None:
        """Take the receipt of a message that was taken in."""
        self._receipts.append(receipt)

    def keep_plans(self, documents: Sequence[bytes]) -> None:
        """Keep the plans that were taken from the broker."""
        self._plans = documents
        self._write_plans(time.monotonic())

    def step(self, now: float, memory: Callable[[], Memory]) -> bool:
        """Write what there is to write; return whether the safe row changed."""
        if self._pending is None and (now >= self._next or len(self._receipts) >= _MOST_RECEIPTS):
            self._next = now + _EVERY
            self._pending = _Pending(memory(), self._receipts, self._client.published)
            self._receipts = []
        if self._pending is None or self._client.confirmed < self._pending.published:
            return False
        before, pending = self.settled, self._pending
        self.settled, self._pending = pending.memory.settled, None
        self._write(pending.memory, now)
        self._write_plans(now)
        for receipt in pending.receipts:
            self._client.acknowledge(receipt)
        return self.settled != before

    def finish(self, memory: Callable[[], Memory]) -> None:
        """Write everything once more, if the broker confirms what was sent soon enough."""
        give_up = time.monotonic() + _LAST_WAIT
        if self._pending is not None:
            self._receipts = self._pending.receipts + self._receipts
        self._pending, self._next, self._next_try = None, 0.0, 0.0
        last = memory()
        while self._client.is_connected and time.monotonic() < give_up:
            self.step(time.monotonic(), lambda: last)
            if self._pending is None:
                return
            time.sleep(0.01)

    def _write(self, memory: Memory, now: float) -> None:
        if self._path is None or memory == self._written or now < self._next_try:
            return
        path = self._path
        if self._is_written(lambda: write_memory(path, memory), now):
            self._written = memory
            if self._decided is not None:
                decided = self._decided
                self._is_written(lambda: decided.forget(memory), now)

    def _write_plans(self, now: float) -> None:
        if self._path is None or self._plans is None or now < self._next_try:
            return
        path, plans = self._path, self._plans
        if self._is_written(lambda: write_plans(path, plans), now):
            self._plans = None

    def _is_written(self, write: Callable[[], None], now: float) -> bool:
        try:
            write()
        except OSError as error:
            self._counters["unsaved"] += 1
            self._next_try = now + _TRY_AGAIN
            if not self._is_failing:
                text = f"{self._path} cannot be written, so the node goes on from memory: {error}"
                self._log(Event(text, "state_unwritable", "error"))
            self._is_failing = True
            return False
        if self._is_failing:
            self._log(Event(f"{self._path} is written again", "state_writable"))
        self._is_failing = False
        return True
