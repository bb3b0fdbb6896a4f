"""Bring the rows that are measured at a node to it, not faster than the network decides."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solah.site.client import Client
    from solah.site.core import NodeCore
    from solah.site.messages import Ask, Measured

    Rows = Iterable[Measured] | Callable[[int], Iterable[Measured]]

_AHEAD = 1_000  # rows beyond those that are decided
_MOST_UNCONFIRMED = 200
_READ_AGAIN_EVERY = 1.0
_STUCK = 60.0
_LOOK_EVERY = 0.005


class RowReader:
    """Reads rows in a thread of its own.

    Parameters
    ----------
    bring : callable of a row
    core : NodeCore
        The node for which they are.
    client : Client
        Its connection; nothing is read while that is lost, or much is unconfirmed.
    is_live : bool
        Whether rows come at their own pace.
    """

    def __init__(
        self, bring: Callable[[Measured], None], core: NodeCore, client: Client, *, is_live: bool
    ) -> None:
        self.wanted = -1  # the last row that others came to, or asked for
        self._bring, self._core, self._client, self._is_live = bring, core, client, is_live
        self._progress, self._progressed = -1, time.monotonic()
        self._is_lasting = False  # whether its rows can be had again
        self._read_again: int | None = None
        self._next_reading = 0.0
        self._at = 0  # the row that is read next
        self._stopping = threading.Event()

    def start(self, rows: Rows, first: int, on_problem: Callable[[BaseException], None]) -> None:
        """Begin to read.

        Parameters
        ----------
        rows : iterable of Measured, or a function that returns them from a row on
            What a function returns can be had again.
        first : int
            The row with which a function begins.
        on_problem : callable
            Called with what goes wrong in the thread.
        """

        def read() -> None:
            try:
                self._read(rows, first)
            except BaseException as problem:
                on_problem(problem)

        threading.Thread(target=read, daemon=True).start()

    def stop(self) -> None:
        """Read no more."""
        self._stopping.set()

    def note_progress(self, settled: int) -> None:
        """Note up to which row the network is done."""
        self._progress, self._progressed = settled, time.monotonic()

    def note_wanted(self, sequence: int) -> None:
        """Note a row that others came to."""
        self.wanted = max(self.wanted, sequence)

    def is_behind(self, row: Measured) -> bool:
        """Whether others wait for a row already, or do no longer; from any thread."""
        return row.sequence is not None and row.sequence <= max(self._progress, self.wanted)

    def look_again(self, ask: Ask) -> None:
        """Let rows be read again that others ask for, and that the node has forgotten."""
        self.note_wanted(max(ask.sequences, default=-1))
        since = () if ask.since is None else (ask.since,)
        gone = [
            one for one in (*ask.sequences, *since) if one < self._at and not self._core.holds(one)
        ]
        now = time.monotonic()
        if gone and self._is_lasting and now >= self._next_reading:
            self._next_reading = now + _READ_AGAIN_EVERY
            self._read_again = min(gone)

    def _read(self, rows: Rows, first: int) -> None:
        if not callable(rows):
            self._read_all(rows)
            return
        self._is_lasting, self._read_again = True, first
        while not self._stopping.is_set():
            again, self._read_again = self._read_again, None
            if again is not None:
                self._at = again
                self._read_all(rows(again))
            time.sleep(_LOOK_EVERY)

    def _read_all(self, rows: Iterable[Measured]) -> None:
        """Bring rows until others have to be read."""
        for row in rows:
            while self._is_ahead(row) and self._goes_on():
                time.sleep(_LOOK_EVERY)
            if not self._goes_on():
                return
            self._bring(row)
            if row.sequence is not None:
                self._at = row.sequence + 1

    def _goes_on(self) -> bool:
        return not self._stopping.is_set() and self._read_again is None

    def _is_ahead(self, row: Measured) -> bool:
        """Whether a row has to wait; what cannot be had again does not wait for the dead."""
        if self._client.in_flight > _MOST_UNCONFIRMED or not self._client.is_connected:
            return True
        if self._is_live:
            return False
        if not self._is_lasting and time.monotonic() > self._progressed + _STUCK:
            return False
        return row.sequence is not None and row.sequence > self._progress + _AHEAD
