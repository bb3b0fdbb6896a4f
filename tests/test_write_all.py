"""Several files are written, all of them or none: whatever fails, and whenever."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from solah.atomic import write_all

NEW = {"a.h": "new a", "src/a.c": "new c", "deep/er/b.bin": b"\0new b", "link.h": "new link"}


@pytest.fixture
def folder(tmp_path):
    """Return a folder where two of the files are there, one of them as a link to elsewhere."""
    place = tmp_path / "out"
    (place / "src").mkdir(parents=True)
    (place / "a.h").write_text("old a")
    (place / "a.h").chmod(0o640)
    (tmp_path / "real.h").write_text("old link")
    (place / "link.h").symlink_to(tmp_path / "real.h")
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
def test_whatever_fails_leaves_all_as_it_was(folder, monkeypatch, owner, step, fault):
    before = state(folder)
    monkeypatch.setattr(shutil, "copy2", refuse)  # what would help where a link fails
    n_failed = 0
    while True:
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, fail_at(owner, step, n_failed, fault))
            try:
                write_all(folder, NEW)
            except (OSError, KeyboardInterrupt):
                n_failed += 1
            else:
                break
        assert state(folder) == before
    assert n_failed > 1


def fail_at(owner, step, place, fault):
    """Return a stand-in for a function that fails once: when it is called the n-th time."""
    real, calls = getattr(owner, step), []

    def stand_in(*args, **options):
        calls.append(args)
        if len(calls) == place + 1:
            raise fault
        return real(*args, **options)

    return stand_in


def refuse(*_):
    raise PermissionError(1, "Operation not permitted")


def test_files_are_kept_by_copies_where_there_are_no_links(folder, monkeypatch):
    monkeypatch.setattr(os, "link", refuse)
    before, last = state(folder), 2 * len(NEW) - 1
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail_at(Path, "replace", last, KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_all(folder, NEW)
    assert state(folder) == before
    write_all(folder, NEW)
    assert (folder / "a.h").read_text() == "new a"


def test_an_error_names_the_file_and_not_its_draft(folder, monkeypatch):
    monkeypatch.setattr(os, "fsync", fail_at(os, "fsync", 1, OSError(28, "No space")))
    with pytest.raises(OSError, match=r"No space: '.*src/a\.c'$"):
        write_all(folder, NEW)


def test_what_is_no_file_is_left_alone(folder):
    (folder / "deep" / "er" / "b.bin").mkdir(parents=True)
    before = state(folder)
    with pytest.raises(OSError, match="b.bin is not an ordinary file"):
        write_all(folder, NEW)
    assert state(folder) == before


def test_a_new_folder_is_removed_again(tmp_path):
    with pytest.raises(TypeError):
        write_all(tmp_path / "new" / "folder", {"sub/a": "text", "b": 3})
    assert list(tmp_path.iterdir()) == []
