"""Run passes over all rows, with threads of this process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.scale.passes import Pass, Statistics
    from solah.scale.sources import Part, Source


class ProgressReporter(Protocol):
    """Reports the progress of a pass."""

    def begin(self, name: str, n_rows: int | None) -> None:
        """Report that a pass over so many rows begins."""

    def advance(self, n_rows: int) -> None:
        """Report that so many more rows are done; called from several threads."""

    def end(self) -> None:
        """Report that the pass is done."""


class NoProgress:
    """Reports nothing."""

    def begin(self, name: str, n_rows: int | None) -> None:
        """Do nothing."""

    def advance(self, n_rows: int) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


NO_PROGRESS = NoProgress()


class Engine(Protocol):
    """Runs passes over all rows."""

    @property
    def portions(self) -> Portions:
        """How much is read and held at a time."""

    def run(self, one: Pass[Any]) -> Statistics:
        """Take a pass over all rows."""


@dataclass(frozen=True)
class Portions:
    """How much is read and held at a time.

    Attributes
    ----------
    rows : the most rows of a table
    part_rows : about how many rows a part has
    statistics : the most bytes of statistics that one thread should gather
    """

    rows: int = 32_768
    part_rows: int = 262_144
    statistics: int = 512 * 2**20


@dataclass(frozen=True)
class LocalEngine:
    """Threads of this process, each of which reads parts by itself."""

    source: Source
    n_threads: int = 1
    portions: Portions = Portions()
    watcher: ProgressReporter = NO_PROGRESS

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the source."""
        return self.source.parts(self.portions.part_rows)

    def run(self, one: Pass[Any]) -> Statistics:
        """Take a pass over all rows."""
        self.watcher.begin(one.name, self.source.n_rows)
        try:
            waiting = _Shared(self.parts)
            n_threads = max(1, min(self.n_threads, len(self.parts)))
            if n_threads == 1:
                found = [self._read(one, waiting)]
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    tasks = [pool.submit(self._read, one, waiting) for _ in range(n_threads)]
                    with waiting.stopped_by_errors():
                        found = [task.result() for task in tasks]
        finally:
            self.watcher.end()
        return reduce(one.merge, found)

    def _read(self, one: Pass[Any], waiting: _Shared) -> Statistics:
        with waiting.stopped_by_errors():
            return statistics_of(one, waiting, self.portions.rows, self.watcher)


def statistics_of(
    one: Pass[Any], parts: Iterable[Part], rows: int, watcher: ProgressReporter = NO_PROGRESS
) -> Statistics:
    """Take a pass over parts, one after the other."""
    gathered = one.begin()
    for part in parts:
        for table in part.tables(one.columns, rows):
            one.add(gathered, table)
            watcher.advance(table.n_rows)
    return one.finish(gathered)


class _Shared:
    """Parts that several threads take one by one."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = iter(parts)
        self._lock = threading.Lock()
        self._is_over = False

    def __iter__(self) -> Iterator[Part]:
        while True:
            with self._lock:
                part = None if self._is_over else next(self._parts, None)
            if part is None:
                return
            yield part

    @contextmanager
    def stopped_by_errors(self) -> Iterator[None]:
        """Give out no further parts once anything is wrong, in any thread."""
        try:
            yield
        except BaseException:
            self._is_over = True
            raise
