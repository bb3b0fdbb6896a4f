"""Rows that others wait for already come at once."""

import sys
from itertools import islice
from types import SimpleNamespace

from solah.site.messages import MAX_SEQUENCE, Measured
from solah.site.row_sources import at_rate, called


def test_rows_that_others_wait_for_pass_without_a_rate():
    rows = [Measured({}, sequence) for sequence in range(2_000)]
    hourly = at_rate(rows, rate=1 / 3600, is_behind=lambda row: row.sequence < 1_000)
    assert [row.sequence for row in islice(hourly, 1_000)] == list(range(1_000))


def test_numbers_of_a_function_go_on_where_others_are(monkeypatch):
    monkeypatch.setitem(sys.modules, "my_sensors", SimpleNamespace(read=lambda: {"x": 1.0}))
    places = iter([-1, -1, 500, 500, 400])
    numbers = [
        row.sequence for row in islice(called("my_sensors:read", 7, lambda: next(places)), 5)
    ]
    assert numbers == [7, 8, 500, 501, 502]


def test_numbers_of_a_function_begin_again_at_their_end(monkeypatch):
    monkeypatch.setitem(sys.modules, "my_sensors", SimpleNamespace(read=lambda: {"x": 1.0}))
    numbers = [row.sequence for row in islice(called("my_sensors:read", MAX_SEQUENCE), 3)]
    assert numbers == [MAX_SEQUENCE, 0, 1]
