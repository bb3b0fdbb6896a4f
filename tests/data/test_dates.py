"""What columns of dates tell, in training and wherever a model asks for it by name."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Table, from_frame
from solah.data.dates import (
    MONTHS,
    WEEKDAYS,
    DatePart,
    are_ambiguous_dates,
    are_dates,
    date_part,
    parse_dates,
    useful_parts,
)
from solah.exceptions import ColumnError

times = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2199, 12, 31)).map(
    lambda time: time.replace(microsecond=0)
)


def table(cells):
    return Table((Column("time", np.array(cells, dtype=object)),), len(cells))


@given(time=times)
def test_parts_are_those_of_the_calendar(time):
    cell = time.isoformat()
    told = table([cell])
    assert told.column("hour of time").values[0] == pytest.approx(
        time.hour + time.minute / 60 + time.second / 3600
    )
    assert told.column("weekday of time").values[0] == time.strftime("%A")
    assert told.column("month of time").values[0] == time.strftime("%B")
    days = (time - dt.datetime(2000, 2, 29)).total_seconds() / 86_400
    assert told.column("days since 2000-02-29 of time").values[0] == pytest.approx(days)


@given(time=times)
def test_all_ways_to_write_a_date_mean_the_same(time):
    time = time.replace(second=0)
    written = [
        time.isoformat(),
        time.isoformat(" "),
        time.strftime("%Y-%m-%d %H:%M") if time.year >= 1000 else time.isoformat(),
        time.isoformat() + "Z",
        time.isoformat() + "+05:30",
        f"{time.day}.{time.month}.{time.year} {time:%H:%M}",
    ]
    assert set(parse_dates(written).tolist()) == {time}


def test_words_of_days_and_months_have_their_order():
    told = table(["2026-01-05", None])
    assert told.column("weekday of time").order == WEEKDAYS
    assert told.column("month of time").order == MONTHS
    assert told.column("weekday of time").values.tolist() == ["Monday", None]
    assert np.isnan(told.column("hour of time").values[1])


@pytest.mark.parametrize("cell", ["", "5", "2026", "20260105", "2026-13-01", "soon", "31.2.2026"])
def test_what_is_no_date_is_none(cell):
    assert parse_dates([cell]) is None
    assert not are_dates([cell])


def test_dates_with_slashes_can_be_read_two_ways():
    assert are_ambiguous_dates(["03/04/2026", None, "4/3/26 10:00"])
    assert not are_dates(["03/04/2026"])
    assert not are_ambiguous_dates(["1/2"])


def test_only_what_repeats_is_told():
    def parts(*cells):
        return [part.name for part in useful_parts("t", parse_dates(cells))]

    assert parts("2026-01-05", "2026-01-06") == []
    assert parts("2026-01-05 10:00", "2026-01-05 11:00") == ["hour of t"]
    assert parts("2026-01-05", "2026-01-25") == ["weekday of t"]
    assert parts("2020-01-05", "2026-01-25") == ["weekday of t", "month of t"]
    assert parts("2026-01-25", "2020-01-05")[-1] == "days since 2020-01-05 of t"
    assert parts(None) == []


@given(name=st.text(min_size=1), part=st.sampled_from(["hour", "weekday", "month"]))
def test_a_part_is_found_by_its_name(name, part):
    whole = DatePart(name, part)
    assert date_part(whole.name, [name]) == whole


def test_a_column_of_that_name_comes_first():
    column = Column("hour of time", np.array([3.0]))
    both = Table((*table(["2026-01-05"]).columns, column), 1)
    assert both.column("hour of time") is column


def test_what_is_not_told_is_an_error_that_says_what_is_needed():
    with pytest.raises(ColumnError, match="'hour of time' needs dates in the column 'time'"):
        table(["2026-01-05", "never"]).column("hour of time")
    with pytest.raises(ColumnError, match="no column 'hour of day'"):
        table(["2026-01-05"]).column("hour of day")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("kind", ["text", "datetime", "date"])
def test_frames_tell_it_too(make, kind):
    moment = dt.datetime(2026, 1, 5, 10, 30)
    value = {"text": "2026-01-05 10:30", "datetime": moment, "date": moment.date()}[kind]
    frame = make({"time": [value, None], "x": [1.0, 2.0]})
    told = from_frame(frame, only=["x", "hour of time", "weekday of time"])
    hour = told.column("hour of time").values
    assert hour[0] == (0.0 if kind == "date" else 10.5)
    assert np.isnan(hour[1])
    assert told.column("weekday of time").values.tolist() == ["Monday", None]
