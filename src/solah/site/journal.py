"""Append-only files, and the rows of a node that wait there for a broker that is away."""

from __future__ import annotations

import errno
import json
import threading
from bisect import bisect_right
from collections import Counter, deque
from contextlib import suppress
from typing import TYPE_CHECKING

from solah.atomic import write_whole
from solah.site.messages import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from solah.site.settings import Store

_IN_MEMORY = 1_000
_A_PIECE = 500


class LineFile:
    """A file to which whole lines are appended; a kill or a power cut spoils the last one only.

    Parameters
    ----------
    path : pathlib.Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size if path.exists() else 0
        self._is_whole = not self.size  # else the last line may have been cut short

    def append(self, line: bytes) -> None:
        """Append a line; an error of the disk is an ``OSError``."""
        data = line + b"\n" if self._is_whole else b"\n" + line + b"\n"
        self._is_whole = False
        with self.path.open("ab", buffering=0) as file:
            n_written = file.write(data)
        self.size += n_written
        if n_written != len(data):
            raise OSError(errno.ENOSPC, "the disk is full")
        self._is_whole = True

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from a byte on; a line that was cut short is one, too."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(start)
            yield from (stripped for line in file if (stripped := line.rstrip(b"\n")))

    def replace(self, lines: list[bytes]) -> None:
        """Write other lines instead of all, whole or not at all."""
        write_whole(self.path, b"".join(line + b"\n" for line in lines))
        self.size, self._is_whole = self.path.stat().st_size, True


class _Segment(LineFile):
    """A file of rows whose numbers rise, with an index of some of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.index: list[tuple[int, int]] = []  # number and byte of every 500th row
        self.first = self.newest = 0.0  # times of the first row and the last
        self.last, self._n_rows, at = -1, 0, 0
        with suppress(FileNotFoundError), path.open("rb") as file:
            for line in file:
                if (row := _row(line)) is not None:
                    self._note(row, at)
                at += len(line)

    def add(self, row: Measured) -> None:
        at = self.size
        self.append(_line(row))
        self._note(row, at)

    def _note(self, row: Measured, at: int) -> None:
        if self._n_rows % _A_PIECE == 0:
            self.index.append((_number(row), at))
        self.first = self.first if self._n_rows else row.time or 0.0
        self.last, self.newest = _number(row), row.time or 0.0
        self._n_rows += 1

    def after(self, number: int) -> Iterator[Measured]:
        place = max(bisect_right([one for one, _ in self.index], number) - 1, 0)
        for line in self.lines(self.index[place][1] if self.index else 0):
            if (row := _row(line)) is not None and _number(row) > number:
                yield row


class Journal:
    """The rows of a node, on disk, with bounds to their bytes and their age.

    Rows are in two files, of which the older goes when the newer has half of the bytes or the age.
    Rows that cannot be written, as on a full disk, are kept in memory as far as there is room.

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
        self._is_failing = False
        folder.mkdir(parents=True, exist_ok=True)
        self._old, self._new = _Segment(folder / "old.rows"), _Segment(folder / "new.rows")

    @property
    def last(self) -> int:
        """The number of the newest row; -1 for none."""
        with self._changed:
            return self._last()

    def append(self, row: Measured) -> None:
        """Add a row, whose number is larger than all before; its time is that of the reading."""
        with self._changed:
            now = row.time or 0.0
            self._recent.append(row)
            while now - (self._recent[0].time or 0.0) > self._store.age:
                self._recent.popleft()
            try:
                self._rotate(now)
                self._new.add(row)
                self._is_failing = False
            except OSError as error:
                self.counters["unstored"] += 1
                if not self._is_failing:
                    self._log(f"cannot write {self._folder}, rows stay in memory: {error}")
                self._is_failing = True
            self._changed.notify_all()

    def after(self, number: int, wait: float = 0.0) -> list[Measured]:
        """Return the first rows after a number; wait ``wait`` seconds for one."""
        with self._changed:
            self._changed.wait_for(lambda: self._last() > number, wait)
            if self._last() <= number:
                return []
            found = {}
            if not self._recent or _number(self._recent[0]) > number + 1:
                for segment in (self._old, self._new):
                    for row in segment.after(number):
                        found[_number(row)] = row
                        if len(found) >= _A_PIECE:
                            return [*found.values()]
            found |= {_number(row): row for row in self._recent if _number(row) > number}
            return [found[one] for one in sorted(found)][:_A_PIECE]

    def _last(self) -> int:
        recent = _number(self._recent[-1]) if self._recent else -1
        return max(self._old.last, self._new.last, recent)

    def _rotate(self, now: float) -> None:
        """Let the new file be the old one when it is large or old, and remove what is too old."""
        is_old = self._new.size > 0 and now - self._new.first > self._store.age / 2
        if is_old or self._new.size > self._store.size // 2:
            self.counters["forgotten_files"] += self._old.size > 0
            old, new = self._old.path, self._new.path
            self._new.path = new.replace(old)
            self._old, self._new = self._new, _Segment(new)
        if self._old.size and now - self._old.newest > self._store.age:
            self._old.path.unlink(missing_ok=True)
            self.counters["forgotten_files"] += 1
            self._old = _Segment(self._old.path)


def _number(row: Measured) -> int:
    return -1 if row.sequence is None else row.sequence


def _line(row: Measured) -> bytes:
    plain = [row.sequence, row.time, row.oldest, list(row.missing), dict(row.readings)]
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def _row(line: bytes) -> Measured | None:
    """Read a row; None for the rest of a line after a power cut."""
    try:
        number, time, oldest, missing, readings = json.loads(line)
        return Measured(dict(readings), int(number), time, oldest, tuple(missing))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
