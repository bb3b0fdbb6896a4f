"""Read recordings from long tables: a row per sample, in a frame, a file, or a folder of files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import ReadOptions, from_frame, iter_tables, read_table, to_numbers
from solah.data.spelling import plain
from solah.exceptions import ColumnError, DataError, shorten
from solah.signals.windows import Recording

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Column, Table

_DEFAULTS = ReadOptions()
TIME = "time"
_INFINITE = ("inf", "infinity")
_RECORDING, _START, _END = "recording", "start", "end"


@dataclass(frozen=True)
class SampleColumns:
    """What the columns of a long table are for.

    Attributes
    ----------
    channels : the columns of samples; none for all columns of numbers that are nothing else
    time : when a sample was taken, in seconds. Without a column ``time``, where no other is
        named, samples come at the stated rate
    label : the class at that time
    recording : the recording that a sample belongs to; None where a table is one recording
    group : what is kept together in a cross-validation, such as a subject; by default a recording
    """

    channels: tuple[str, ...] = ()
    time: str | None = TIME
    label: str | None = None
    recording: str | None = None
    group: str | None = None


def from_long_frame(frame: Any, columns: SampleColumns) -> list[Recording]:
    """Take recordings from a data frame with a row per sample.

    Parameters
    ----------
    frame : data frame
        Of pandas, Polars or PyArrow.
    columns : SampleColumns

    Returns
    -------
    recordings : list of Recording
        In the order in which they begin.
    """
    return from_long_table(from_frame(frame), columns)


def from_long_table(
    table: Table, columns: SampleColumns, name: str = "the data"
) -> list[Recording]:
    """Take recordings from a table with a row per sample; see :func:`from_long_frame`."""
    table = replace(table, columns=tuple(map(_without_infinities, table.columns)))
    if columns.time == TIME and TIME not in table.names:
        columns = replace(columns, time=None)
    channels = columns.channels or _numeric(table, columns)
    for needed in (*channels, *_named(columns)):
        if needed not in table.names:
            raise ColumnError.unknown(needed, table.names, name)
    samples = {
        one: to_numbers(table.column(one), first_row=table.first_row).values.astype(np.float64)
        for one in channels
    }
    times = None if columns.time is None else to_numbers(table.column(columns.time)).values
    labels = None if columns.label is None else _states(table.column(columns.label))
    groups = None if columns.group is None else _states(table.column(columns.group))
    return [
        Recording(
            one,
            {channel: values[rows] for channel, values in samples.items()},
            None if times is None else times[rows].astype(np.float64),
            None if labels is None else labels[rows],
            None if groups is None else _one_group(one, groups[rows]),
        )
        for one, rows in _parts(table, columns, name)
    ]


def read_recordings(
    path: str | os.PathLike[str],
    columns: SampleColumns,
    *,
    labels: str | os.PathLike[str] | None = None,
    rate: float | None = None,
    options: ReadOptions = _DEFAULTS,
) -> list[Recording]:
    """Read recordings from a file, or from all files of a folder, each of them one or several.

    Parameters
    ----------
    path : path-like
        A file that ``solah.data.read_table`` reads, or a folder of such files.
    columns : SampleColumns
        A recording that has no column for its name is called as its file, without the suffix.
    labels : path-like, default=None
        A table with the columns ``recording``, ``start`` and ``end`` (seconds, the end not
        included) and the label, under the name that ``columns`` gives it; a sample outside of all
        intervals has none. A column for the group may be there, too.
    rate : float, default=None
        Samples per second, where recordings have no times and labels do.
    options : ReadOptions
        What is known about the files.

    Returns
    -------
    recordings : list of Recording
        The files of a folder in the order of their names.
    """
    has_intervals = labels is not None
    own = replace(columns, label=None, group=None) if has_intervals else columns
    recordings = []
    for file in _files(Path(path), labels):
        table = read_table(file, options=options)
        if has_intervals and columns.group in table.names:
            own = replace(own, group=columns.group)
        recordings += from_long_table(table, own, file.name.partition(".")[0])
    names = Counter(recording.name for recording in recordings)
    if twice := next((name for name, times in names.items() if times > 1), None):
        raise DataError(f"two recordings are called {shorten(twice)}; rename a file")
    if labels is None:
        return recordings
    return _with_intervals(recordings, read_table(labels, options=options), columns, rate)


def column_names(path: str | os.PathLike[str], options: ReadOptions) -> tuple[str, ...]:
    """Return the columns of a file, or of the first file of a folder."""
    return next(iter_tables(_files(Path(path), None)[0], options=options, rows=1)).names


def _files(path: Path, labels: Any) -> list[Path]:
    if not path.is_dir():
        return [path]
    apart = None if labels is None else Path(labels).resolve()
    files = sorted(
        one
        for one in path.iterdir()
        if one.is_file() and not one.name.startswith(".") and one.resolve() != apart
    )
    if not files:
        raise DataError(f"the folder {str(path)!r} has no files")
    return files


def _named(columns: SampleColumns) -> list[str]:
    named = (columns.time, columns.label, columns.recording, columns.group)
    return [name for name in named if name is not None]


def _without_infinities(column: Column) -> Column:
    """Return a column of numbers in which infinite ones are missing; another column as it is."""
    if not column.is_text:
        return column
    infinite = [str(text).strip().lstrip("+-").lower() in _INFINITE for text in column.values]
    if not any(infinite):
        return column
    values = column.values.copy()
    values[infinite] = None
    try:
        return to_numbers(replace(column, values=values))
    except DataError:
        return column


def _numeric(table: Table, columns: SampleColumns) -> tuple[str, ...]:
    """Return the columns of numbers that are nothing else."""
    apart = _named(columns)
    found = tuple(one.name for one in table.columns if one.name not in apart and not one.is_text)
    if not found:
        raise DataError("no column of numbers is left for a channel")
    return found


def _parts(table: Table, columns: SampleColumns, name: str) -> list[tuple[str, NDArray[np.intp]]]:
    """Return the rows of each recording, in the order in which they begin."""
    if columns.recording is None:
        return [(name, np.arange(table.n_rows))]
    rows: dict[str, list[int]] = {}
    for row, one in enumerate(_states(table.column(columns.recording)).tolist()):
        if one is None:
            raise DataError(
                f"column {columns.recording!r} has no recording in row {table.first_row + row}"
            )
        rows.setdefault(str(one), []).append(row)
    return [(one, np.array(places)) for one, places in rows.items()]


def _states(column: Column) -> NDArray[Any]:
    """Return values as objects, None where they are missing; whole numbers as such."""
    values = column.values.astype(object)
    if column.values.dtype.kind == "f":
        known = column.values[~column.missing()]
        if (np.isfinite(known) & (known == np.rint(known))).all():
            values = np.array([plain(value) for value in values], object)
    values[column.missing()] = None
    return values


def _one_group(name: str, groups: NDArray[Any]) -> Any:
    found = set(groups.tolist())
    if len(found) != 1 or None in found:
        raise DataError(
            f"recording {shorten(name)} must belong to one group; got "
            f"{shorten(sorted(map(str, found)))}"
        )
    return found.pop()


def _with_intervals(
    recordings: Sequence[Recording], table: Table, columns: SampleColumns, rate: float | None
) -> list[Recording]:
    """Give the samples of recordings the labels of intervals."""
    if columns.label is None:
        raise DataError("labels need the name of their column; pass SampleColumns(label=…)")
    for needed in (_RECORDING, _START, _END, columns.label):
        if needed not in table.names:
            raise ColumnError.unknown(needed, table.names, "the table of labels")
    names = [str(name) for name in _states(table.column(_RECORDING))]
    known = {recording.name for recording in recordings}
    if strange := [name for name in names if name not in known]:
        raise DataError(f"the labels name a recording {shorten(strange[0])}, which does not exist")
    start, end = (to_numbers(table.column(one)).values for one in (_START, _END))
    states = _states(table.column(columns.label))
    groups = (
        None if columns.group not in table.names else _states(table.column(columns.group or ""))
    )
    labelled = []
    for recording in recordings:
        rows = [row for row, name in enumerate(names) if name == recording.name]
        times = recording.times
        if times is None:
            if rate is None:
                raise DataError(
                    f"recording {shorten(recording.name)} has no times; name their column, or "
                    "give a rate"
                )
            times = np.arange(len(next(iter(recording.samples.values())))) / rate
        labels = np.full(len(times), None, dtype=object)
        for row in rows:
            labels[(times >= start[row]) & (times < end[row])] = states[row]
        group = recording.group
        if groups is not None and rows:
            group = _one_group(recording.name, groups[rows])
        labelled.append(replace(recording, labels=labels, group=group))
    return labelled
