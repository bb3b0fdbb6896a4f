"""Make rows of recordings: a row per window, a column per feature."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from solah.cli.overwriting import READ
from solah.cli.verb import options_in
from solah.safe_text import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.cli.options import ColumnOptions, ReadingOptions
    from solah.cli.sources import Source
    from solah.data import ReadOptions, Table
    from solah.model import Model
    from solah.signals import Recording, Signals

_signal_option = options_in("Recordings of samples")


@dataclass(frozen=True)
class SampleOptions:
    """What columns of recordings are for; an option group."""

    time: Annotated[
        str,
        _signal_option(
            metavar="COL",
            help="When a sample was taken, in seconds. Without such a column, samples come at the "
            "rate.",
        ),
    ] = "time"
    recording: Annotated[
        str | None,
        _signal_option(
            metavar="COL",
            help="The recording that a sample belongs to; by default, a file is one recording.",
        ),
    ] = None


_SAMPLES = SampleOptions()


@dataclass(frozen=True)
class SignalOptions(SampleOptions):
    """How readings are made of recordings; an option group."""

    window: Annotated[
        str | None,
        _signal_option(
            metavar="TIME",
            help="DATA are recordings, a row per sample, in a file or a folder of files: learn "
            "from windows of this length, such as 2s, 500ms, or 100 samples.",
        ),
    ] = None
    overlap: Annotated[
        str, _signal_option(metavar="SHARE", help="What a window and the next have in common.")
    ] = "50%"
    channels: Annotated[
        list[str] | None,
        _signal_option(
            metavar="COL",
            help="The columns of samples; by default all numbers. Repeat it, or use commas.",
        ),
    ] = None
    rate: Annotated[
        str | None,
        _signal_option(
            metavar="HZ",
            help="Samples per second: 50, or for each channel: vibration=100,temperature=1.",
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        _signal_option(
            metavar="NAME",
            help="What to compute of each channel: mean, min, max, range, rms, deviation, change, "
            "slope, zero crossings, mean crossings, peaks, p90, energy 2-5, pitch, correlation. "
            "Repeat it, or use commas.",
        ),
    ] = None
    magnitude: Annotated[
        list[str] | None,
        _signal_option(
            metavar="NAME=COLS",
            help="A channel to derive from axes, such as shaking=ax,ay,az. Repeat it for more.",
        ),
    ] = None
    max_gap: Annotated[
        str | None,
        _signal_option(
            metavar="TIME",
            help="For how long the last sample stands for missing ones; by default a tenth of the "
            "window. A window with a longer gap has unknown readings.",
        ),
    ] = None
    intervals: Annotated[
        Path | None,
        _signal_option(
            metavar="FILE",
            help="A table with the columns recording, start, end (seconds) and the target, in "
            "place of a target in the recordings.",
        ),
        READ,
    ] = None

    def given(self) -> list[str]:
        """Return the flags that the user set to something else than their default."""
        changed = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
        return [f"--{name.replace('_', '-')}" for name in changed]

    @property
    def are_wanted(self) -> bool:
        """Whether the data are recordings."""
        return self.window is not None


def refuse_idle_signals(options: SignalOptions) -> None:
    """Refuse options of recordings where there are none."""
    from solah.exceptions import ParameterError

    if options.given() and not options.are_wanted:
        raise ParameterError(
            f"{options.given()[0]} is for recordings; say how long windows are with --window"
        )


def read_windows(
    data: str,
    columns: ColumnOptions,
    options: SignalOptions,
    reading: ReadingOptions,
    groups: str | None = None,
) -> Source:
    """Read recordings, and make a row of each window that has a class."""
    from solah.cli.problems import split_names
    from solah.cli.sources import Source
    from solah.data import Column, Table
    from solah.exceptions import ColumnError, DataError, ParameterError
    from solah.signals import SampleColumns, cut_windows, read_recordings

    if columns.target is None:
        raise ColumnError("which column is to be decided on? Say it with --target")
    if options.rate is None:
        raise ParameterError("how many samples per second are there? Say it with --rate")
    rates = _rates(options.rate)
    roles = SampleColumns(
        channels=tuple(split_names(options.channels, ())),
        time=options.time,
        label=columns.target,
        recording=options.recording,
        group=groups,
    )
    recordings = read_recordings(
        data,
        roles,
        labels=options.intervals,
        rate=rates if isinstance(rates, float) else max(rates.values()),
        options=reading.read_options(),
    )
    signals = _described(recordings, split_names(columns.drop, ()), rates, options)
    windows = cut_windows(signals, recordings).labelled()
    if not len(windows.readings):
        raise DataError(
            f"no window of {options.window} has one {columns.target!r} throughout; take shorter "
            "windows, or compare the times of recordings and labels"
        )
    goal = Column(columns.target, windows.labels, nominal=True)
    table = Table((*windows.table.columns, goal), len(windows.readings))
    kinds = dict.fromkeys(signals.names, "continuous")
    name = f"{file_name(data)}, windows of {options.window}"
    return Source(name, table, columns.target, kinds, windows.groups.astype(str), signals)


WHERE = ("recording", "start", "end")
"""The columns that tell where a window lies, beside its readings."""


def rows_of_recordings(
    model: Model, data: str, options: ReadOptions, columns: SampleOptions = _SAMPLES
) -> Table | None:
    """Make rows of recordings for a model of signals; None if the data are rows already.

    A row is a window: where it lies, its readings and, if the recordings have the goal, its class.
    """
    from solah.data import Column, Table
    from solah.signals import SampleColumns, cut_windows, read_recordings
    from solah.signals.recordings import column_names

    if model.signals is None or not Path(data).exists():
        return None
    names = column_names(data, options)
    if all(one.name in names for one in model.attributes):
        return None
    signals = model.signals.only([one.name for one in model.attributes])
    roles = SampleColumns(
        channels=tuple(channel.name for channel in signals.measured),
        time=columns.time,
        label=model.goal.name if model.goal.name in names else None,
        recording=columns.recording,
    )
    windows = cut_windows(signals, read_recordings(data, roles, options=options))
    where = [Column(name, getattr(windows, name)) for name in WHERE]
    goal = [] if roles.label is None else [Column(roles.label, windows.labels, nominal=True)]
    return Table((*where, *windows.table.columns, *goal), len(windows.readings))


def _rates(text: str) -> float | dict[str, float]:
    """Read a rate, or one for each channel."""
    from solah.data.spelling import is_number
    from solah.exceptions import ParameterError, shorten

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
    from solah.cli.problems import split_names
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
    from solah.exceptions import ParameterError, shorten

    pairs = [text.partition("=") for text in texts]
    for name, sign, axes in pairs:
        if not (name and sign and axes):
            raise ParameterError(
                "--magnitude must be a name and its axes, such as shaking=ax,ay,az. Got "
                f"{shorten(name + sign + axes)} instead."
            )
    return {name.strip(): [axis.strip() for axis in axes.split(",")] for name, _, axes in pairs}
