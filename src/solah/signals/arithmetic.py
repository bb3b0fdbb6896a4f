"""Window features in float32, every operation in a fixed order.

The simulator of ``export/c_runtime/solah_signals_float.h``: only ``+ - * /`` and square roots, each
sum from the first sample to the last, so that a device computes the same bits. Samples are in rows,
one row per time, and windows in columns: a step of a sum serves all windows at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from solah.model.signals import MOST_SAMPLE, FeatureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from solah.model.signals import Signals, WindowFeature

    Floats = NDArray[np.float32]

_ZERO = np.float32(0)
# How many numbers a step over all windows and frequencies works on, to bound the memory.
_AT_A_TIME = 1 << 20


class Arithmetic(Protocol):
    """The numbers in which a computer or a device takes samples and computes features."""

    def samples(self, channel: str, values: NDArray[Any]) -> NDArray[Any]:
        """Return samples of a measured channel as they are stored; NaN where missing."""

    def magnitude(self, channel: str, axes: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the samples of a magnitude, from stored samples of its axes."""

    def features(self, windows: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Compute features ``(n_windows, n_features)`` of windows; NaN where undefined."""


class Float32:
    """Floats, as training and a device without ``--arithmetic q15`` compute."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def samples(self, channel: str, values: NDArray[Any]) -> Floats:
        """Return samples in float32; see :func:`as_samples`."""
        return as_samples(values)

    def magnitude(self, channel: str, axes: list[Floats]) -> Floats:
        """Return the square root of the sum of squares of samples of several channels."""
        total = np.zeros_like(axes[0])
        for axis in axes:
            total = total + axis * axis
        return np.sqrt(total)

    def features(self, windows: Mapping[str, Floats]) -> NDArray[np.float64]:
        """Compute features; see :func:`compute_features`."""
        return compute_features(self._signals, windows).astype(np.float64)


def as_samples(values: NDArray[np.floating]) -> Floats:
    """Return samples as a device takes them: float32, NaN where missing or beyond the limit."""
    with np.errstate(over="ignore", invalid="ignore"):
        samples = np.asarray(values, dtype=np.float32)
        is_known = np.abs(samples) <= np.float32(MOST_SAMPLE)
    return np.where(is_known, samples + _ZERO, np.float32(np.nan))  # + 0: there is no -0


def compute_features(signals: Signals, windows: Mapping[str, Floats]) -> Floats:
    """Compute the features of windows.

    Parameters
    ----------
    signals : Signals
    windows : mapping of channel name to ndarray of shape (n_samples, n_windows)
        For every channel that features are of, magnitudes among them, as :func:`as_samples`
        returns samples.

    Returns
    -------
    readings : ndarray of shape (n_windows, n_features)
        NaN where a sample of the window is missing, or where a feature is not defined: the pitch
        or the correlation of a channel that does not move.
    """
    channels = {name: _Windows(samples) for name, samples in windows.items()}
    columns = [_feature(signals, feature, channels) for feature in signals.features]
    n_windows = next(iter(windows.values())).shape[1]
    return np.column_stack(columns) if columns else np.empty((n_windows, 0), dtype=np.float32)


class _Windows:
    """The windows of one channel, with what several features need."""

    def __init__(self, samples: Floats) -> None:
        self.is_whole = ~np.isnan(samples).any(axis=0)
        self.samples = np.where(self.is_whole, samples, _ZERO)
        self.n_samples = np.float32(len(samples))
        # From the first sample on: so a channel that does not move has no deviation at all.
        first = self.samples[0]
        self.mean = first + _sum(self.samples - first) / self.n_samples
        self.centred = self.samples - self.mean
        self.square_sum = _sum(self.centred * self.centred)
        self._powers: dict[range, Floats] = {}
        self._sorted: Floats | None = None

    @property
    def deviation(self) -> Floats:
        return np.asarray(np.sqrt(self.square_sum / self.n_samples))

    @property
    def sorted(self) -> Floats:
        if self._sorted is None:
            self._sorted = np.sort(self.samples, axis=0)
        return self._sorted

    def powers(self, waves: range) -> Floats:
        """Return the power of frequencies, ``(n_waves, n_windows)``."""
        if waves not in self._powers:
            self._powers[waves] = _powers(self.centred, waves)
        return self._powers[waves]


def _feature(signals: Signals, feature: WindowFeature, channels: Mapping[str, _Windows]) -> Floats:
    if feature.kind is FeatureKind.CORRELATION:
        return _correlation(*(channels[name] for name in feature.channels))
    x = channels[feature.channels[0]]
    if feature.kind is FeatureKind.PERCENTILE:
        value = _percentile(x, feature.at)
    elif feature.kind is FeatureKind.SLOPE:
        value = _slope(x, slope_factor(signals, feature))
    elif feature.kind is FeatureKind.ENERGY:
        powers = x.powers(signals.bins(feature))
        value = _sum(powers) * energy_factor(signals, feature)
    elif feature.kind is FeatureKind.PITCH:
        value = _pitch(x, signals.bins(feature), pitch_unit(signals))
    else:
        value = _PLAIN[feature.kind](x)
    return np.where(x.is_whole, value, np.float32(np.nan))


def slope_factor(signals: Signals, feature: WindowFeature) -> np.float32:
    """Return what turns the sum of a slope into units per second."""
    channel = signals.channel(feature.channels[0])
    n = signals.length(channel.name)
    squares = n * (n * n - 1) / 12  # of the distances from the middle, in samples
    return np.float32(signals.rate / channel.every / squares)


def energy_factor(signals: Signals, feature: WindowFeature) -> np.float32:
    """Return what turns powers into mean squares: the energies of all bands are the variance."""
    return np.float32(2.0 / signals.length(feature.channels[0]) ** 2)


def pitch_unit(signals: Signals) -> np.float32:
    """Return the frequency of one wave per window, in Hz."""
    return np.float32(1.0 / signals.window_seconds)


def wave_coefficient(wave: int, n_samples: int) -> np.float32:
    """Return the coefficient of the Goertzel filter for a number of waves in a window."""
    return np.float32(2.0 * math.cos(2.0 * math.pi * wave / n_samples))


def percentile_place(at: float, n_samples: int) -> tuple[int, np.float32]:
    """Return the sample below a percentile, of the sorted ones, and the way to the next."""
    place = at / 100.0 * (n_samples - 1)
    below = min(int(place), n_samples - 2)
    return below, np.float32(place - below)


def _sum(terms: Floats) -> Floats:
    """Add up rows, one after the other; NumPy's own sum may take another order."""
    total = np.zeros(terms.shape[1:], dtype=np.float32)
    for term in terms:
        total = total + term
    return total


def _powers(centred: Floats, waves: range) -> Floats:
    n_samples, n_windows = centred.shape
    coefficients = np.array([wave_coefficient(wave, n_samples) for wave in waves])[:, None]
    at_once = max(1, _AT_A_TIME // len(waves))
    parts = [
        _goertzel(centred[:, start : start + at_once], coefficients)
        for start in range(0, n_windows, at_once)
    ]
    return np.concatenate(parts, axis=1)


def _goertzel(centred: Floats, coefficient: Floats) -> Floats:
    """Return the squared amplitude of waves, by Goertzel's filter."""
    last = np.zeros((len(coefficient), centred.shape[1]), dtype=np.float32)
    before = last
    for sample in centred:
        last, before = (sample + coefficient * last) - before, last
    power = (last * last + before * before) - (coefficient * last) * before
    return np.asarray(np.maximum(power, _ZERO))


def _pitch(x: _Windows, waves: range, unit: np.float32) -> Floats:
    powers = x.powers(waves)
    strongest = np.argmax(powers, axis=0)  # the lowest of equal ones
    frequency = (strongest + waves[0]).astype(np.float32) * unit
    moves = np.take_along_axis(powers, strongest[None], axis=0)[0] > 0
    return np.where(moves, frequency, np.float32(np.nan))


def _percentile(x: _Windows, at: float) -> Floats:
    below, way = percentile_place(at, len(x.samples))
    low, high = x.sorted[below], x.sorted[below + 1]
    return np.asarray(low + (high - low) * way)


def _slope(x: _Windows, factor: np.float32) -> Floats:
    distances = np.arange(len(x.samples), dtype=np.float32) - np.float32((len(x.samples) - 1) / 2)
    return _sum(x.centred * distances[:, None]) * factor


def _correlation(x: _Windows, y: _Windows) -> Floats:
    both = np.sqrt(x.square_sum) * np.sqrt(y.square_sum)
    is_defined = x.is_whole & y.is_whole & (both > 0)
    together = _sum(x.centred * y.centred)
    undefined = np.full_like(both, np.nan)
    return np.asarray(np.divide(together, both, out=undefined, where=is_defined))


def _rms(x: _Windows) -> Floats:
    return np.asarray(np.sqrt(_sum(x.samples * x.samples) / x.n_samples))


def _change(x: _Windows) -> Floats:
    return _sum(np.abs(x.samples[1:] - x.samples[:-1])) / (x.n_samples - np.float32(1))


def _crossings(x: Floats) -> Floats:
    is_below = x < 0
    return np.asarray(np.count_nonzero(is_below[1:] != is_below[:-1], axis=0), dtype=np.float32)


def _peaks(x: _Windows) -> Floats:
    """Count the peaks: samples above both neighbours, and above the mean by the deviation."""
    middle = x.centred[1:-1]
    is_peak = (middle > x.centred[:-2]) & (middle >= x.centred[2:]) & (middle > x.deviation)
    return np.asarray(np.count_nonzero(is_peak, axis=0), dtype=np.float32)


_PLAIN: dict[FeatureKind, Callable[[_Windows], Floats]] = {
    FeatureKind.MEAN: lambda x: x.mean,
    FeatureKind.MIN: lambda x: x.samples.min(axis=0),
    FeatureKind.MAX: lambda x: x.samples.max(axis=0),
    FeatureKind.RANGE: lambda x: x.samples.max(axis=0) - x.samples.min(axis=0),
    FeatureKind.RMS: _rms,
    FeatureKind.DEVIATION: lambda x: x.deviation,
    FeatureKind.CHANGE: _change,
    FeatureKind.ZERO_CROSSINGS: lambda x: _crossings(x.samples),
    FeatureKind.MEAN_CROSSINGS: lambda x: _crossings(x.centred),
    FeatureKind.PEAKS: _peaks,
}
