"""Rows made of recordings: a row per window, a column per computed feature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from solah.cli.command import READ, changed_flags, option, read_file
from solah.exceptions import DataError, ParameterError, shorten
from solah.safe_text import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.cli.options import ColumnOptions, ReadingOptions
    from solah.cli.problem import Source
    from solah.data import ReadOptions, Table
    from solah.model import Model
    from solah.signals import Recording, Signals


@dataclass(frozen=True)
class SampleOptions:
    """What columns of recordings are for; an option group."""

    panel: ClassVar[str] = "Recordings of samples"
    rare: ClassVar[tuple[str, ...]] = (panel,)

    time: Annotated[
        str, option("Column of seconds; without it, samples come at --rate.", metavar="COL")
    ] = "time"
    recording: Annotated[
        str | None,
        option(
            "Column of the recording of a sample. Default: a file is one recording.", metavar="COL"
        ),
    ] = None


_SAMPLES = SampleOptions()


@dataclass(frozen=True)
class SignalOptions(SampleOptions):
    """How features are computed from recordings; an option group."""

    window: Annotated[
        str | None,
        option(
            "Length of a window: 2s, 500ms, or 100 samples. DATA are then recordings, a row per "
            "sample, in a file or folder.",
            metavar="TIME",
        ),
    ] = None
    overlap: Annotated[
        str, option("Share of a window that the next one repeats.", metavar="SHARE")
    ] = "50%"
    channels: Annotated[
        list[str] | None,
        option("Columns of samples. Default: all numbers. Repeatable.", metavar="COL"),
    ] = None
    rate: Annotated[
        str | None, option("Samples per second: 50, or vibration=100,temperature=1.", metavar="HZ")
    ] = None
    features: Annotated[
        list[str] | None,
        option(
            "Features of each channel: mean, min, max, range, rms, deviation, change, slope, zero "
            "crossings, mean crossings, peaks, p90, energy 2-5, pitch, correlation. Repeatable.",
            metavar="NAME",
        ),
    ] = None
    magnitude: Annotated[
        list[str] | None,
        option(
            "Channel derived from axes, such as shaking=ax,ay,az. Repeatable.", metavar="NAME=COLS"
        ),
    ] = None
    max_gap: Annotated[
        str | None,
        option(
            "Longest gap that the last sample fills. Default: a tenth of the window.",
            metavar="TIME",
        ),
    ] = None
    labels: Annotated[
        Path | None,
        read_file(
            "Table with the columns recording, start, end (seconds) and the target, instead of a "
            "target in the recordings."
        ),
        READ,
    ] = None

    @property
    def are_wanted(self) -> bool:
        """Whether the data are recordings."""
        return self.window is not None

    def refuse_idle(self) -> None:
        """Refuse options of recordings where there are none."""
        if changed_flags(self) and not self.are_wanted:
            raise ParameterError(
                f"{changed_flags(self)[0]} requires --window: it is for recordings"
            )


def read_windows(
    data: str,
    columns: ColumnOptions,
    options: SignalOptions,
    reading: ReadingOptions,
    groups: str | None = None,
) -> Source:
    """Read recordings, and make a row of each window that has a class."""
    from solah.cli.problem import Source, require_target, split_names
    from solah.data import Column, Table
    from solah.signals import SampleColumns, cut_windows, read_recordings

    label = require_target(columns.target)
    if options.rate is None:
        raise ParameterError("no sampling rate; pass --rate, in samples per second")
    rates = _rates(options.rate)
    roles = SampleColumns(
        channels=tuple(split_names(options.channels, ())),
        time=options.time,
        label=label,
        recording=options.recording,
        group=groups,
    )
    recordings = read_recordings(
        data,
        roles,
        labels=options.labels,
        rate=rates if isinstance(rates, float) else max(rates.values()),
        options=reading.read_options(),
    )
    signals = _described(recordings, split_names(columns.drop, ()), rates, options)
    windows = cut_windows(signals, recordings).labelled()
    if not len(windows.readings):
        raise DataError(
            f"no window of {options.window} has one {label!r} throughout; take shorter "
            "windows, or compare the times of recordings and labels"
        )
    target = Column(label, windows.labels, nominal=True)
    table = Table((*windows.table.columns, target), len(windows.readings))
    kinds = dict.fromkeys(signals.names, "continuous")
    name = f"{file_name(data)}, windows of {options.window}"
    return Source(name, table, label, kinds, windows.groups.astype(str), signals)


WHERE = ("recording", "start", "end")
"""The columns that locate a window, beside its features."""


def rows_of_recordings(
    model: Model, data: str, options: ReadOptions, columns: SampleOptions = _SAMPLES
) -> Table | None:
    """Make rows of recordings for a model of signals; None if the data are rows already.

    A row is a window: its location, its values and, if the recordings have the target, its class.
    """
    from solah.data import Column, Table
    from solah.signals import SampleColumns, cut_windows, read_recordings
    from solah.signals.recordings import column_names

    if model.signals is None or not Path(data).exists():
        return None
    names = column_names(data, options)
    if all(one.name in names for one in model.features):
        return None
    signals = model.signals.only([one.name for one in model.features])
    roles = SampleColumns(
        channels=tuple(channel.name for channel in signals.measured),
        time=columns.time,
        label=model.target.name if model.target.name in names else None,
        recording=columns.recording,
    )
    windows = cut_windows(signals, read_recordings(data, roles, options=options))
    where = [Column(name, getattr(windows, name)) for name in WHERE]
    target = [] if roles.label is None else [Column(roles.label, windows.labels, nominal=True)]
    return Table((*where, *windows.table.columns, *target), len(windows.readings))


def _rates(text: str) -> float | dict[str, float]:
    """Read a rate, or one for each channel."""
    from solah.data.spelling import is_number

    if is_number(text):
        return float(text)
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not all(name.strip() and is_number(rate) for name, _, rate in pairs):
        raise ParameterError(
            "--rate must be a number, or a number for each channel such as x=100,t=1. "
            f"Got {shorten(text)} instead."
        )
    return {name.strip(): float(rate) for name, _, rate in pairs}


def _described(
    recordings: Sequence[Recording],
    dropped: Sequence[str],
    rates: float | Mapping[str, float],
    options: SignalOptions,
) -> Signals:
    from solah.cli.problem import split_names
    from solah.signals import DEFAULT_FEATURES, describe_signals

    channels = [name for name in recordings[0].samples if name not in dropped]
    return describe_signals(
        channels,
        rate=rates,
        window=options.window or "",
        overlap=options.overlap,
        features=split_names(options.features, ()) or DEFAULT_FEATURES,
        magnitudes=_magnitudes(options.magnitude or ()),
        max_gap=options.max_gap,
    )


def _magnitudes(texts: Sequence[str]) -> dict[str, list[str]]:

    pairs = [text.partition("=") for text in texts]
    for name, sign, axes in pairs:
        if not (name and sign and axes):
            raise ParameterError(
                "--magnitude must be a name and its axes, such as shaking=ax,ay,az. Got "
                f"{shorten(name + sign + axes)} instead."
            )
    return {name.strip(): [axis.strip() for axis in axes.split(",")] for name, _, axes in pairs}
