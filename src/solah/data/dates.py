"""Features of a column of dates: hour, weekday, month, days since a day.

The name of such a feature is complete ("hour of time"), so a model needs the name only, and every
table with the column of dates has the feature. Hours, days and months are taken as they are
written, whatever the offset from UTC.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    Dates = NDArray[np.datetime64]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_NAME = re.compile(r"(hour|weekday|month|days since (\d{4}-\d\d-\d\d)) of (.+)", re.DOTALL)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d.*)?")
_WITH_DOTS = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})(?: (\d\d:\d\d(?::\d\d)?))?")
_WITH_SLASHES = re.compile(r"\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)(?: .*)?")
_FIRST_LOOK = 20
# A pattern must repeat itself at least twice.
_TWO_WEEKS, _TWO_YEARS = np.timedelta64(14, "D"), np.timedelta64(730, "D")
_TWO_MONTHS = np.timedelta64(62, "D")


class DatePart(NamedTuple):
    """A feature of a column of dates.

    ``part`` is ``"hour"``, ``"weekday"``, ``"month"`` or ``"days"``, counted from ``since``.
    """

    column: str
    part: str
    since: str = ""

    @property
    def name(self) -> str:
        """The name of the feature."""
        return f"{f'days since {self.since}' if self.since else self.part} of {self.column}"

    def values(self, dates: Dates) -> tuple[NDArray[Any], tuple[str, ...] | None]:
        """Return its values: numbers, or words and their order; NaN or None where missing."""
        unknown = np.isnat(dates)
        days = dates.astype("datetime64[D]")
        if self.part == "weekday":  # the first of January 1970 was a Thursday
            return _named((days.astype(np.int64) + 3) % 7, WEEKDAYS, unknown), WEEKDAYS
        if self.part == "month":
            month = dates.astype("datetime64[M]").astype(np.int64) % 12
            return _named(month, MONTHS, unknown), MONTHS
        start = np.datetime64(self.since, "s") if self.since else days.astype("datetime64[s]")
        seconds = np.where(unknown, np.nan, (dates - start).astype(np.float64))
        return seconds / (86_400 if self.since else 3_600), None


def date_part(name: str, known: Collection[str]) -> DatePart | None:
    """Read the name of a feature of one of the known columns; None for other names.

    Examples
    --------
    >>> date_part("hour of time", ["time"])
    DatePart(column='time', part='hour', since='')
    >>> date_part("hour of time", ["day"])
    """
    found = _NAME.fullmatch(name)
    if found is None or found[3] not in known:
        return None
    return DatePart(found[3], "days" if found[2] else found[1], found[2] or "")


def parse_dates(cells: Iterable[str | None]) -> Dates | None:
    """Read dates, with or without a time: ISO 8601, or day.month.year; None if any is not a date.

    Examples
    --------
    >>> parse_dates(["2026-01-05", "2026-01-05T10:30Z", None]).tolist()[1]
    datetime.datetime(2026, 1, 5, 10, 30)
    >>> parse_dates(["2026-01-05", "yesterday"])
    """
    known: dict[str | None, datetime | None] = {None: None}
    dates = []
    for cell in cells:
        if cell is not None and cell not in known:
            known[cell] = _parse(cell)
            if known[cell] is None:
                return None
        dates.append(known[cell])
    return np.array(dates, dtype="datetime64[s]")


def are_dates(cells: Iterable[str | None]) -> bool:
    """Whether cells look like dates, by the first of them.

    Examples
    --------
    >>> are_dates(["2026-01-05"]), are_dates(["5"]), are_dates([None])
    (True, False, False)
    """
    first = _first_of(cells)
    return bool(first) and all(_parse(cell) is not None for cell in first)


def are_ambiguous_dates(cells: Iterable[str | None]) -> bool:
    """Whether cells look like dates with slashes, which may begin with the day or the month."""
    first = _first_of(cells)
    return bool(first) and all(_WITH_SLASHES.fullmatch(cell) for cell in first)


def _first_of(cells: Iterable[str | None]) -> list[str]:
    return list(islice((cell for cell in cells if cell is not None), _FIRST_LOOK))


def useful_parts(column: str, dates: Dates) -> list[DatePart]:
    """List the features that dates may have: patterns that they show at least twice.

    Days since the first are a feature of dates that do not rise from row to row, such as the day
    when a machine was built. Times of readings rise, and all later rows would be out of range.
    """
    known = dates[~np.isnat(dates)]
    if not len(known):
        return []
    days = known.astype("datetime64[D]")
    span = days.max() - days.min()
    hours = known - days.astype("datetime64[s]")
    found = [DatePart(column, "hour")] if np.ptp(hours.astype(np.int64)) else []
    found += [DatePart(column, "weekday")] if span >= _TWO_WEEKS else []
    found += [DatePart(column, "month")] if span >= _TWO_YEARS else []
    if span >= _TWO_MONTHS and (np.diff(known.astype(np.int64)) < 0).any():
        found.append(DatePart(column, "days", str(days.min())))
    return found


def _parse(cell: str) -> datetime | None:
    text = cell
    if parts := _WITH_DOTS.fullmatch(cell):
        day, month, year, time = parts.groups()
        text = f"{year}-{int(month):02}-{int(day):02} {time or '00:00'}"
    elif not _ISO.fullmatch(cell):
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def _named(places: NDArray[Any], names: tuple[str, ...], unknown: NDArray[Any]) -> NDArray[Any]:
    words: NDArray[Any] = np.array(names, dtype=object)[places]
    words[unknown] = None
    return words
