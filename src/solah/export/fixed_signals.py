"""Window features in integers: the tables of a device, and the simulator of its arithmetic.

The simulator of ``c_runtime/solah_signals_fixed.h`` and ``py_runtime/signals.py.txt``: samples are
integers such as the counts of an analog-digital converter, sums of them are exact, and a reading is
what a feature computes, times a factor of 31 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, shorten
from solah.export.units import Counts, Unit, largest_bits
from solah.model.signals import MOST_SAMPLE, FeatureKind
from solah.signals.arithmetic import (
    percentile_place,
    pitch_unit,
    slope_factor,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.export.units import Integers
    from solah.model.document import Model
    from solah.model.signals import Channel, Signals, WindowFeature

MOST = 2**15 - 1
"""The largest stored sample."""
WAVE_ONE = 2**14
POWER_BITS = 18
_DROPPED_BITS = 5
_LARGEST_WAVE, _LARGEST_SUM = 8190, 122_879
_MOST_READING = 2**31 - 1
_MOST_LEVEL = 2**29
_MOST_BIAS = 2**16
# Samples may be this many times larger than those that features were learned from.
_HEADROOM = 4.0
_SHOW_LEVEL = (
    *(FeatureKind.MEAN, FeatureKind.MIN, FeatureKind.MAX),
    *(FeatureKind.RMS, FeatureKind.PERCENTILE),
)
_HAVE_LEVEL = (*_SHOW_LEVEL, FeatureKind.ZERO_CROSSINGS)


@dataclass(frozen=True)
class SampleUnit:
    """The unit of a channel's stored samples.

    Attributes
    ----------
    gain : the value of one unit
    level : the value 0, in units from the stored 0 on
    zero : what is taken off a sample before it is stored
    bits : the power of two that a value is multiplied by to make a sample; None for counts
    shift : of a magnitude, the power of two by which its unit is finer than that of its axes
    """

    gain: float
    level: float
    zero: int = 0
    bits: int | None = None
    shift: int = 0

    @property
    def bias(self) -> int:
        """What is added to a stored sample, so that 0 is the value 0."""
        return round(-self.level)


@dataclass(frozen=True)
class Scale:
    """What is found times ``factor / 2^shift``, plus ``offset``, is a reading."""

    factor: int
    shift: int
    offset: int = 0

    @classmethod
    def of(cls, scale: float, offset: int = 0) -> Scale:
        """Write a positive number as a factor of 31 bits and a power of two.

        Examples
        --------
        >>> Scale.of(0.75)
        Scale(factor=1610612736, shift=31, offset=0)
        """
        mantissa, exponent = math.frexp(scale)
        factor = round(mantissa * 2**31)
        return cls(min(factor, 2**31 - 1), 31 - exponent, offset)


def sample_units(
    model: Model, signals: Signals, counts: Mapping[str, Counts]
) -> dict[str, SampleUnit]:
    """Choose the values of stored samples, channel by channel.

    Parameters
    ----------
    model : Model
    signals : Signals
    counts : mapping of channel name to Counts
        The channels whose samples are counts. Samples of others are values times a power of two,
        with room for four times the largest level that the model's features were learned from.
    """
    names = [channel.name for channel in signals.measured]
    for name in counts:
        if name not in names:
            raise ParameterError(f"{shorten(name)} is not a measured channel of the model")
    groups = [set(channel.axes) for channel in signals.channels if channel.axes]
    bits = {name: _sample_bits(model, signals, name) for name in names if name not in counts}
    for group in groups:  # one unit for the axes of a magnitude
        known = [one for name in group if (one := bits.get(name)) is not None]
        bits |= {name: min(known) for name in group if name in bits and known}
    units: dict[str, SampleUnit] = {}
    for name in names:
        if name in counts:
            unit = counts[name].unit
            gain = counts[name].gain
            level = -(counts[name].offset / gain + unit.zero)
            units[name] = SampleUnit(gain, level, unit.zero)
        elif (own := bits[name]) is None:
            raise ParameterError(
                f"no feature of the channel {shorten(name)} shows how large its samples are; state "
                f"it: --adc {name}=BITS,GAIN,OFFSET, or adc={{{name!r}: Counts(…)}}"
            )
        else:
            units[name] = SampleUnit(2.0**-own, 0.0, bits=own)
    for channel in signals.channels:
        if channel.axes:
            units[channel.name] = _magnitude_unit(channel, units, counts)
    return units


def _sample_bits(model: Model, signals: Signals, name: str) -> int | None:
    """Return the power of two for samples of a channel; None where no feature shows their size."""
    channels = {name} | {one.name for one in signals.channels if name in one.axes}
    peaks = {feature.name: feature.peaks for feature in model.features}
    sizes = [
        max(abs(peaks[one.name][0]), abs(peaks[one.name][-1]))
        for one in signals.features
        if channels & set(one.channels) and one.kind in _SHOW_LEVEL and one.name in peaks
    ]
    return largest_bits(_HEADROOM * max(sizes)) if max(sizes, default=0.0) > 0 else None


def _magnitude_unit(
    channel: Channel, units: Mapping[str, SampleUnit], counts: Mapping[str, Counts]
) -> SampleUnit:
    axes = [units[axis] for axis in channel.axes]
    where = f"the magnitude {shorten(channel.name)}"
    if len({axis.gain for axis in axes}) > 1:
        raise ParameterError(f"{where} needs axes of one gain; pass the same --adc for each")
    if max(abs(axis.bias) for axis in axes) > _MOST_BIAS:
        raise ParameterError(f"{where} has axes whose value 0 is too far from their counts")
    largest = math.sqrt(
        sum(
            _largest(axis, counts.get(name)) ** 2
            for name, axis in zip(channel.axes, axes, strict=True)
        )
    )
    shift = min(math.floor(math.log2(MOST / largest)), 9)
    return SampleUnit(axes[0].gain * 2.0**-shift, 0.0, shift=shift)


def _largest(unit: SampleUnit, counts: Counts | None) -> float:
    """Return the largest distance of a stored sample from the value 0."""
    ends = (-MOST, MOST) if counts is None else (-unit.zero, 2**counts.bits - 1 - unit.zero)
    return float(max(abs(end + unit.bias) for end in ends))


def feature_scale(
    signals: Signals, feature: WindowFeature, unit: SampleUnit, reading: Unit
) -> Scale:
    """Return how a feature becomes a reading in its unit."""
    n = signals.length(feature.channels[0])
    kind, gain = feature.kind, unit.gain
    scales = {
        FeatureKind.MEAN: gain / n,
        FeatureKind.MIN: gain,
        FeatureKind.MAX: gain,
        FeatureKind.RANGE: gain,
        FeatureKind.RMS: gain / n,
        FeatureKind.DEVIATION: gain / n,
        FeatureKind.CHANGE: gain / (n - 1),
        FeatureKind.PERCENTILE: gain / 2**15,
        FeatureKind.ENERGY: 2 * gain**2 / n**4 / 2**POWER_BITS,
    }
    if kind is FeatureKind.SLOPE:
        scale = gain * float(slope_factor(signals, feature)) / 2
    elif kind is FeatureKind.PITCH:
        scale = float(pitch_unit(signals))
    else:
        scale = scales.get(kind, 1.0)
    offset = 0
    if kind is FeatureKind.RMS:
        offset = round(-unit.level * n)
    elif kind is FeatureKind.ZERO_CROSSINGS:
        offset = min(max(math.ceil(unit.level), -_MOST_BIAS), _MOST_BIAS)
    elif kind in _SHOW_LEVEL:
        offset = round(-unit.level * gain / reading.step)
    most = _MOST_LEVEL if kind is FeatureKind.RMS else _MOST_READING
    if abs(offset) > most:
        raise ParameterError(
            f"feature {shorten(feature.name)}: the value 0 is too far from the counts of its "
            "channel; state an offset nearer to them (--adc), or export floats (--arithmetic float)"
        )
    return Scale.of(scale / reading.step, offset)


def wave_table(n_samples: int) -> Integers:
    """Return the cosines of a wave ``(n_samples,)``, then its sines, times 2^14."""
    angles = 2 * np.pi * np.arange(n_samples) / n_samples
    waves = np.rint(WAVE_ONE * np.concatenate([np.cos(angles), np.sin(angles)]))
    return np.asarray(waves, dtype=np.int64)


class FixedFeatures:
    """Computes features as the integer runtime does; an arithmetic of windows.

    Stored samples are whole numbers in float32, which holds 24 bits, so that NaN represents a
    missing one. Readings are returned as values, which become the same integers again.

    Parameters
    ----------
    signals : Signals
    units : mapping of channel name to SampleUnit
    scales : one for each feature
    readings : the units of readings, one for each feature
    """

    def __init__(
        self,
        signals: Signals,
        units: Mapping[str, SampleUnit],
        scales: Sequence[Scale],
        readings: Sequence[Unit],
    ) -> None:
        self.signals, self.units = signals, units
        self.scales, self._readings = tuple(scales), tuple(readings)

    def counts(self, channel: str, values: NDArray[Any]) -> Integers:
        """Turn values into the samples that a device is given; missing ones into UNKNOWN."""
        unit = self.units[channel]
        values = np.asarray(values, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            known = np.abs(values) <= MOST_SAMPLE
        samples = values / unit.gain
        if unit.bits is None:
            samples = samples + unit.level + unit.zero
        whole = np.floor(np.clip(np.where(known, samples, 0.0), -(2.0**30), 2.0**30) + 0.5)
        return np.where(known, whole, -(2**31)).astype(np.int64)

    def samples(self, channel: str, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return samples as they are stored."""
        counts = self.counts(channel, values)
        stored = np.clip(counts - self.units[channel].zero, -MOST, MOST).astype(np.float32)
        return np.where(counts == -(2**31), np.float32(np.nan), stored)

    def magnitude(self, channel: str, axes: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return the samples of a magnitude."""
        names = self.signals.channel(channel).axes
        missing = np.any([np.isnan(axis) for axis in axes], axis=0)
        total = np.zeros(axes[0].shape, dtype=np.int64)
        for name, axis in zip(names, axes, strict=True):
            away = np.where(missing, 0, axis).astype(np.int64) + self.units[name].bias
            total += away * away
        shift = np.full(total.shape, self.units[channel].shift)
        while (is_large := total >= 2**32).any():
            total, shift = np.where(is_large, total >> 2, total), shift + is_large
        while (is_small := (total < 2**30) & (total > 0)).any():
            total, shift = np.where(is_small, total << 2, total), shift - is_small
        roots = root(total << 30)[0] >> 15  # 16 bits of them
        found = np.where(shift < 0, ((roots >> (-shift - 1)) + 1) >> 1, roots << shift)
        found = np.minimum(found, MOST)
        return np.where(missing, np.float32(np.nan), found.astype(np.float32))

    def features(self, windows: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
        """Compute features ``(n_windows, n_features)``."""
        series = {name: _Series(samples) for name, samples in windows.items()}
        columns = [
            self._feature(feature, scale, unit, series)
            for feature, scale, unit in zip(
                self.signals.features, self.scales, self._readings, strict=True
            )
        ]
        n_windows = next(iter(windows.values())).shape[1]
        return np.column_stack(columns) if columns else np.empty((n_windows, 0))

    def _feature(
        self, feature: WindowFeature, scale: Scale, unit: Unit, series: Mapping[str, _Series]
    ) -> NDArray[np.float64]:
        channels = [series[name] for name in feature.channels]
        found, bits, known = _found(self.signals, feature, scale, *channels)
        own = feature.kind in (FeatureKind.RMS, FeatureKind.ZERO_CROSSINGS)
        readings = scaled(found, scale, bits, 0 if own else scale.offset)
        whole = known & np.all([one.is_whole for one in channels], axis=0)
        return np.where(whole, readings * unit.step, np.nan)


class _Series:
    """The windows of one channel, ``(n_samples, n_windows)``, with sums of them."""

    def __init__(self, samples: NDArray[np.float32]) -> None:
        self.is_whole = ~np.isnan(samples).any(axis=0)
        self.x = np.where(self.is_whole, samples, 0).astype(np.int64)
        self.n = len(samples)
        self.sum = self.x.sum(axis=0)
        self.spread = self.n * (self.x * self.x).sum(axis=0) - self.sum * self.sum
        self._powers: tuple[Integers, Integers] | None = None

    def powers(self) -> tuple[Integers, Integers]:
        """Return the squared amplitude of all waves, from 1 on, and the bits of their unit."""
        if self._powers is None:
            self._powers = _powers(self.x * self.n - self.sum)
        return self._powers


def _found(
    signals: Signals, feature: WindowFeature, scale: Scale, s: _Series, other: _Series | None = None
) -> tuple[Integers, Integers | int, Any]:
    """Return what is scaled to a reading, the bits of its unit, and where it is defined."""
    kind = feature.kind
    if kind is FeatureKind.CORRELATION and other is not None:
        return _correlation(s, other)
    if kind is FeatureKind.PITCH:
        powers = s.powers()[0][[wave - 1 for wave in signals.bins(feature)]]
        strongest = np.argmax(powers, axis=0)
        found = strongest + signals.bins(feature)[0]
        return found, 0, np.take_along_axis(powers, strongest[None], axis=0)[0] > 0
    bits: Integers | int = 0
    if kind is FeatureKind.ENERGY:
        powers, shifts = s.powers()
        found = powers[[wave - 1 for wave in signals.bins(feature)]].sum(axis=0)
        bits = -2 * shifts
    elif kind is FeatureKind.RMS:
        found, bits = root((s.sum + scale.offset) ** 2 + s.spread)
    elif kind is FeatureKind.DEVIATION:
        found, bits = root(s.spread)
    elif kind is FeatureKind.PERCENTILE:
        below, way = percentile_way(feature.at, s.n)
        low, high = np.sort(s.x, axis=0)[below : below + 2]
        found = low * 2**15 + (high - low) * way
    elif kind is FeatureKind.PEAKS:
        roots, root_bits = root(s.spread)
        middle, height = s.x[1:-1], s.sum + (roots >> root_bits)
        is_peak = (middle > s.x[:-2]) & (middle >= s.x[2:]) & (middle * s.n > height)
        found = np.count_nonzero(is_peak, axis=0)
    else:
        found = _sums(kind, s, scale)
    return found, bits, True


def _sums(kind: FeatureKind, s: _Series, scale: Scale) -> Integers:
    if kind is FeatureKind.MEAN:
        return np.asarray(s.sum)
    if kind is FeatureKind.MIN:
        return np.asarray(s.x.min(axis=0))
    if kind is FeatureKind.MAX:
        return np.asarray(s.x.max(axis=0))
    if kind is FeatureKind.RANGE:
        return np.asarray(np.ptp(s.x, axis=0))
    if kind is FeatureKind.CHANGE:
        return np.asarray(np.abs(np.diff(s.x, axis=0)).sum(axis=0))
    if kind is FeatureKind.SLOPE:
        return np.asarray((s.x * (2 * np.arange(s.n) - s.n + 1)[:, None]).sum(axis=0))
    is_below = s.x < scale.offset if kind is FeatureKind.ZERO_CROSSINGS else s.x * s.n < s.sum
    return np.asarray(np.count_nonzero(is_below[1:] != is_below[:-1], axis=0))


def percentile_way(at: float, n_samples: int) -> tuple[int, int]:
    """Return the sample below a percentile, and the way to the next, times 2^15."""
    below, way = percentile_place(at, n_samples)
    return below, round(float(way) * 2**15)


def root(square: Integers) -> tuple[Integers, Integers]:
    """Return square roots times 2^bits, 31 bits of each, rounded down, and these bits."""
    bits = np.zeros_like(square)
    for step in (16, 8, 4, 2, 1):
        is_small = (square < 2 ** (62 - 2 * step)) & (bits + step <= 30)
        square, bits = np.where(is_small, square << (2 * step), square), bits + step * is_small
    roots = np.sqrt(square.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > square
    roots += (roots + 1) * (roots + 1) <= square
    return roots, bits


def scaled(found: Integers, scale: Scale, bits: Integers | int, offset: int) -> Integers:
    """Return readings: what is found / 2^bits, times a factor, plus an offset."""
    size, shift = np.abs(found), np.broadcast_to(scale.shift + np.asarray(bits), found.shape)
    while (is_large := size > _MOST_READING).any():
        size, shift = np.where(is_large, size >> 1, size), shift - is_large
    product, usual = size * scale.factor, np.clip(shift, 1, 62)
    rounded = np.where(shift > 62, 0, (product + (1 << (usual - 1))) >> usual)
    rounded = np.where((shift <= 0) & (size > 0), _MOST_READING, rounded)
    rounded = np.minimum(rounded, _MOST_READING)
    readings = np.where(found < 0, -rounded, rounded) + offset
    return np.asarray(np.clip(readings, -_MOST_READING, _MOST_READING))


def _powers(away: Integers) -> tuple[Integers, Integers]:
    n = len(away)
    sizes = np.abs(away)
    most, total = sizes.max(axis=0), sizes.sum(axis=0)
    bits = np.zeros_like(most)
    while (is_large := (most > _LARGEST_WAVE) | (total > _LARGEST_SUM)).any():
        most, total = np.where(is_large, most >> 1, most), np.where(is_large, total >> 1, total)
        bits = bits + is_large
    y = np.sign(away) * ((sizes + ((1 << bits) >> 1)) >> bits)
    waves, places = wave_table(n).reshape(2, n), np.arange(n)
    powers = []
    for wave in range(1, (n + 1) // 2):
        cosine, sine = waves[:, places * wave % n] @ y
        cosine, sine = (np.sign(one) * (np.abs(one) >> _DROPPED_BITS) for one in (cosine, sine))
        powers.append(cosine * cosine + sine * sine)
    return np.array(powers), bits


def _correlation(x: _Series, y: _Series) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    (roots, bits), (others, other_bits) = root(x.spread), root(y.spread)
    is_defined = (roots > 0) & (others > 0)
    together = x.n * (x.x * y.x).sum(axis=0) - x.sum * y.sum
    size, shift = np.abs(together), bits + other_bits - 31
    whole = np.where(is_defined, (roots * others) >> 31, 2**30)
    is_short = whole < 2**30
    whole, shift = np.where(is_short, whole << 1, whole), shift + is_short
    while (is_large := size > _MOST_READING).any():
        size, shift = np.where(is_large, size >> 1, size), shift + is_large
    while (is_small := (size < 2**30) & (size > 0)).any():
        size, shift = np.where(is_small, size << 1, size), shift - is_small
    share = (size << 27) // whole
    return np.sign(together) * share, 27 - shift, is_defined
