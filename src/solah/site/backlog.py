"""A bounded queue of what comes to a node, and a log of problems with bounded repetition."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from solah.exceptions import cut
from solah.site.logs import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.site.client import Receipt

_MAX_KINDS = 100
_MAX_LETTERS = 300
_OTHERS = "others"


class Item(NamedTuple):
    """Something that waits: a message by its topic, or a row."""

    kind: str
    content: Any
    size: int
    receipt: Receipt | None = None


class Backlog:
    """A queue with bounds to its length and its bytes. When it is full, the oldest item goes.

    Parameters
    ----------
    most_items, most_bytes : int
        An item that is larger than that gets in alone.
    """

    def __init__(self, most_items: int, most_bytes: int) -> None:
        self._most_items, self._most_bytes = most_items, most_bytes
        self._items: deque[Item] = deque()
        self._bytes = 0
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> list[Item]:
        """Add an item; return those that had to go for it."""
        gone = []
        with self._changed:
            while self._items and (
                len(self._items) >= self._most_items or self._bytes + item.size > self._most_bytes
            ):
                gone.append(self._pop())
            self._items.append(item)
            self._bytes += item.size
            self._changed.notify()
        return gone

    def take(self, wait: float, most: int) -> list[Item]:
        """Return the oldest, at most ``most``, after waiting ``wait`` seconds for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._items, wait)
            return [self._pop() for _ in range(min(most, len(self._items)))]

    def _pop(self) -> Item:
        item = self._items.popleft()
        self._bytes -= item.size
        return item


@dataclass
class _Kind:
    """A kind of problem: when it was last reported, how often it came since, and its last text."""

    reported: float
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
    >>> complaints.report(now=60.0)
    cellar/out: 2 more like that in 60 s, the last: not JSON (2)
    """

    def __init__(self, log: Callable[[str], None], every: float = 60.0) -> None:
        self._log, self._every = log, every
        self._kinds: dict[str, _Kind] = {}

    def add(self, kind: str, text: str, now: float) -> None:
        """Note a problem."""
        kind = kind if kind in self._kinds or len(self._kinds) < _MAX_KINDS else _OTHERS
        text = cut(text, _MAX_LETTERS)
        if kind not in self._kinds:
            self._kinds[kind] = _Kind(now)
            self._write(text, kind, 1)
        else:
            self._kinds[kind].times += 1
            self._kinds[kind].last = text
        self.report(now)

    def report(self, now: float, *, all_of_it: bool = False) -> None:
        """Report how many came of each kind, if it is time to; drop those that stopped."""
        for kind, one in [*self._kinds.items()]:
            if now < one.reported + self._every and not all_of_it:
                continue
            del self._kinds[kind]
            if one.times:
                more = f"{one.times:,} more like that in {now - one.reported:.0f} s"
                self._write(f"{more}, the last: {one.last}", kind, one.times)
                self._kinds[kind] = _Kind(now)

    def _write(self, text: str, kind: str, times: int) -> None:
        self._log(Event(f"{kind}: {text}", "refused_message", "warning", topic=kind, times=times))
