"""Cut recordings into windows, and compute the features of each.

Samples are first put onto a regular grid: a tick takes the last sample that came up to half a tick
after it. A tick without one repeats the sample before, for as long as the signals allow. A window
with a longer gap has missing values (NaN) for the channels that lack samples.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from solah.data import Column, Table
from solah.exceptions import DataError, LeakageWarning, shorten
from solah.signals.arithmetic import Float32

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.model.signals import Signals
    from solah.signals.arithmetic import Arithmetic

    Float = NDArray[np.float64]

# A recording may last this many times longer than its samples do at the stated rate: beyond, a time
# column in milliseconds is likelier than that many gaps.
_MOST_SPARSE = 100


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of several channels, from a beginning to an end.

    Attributes
    ----------
    name : what errors and decisions call it
    samples : mapping of channel name to ndarray of shape (n_samples,); NaN for a missing one
    times : (n_samples,) when each sample came, in seconds; None where samples come at the rate of
        the fastest channel
    labels : (n_samples,) the class at the time of each sample, None where there is none; or None
    group : what is kept together in a cross-validation, such as a subject; by default the name
    """

    name: str
    samples: Mapping[str, NDArray[Any]]
    times: Float | None = None
    labels: NDArray[Any] | None = None
    group: Any = None


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of recordings, and their readings.

    Attributes
    ----------
    signals : how readings are made of samples
    readings : (n_windows, n_features) NaN where unknown
    recording : (n_windows,) the names of the recordings
    start, end : (n_windows,) the seconds between which a window lies; a decision is made at its
        end
    labels : (n_windows,) the class of all samples of a window; None where there are several, or
        none
    groups : (n_windows,) the groups of the recordings
    """

    signals: Signals
    readings: Float
    recording: NDArray[Any]
    start: Float
    end: Float
    labels: NDArray[Any]
    groups: NDArray[Any]

    @property
    def table(self) -> Table:
        """The readings as a table, a column per feature."""
        named = zip(self.signals.names, self.readings.T, strict=True)
        return Table(tuple(Column(name, values) for name, values in named), len(self.readings))

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns of the table are: measurements, also where few values occur."""
        return dict.fromkeys(self.signals.names, "continuous")

    def take(self, places: NDArray[Any]) -> Windows:
        """Return some of the windows."""
        own = ("readings", "recording", "start", "end", "labels", "groups")
        return Windows(self.signals, **{name: getattr(self, name)[places] for name in own})

    def labelled(self) -> Windows:
        """Return the windows that have a class."""
        return self.take(np.array([label is not None for label in self.labels], dtype=np.bool_))


def cut_windows(
    signals: Signals, recordings: Sequence[Recording], arithmetic: Arithmetic | None = None
) -> Windows:
    """Cut recordings into windows.

    Parameters
    ----------
    signals : Signals
    recordings : sequence of Recording
    arithmetic : Arithmetic, default=None
        That of a device, such as ``Export.features``; None for float32.

    Returns
    -------
    windows : Windows
        Recording by recording, in the order of time. One that is shorter than a window has none.

    Raises
    ------
    DataError
        If a channel is missing, times decrease, or all recordings are shorter than a window.
    """
    arithmetic = arithmetic or Float32(signals)
    parts = [_cut(signals, recording, arithmetic) for recording in recordings]
    if not parts or not sum(len(part.readings) for part in parts):
        raise DataError(
            f"no recording is as long as a window of {signals.window:,} samples "
            f"({signals.window_seconds:g} s)"
        )
    own = ("readings", "recording", "start", "end", "labels", "groups")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in own}
    return Windows(signals, **joined)


