"""Read whole lines from a pipe, or from a file that may grow.

Both yield what is there, and nothing now and then while they wait, so that the
caller can do other things, or stop.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLL_SECONDS = 0.2
_BLOCK_BYTES = 1 << 16
_MOST_LINES = 1000
_LONGEST_LINE = 1 << 20


class NewLines(NamedTuple):
    """Lines, and how far the source was read behind them; none while there is nothing new."""

    lines: list[bytes]
    position: int


def lines_of_file(
    path: str | os.PathLike[str], *, start: int = 0, growing: bool = False
) -> Iterator[NewLines]:
    r"""Yield the whole lines of a file, and those that are added to it.

    Parameters
    ----------
    path : str or path
        A text file. One that has become shorter was begun again, and is read from its start.
    start : int, default=0
        The byte to begin with: a position that was yielded.
    growing : bool, default=False
        Wait for more lines at the end, instead of ending.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_bytes(b"a,b\n1,2\n3,")
    ...     list(lines_of_file(path))
    [NewLines(lines=[b'a,b', b'1,2'], position=8), NewLines(lines=[b'3,'], position=10)]
    """
    position, rest = start, b""
    while True:
        block = _read(path, position + len(rest))
        if block is None:
            position, rest = 0, b""
            continue
        lines, rest = _cut(rest + block, path)
        position += sum(len(line) for line in lines)
        if lines:
            yield NewLines([line.rstrip(b"\r\n") for line in lines], position)
        elif not block and growing:
            yield NewLines([], position)
            time.sleep(_POLL_SECONDS)
        elif not block:
            if rest:
                yield NewLines([rest], position + len(rest))
            return


def lines_of_pipe(descriptor: int) -> Iterator[NewLines]:
    """Yield the lines of a pipe as they come, until it is closed.

    Parameters
    ----------
    descriptor : int
        The open file, such as ``sys.stdin.fileno()``.
    """
    arrived: queue.Queue[bytes] = queue.Queue(maxsize=10 * _MOST_LINES)
    # A thread waits for the pipe, for a signal could not end the waiting.
    threading.Thread(target=_pump, args=(descriptor, arrived), daemon=True).start()
    while True:
        lines = _waiting(arrived)
        has_ended = bool(lines) and lines[-1] == b""
        whole = [line.rstrip(b"\r\n") for line in lines if line]
        yield NewLines(whole, 0)
        if has_ended:
            return


def _read(path: str | os.PathLike[str], position: int) -> bytes | None:
    """Read on from a byte; None if the file does not reach it any more."""
    try:
        with Path(path).open("rb") as file:
            if file.seek(0, 2) < position:
                return None
            file.seek(position)
            return file.read(_BLOCK_BYTES)
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read: {error.strerror or error}") from error


def _cut(content: bytes, path: str | os.PathLike[str]) -> tuple[list[bytes], bytes]:
    """Cut content into whole lines, and what is left."""
    *lines, rest = content.split(b"\n")
    if len(rest) > _LONGEST_LINE:
        raise FileFormatError(f"{path} has a line of more than {_LONGEST_LINE:,} bytes")
    return [line + b"\n" for line in lines], rest


def _pump(descriptor: int, arrived: queue.Queue[bytes]) -> None:
    # Without a buffer of Python's, whose lock would be held while the program wants to end.
    rest = b""
    while block := os.read(descriptor, _BLOCK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            arrived.put(line + b"\n")
    if rest:
        arrived.put(rest)
    arrived.put(b"")


def _waiting(arrived: queue.Queue[bytes]) -> list[bytes]:
    """Take the lines that are there, after a while none; an empty one is the end."""
    lines: list[bytes] = []
    with suppress(queue.Empty):
        lines.append(arrived.get(timeout=_POLL_SECONDS))
        while lines[-1] and len(lines) < _MOST_LINES:
            lines.append(arrived.get_nowait())
    return lines
