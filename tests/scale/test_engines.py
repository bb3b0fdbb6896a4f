"""Passes over parts: every row once, by as many threads as there are, until something is wrong."""

import threading
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Table
from solah.exceptions import DataError
from solah.scale.engines import LocalEngine, Portions, statistics_of
from solah.scale.passes import Pass, SummingPass, add_up


class Total(SummingPass):
    """Adds numbers up."""

    name = "adding"
    columns = ("n",)

    def begin(self):
        return {"total": np.zeros(1, dtype=np.int64), "rows": np.zeros(1, dtype=np.int64)}

    def add(self, gathered, table):
        values = table.column("n").values
        if (values < 0).any():
            raise DataError(f"row {table.first_row + int((values < 0).argmax())} is negative")
        gathered["total"] += values.sum()
        gathered["rows"] += table.n_rows


class Distinct(Pass[set]):
    """Keeps different numbers."""

    name = "looking"
    columns = ("n",)

    def begin(self):
        return set()

    def add(self, gathered, table):
        gathered |= set(table.column("n").values.tolist())

    def finish(self, gathered):
        return {"values": np.array(sorted(gathered))}

    def merge(self, one, other):
        return {"values": np.union1d(one["values"], other["values"])}


@dataclass(frozen=True)
class NumbersPart:
    first_row: int
    values: np.ndarray
    pause: float = 0.0

    @property
    def n_rows(self):
        return len(self.values)

    def tables(self, columns, rows):
        assert tuple(columns) == ("n",)
        for start in range(0, len(self.values), rows):
            time.sleep(self.pause)
            values = self.values[start : start + rows]
            yield Table((Column("n", values),), len(values), self.first_row + start)


@dataclass(frozen=True)
class NumbersSource:
    pieces: tuple[np.ndarray, ...]
    pause: float = 0.0

    @property
    def n_rows(self):
        return sum(map(len, self.pieces))

    def parts(self, n_rows):
        assert n_rows == Portions.part_rows
        firsts = np.cumsum([1, *map(len, self.pieces)])
        return tuple(
            NumbersPart(int(first), values, self.pause)
            for first, values in zip(firsts, self.pieces, strict=False)
        )


class Counter:
    """Hears how passes get on."""

    def __init__(self):
        self.said, self.rows, self.lock = [], 0, threading.Lock()

    def begin(self, name, n_rows):
        self.said.append((name, n_rows))
        self.rows = 0

    def advance(self, n_rows):
        with self.lock:
            self.rows += n_rows

    def end(self):
        self.said.append(self.rows)


def pieces(sizes):
    places = np.cumsum([0, *sizes])
    return tuple(np.arange(a, b) for a, b in pairwise(places))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 9), st.integers(1, 20))
def test_every_row_is_seen_once(sizes, n_threads, rows):
    watcher, n_rows = Counter(), sum(sizes)
    source = NumbersSource(pieces(sizes))
    engine = LocalEngine(source, n_threads, Portions(rows=rows), watcher)
    found = engine.run(Total())
    assert found["total"] == n_rows * (n_rows - 1) // 2
    assert found["rows"] == n_rows
    np.testing.assert_array_equal(engine.run(Distinct())["values"], np.arange(n_rows))
    assert watcher.said == [("adding", n_rows), n_rows, ("looking", n_rows), n_rows]


def test_threads_share_the_parts():
    all_at_work = threading.Barrier(8, timeout=60)

    class Together(Total):
        def add(self, gathered, table):
            all_at_work.wait()
            super().add(gathered, table)

    assert LocalEngine(NumbersSource(pieces([5] * 8)), 8).run(Together())["rows"] == 40


def test_there_are_no_more_threads_than_parts():
    before = threading.active_count()
    most = []

    class Watching(Total):
        def add(self, gathered, table):
            most.append(threading.active_count())
            time.sleep(0.02)
            super().add(gathered, table)

    assert LocalEngine(NumbersSource(pieces([3, 4])), 50).run(Watching())["rows"] == 7
    assert max(most) <= before + 2


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_an_error_names_its_row(n_threads):
    values = [np.arange(10), np.array([4, 5, -1, 6]), np.arange(3)]
    watcher = Counter()
    engine = LocalEngine(NumbersSource(tuple(values)), n_threads, Portions(rows=2), watcher)
    with pytest.raises(DataError, match="row 13 is negative"):
        engine.run(Total())
    assert len(watcher.said) == 2  # the pass has ended for who watches


@pytest.mark.parametrize("place", [0, 1])
def test_an_error_stops_the_other_threads(place):
    values = [np.arange(1)] * 200
    values[place] = np.array([-1])
    watcher = Counter()
    with pytest.raises(DataError):
        LocalEngine(NumbersSource(tuple(values), 0.05), 2, watcher=watcher).run(Total())
    assert watcher.rows < 20


def test_an_engine_goes_on_after_an_error():
    class Once(Total):
        failed = False

        def add(self, gathered, table):
            if not Once.failed:
                Once.failed = True
                raise OSError("the network is gone")
            super().add(gathered, table)

    engine = LocalEngine(NumbersSource(pieces([4, 4])), 2)
    with pytest.raises(OSError, match="the network is gone"):
        engine.run(Once())
    assert engine.run(Once())["rows"] == 8


def test_parts_are_read_in_their_order_by_one_thread():
    seen = []

    class Order(Total):
        def add(self, gathered, table):
            seen.append(table.first_row)

    statistics_of(Order(), NumbersSource(pieces([2, 1, 3])).parts(Portions.part_rows), rows=2)
    assert seen == [1, 3, 4, 6]


def test_sums_add_up_by_name():
    one, other = {"a": np.array([1, 2]), "b": np.array([[3]])}, {"b": np.array([[4]])}
    assert {name: sums.tolist() for name, sums in add_up(one, other).items()} == {
        "a": [1, 2],
        "b": [[7]],
    }
