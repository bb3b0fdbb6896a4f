"""Turn the signals of a model into the tables of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.export.fixed_signals import (
    FixedFeatures,
    feature_scale,
    percentile_way,
    sample_units,
    wave_table,
)
from solah.model.signals import FeatureKind
from solah.signals.arithmetic import (
    energy_factor,
    percentile_place,
    pitch_unit,
    slope_factor,
    wave_coefficient,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.export.units import Counts, Unit
    from solah.model.document import Model
    from solah.model.signals import Channel, Signals, WindowFeature

_MOST_PLACES = 2**16 - 1


@dataclass(frozen=True)
class MeasuredRow:
    """A measured channel.

    Attributes
    ----------
    name, unit : its name, and the unit of its values
    every, max_gap : the ticks between samples, and the missing ones that are bridged
    zero, bias : of integers what is taken off a sample and, of the axes of a magnitude, what is
        added to a stored one, so that 0 is the value 0
    bits : of integers the power of two that values are multiplied by; None for counts
    """

    name: str
    unit: str
    every: int
    max_gap: int
    zero: int = 0
    bias: int = 0
    bits: int | None = None


@dataclass(frozen=True)
class StoredRow:
    """A channel whose last samples are kept.

    Attributes
    ----------
    name : the channel's name
    first, length : where its samples begin in the ring buffers, and how many there are
    axes : the measured channels, by index: itself, or those whose magnitude it is
    first_axis : where they begin in the list of all axes
    shift : of integers the power of two by which a magnitude is finer than its axes
    """

    name: str
    first: int
    length: int
    axes: tuple[int, ...]
    first_axis: int
    shift: int = 0


@dataclass(frozen=True)
class FeatureRow:
    """A feature and its constants.

    Attributes
    ----------
    name : the reading's name
    kind : of :class:`FeatureKind`
    reading : the index of the reading
    channel, other : stored channels, by index; the second is that of a correlation
    numbers : the constants of its arithmetic, by their names in C: in float32 ``first`` and
        ``count`` of waves (of a percentile the sample below it) and a ``factor``; in integers
        also ``low``, ``shift`` and ``offset``
    """

    name: str
    kind: FeatureKind
    reading: int
    channel: int
    other: int
    numbers: Mapping[str, int | np.float32]

    @property
    def constant(self) -> str:
        """The kind as the runtime calls it."""
        return f"SOLAH_{self.kind.name}"

    @property
    def kind_number(self) -> int:
        """The kind as its number in the runtime."""
        return list(FeatureKind).index(self.kind)


@dataclass(frozen=True)
class SignalTables:
    """What a device needs to make readings of samples.

    Attributes
    ----------
    signals : the description
    measured, stored, features : rows of tables; features channel by channel, percentiles last
    waves : the coefficients of Goertzel's filters; in integers cosines and sines
    fixed : the simulator of the arithmetic in integers; None in float32
    """

    signals: Signals
    measured: tuple[MeasuredRow, ...]
    stored: tuple[StoredRow, ...]
    features: tuple[FeatureRow, ...]
    waves: tuple[np.float32, ...] | tuple[int, ...]
    fixed: FixedFeatures | None = None

    @property
    def ring_size(self) -> int:
        """How many samples are kept in all."""
        return sum(row.length for row in self.stored)

    @property
    def longest(self) -> int:
        """The largest number of samples that a window has of a channel."""
        return max(row.length for row in self.stored)

    @property
    def axes(self) -> tuple[int, ...]:
        """The measured channels that each stored one is made of, one after the other."""
        return tuple(axis for row in self.stored for axis in row.axes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of features that there are, as the runtime calls them."""
        return tuple(sorted({row.constant for row in self.features}))

    @property
    def limits(self) -> dict[str, int]:
        """What a runtime must have room for that learns all this when it opens a blob."""
        n_channels = max(len(self.measured), len(self.stored))
        return {"SAMPLES": self.ring_size, "WINDOW": self.longest, "CHANNELS": n_channels}

    @property
    def n_bytes(self) -> int:
        """The bytes of the memory, as a device of 32 bits has them."""
        n_samples = self.ring_size + len(self.measured)
        shorts = 2 * len(self.measured) + len(self.stored)
        n_bytes = (4 if self.fixed is None else 2) * n_samples + 2 * shorts + 12
        return n_bytes + -n_bytes % 4


def refuse_counts_of_features(model: Model, counts: Mapping[str, Counts] | None) -> None:
    """Refuse counts where features are not computed from samples."""
    if counts and model.signals is None:
        raise ParameterError(
            "counts of an ADC are for C (--to c, zephyr or esp-idf), or for models of samples"
        )


