"""Bounded queues of a node's incoming messages and its complaints."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solah.exceptions import cut
from solah.site.logs import Event

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_KINDS = 100
_MOST_LETTERS = 300
_OTHERS = "others"


class Backlog:
    """A queue with bounds to its length and its bytes; where it is full, the oldest goes.

    Parameters
    ----------
    most_items, most_bytes : int
        What is larger than all that may wait gets in alone.
    """

    def __init__(self, most_items: int, most_bytes: int) -> None:
        self._most_items, self._most_bytes = most_items, most_bytes
        self._items: deque[tuple[str, Any, int]] = deque()
        self._bytes = 0
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, kind: str, content: Any, size: int) -> list[tuple[str, Any, int]]:
        """Add something of a size in bytes; return what had to go for it."""
        gone = []
        with self._changed:
            while self._items and (
                len(self._items) >= self._most_items or self._bytes + size > self._most_bytes
            ):
                gone.append(self._pop())
            self._items.append((kind, content, size))
            self._bytes += size
            self._changed.notify()
        return gone

    def add(self, kind: str, one: Any, size: int, *, most: int) -> list[tuple[str, Any, int]]:
        """Add one of several to the newest item, a list, if it has room; else begin another."""
        with self._changed:
            newest = self._items[-1] if self._items else None
            if (
                newest is None
                or newest[0] != kind
                or len(newest[1]) >= most
                or self._bytes + size > self._most_bytes
            ):
                return self.put(kind, [one], size)
            newest[1].append(one)
            self._items[-1] = (kind, newest[1], newest[2] + size)
            self._bytes += size
        return []

    def take(self, wait: float, most: int) -> list[tuple[str, Any]]:
        """Return the oldest, at most ``most``, after waiting ``wait`` seconds for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._items, wait)
            taken = [self._pop() for _ in range(min(most, len(self._items)))]
        return [(kind, content) for kind, content, _ in taken]

    def _pop(self) -> tuple[str, Any, int]:
        item = self._items.popleft()
        self._bytes -= item[2]
        return item


@dataclass
class _Kind:
    """A kind of problem: when it was last reported, how often it came since, and its last text."""

    told: float
    times: int = 0
    last: str = ""


class Complaints:
    """Reports the first problem of each kind at once, and the number of those that follow.

    Parameters
    ----------
    log : callable
        Called with each line.
    every : float, default=60.0
        Seconds between two lines about one kind.

    Examples
    --------
    >>> complaints = Complaints(print)
    >>> for second in range(3):
    ...     complaints.add("cellar/out", f"not JSON ({second})", now=second)
    cellar/out: not JSON (0)
    >>> complaints.tell(now=60.0)
    cellar/out: 2 more like that in 60 s, the last: not JSON (2)
    """

    def __init__(self, log: Callable[[str], None], every: float = 60.0) -> None:
        self._log, self._every = log, every
        self._kinds: dict[str, _Kind] = {}

    def add(self, kind: str, text: str, now: float) -> None:
        """Take a problem in."""
        if len(self._kinds) >= _MOST_KINDS and kind not in self._kinds:
            kind = _OTHERS
        known = self._kinds.get(kind)
        if known is None:
            self._kinds[kind] = _Kind(now)
            self._write(f"{kind}: {cut(text, _MOST_LETTERS)}", kind, 1)
        else:
            known.times += 1
            known.last = cut(text, _MOST_LETTERS)
        self.tell(now)

    def tell(self, now: float, *, all_of_it: bool = False) -> None:
        """Report how many came of each kind, if it is time to; drop those that stopped."""
        for kind, known in [*self._kinds.items()]:
            if now < known.told + self._every and not all_of_it:
                continue
            if not known.times:
                del self._kinds[kind]
                continue
            more = f"{known.times:,} more like that in {now - known.told:.0f} s"
            self._write(f"{kind}: {more}, the last: {known.last}", kind, known.times)
            self._kinds[kind] = _Kind(now)

    def _write(self, text: str, kind: str, times: int) -> None:
        self._log(Event(text, "refused_message", "warning", topic=kind, times=times))