def warn_of_leakage(windows: Windows, folds: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> int:
    """Warn of test windows that share samples with training windows.

    Accuracy on such folds is too high. Keep the windows of a recording, or
    of a subject, together: ``GroupKFold().split(windows.readings, windows.labels,
    windows.groups)``.

    Parameters
    ----------
    windows : Windows
    folds : iterable of (train, test)
        The indices of windows, as the splitters of scikit-learn yield them.

    Returns
    -------
    n_leaks : int
        The number of test windows, over all folds, that share samples with a training window.
    """
    half = 0.5 / windows.signals.rate
    length = windows.signals.window_seconds - half
    ends = windows.end - half  # two that only touch share no sample
    n_leaks = n_tested = 0
    for train, test in folds:
        n_tested += len(test)
        for recording in set(windows.recording[test].tolist()):
            trained = train[windows.recording[train] == recording]
            tested = test[windows.recording[test] == recording]
            starts = np.sort(windows.start[trained])
            before = np.searchsorted(starts, ends[tested])
            first = np.searchsorted(starts, windows.start[tested] - length, "right")
            n_leaks += int((before > first).sum())
    if n_leaks:
        warnings.warn(LeakageWarning(n_leaks, n_tested), stacklevel=2)
    return n_leaks


def features_of_windows(signals: Signals, windows: NDArray[Any]) -> Float:
    """Compute the features of windows that are cut already.

    Parameters
    ----------
    signals : Signals
    windows : ndarray of shape (n_windows, window, n_channels)
        At the rate of the fastest channel; of slower ones the samples in between do not count.
    """
    arithmetic = Float32(signals)
    samples = {
        channel.name: held(
            arithmetic.samples(channel.name, windows[:, :: channel.every, place].T),
            signals.max_gap // channel.every,
        )
        for place, channel in enumerate(signals.measured)
    }
    return arithmetic.features(_with_magnitudes(signals, samples, arithmetic))


def held(samples: NDArray[Any], most: int) -> NDArray[Any]:
    """Repeat the last sample where some are missing, at most ``most`` times."""
    places = np.arange(len(samples)).reshape(-1, *(1 for _ in samples.shape[1:]))
    known = np.where(np.isnan(samples), -1, places)
    last = np.maximum.accumulate(known, axis=0)
    is_near = (last >= 0) & (places - last <= most)
    values = np.take_along_axis(samples, np.maximum(last, 0), axis=0)
    return np.where(is_near, values, values.dtype.type(np.nan))


def _cut(signals: Signals, recording: Recording, arithmetic: Arithmetic) -> Windows:
    grid, begin = _on_grid(signals, recording, arithmetic)
    n_ticks = min(len(grid[one.name]) * one.every for one in signals.measured)
    n_windows = max(0, (n_ticks - signals.window) // signals.step + 1)
    whole = {
        channel.name: held(grid[channel.name], signals.max_gap // channel.every)
        for channel in signals.measured
    }
    with_derived = _with_magnitudes(signals, whole, arithmetic)
    readings = np.empty((0, len(signals.features)))
    if n_windows:
        parts = {}  # (length, n_windows)
        for channel in signals.channels:
            length, step = signals.window // channel.every, signals.step // channel.every
            every = sliding_window_view(with_derived[channel.name], length)[::step][:n_windows]
            parts[channel.name] = np.ascontiguousarray(every.T)
        readings = arithmetic.features(parts)
    start = begin + np.arange(n_windows) * signals.step / signals.rate
    end = start + signals.window_seconds
    group = recording.name if recording.group is None else recording.group
    return Windows(
        signals,
        readings,
        np.full(n_windows, recording.name, dtype=object),
        start,
        end,
        _labels(signals, recording, start, end),
        np.full(n_windows, group, dtype=object),
    )


def _with_magnitudes(
    signals: Signals, samples: dict[str, NDArray[Any]], arithmetic: Arithmetic
) -> dict[str, NDArray[Any]]:
    derived = {
        channel.name: arithmetic.magnitude(channel.name, [samples[axis] for axis in channel.axes])
        for channel in signals.channels
        if channel.axes
    }
    return samples | derived


def _on_grid(
    signals: Signals, recording: Recording, arithmetic: Arithmetic
) -> tuple[dict[str, NDArray[Any]], float]:
    """Put the samples of a recording onto the ticks of each channel; return when it begins."""
    for channel in signals.measured:
        if channel.name not in recording.samples:
            raise DataError(
                f"recording {shorten(recording.name)} has no channel {shorten(channel.name)}"
            )
    if recording.times is None:
        every = {
            one.name: arithmetic.samples(one.name, recording.samples[one.name][:: one.every])
            for one in signals.measured
        }
        return every, 0.0
    times = _checked_times(signals, recording)
    begin = float(times[0]) if len(times) else 0.0
    grid = {}
    for channel in signals.measured:
        samples = arithmetic.samples(channel.name, recording.samples[channel.name])
        is_known = ~np.isnan(samples)
        ticks = np.ceil((times - begin) * signals.rate / channel.every - 0.5).astype(np.intp)
        series = np.full(int(ticks[-1]) + 1 if len(ticks) else 0, np.nan, dtype=samples.dtype)
        series[ticks[is_known]] = samples[is_known]  # of several at one tick, the last
        grid[channel.name] = series
    return grid, begin


def _checked_times(signals: Signals, recording: Recording) -> Float:
    times = np.asarray(recording.times, dtype=np.float64)
    where = f"recording {shorten(recording.name)}"
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times))) + 1
        raise DataError(f"{where}: the time of sample {row} is missing; drop the sample")
    steps = np.diff(times)
    if (steps < 0).any():
        row = int(np.argmax(steps < 0)) + 2
        raise DataError(f"{where}: time goes back at sample {row}; sort the samples by time")
    if len(times) and (times[-1] - times[0]) * signals.rate > _MOST_SPARSE * len(times) + 1e6:
        raise DataError(
            f"{where} lasts {times[-1] - times[0]:g} s with {len(times):,} samples, though the "
            f"rate is {signals.rate:g} per second; are its times in seconds?"
        )
    return times


def _labels(signals: Signals, recording: Recording, start: Float, end: Float) -> NDArray[Any]:
    """Return the label that all samples of a window have; None where they differ."""
    labels = np.full(len(start), None, dtype=object)
    if recording.labels is None:
        return labels
    times = recording.times
    if times is None:
        times = np.arange(len(recording.labels)) / signals.rate
    half = 0.5 / signals.rate
    first = np.searchsorted(times, start - half, side="left")
    behind = np.searchsorted(times, end - half, side="left")
    differs = [a != b for a, b in zip(recording.labels[1:], recording.labels[:-1], strict=True)]
    changes = np.cumsum([False, *map(bool, differs)])  # the number of the run of equal labels
    for i, (low, high) in enumerate(zip(first.tolist(), behind.tolist(), strict=True)):
        if low < high and changes[low] == changes[high - 1]:
            labels[i] = recording.labels[low]
    return labels
