"""Several files are written, all of them or none: whatever fails, and whenever."""

import os
import shutil
import stat
from itertools import count
from pathlib import Path

import pytest

from solah.atomic import write_all

NEW = {"a.h": "new a", "src/a.c": "new c", "deep/er/b.bin": b"\0new b", "link.h": "new link"}


@pytest.fixture
def folder(tmp_path):
    """Return a folder where two of the files are there, one of them as a link to elsewhere."""
    return make_folder(tmp_path)


def make_folder(parent):
    place = parent / "out"
    (place / "src").mkdir(parents=True)
    (place / "a.h").write_text("old a")
    (place / "a.h").chmod(0o640)
    (parent / "real.h").write_text("old link")
    (place / "link.h").symlink_to(parent / "real.h")
    (place / "mine.txt").write_text("not theirs")
    return place


def state(folder):
    """Return all files around a folder with what is in them, their modes, and all folders."""
    return {
        str(path.relative_to(folder.parent)): (
            path.read_bytes() if path.is_file() else None,
            stat.S_IMODE(path.lstat().st_mode),
            path.is_symlink(),
        )
        for path in folder.parent.rglob("*")
    }


def test_all_files_are_written_and_nothing_else(folder):
    before = state(folder)
    assert write_all(folder, NEW) == [folder / name for name in NEW]
    assert {name: (folder / name).read_bytes() for name in NEW} == {
        name: text if isinstance(text, bytes) else text.encode() for name, text in NEW.items()
    }
    added = {"out/src/a.c", "out/deep", "out/deep/er", "out/deep/er/b.bin"}
    assert state(folder).keys() == before.keys() | added
    assert stat.S_IMODE((folder / "a.h").stat().st_mode) == 0o640
    assert (folder / "link.h").is_symlink()
    assert (folder.parent / "real.h").read_text() == "new link"


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt])
@pytest.mark.parametrize(
    ("owner", "step"),
    [
        *((os, name) for name in ("fsync", "link")),
        *((Path, name) for name in ("chmod", "mkdir", "replace", "resolve")),
    ],
)
def test_whatever_fails_leaves_all_as_it_was(tmp_path, monkeypatch, owner, step, fault):
    monkeypatch.setattr(shutil, "copy2", refuse)  # what would help where a link fails
    n_failed = 0
    for place in count():
        folder = make_folder(tmp_path / str(place))
        before = state(folder)
        with monkeypatch.context() as patched:
            stand_in = FailsOnce(getattr(owner, step), place, fault)
            patched.setattr(
                owner, step, lambda *args, _call=stand_in, **named: _call(*args, **named)
            )
            try:
                write_all(folder, NEW)
            except (OSError, KeyboardInterrupt):
                n_failed += 1
                assert state(folder) == before
            else:
                assert all((folder / name).is_file() for name in NEW)
        if stand_in.n_calls <= place:
            break
    assert n_failed > 1


class FailsOnce:
    """Stands in for a function, and fails when it is called the n-th time."""

    def __init__(self, real, place, fault):
        self._real, self._place, self._fault, self.n_calls = real, place, fault, 0

    def __call__(self, *args, **named):
        self.n_calls += 1
        if self.n_calls == self._place + 1:
            raise self._fault
        return self._real(*args, **named)


def refuse(*_):
    raise PermissionError(1, "Operation not permitted")


def test_files_are_kept_by_copies_where_there_are_no_links(folder, monkeypatch):
    monkeypatch.setattr(os, "link", refuse)
    before, last = state(folder), 2 * len(NEW) - 1
    with monkeypatch.context() as patched:
        stand_in = FailsOnce(Path.replace, last, KeyboardInterrupt)
        patched.setattr(Path, "replace", lambda draft, target: stand_in(draft, target))
        with pytest.raises(KeyboardInterrupt):
            write_all(folder, NEW)
    assert state(folder) == before
    write_all(folder, NEW)
    assert (folder / "a.h").read_text() == "new a"
