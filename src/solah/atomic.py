"""Files that are written whole or not at all: beside their place first, then renamed into it."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file for writing that takes its name only when all went well."""
    with _whole_bytes(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with _whole_bytes(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def _whole_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    target = Path(path).resolve()  # a link stays, and what it leads to is replaced
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not an ordinary file, so it cannot be replaced")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(_usual_mode(target))
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _usual_mode(target: Path) -> int:
    """Keep the mode of the file that is replaced; a new one gets what the umask leaves."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
