"""Files that are written whole or not at all."""

import os
import stat

import pytest

from solah.atomic import whole_file, write_whole


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_nothing_is_left_whatever_ends_the_writing(tmp_path, failure):
    (tmp_path / "there.txt").write_text("old", encoding="utf-8")
    for name in ("there.txt", "new.txt"):
        with pytest.raises(failure), whole_file(tmp_path / name) as file:
            file.write("half")
            raise failure
    assert [path.name for path in tmp_path.iterdir()] == ["there.txt"]
    assert (tmp_path / "there.txt").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("step", ["open", "fsync", "replace", "chmod", "umask"])
def test_nothing_is_left_wherever_a_signal_comes(tmp_path, monkeypatch, step):
    real = getattr(os, step)

    def stopped(*given, **more):
        if step == "open":  # the file is there, and nobody knows yet
            real(*given, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, stopped)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "new.txt", "text")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_the_file_and_then_its_name_are_on_the_disk(tmp_path, monkeypatch):
    synced = []

    def fsync(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append(("folder" if is_folder else "file", (tmp_path / "new.txt").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(tmp_path / "new.txt", "text")
    assert synced == [("file", False), ("folder", True)]


def test_a_new_file_has_the_usual_mode_and_a_replaced_one_its_own(tmp_path):
    write_whole(tmp_path / "new.txt", "text")
    (tmp_path / "plain.txt").write_text("text", encoding="utf-8")
    assert (tmp_path / "new.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode
    (tmp_path / "new.txt").chmod(0o600)
    write_whole(tmp_path / "new.txt", "secret")
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o600
