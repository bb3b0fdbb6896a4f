"""Rows made of recordings: a row per window, a column per computed feature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from solah.cli.command import changed_flags, option
from solah.cli.options import pairs
from solah.exceptions import DataError, ParameterError, shorten
from solah.safe_text import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.cli.options import ColumnOptions, ReadingOptions
    from solah.cli.problem import Source
    from solah.data import Table
    from solah.model import Model
    from solah.signals import Recording, Signals
    from solah.signals.arithmetic import Arithmetic


_TIME = "time"
_FEATURES = ("rate", "overlap", "channels", "features", "magnitude", "max-gap", "labels")


@dataclass(frozen=True)
class SignalOptions:
    """How features are computed from recordings; an option group."""

    panel: ClassVar[str] = "Recordings of samples"

    window: Annotated[
        str | None,
        option(
            "Length of a window: 2s, 500ms, or 100 samples. DATA then has a row per sample.",
            metavar="TIME",
        ),
    ] = None
    signals: Annotated[
        list[str] | None,
        option(
            "Samples per second (rate=50, or rate=vibration=100,temperature=1) and more: "
            "overlap=50%, channels=ax,ay, features=mean,rms, magnitude=shaking=ax,ay,az, "
            "max-gap=50ms, labels=FILE. Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None

    def every(self, name: str) -> list[str]:
        """Return all values of a name."""
        return pairs("--signals", self.signals, _FEATURES).get(name, [])

    def given(self, name: str) -> str | None:
        """Return the value of a name that may be given once; None without one."""
        values = self.every(name)
        if len(values) > 1:
            raise ParameterError(f"--signals gives {name!r} twice")
        return values[0] if values else None

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
    rates = _rates(options.given("rate"))
    roles = SampleColumns(
        channels=tuple(split_names(options.every("channels"), ())),
        time=reading.given("time") or _TIME,
        label=label,
        recording=reading.given("recording"),
        group=groups,
    )
    recordings = read_recordings(
        data,
        roles,
        labels=_labels_file(options.given("labels")),
        rate=rates if isinstance(rates, float) else max(rates.values()),
        options=reading.read_options(),
    )
    signals = _described(recordings, split_names(columns.drop, ()), rates, options)
    windows = cut_windows(signals, recordings).labelled()
    if not len(windows.readings):
        raise DataError(
            f"no window of {options.window} has a single {label!r}; use shorter windows, or "
            f"check that the times of recordings and labels match"
        )
    target = Column(label, windows.labels, nominal=True)
    table = Table((*windows.table.columns, target), len(windows.readings))
    kinds = dict.fromkeys(signals.names, "continuous")
    name = f"{file_name(data)}, windows of {options.window}"
    return Source(name, table, label, kinds, windows.groups.astype(str), signals)


WHERE = ("recording", "start", "end")
"""The columns that locate a window, beside its features."""


def rows_of_recordings(
    model: Model, data: str, reading: ReadingOptions, arithmetic: Arithmetic | None = None
) -> Table | None:
    """Make rows of recordings for a model of signals; None if the data are rows already.

    A row is a window: its location, its values and, if the recordings have the target, its class.
    The values are those of a device that has another arithmetic than float32.
    """
    from solah.data import Column, Table
    from solah.signals import SampleColumns, cut_windows, read_recordings
    from solah.signals.recordings import column_names

    if model.signals is None or not Path(data).exists():
        return None
    options = reading.read_options()
    names = column_names(data, options)
    if all(one.name in names for one in model.features):
        return None
    signals = model.signals.only([one.name for one in model.features])
    roles = SampleColumns(
        channels=tuple(channel.name for channel in signals.measured),
        time=reading.given("time") or _TIME,
        label=model.target.name if model.target.name in names else None,
        recording=reading.given("recording"),
    )
    windows = cut_windows(signals, read_recordings(data, roles, options=options), arithmetic)
    where = [Column(name, getattr(windows, name)) for name in WHERE]
    target = [] if roles.label is None else [Column(roles.label, windows.labels, nominal=True)]
    return Table((*where, *windows.table.columns, *target), len(windows.readings))


def _rates(text: str | None) -> float | dict[str, float]:
    """Read a rate, or one for each channel."""
    from solah.data.spelling import is_number

    if text is None:
        raise ParameterError("no sampling rate; pass --signals rate=50, in samples per second")
    if is_number(text):
        return float(text)
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not all(name.strip() and is_number(rate) for name, _, rate in pairs):
        raise ParameterError(
            "--signals rate must be a number, or a number for each channel, such as x=100,t=1; "
            f"got {shorten(text)}"
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
        overlap=options.given("overlap") or "50%",
        features=split_names(options.every("features"), ()) or DEFAULT_FEATURES,
        magnitudes=_magnitudes(options.every("magnitude")),
        max_gap=options.given("max-gap"),
    )


def _labels_file(given: str | None) -> Path | None:
    if given is not None and not Path(given).is_file():
        raise ParameterError(f"--signals labels: there is no file {given!r}")
    return None if given is None else Path(given)


def _magnitudes(texts: Sequence[str]) -> dict[str, list[str]]:
    pairs = [text.partition("=") for text in texts]
    for name, sign, axes in pairs:
        if not (name and sign and axes):
            raise ParameterError(
                "--signals magnitude must be a name and its axes, such as shaking=ax,ay,az; got "
                f"{shorten(name + sign + axes)}"
            )
    return {name.strip(): [axis.strip() for axis in axes.split(",")] for name, _, axes in pairs}
