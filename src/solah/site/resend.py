"""Answer requests for rows that were sent before; the rate is limited."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

MOST_ROWS = 1_000
MESSAGES_A_SECOND = 5.0


class Answers:
    """The rows that are still to be sent again, and how much of that is allowed.

    A request may be small and come often, so its answers are bounded: the rows that wait to be
    sent, the newest of those that are asked for, and the messages per second, of which a second's
    worth can be saved up.

    Examples
    --------
    >>> answers = Answers()
    >>> answers.want(range(1_200))
    200
    >>> [len([*answers.due(now, lambda _: 200)]) for now in (0.0, 0.1, 0.2)]
    [1000, 0, 0]
    """

    def __init__(self) -> None:
        self._rows: dict[int, None] = {}
        self._allowed, self._counted_at = MESSAGES_A_SECOND, 0.0

    def want(self, rows: Collection[int]) -> int:
        """Note the newest rows of some; return for how many there is no room."""
        new = set(rows) - self._rows.keys()
        room = MOST_ROWS - len(self._rows)
        self._rows |= dict.fromkeys(sorted(heapq.nlargest(room, new)))
        return max(len(new) - room, 0)

    def due(self, now: float, rows_a_message: Callable[[int], int]) -> Iterator[int]:
        """Yield the rows that may be sent now; a message holds ``rows_a_message`` like each."""
        earned = max(now - self._counted_at, 0.0) * MESSAGES_A_SECOND
        self._allowed, self._counted_at = min(self._allowed + earned, MESSAGES_A_SECOND), now
        for row in [*self._rows]:
            share = rows_a_message(row)
            if self._allowed * share < 1.0:
                return
            self._allowed -= 1.0 / share
            del self._rows[row]
            yield row

    def next_time(self) -> float | None:
        """Return when more may be sent; None if there is nothing to send."""
        return self._counted_at + 1.0 / MESSAGES_A_SECOND if self._rows else None
