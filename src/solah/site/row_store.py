"""The rows that a node knows something of: bounded, and those that wait in order."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.site.evaluation import Case


class Rows:
    """Cases by the numbers of their rows."""

    def __init__(self) -> None:
        self._cases: dict[int, Case] = {}
        self._lowest: list[int] = []  # heaps, in which some are long gone
        self._highest: list[int] = []
        self._open: list[int] = []
        self._waiting: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._cases

    def get(self, sequence: int) -> Case | None:
        """Return what is known of a row; None for nothing."""
        return self._cases.get(sequence)

    def known(self, sequences: Iterable[int]) -> list[Case]:
        """Return the cases of those rows of which something is known."""
        return [self._cases[one] for one in sequences if one in self._cases]

    def add(self, case: Case) -> None:
        """Add a row."""
        self._cases[case.sequence] = case
        heapq.heappush(self._lowest, case.sequence)
        heapq.heappush(self._highest, -case.sequence)
        heapq.heappush(self._open, case.sequence)

    def reopen(self, case: Case) -> None:
        """Let a row that was over wait again."""
        case.is_over = False
        heapq.heappush(self._open, case.sequence)

    def drop(self, sequence: int) -> Case:
        """Forget a row."""
        case = self._cases.pop(sequence)
        for heap, one in ((self._lowest, sequence), (self._highest, -sequence)):
            if heap[0] == one:
                heapq.heappop(heap)
        return case

    def oldest(self) -> int:
        """Return the row that was added first."""
        return next(iter(self._cases))

    def ends(self) -> tuple[int, int]:
        """Return the lowest row and the highest."""
        while self._lowest[0] not in self._cases:
            heapq.heappop(self._lowest)
        while -self._highest[0] not in self._cases:
            heapq.heappop(self._highest)
        return self._lowest[0], -self._highest[0]

    def lowest_open(self) -> int | None:
        """Return the lowest row that waits for something; None where none does."""
        while self._open:
            case = self._cases.get(self._open[0])
            if case is not None and not case.is_over:
                return self._open[0]
            heapq.heappop(self._open)
        return None

    def wait(self, case: Case, since: float) -> None:
        """Let the deadline of a row run since some time."""
        case.due = since
        heapq.heappush(self._waiting, (since, case.sequence))

    def first_waiting(self) -> Case | None:
        """Return the row whose deadline began first; None where none waits."""
        while self._waiting:
            since, sequence = self._waiting[0]
            case = self._cases.get(sequence)
            if case is not None and not case.is_over and case.due == since:
                return case
            heapq.heappop(self._waiting)
        return None