def signal_tables(
    model: Model, readings: Sequence[Unit] | None = None, counts: Mapping[str, Counts] | None = None
) -> SignalTables | None:
    """Lower the signals of a model; None if it has none.

    Parameters
    ----------
    model : Model
    readings : sequence of Unit, default=None
        The units of the model's features, to compute them in integers; None for float32.
    counts : mapping of channel name to Counts, default=None
        In integers, the channels whose samples are counts of an analog-digital converter.
    """
    if model.signals is None:
        return None
    signals = model.signals.only([one.name for one in model.features])
    asked = {name for feature in signals.features for name in feature.channels}
    channels = [one for one in signals.channels if one.name in asked]
    n_places = sum(signals.length(one.name) for one in channels)
    if n_places > _MOST_PLACES:
        raise ParameterError(
            f"the windows of an exported model have {_MOST_PLACES:,} samples at the most, over all "
            f"channels; this one's have {n_places:,}"
        )
    units = None if readings is None else sample_units(model, signals, counts or {})
    fixed = None
    if readings is not None and units is not None:
        scales = [
            feature_scale(signals, one, units[one.channels[0]], reading)
            for one, reading in zip(signals.features, readings, strict=True)
        ]
        fixed = FixedFeatures(signals, units, scales, readings)
    starts, waves = _waves(signals, fixed)
    places = {one.name: place for place, one in enumerate(channels)}
    rows = [
        _feature(place, feature, places, _numbers(signals, place, fixed, starts))
        for place, feature in enumerate(signals.features)
    ]
    rows.sort(key=lambda row: (row.channel, row.kind is FeatureKind.PERCENTILE))
    axes = {name for one in channels for name in one.axes}
    measured = tuple(
        MeasuredRow(one.name, one.unit, one.every, signals.max_gap // one.every)
        if units is None
        else MeasuredRow(
            *(one.name, one.unit, one.every, signals.max_gap // one.every),
            units[one.name].zero,
            units[one.name].bias if one.name in axes else 0,
            units[one.name].bits,
        )
        for one in signals.measured
    )
    return SignalTables(
        signals, measured, _stored(signals, channels, fixed), tuple(rows), waves, fixed
    )


def _stored(
    signals: Signals, channels: list[Channel], fixed: FixedFeatures | None
) -> tuple[StoredRow, ...]:
    places = {channel.name: place for place, channel in enumerate(signals.measured)}
    rows: list[StoredRow] = []
    first = first_axis = 0
    for one in channels:
        axes = tuple(places[name] for name in one.axes or (one.name,))
        shift = 0 if fixed is None else fixed.units[one.name].shift
        rows.append(StoredRow(one.name, first, signals.length(one.name), axes, first_axis, shift))
        first, first_axis = first + rows[-1].length, first_axis + len(axes)
    return tuple(rows)


def _waves(
    signals: Signals, fixed: FixedFeatures | None
) -> tuple[dict[int, int], tuple[np.float32, ...] | tuple[int, ...]]:
    """Return the waves that features need, and where those of each window length begin."""
    most: dict[int, int] = {}  # by the number of samples in a window
    for feature in signals.features:
        if feature.kind.is_spectral:
            n_samples, top = signals.length(feature.channels[0]), signals.bins(feature)[-1]
            most[n_samples] = max(most.get(n_samples, 0), top)
    starts: dict[int, int] = {}
    waves: list[int] = []
    coefficients: list[np.float32] = []
    for n_samples, top in most.items():
        starts[n_samples] = len(coefficients if fixed is None else waves)
        if fixed is None:
            coefficients.extend(wave_coefficient(wave, n_samples) for wave in range(1, top + 1))
        else:
            waves.extend(wave_table(n_samples).tolist())
    return starts, tuple(coefficients) if fixed is None else tuple(waves)


def _feature(
    reading: int,
    feature: WindowFeature,
    places: dict[str, int],
    numbers: Mapping[str, int | np.float32],
) -> FeatureRow:
    channel, *others = (places[name] for name in feature.channels)
    other = others[0] if others else 0
    return FeatureRow(feature.name, feature.kind, reading, channel, other, numbers)


def _numbers(
    signals: Signals, place: int, fixed: FixedFeatures | None, starts: Mapping[int, int]
) -> dict[str, int | np.float32]:
    """Return the constants of a feature's arithmetic, in the order of the fields in C."""
    feature = signals.features[place]
    n_samples = signals.length(feature.channels[0])
    bins = signals.bins(feature) if feature.kind.is_spectral else range(0)
    is_percentile = feature.kind is FeatureKind.PERCENTILE
    if fixed is not None:
        first, low = starts.get(n_samples, 0) if bins else 0, bins[0] if bins else 0
        if is_percentile:
            first, low = percentile_way(feature.at, n_samples)
        scale = fixed.scales[place]
        own = {"shift": scale.shift, "factor": scale.factor, "offset": scale.offset}
        return {"first": first, "low": low, "count": len(bins), **own}
    first, factor = 0, np.float32(0)
    if bins:
        first = starts[n_samples] + bins[0] - 1
        is_pitch = feature.kind is FeatureKind.PITCH
        factor = pitch_unit(signals) if is_pitch else energy_factor(signals, feature)
    elif is_percentile:
        first, factor = percentile_place(feature.at, n_samples)
    elif feature.kind is FeatureKind.SLOPE:
        factor = slope_factor(signals, feature)
    return {"first": first, "count": len(bins), "factor": factor}
