"""Write decisions to a file before they are sent, so that a restarted node repeats the same.

A node's state file is written when the broker has confirmed a message. A node that is killed in
between has published a decision that is not in the file, and by then other values of the row may
have arrived. So every decision is appended here first: a line of base64 for each
message, with an empty one before it, so that a line that was cut short spoils no other. What the
state file has by now is skipped, and removed when the file has grown.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.atomic import write_whole
from solah.site.messages import MessageError, decode_decisions
from solah.site.state_file import Memory, as_runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MOST_BYTES = 1_000_000


class DecidedLog:
    """The decisions that a node sent, or was about to send, and that its memory may lack.

    Parameters
    ----------
    state : pathlib.Path
        The state file of the node; the log is beside it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from solah.site.messages import Decided, Decisions, encode
    >>> payload = encode(Decisions("hub", "1f", (Decided(7, 0.0, "wet", {"wet": 1.0}),)))
    >>> with TemporaryDirectory() as folder:
    ...     state = Path(folder, "hub.state")
    ...     DecidedLog(state).append(payload)
    ...     memory, unknown = DecidedLog(state).resume(Memory(settled=3))
    >>> memory.over, unknown == [payload]
    (((7, 7),), True)
    """

    def __init__(self, state: Path) -> None:
        self._path = state.with_name(f"{state.name}.decided")
        self._written: list[tuple[tuple[int, ...], bytes]] = []  # rows, and their message
        self._size = 0

    def resume(self, memory: Memory) -> tuple[Memory, list[bytes]]:
        """Return the memory with what was decided since, and those messages, to be sent again."""
        unknown = [(rows, one) for rows, one in self._read() if not _is_covered(rows, memory)]
        with suppress(OSError):  # what is there too much does no harm
            self._rewrite(unknown)
        decided = {row for rows, _ in unknown for row in rows}
        return _with_decided(memory, decided), [payload for _, payload in unknown]

    def append(self, payload: bytes) -> None:
        """Write a message of decisions, before it is sent."""
        line = _line(payload)
        with self._path.open("ab") as file:
            file.write(line)
        self._written.append((_rows_of(payload), payload))
        self._size += len(line)

    def forget(self, memory: Memory) -> None:
        """Let go, now and then, of what a memory that was written has."""
        if self._size > _MOST_BYTES:
            self._rewrite(
                [(rows, one) for rows, one in self._written if not _is_covered(rows, memory)]
            )

    def _rewrite(self, messages: list[tuple[tuple[int, ...], bytes]]) -> None:
        lines = b"".join(_line(payload) for _, payload in messages)
        if lines or self._path.exists():
            write_whole(self._path, lines)
        self._written, self._size = messages, len(lines)

    def _read(self) -> list[tuple[tuple[int, ...], bytes]]:
        """Read the messages; one that was not written to its end was not sent either."""
        if not self._path.exists():
            return []
        found = []
        *lines, _cut_short = self._path.read_bytes().split(b"\n")
        for line in filter(None, lines):
            try:
                payload = b64decode(line, validate=True)
                found.append((_rows_of(payload), payload))
            except (ValueError, MessageError):
                continue
        return found


def _line(payload: bytes) -> bytes:
    return b"\n" + b64encode(payload) + b"\n"


def _rows_of(payload: bytes) -> tuple[int, ...]:
    return tuple(row.sequence for row in decode_decisions(payload).rows)


def _is_covered(rows: tuple[int, ...], memory: Memory) -> bool:
    """Whether a memory knows that all of these rows are decided."""
    return all(
        row <= memory.settled or any(first <= row <= last for first, last in memory.over)
        for row in rows
    )


def _with_decided(memory: Memory, rows: Iterable[int]) -> Memory:
    """Note that rows are decided of which a memory does not know it."""
    decided = {row for row in rows if row > memory.settled}
    if not decided:
        return memory
    known = {row for first, last in memory.over for row in range(first, last + 1)}
    waiting = tuple(row for row in memory.rows if row.sequence not in decided)
    return replace(memory, over=as_runs(known | decided), rows=waiting)
