"""Files that are written whole or not at all: beside their place first, then renamed into it."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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


def write_all(folder: str | os.PathLike[str], contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write several files into a folder, by their names in it: all of them or none.

    Folders that are missing are made. When anything fails, or the program is interrupted, the
    files and folders are as they were before. Only a machine that stops while the files, which are
    whole by then, take their names can leave some old and some new.

    Returns
    -------
    paths : list of Path
        The files, in the order of the contents.
    """
    paths = [Path(folder) / name for name in contents]
    # What is in `undo` is run only if something fails, what is in `tidy` always.
    with ExitStack() as tidy, ExitStack() as undo:
        drafts = [
            _drafted(path, content, undo)
            for path, content in zip(paths, contents.values(), strict=True)
        ]
        for _, target in drafts:
            if target.exists():
                _keep(target, undo, tidy)
            else:
                undo.callback(target.unlink, missing_ok=True)
        for draft, target in drafts:
            draft.replace(target)
        for parent in {target.parent for _, target in drafts}:
            _sync_folder(parent)
        undo.pop_all()
    return paths


def _drafted(path: Path, content: str | bytes, undo: ExitStack) -> tuple[Path, Path]:
    """Write a file beside its place; return where it is and where it belongs."""
    _make_folders(path.parent, undo)
    target = _replaceable(path)
    draft = _beside(target)
    undo.callback(draft.unlink, missing_ok=True)
    try:
        write_whole(draft, content)
        draft.chmod(_usual_mode(target))
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)  # rather than that of the draft
        raise
    return draft, target


def _make_folders(folder: Path, undo: ExitStack) -> None:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        undo.callback(_remove_empty, one)
        one.mkdir(exist_ok=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _keep(target: Path, undo: ExitStack, tidy: ExitStack) -> None:
    """Give a file a second name, under which it outlasts its replacement."""
    kept = _beside(target)
    tidy.callback(kept.unlink, missing_ok=True)
    try:
        os.link(target, kept)
    except OSError:  # not every file system has links
        shutil.copy2(target, kept)
    undo.callback(kept.replace, target)


def _beside(target: Path) -> Path:
    """Choose a name for a file that does not stay; it is known before the file is there."""
    return target.with_name(f".{secrets.token_hex(8)}.part")


@contextmanager
def _whole_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    target = _replaceable(path)
    # Named before it is there, so that no signal can come between the file and what removes it.
    draft = _beside(target)
    try:
        with _created(draft, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(_usual_mode(target))
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _created(draft: Path, target: Path) -> IO[bytes]:
    """Make a file that only its owner can read; an error names the file that is wanted."""
    try:
        return open(draft, "xb", opener=lambda path, flags: os.open(path, flags, 0o600))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None


def _sync_folder(folder: Path) -> None:
    """Bring a new name to the disk, where the system can: a file alone may be lost with it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # some file systems do not sync folders
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _replaceable(path: str | os.PathLike[str]) -> Path:
    """Find the file that a path leads to: a link stays, and what it leads to is replaced."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not an ordinary file, so it cannot be replaced")
    return target


def _usual_mode(target: Path) -> int:
    """Keep the mode of the file that is replaced; a new one gets what the umask leaves."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
