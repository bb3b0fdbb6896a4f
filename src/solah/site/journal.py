"""Keep the rows that a node made, so that they can be brought when a broker comes back.

A row is a line of a file, the newest of the last file. Where rows take more bytes than they may, or
are too old, the oldest file goes. What cannot be written, as on a full disk, is kept in memory as
far as there is room.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from solah.site.messages import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from solah.site.settings import Store

_FILES = 8
_IN_MEMORY = 1_000
_A_PIECE = 500
_SUFFIX = ".rows"


@dataclass
class _Segment:
    """A file with rows that follow each other."""

    path: Path
    first: int
    last: int
    newest: float
    size: int


class Journal:
    """The rows of a node, on disk, with bounds to their bytes and their age.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files are; it is made where it is missing.
    store : Store
        The bounds.
    log : callable
        Called with what an operator should know.
    """

    def __init__(
        self, folder: Path, store: Store, log: Callable[[str], None] = lambda _: None
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._folder, self._store, self._log = folder, store, log
        self._changed = threading.Condition()
        self._recent: deque[Measured] = deque(maxlen=_IN_MEMORY)
        self._file: IO[bytes] | None = None
        self._is_failing = False
        folder.mkdir(parents=True, exist_ok=True)
        self._segments = _find_segments(folder)

    @property
    def last(self) -> int:
        """The number of the newest row; -1 for none."""
        with self._changed:
            return self._last()

    def append(self, row: Measured) -> None:
        """Add a row, whose number is larger than all before; its time says how old it is."""
        with self._changed:
            self._recent.append(row)
            self._write(row)
            self._forget(row.time or 0.0)
            self._changed.notify_all()

    def after(self, number: int, wait: float = 0.0) -> list[Measured]:
        """Return the first rows beyond a number; wait so many seconds for one."""
        with self._changed:
            self._changed.wait_for(lambda: self._last() > number, wait)
            if self._recent and _number(self._recent[0]) <= number + 1:
                return [row for row in self._recent if _number(row) > number][:_A_PIECE]
            segments = [one.path for one in self._segments if one.last > number]
            stored = {_number(row): row for path in segments[:2] for row in _read(path)}
            if len(segments) <= 2:
                stored |= {_number(row): row for row in self._recent}
            found = [stored[one] for one in sorted(stored) if one > number]
            return (found or [row for row in self._recent if _number(row) > number])[:_A_PIECE]

    def close(self) -> None:
        """Close the file; a row that comes later opens another."""
        with self._changed:
            self._close()

    def _last(self) -> int:
        in_files = max((segment.last for segment in self._segments[-2:]), default=-1)
        return max(in_files, _number(self._recent[-1]) if self._recent else -1)

    def _write(self, row: Measured) -> None:
        line = _line(row)
        try:
            file = self._file or self._begin(_number(row))
            file.write(line)
            file.flush()
        except OSError as error:
            self.counters["unstored"] += 1
            self._give_up_file()
            if not self._is_failing:
                self._log(f"{self._folder} cannot be written, so rows are kept in memory: {error}")
            self._is_failing = True
            return
        self._is_failing = False
        segment = self._segments[-1]
        segment.last, segment.newest = _number(row), row.time or 0.0
        segment.size += len(line)
        if segment.size > self._store.size // _FILES:
            self._close()

    def _begin(self, number: int) -> IO[bytes]:
        path = self._folder / f"{number:020d}{_SUFFIX}"
        self._file = path.open("wb")
        self._segments.append(_Segment(path, number, -1, 0.0, 0))
        return self._file

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # what could not be written cannot be written now, either
                file.close()

    def _give_up_file(self) -> None:
        """Close a file that cannot be written, and forget it if it has no row."""
        is_open = self._file is not None
        self._close()
        if is_open and self._segments[-1].last < 0:
            _remove(self._segments.pop().path)

    def _forget(self, now: float) -> None:
        """Remove the oldest files, as far as they are too many or too old."""
        while self._segments:
            oldest = self._segments[0]
            size = sum(segment.size for segment in self._segments)
            is_too_old = now - oldest.newest > self._store.age
            if not is_too_old and (size <= self._store.size or len(self._segments) == 1):
                break
            if len(self._segments) == 1:
                self._close()
            _remove(oldest.path)
            del self._segments[0]
            self.counters["forgotten_files"] += 1
        while self._recent and now - (self._recent[0].time or 0.0) > self._store.age:
            self._recent.popleft()


def _remove(path: Path) -> None:
    """Remove a file; one that stays is found again, and removed, when the node starts."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _number(row: Measured) -> int:
    return -1 if row.sequence is None else row.sequence


def _line(row: Measured) -> bytes:
    plain = [row.sequence, row.time, row.oldest, list(row.missing), dict(row.readings)]
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _read(path: Path) -> Iterator[Measured]:
    """Read the rows of a file; what a power cut left of a line is no row."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            number, time, oldest, missing, readings = json.loads(line)
            row = Measured(dict(readings), int(number), time, oldest, tuple(missing))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            continue
        yield row


def _find_segments(folder: Path) -> list[_Segment]:
    segments = []
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        rows = list(_read(path))
        if not rows:
            _remove(path)
            continue
        first, last = _number(rows[0]), _number(rows[-1])
        segments.append(_Segment(path, first, last, rows[-1].time or 0.0, path.stat().st_size))
    return segments
