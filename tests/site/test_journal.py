"""Rows are kept on disk, within bounds, and found again after a restart."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solah.site import journal as journals
from solah.site.journal import Journal, LineFile
from solah.site.messages import Measured
from solah.site.settings import Store


def row(number, time=None):
    readings = {"a": number / 2, "b": "open", "c": None}
    return Measured(readings, number, 1000.0 + number if time is None else time, 999.0, ("c",))


def all_after(journal, number):
    found = []
    while rows := journal.after(number):
        found += rows
        number = rows[-1].sequence
    return found


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), max_size=60), st.lists(st.integers(0, 60), max_size=3))
def test_what_was_added_is_found_again(tmp_path_factory, gaps, restarts):
    folder, store = tmp_path_factory.mktemp("journal"), Store(2_000_000, 1e6)
    journal, rows, number = Journal(folder, store), [], 0
    for place, gap in enumerate(gaps):
        if place in restarts:
            journal = Journal(folder, store)
        number += gap
        rows.append(row(number))
        journal.append(rows[-1])
    for first in (-1, 5, number):
        assert all_after(journal, first) == [one for one in rows if one.sequence > first]
    assert journal.last == (number if rows else -1)


def test_rows_that_take_too_much_room_go_the_oldest_first(tmp_path):
    store = Store(100_000, 1e9)
    journal = Journal(tmp_path, store)
    for number in range(5_000):
        journal.append(row(number))
    found = all_after(journal, -1)
    sizes = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert store.size / 2 < sizes <= store.size * 1.2
    assert [one.sequence for one in found] == list(range(found[0].sequence, 5_000))
    assert journal.counters["forgotten_files"] > 0


def test_files_are_read_only_at_the_start(tmp_path, monkeypatch):
    """Half a store is a second of reading, and rows wait meanwhile."""
    journal = Journal(tmp_path, Store(100_000, 1e9))
    with monkeypatch.context() as reading:
        reading.setattr(journals, "_row", lambda line: pytest.fail("a file is read"))
        for number in range(5_000):
            journal.append(row(number))
    found = [one.sequence for one in all_after(journal, -1)]
    assert found == list(range(found[0], 5_000))


def test_an_old_file_that_an_operator_removes_stops_no_row(tmp_path):
    told = []
    journal = Journal(tmp_path, Store(10_000_000, age=60.0), told.append)
    for number, time in ((1, 1000.0), (2, 1040.0)):
        journal.append(row(number, time))
    (tmp_path / "old.rows").unlink()
    for number, time in ((3, 1061.0), (4, 1200.0)):
        journal.append(row(number, time))
    assert not told
    assert all_after(journal, -1) == [row(4, 1200.0)]


def test_rows_that_are_too_old_go(tmp_path):
    journal = Journal(tmp_path, Store(10_000_000, age=60.0))
    journal.append(row(1, time=1000.0))
    journal.append(row(2, time=1100.0))
    assert [one.sequence for one in all_after(journal, -1)] == [2]
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_power_cut_left_is_no_row(tmp_path):
    journal = Journal(tmp_path, Store())
    journal.append(row(1))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes() + b'[2,1002.0,999.0,[],{"a')
    (tmp_path / "old.rows").write_bytes(b"\x00\x00garbage")
    journal = Journal(tmp_path, Store())
    assert all_after(journal, -1) == [row(1)]
    journal.append(row(3))
    assert all_after(Journal(tmp_path, Store()), -1) == [row(1), row(3)]


def test_a_disk_that_is_full_stops_nothing(tmp_path, monkeypatch):
    told = []
    journal = Journal(tmp_path, Store(), told.append)
    journal.append(row(1))

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(LineFile, "append", fail)
    journal.append(row(2))
    journal.append(row(3))
    assert [one.sequence for one in all_after(journal, 0)] == [1, 2, 3]
    assert journal.counters["unstored"] == 2
    assert len(told) == 1
    monkeypatch.undo()
    journal.append(row(4))
    assert [one.sequence for one in all_after(journal, 0)] == [1, 2, 3, 4]
